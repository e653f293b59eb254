"""Groups that change between the classic protocol and that of consumers, with their members.

A classic group that a member of the consumer protocol joins becomes one of that protocol; a group
whose last such member leaves becomes a classic one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from uuid import UUID

from kafka_admin_proto.errors import DecodeError
from kafka_admin_proto.messages import JoinGroupResponse, SyncGroupResponse
from kafka_admin_proto.messages.consumer_group_member_metadata_value import (
    ClassicMemberMetadata,
    ClassicProtocol,
)
from kafka_admin_proto.messages.consumer_protocol_assignment import (
    ConsumerProtocolAssignment,
    TopicPartition,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.protocol.consumer_protocol import (
    CONSUMER,
    SUBSCRIPTION,
    codec_of,
    read_assignment,
    read_subscription,
    write_assignment,
)
from kafka_admin_proto.server.coordination.shard import Then
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.groups.consumer.group import ConsumerGroup
from kafka_admin_proto.server.groups.consumer.members import ConsumerMember
from kafka_admin_proto.server.groups.consumer.records import (
    assignment_record,
    epoch_record,
    member_record,
    target_record,
)
from kafka_admin_proto.server.groups.consumer.topics import KnownTopics
from kafka_admin_proto.server.groups.group import Group, Member
from kafka_admin_proto.server.groups.modern import Target
from kafka_admin_proto.server.groups.rebalance import cancel_timers, expect_heartbeat, prepare
from kafka_admin_proto.server.groups.records import CoordinatorRecord, group_record, group_tombstone
from kafka_admin_proto.server.groups.shard import Shard
from kafka_admin_proto.server.groups.timers import cancel_member
from kafka_admin_proto.server.groups.timers import expect_heartbeat as expect_modern
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


def upgraded(shard: Shard, classic: Group, records: list[CoordinatorRecord]) -> ConsumerGroup:
    """The group of the consumer protocol that a classic one becomes, and its records.

    Raises ApiFailure for a group that cannot be upgraded.
    """
    name = classic.name
    if shard.limits.migration not in ("bidirectional", "upgrade"):
        raise _refused(name, "online upgrade is disabled")
    if classic.protocol_type != CONSUMER:
        raise _refused(name, "the group does not use the consumer embedded protocol")
    if len(classic.members) > shard.limits.max_consumers:
        raise _refused(name, "the group size exceeds the consumer group maximum size")
    busy = codes.REBALANCE_IN_PROGRESS
    for each in classic.members.values():
        classic.answer_join(each, JoinGroupResponse(error_code=busy, member_id=each.id))
        classic.answer_sync(each, SyncGroupResponse(error_code=busy))
    if classic.protocol is None:
        raise ApiFailure(codes.UNKNOWN_SERVER_ERROR)
    try:
        members = [_member(shard, classic, each) for each in classic.members.values()]
    except DecodeError:
        raise _refused(name, "the embedded consumer protocol is malformed") from None
    group, epoch = ConsumerGroup(name), classic.generation
    own = [group_tombstone(name), *(member_record(name, each) for each in members)]
    metadata_hash = shard.topics.hash({topic for each in members for topic in each.topics})
    own.append(epoch_record(name, epoch, metadata_hash))
    own += [
        target_record(name, each.id, {topic: list(one) for topic, one in each.assigned.items()})
        for each in members
    ]
    own.append(group.target_epoch_record(epoch, 0))
    own += [assignment_record(name, each) for each in members]
    cancel_timers(shard, classic)
    for each in classic.members.values():
        expect_modern(shard, group, each.id, each.session_timeout_ms)
    group.apply_all(own)
    records += own
    return group


def _refused(name: str, reason: str) -> ApiFailure:
    text = f"Cannot upgrade classic group {name} to consumer group because {reason}."
    return ApiFailure(codes.GROUP_ID_NOT_FOUND, text)


def _member(shard: Shard, classic: Group, member: Member) -> ConsumerMember:
    """A member as it is in the other protocol. Raises DecodeError and ApiFailure."""
    assigned: dict[UUID, dict[int, int]] = {}
    if member.assignment:
        assignment = read_assignment(member.assignment)
        if assignment.user_data:
            raise _refused(
                classic.name,
                "an unsupported custom assignor is in use. Please refer to the documentation or "
                "switch to a default assignor before re-attempting the upgrade",
            )
        for row in assignment.assigned_partitions:
            topic = shard.topics.find(row.topic)
            if topic is not None:
                assigned[topic.id] = dict.fromkeys(row.partitions, classic.generation)
    subscription = read_subscription(member.metadata(classic.protocol))
    return ConsumerMember(
        member.id,
        epoch=classic.generation,
        previous_epoch=classic.generation,
        instance_id=member.instance_id,
        rack_id=subscription.rack_id or None,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        client_id=member.client_id,
        client_host=member.client_host,
        topics=frozenset(subscription.topics),
        assigned=assigned,
        classic=ClassicMemberMetadata(
            member.session_timeout_ms, [ClassicProtocol(*each) for each in member.protocols]
        ),
    )
