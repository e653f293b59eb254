"""Groups that tests look at, and let rebalance, without a client."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from kafka_admin_proto.errors import DecodeError
from kafka_admin_proto.protocol.consumer_protocol import CONSUMER, read_assignment
from kafka_admin_proto.protocol.error_codes import error_name
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.groups.consumer.members import ConsumerMember
from kafka_admin_proto.server.groups.consumer.records import epoch_record
from kafka_admin_proto.server.groups.group import Group, Member
from kafka_admin_proto.server.groups.rebalance import prepare
from kafka_admin_proto.server.groups.share.members import ShareMember
from kafka_admin_proto.server.groups.streams.group import StreamsGroup
from kafka_admin_proto.server.groups.streams.members import StreamsMember
from kafka_admin_proto.server.groups.streams.topology import inputs_of
from kafka_admin_proto.server.share.state import UNKNOWN_OFFSET, ShareKey
from kafka_admin_proto.wire.types.base import shown

if TYPE_CHECKING:
    from kafka_admin_proto.server.groups.shard import Shard
    from kafka_admin_proto.server.groups.share.group import ShareGroup
    from kafka_admin_proto.server.state import State

Place = tuple[str, int]


class StoredMember(msgspec.Struct, frozen=True):
    """A member of a group; ``partitions`` are those that it is assigned, if it is a consumer.

    ``generation`` is the group's, or the member's own epoch in KIP-848's protocol.
    """

    id: str
    instance_id: str | None
    client_id: str
    host: str
    generation: int
    partitions: tuple[Place, ...] = ()


class StoredGroup(msgspec.Struct, frozen=True):
    """A group as its coordinator has it.

    ``type`` is "classic", "consumer" for KIP-848's protocol, "share" or "streams". ``protocol`` is
    the assignor, and ``generation`` counts rebalances; of the other types it is the epoch.
    ``committed`` are offsets by (topic, partition), of a "share" group those of the first records
    that it is not done with. ``lag`` is how many records are behind them, of
    partitions that have an offset or are assigned; without an offset all records count.
    """

    name: str
    type: str
    state: str
    protocol: str
    generation: int
    members: tuple[StoredMember, ...]
    committed: dict[Place, int]
    lag: dict[Place, int]


def group_of_name(state: State, name: str) -> StoredGroup:
    """The group of a name. Raises ValueError if it is not there."""
    shard = _shard(state, name)
    group = shard.groups.get(name)
    committed = {place: each.offset for place, each in shard.offsets.get(name, {}).items()}
    if group is not None:
        members = tuple(_classic_member(group, each) for each in group.members.values())
        kind, protocol, generation = "classic", group.protocol or "", group.generation
        group_state: str = group.state
    elif name in shard.share_groups:
        shares = shard.share_groups[name]
        members = tuple(_member(shard, each) for each in shares.members.values())
        kind, protocol = "share", "simple"
        generation, group_state = shares.epoch, shares.state
        committed = _starts(state, shares)
    elif name in shard.streams_groups:
        streams = shard.streams_groups[name]
        members = tuple(_thread(shard, streams, each) for each in streams.members.values())
        kind, protocol = "streams", "sticky"
        generation, group_state = streams.epoch, streams.state
    else:
        consumers = shard.consumer_groups[name]
        members = tuple(_member(shard, each) for each in consumers.members.values())
        kind, protocol = "consumer", consumers.preferred_assignor(shard.limits.assignors[0])
        generation, group_state = consumers.epoch, consumers.state
    places = dict.fromkeys([*committed, *(place for each in members for place in each.partitions)])
    lags = {place: _lag(state, *place, committed.get(place)) for place in sorted(places)}
    return StoredGroup(
        name,
        kind,
        group_state,
        protocol,
        generation,
        members,
        dict(sorted(committed.items())),
        {place: lag for place, lag in lags.items() if lag is not None},
    )


def _classic_member(group: Group, member: Member) -> StoredMember:
    partitions = _partitions(member.assignment) if group.protocol_type == CONSUMER else ()
    host = member.client_host.lstrip("/")
    return StoredMember(
        member.id, member.instance_id, member.client_id, host, group.generation, partitions
    )


def _starts(state: State, group: ShareGroup) -> dict[Place, int]:
    """Where the group begins in each partition that it has begun with."""
    starts = {}
    for topic_id, topic in group.partitions.initialized.items():
        for number in topic.partitions:
            key = ShareKey(group.name, topic_id, number)
            try:
                kept = state.share_states.led(key.text).states.get(key)
            except ApiFailure:
                continue
            if kept is not None and kept.start_offset != UNKNOWN_OFFSET:
                starts[topic.name, number] = kept.start_offset
    return starts


def _member(shard: Shard, member: ConsumerMember | ShareMember) -> StoredMember:
    assigned = [
        (topic, number)
        for topic_id, numbers in member.assigned.items()
        if (topic := shard.topics.name_of(topic_id)) is not None
        for number in numbers
    ]
    host = member.client_host.lstrip("/")
    instance_id = member.instance_id if isinstance(member, ConsumerMember) else None
    return StoredMember(
        member.id, instance_id, member.client_id, host, member.epoch, tuple(sorted(assigned))
    )


def _thread(shard: Shard, group: StreamsGroup, member: StreamsMember) -> StoredMember:
    """A member with the partitions that its active tasks read."""
    subtopologies = [] if group.topology is None else group.topology.subtopologies
    partitions = sorted(
        (topic, number)
        for each in subtopologies
        for topic in inputs_of(each)
        for number in range(shard.topics.count(topic) or 0)
        if (each.subtopology_id, number) in member.assigned.active
    )
    host = member.client_host.lstrip("/")
    return StoredMember(
        member.id, member.instance_id, member.client_id, host, member.epoch, tuple(partitions)
    )


def rebalance(state: State, name: str) -> None:
    """Begin a rebalance of a group. Raises ValueError for a group without members."""
    shard = _shard(state, name)
    group = shard.groups.get(name)
    consumers = shard.consumer_groups.get(name)
    if name in shard.share_groups:
        raise ValueError(f"{name} is a share group, whose partitions several members have at once")
    streams = shard.streams_groups.get(name)
    if not (group or streams or shard.consumer_groups[name]).members:
        raise ValueError(f"the group {name} has no members that could join again")
    if streams is not None:
        shard.append([streams.next_epoch_record()])
    elif consumers is not None:
        shard.append([epoch_record(name, consumers.epoch + 1, consumers.metadata_hash)])
    elif group is not None and group.state in ("Stable", "CompletingRebalance"):
        prepare(shard, group)


def _shard(state: State, name: str) -> Shard:
    try:
        shard = state.coordinators.led(name)
    except ApiFailure as failure:
        raise ValueError(
            f"the group {shown(name)} has no coordinator: {error_name(failure.code)}"
        ) from None
    known = {*shard.groups, *(each.name for each in shard.modern_groups)}
    if name not in known:
        there = ", ".join(sorted(known)) or "none"
        raise ValueError(f"there is no group {shown(name)}; its coordinator has {there}")
    return shard


def _partitions(assignment: bytes) -> tuple[Place, ...]:
    """The partitions in an assignment of the consumer protocol; none if it is no such one."""
    try:
        decoded = read_assignment(assignment)
    except DecodeError:
        return ()
    return tuple(
        sorted((each.topic, number) for each in decoded.assigned_partitions
               for number in each.partitions)
    )  # fmt: skip


def _lag(state: State, name: str, number: int, committed: int | None) -> int | None:
    """The records behind an offset; None for a partition that is not there."""
    topic = state.topic(name)
    if topic is None or number not in topic.partitions:
        return None
    log = state.partitions.log(topic, number).log
    start = log.start_offset if committed is None else committed
    return max(log.high_watermark - start, 0)
