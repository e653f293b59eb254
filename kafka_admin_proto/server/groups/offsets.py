"""Committed offsets: OffsetCommit, OffsetFetch, OffsetDelete and their expiry.

As Kafka's ``OffsetMetadataManager``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import partial

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.protocol.consumer_protocol import CONSUMER
from kafka_admin_proto.server.coordination.shard import Then
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.groups.committers import Commit, Committer, check_commit
from kafka_admin_proto.server.groups.consumer.group import ConsumerGroup
from kafka_admin_proto.server.groups.group import Group
from kafka_admin_proto.server.groups.rebalance import expect_heartbeat
from kafka_admin_proto.server.groups.records import (
    CoordinatorRecord,
    group_tombstone,
    offset_record,
)
from kafka_admin_proto.server.groups.shard import Shard
from kafka_admin_proto.server.groups.streams.group import StreamsGroup

#: A group of a type with offsets of its own.
AnyGroup = Group | ConsumerGroup | StreamsGroup
#: The first version of OffsetCommit in which Kafka 4 says that a group is not there.
_NO_GROUP = 9


def commit(
    shard: Shard,
    name: str,
    committer: Committer,
    commits: Sequence[Commit],
    then: Then,
    producer: tuple[int, int] | None = None,
) -> list[bool]:
    """Append offsets; whether each one's metadata is short enough. ``then`` gets their code.

    Those of a ``producer``, an id and an epoch, count when its transaction commits.

    Raises ApiFailure for a client that may not commit now.
    """
    group = shard.groups.get(name)
    modern = shard.consumer_groups.get(name) or shard.streams_groups.get(name)
    if modern is not None:
        check_commit(modern, committer, commits, of_transaction=producer is not None)
        return _append(shard, name, commits, then, producer)
    if name in shard.share_groups:
        raise ApiFailure(codes.GROUP_ID_NOT_FOUND)
    if group is None:
        if committer.generation >= 0:
            known = committer.version >= _NO_GROUP and shard.limits.release >= (4,)
            raise ApiFailure(codes.GROUP_ID_NOT_FOUND if known else codes.ILLEGAL_GENERATION)
        group = Group(name, shard.now_ms)
    _check_committer(group, committer, of_transaction=producer is not None)
    if (
        producer is None
        and committer.member_id in group.members
        and group.state in ("Stable", "PreparingRebalance")
    ):
        expect_heartbeat(shard, group, committer.member_id)
    return _append(shard, name, commits, then, producer)


def _append(
    shard: Shard,
    name: str,
    commits: Sequence[Commit],
    then: Then,
    producer: tuple[int, int] | None,
) -> list[bool]:
    """Append those offsets whose metadata is short enough; which ones these are."""
    limit = shard.limits.max_metadata_length
    fits = [_java_length(each.committed.metadata) <= limit for each in commits]
    records = [
        offset_record(name, each.topic, each.partition, each.committed)
        for each, short in zip(commits, fits, strict=True)
        if short
    ]
    shard.append(records, then, producer)
    return fits


def _java_length(text: str) -> int:
    return len(text.encode("utf-16-be", "surrogatepass")) // 2


def _check_committer(group: Group, committer: Committer, *, of_transaction: bool) -> None:
    """Raises ApiFailure unless the committer belongs to the group, or the group is empty."""
    generation, member_id = committer.generation, committer.member_id
    if generation < 0 and group.state == "Empty":
        return
    if generation >= 0 or member_id or committer.instance_id is not None:
        group.check_member(member_id, committer.instance_id)
        if generation != group.generation:
            raise ApiFailure(codes.ILLEGAL_GENERATION)
    elif group.state != "Empty" and not of_transaction:
        raise ApiFailure(codes.UNKNOWN_MEMBER_ID)
    if group.state == "CompletingRebalance" and not of_transaction:
        raise ApiFailure(codes.REBALANCE_IN_PROGRESS)


def delete_offsets(
    shard: Shard, name: str, wanted: Iterable[tuple[str, int]], then: Then
) -> set[str]:
    """Delete offsets; the topics that members subscribe, whose offsets stay.

    Raises ApiFailure for a group that is not there, or whose members' topics are not known.
    """
    group = _found(shard, name)
    if isinstance(group, Group) and group.state != "Empty" and group.protocol_type != CONSUMER:
        raise ApiFailure(codes.NON_EMPTY_GROUP)
    places = list(wanted)
    subscribed = {topic for topic, _ in places if group.is_subscribed(topic)}
    there = {*shard.offsets.get(name, ()), *shard.unstable(name)}
    records = [
        offset_record(name, topic, partition, None)
        for topic, partition in places
        if topic not in subscribed and (topic, partition) in there
    ]
    records += _if_forgotten_at_once(shard, group, places)
    shard.append(records, then)
    return subscribed


def delete_group(shard: Shard, name: str, then: Then) -> None:
    """Delete a group without members, and its offsets. Raises ApiFailure."""
    group = _found(shard, name)
    if group.state != "Empty":
        raise ApiFailure(codes.NON_EMPTY_GROUP)
    shard.append([*_offset_tombstones(shard, name), *_tombstones(group)], then)


def _found(shard: Shard, name: str) -> AnyGroup:
    """The group of a name, of a protocol with offsets. Raises ApiFailure."""
    group = _all(shard).get(name)
    if group is None:
        what = "is not a consumer group" if name in shard.share_groups else "not found"
        raise ApiFailure(codes.GROUP_ID_NOT_FOUND, f"Group {name} {what}.")
    return group


def _tombstones(group: AnyGroup) -> list[CoordinatorRecord]:
    return [group_tombstone(group.name)] if isinstance(group, Group) else group.tombstones()


def _offset_tombstones(shard: Shard, name: str) -> list[CoordinatorRecord]:
    places = dict.fromkeys([*shard.offsets.get(name, ()), *sorted(shard.unstable(name))])
    return [offset_record(name, topic, partition, None) for topic, partition in places]


def forget_topics(shard: Shard, gone: Iterable[str]) -> None:
    """Delete the offsets of topics that were deleted."""
    names = set(gone)
    records: list[CoordinatorRecord] = []
    for name, group in _all(shard).items():
        places = [each for each in shard.offsets.get(name, ()) if each[0] in names]
        records += [offset_record(name, *each, None) for each in places]
        records += _if_forgotten_at_once(shard, group, places)
    shard.append(records)


def _if_forgotten_at_once(
    shard: Shard, group: AnyGroup, deleted: Collection[tuple[str, int]]
) -> list[CoordinatorRecord]:
    """The tombstone of a group that release 3.9 deletes with the last of its offsets.

    From 4.0 on it is there until offsets are looked through for old ones.
    """
    return _if_forgotten(shard, group, deleted) if shard.limits.release < (4,) else []


def _if_forgotten(
    shard: Shard, group: AnyGroup, deleted: Collection[tuple[str, int]]
) -> list[CoordinatorRecord]:
    """The tombstone of a group that has neither members nor offsets but those that are deleted."""
    left = {*shard.offsets.get(group.name, ()), *shard.unstable(group.name)}.difference(deleted)
    return [] if left or group.state != "Empty" else _tombstones(group)


def _all(shard: Shard) -> dict[str, AnyGroup]:
    return {**shard.groups, **shard.consumer_groups, **shard.streams_groups}


def expire_often(shard: Shard) -> None:
    """Delete old offsets as often as the broker's configs say."""
    shard.later("expiry", shard.limits.retention_check_ms, partial(_expire, shard))


def _expire(shard: Shard) -> None:
    records: list[CoordinatorRecord] = []
    retention_ms = shard.limits.retention_ms
    for name, group in _all(shard).items():
        offsets, unstable = shard.offsets.get(name, {}), shard.unstable(name)
        expired = [
            each
            for each in offsets
            if each not in unstable and _is_expired(shard, group, *each, retention_ms)
        ]
        records += [offset_record(name, *each, None) for each in expired]
        records += _if_forgotten(shard, group, expired)
    shard.append(records)
    expire_often(shard)


def _is_expired(
    shard: Shard, group: AnyGroup, topic: str, partition: int, retention_ms: int
) -> bool:
    committed = shard.offsets[group.name][topic, partition]
    since_ms = committed.committed_ms
    if group.is_subscribed(topic):
        return False
    if isinstance(group, Group) and group.protocol_type is not None:
        if group.state == "Empty":
            since_ms = group.state_since_ms if group.state_since_ms >= 0 else since_ms
        elif group.protocol_type != CONSUMER or group.topics is None or group.state != "Stable":
            return False
    if committed.expires_ms is not None:
        return shard.now_ms >= committed.expires_ms
    return shard.now_ms - since_ms >= retention_ms
