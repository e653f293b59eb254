"""Groups whose last member of the consumer protocol leaves: they become classic ones."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from kafka_admin_proto.errors import DecodeError
from kafka_admin_proto.messages.consumer_protocol_assignment import (
    ConsumerProtocolAssignment,
    TopicPartition,
)
from kafka_admin_proto.protocol.consumer_protocol import (
    CONSUMER,
    SUBSCRIPTION,
    codec_of,
    write_assignment,
)
from kafka_admin_proto.server.coordination.shard import Then
from kafka_admin_proto.server.groups.consumer.group import ConsumerGroup
from kafka_admin_proto.server.groups.consumer.topics import KnownTopics
from kafka_admin_proto.server.groups.group import Group
from kafka_admin_proto.server.groups.members import Member
from kafka_admin_proto.server.groups.modern import Target
from kafka_admin_proto.server.groups.rebalance import expect_heartbeat, prepare
from kafka_admin_proto.server.groups.records import CoordinatorRecord, group_record
from kafka_admin_proto.server.groups.shard import Shard
from kafka_admin_proto.server.groups.timers import cancel_member
from kafka_admin_proto.server.java import uuid_order


def downgrades(
    shard: Shard, group: ConsumerGroup, gone: Collection[str], *, joining: int = 0
) -> bool:
    """Whether all members that are left without some use the classic protocol.

    So many are ``joining`` with it instead.
    """
    left = [each for each in group.members.values() if each.id not in gone]
    return (
        0 < len(left) + joining <= shard.limits.max_size
        and all(each.classic is not None for each in left)
        and shard.limits.migration in ("bidirectional", "downgrade")
    )


def downgrade(
    shard: Shard,
    group: ConsumerGroup,
    gone: Collection[str],
    then: Then,
    before: Sequence[CoordinatorRecord] = (),
    *,
    rebalances: bool = True,
) -> None:
    """Make a classic group of the members that are left.

    They join again if the group ``rebalances``. ``before`` are records that have made the group
    what it is, and are not in the log yet.
    """
    name = group.name
    classic = _classic(shard, group, gone)
    for each in classic.members.values():
        version = _version(each.metadata(classic.protocol))
        each.assignment = assignment_bytes(group.target.get(each.id, {}), shard.topics, version)
    for member_id in group.members:
        cancel_member(shard, name, member_id)
    shard.append([*before, *group.tombstones(), group_record(classic)], then)
    if name not in shard.groups:
        return  # the log has not taken it
    shard.groups[name] = classic
    for member_id in classic.members:
        expect_heartbeat(shard, classic, member_id)
    if rebalances:
        prepare(shard, classic)


def _classic(shard: Shard, group: ConsumerGroup, gone: Collection[str]) -> Group:
    classic = Group(group.name, shard.now_ms)
    for consumer in (each for each in group.members.values() if each.id not in gone):
        assert consumer.classic is not None
        protocols = [(one.name, one.metadata) for one in consumer.classic.supported_protocols]
        member = Member(
            consumer.id,
            consumer.instance_id,
            consumer.client_id,
            consumer.client_host,
            consumer.rebalance_timeout_ms,
            consumer.classic.session_timeout_ms,
            protocols,
        )
        classic.add(member, CONSUMER)
    classic.state = classic.previous_state = "Stable"
    classic.generation = group.epoch
    classic.protocol = classic.select_protocol()
    classic.topics = classic.subscribed_topics()
    return classic


def assignment_bytes(target: Target, topics: KnownTopics, version: int) -> bytes:
    """An assignment as members of the classic protocol get it."""
    rows = [
        TopicPartition(topic, sorted(target[topic_id]))
        for topic_id in uuid_order(target)
        if (topic := topics.name_of(topic_id)) is not None
    ]
    return write_assignment(ConsumerProtocolAssignment(rows), version)


def _version(metadata: bytes) -> int:
    try:
        return codec_of(metadata, SUBSCRIPTION).version
    except DecodeError:
        return 0
