"""How far groups are behind the ends of logs, as kafka-consumer-groups.sh says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from kafka_admin_proto.admin.operations.common.failures import Failure
from kafka_admin_proto.admin.operations.common.topic_partitions import Partition
from kafka_admin_proto.admin.operations.groups import GroupOperations
from kafka_admin_proto.admin.operations.groups.model import (
    GroupDescription,
    GroupMember,
    GroupOffset,
    GroupOffsets,
)
from kafka_admin_proto.admin.operations.partitions.records import ListedOffset, RecordOperations
from kafka_admin_proto.admin.retry import Deadline


class PartitionLag(msgspec.Struct, frozen=True):
    """A partition that a group has committed an offset of, or that a member of it reads.

    ``offset`` is None where none is committed, ``member_id`` where no member reads the partition.
    ``lag`` is in offsets, None where it is not known: without an ``offset`` or an ``end_offset``.
    ``error`` says why one of the two could not be looked up.
    """

    topic: str
    partition: int
    offset: int | None
    leader_epoch: int | None
    metadata: str | None
    error: str | None
    message: str | None
    end_offset: int | None
    lag: int | None
    member_id: str | None


class GroupLag(msgspec.Struct, frozen=True):
    """A group with the lag of each partition that it reads or has committed an offset of, sorted.

    ``error`` is that of its description or of its committed offsets; a group that does not exist
    has GROUP_ID_NOT_FOUND, from brokers of any age.
    """

    group: GroupDescription
    offsets: Sequence[PartitionLag]
    error: str | None
    message: str | None


class LagOperations(GroupOperations, RecordOperations):
    """DescribeGroups, OffsetFetch and ListOffsets, put together."""

    async def describe_group_lags(
        self, groups: Iterable[str], *, timeout: float | None = None
    ) -> list[GroupLag]:
        """Groups of any type, in order, with their lag in offsets behind the ends of the logs."""
        deadline = Deadline(self.default_timeout if timeout is None else timeout)
        described = await self.describe_groups(groups, timeout=deadline.left)
        known = dict.fromkeys(each.group_id for each in described if each.error is None)
        found = await self.list_group_offsets(known, timeout=deadline.left)
        committed = {each.group_id: each for each in found}
        pairs = [(each, committed.get(each.group_id, GroupOffsets(each.group_id)))
                 for each in described]  # fmt: skip
        places = sorted({place for pair in pairs for place in group_partitions(*pair)})
        listed = await self.list_offsets(dict.fromkeys(places, "latest"), timeout=deadline.left)
        ends = {(each.topic, each.partition): each for each in listed}
        return [_group_lag(group, own, ends) for group, own in pairs]


def group_failure(group: GroupDescription) -> Failure:
    """Why a group is not described. Brokers before 4.0 describe one that is not there as dead."""
    if group.error is None and group.state == "Dead":
        return "GROUP_ID_NOT_FOUND", "There is no group of that name."
    return group.error, group.message


def group_partitions(group: GroupDescription, committed: GroupOffsets) -> list[Partition]:
    """The partitions that a group has committed an offset of or reads, sorted, each once."""
    offsets = ((each.topic, each.partition) for each in committed.offsets)
    return sorted({*offsets, *_readers(group)})


def partition_lags(
    group: GroupDescription, committed: GroupOffsets, ends: Mapping[Partition, ListedOffset]
) -> list[PartitionLag]:
    """The lag of each of the ``group_partitions``; ``ends`` has the end of the log of each."""
    offsets = {(each.topic, each.partition): each for each in committed.offsets}
    readers = _readers(group)
    return [
        _lag(
            offsets.get(place) or GroupOffset(*place, offset=None), ends[place], readers.get(place)
        )
        for place in group_partitions(group, committed)
    ]


def idle_members(group: GroupDescription) -> Sequence[GroupMember]:
    """The members that read no partition, where their assignment can be read."""
    return [each for each in group.members if each.assignment is not None and not each.assignment]


def _readers(group: GroupDescription) -> dict[Partition, GroupMember]:
    return {
        (each.topic, partition): member
        for member in group.members
        for each in member.assignment or ()
        for partition in each.partitions
    }


def _group_lag(
    group: GroupDescription, committed: GroupOffsets, ends: Mapping[Partition, ListedOffset]
) -> GroupLag:
    error, message = (
        group_failure(group) if committed.error is None else (committed.error, committed.message)
    )
    return GroupLag(group, partition_lags(group, committed, ends), error, message)


def _lag(offset: GroupOffset, end: ListedOffset, member: GroupMember | None) -> PartitionLag:
    end_offset = None if end.error else end.offset
    unknown = offset.error or offset.offset is None or end_offset is None
    return PartitionLag(
        topic=offset.topic,
        partition=offset.partition,
        offset=offset.offset,
        leader_epoch=offset.leader_epoch,
        metadata=offset.metadata,
        error=offset.error or end.error,
        message=offset.message if offset.error else end.message,
        end_offset=end_offset,
        lag=None if unknown else (end_offset or 0) - (offset.offset or 0),
        member_id=None if member is None else member.member_id,
    )
