"""How far groups are behind the ends of logs, as kafka-consumer-groups.sh says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from kafka_admin_proto.admin.caller import call_deadline
from kafka_admin_proto.admin.operations.common.failures import Failure
from kafka_admin_proto.admin.operations.common.topic_partitions import Partition
from kafka_admin_proto.admin.operations.groups import GroupOperations
from kafka_admin_proto.admin.operations.groups.model import (
    GroupDescription,
    GroupMember,
    GroupOffset,
    GroupOffsets,
    ShareOffset,
    ShareOffsets,
)
from kafka_admin_proto.admin.operations.partitions.records import ListedOffset, RecordOperations

#: The type of groups whose offsets have apis of their own.
SHARE = "share"


class PartitionLag(msgspec.Struct, frozen=True):
    """A partition that a group has committed an offset of, or that a member of it reads.

    ``offset`` is None where none is committed, ``member_id`` where no member reads the partition.
    Of a share group it is where the group begins, and ``member_id`` is the first of the members.
    ``lag`` is in offsets, of a share group in records that it has still to read; None where it is
    not known: without an ``offset`` or an ``end_offset``. ``error`` says why one of the two could
    not be looked up.
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
        """Groups of any type, in order, with their lag in offsets behind the ends of the logs.

        A coordinator that does not answer has part of the time, so that the other groups have the
        rest.
        """
        deadline = call_deadline(self, timeout)
        named = list(groups)

        def step() -> float:
            return deadline.half if len(named) > 1 else deadline.left

        described = await self.describe_groups(named, timeout=step())
        known = [each for each in described if each.error is None]
        own: list[GroupOffsets | ShareOffsets] = []
        own += await self.list_group_offsets(
            {each.group_id: None for each in known if each.type != SHARE}, timeout=step()
        )
        own += await self.list_share_group_offsets(
            {each.group_id: None for each in known if each.type == SHARE}, timeout=step()
        )
        committed = {each.group_id: each for each in own}
        pairs = [(each, committed.get(each.group_id, GroupOffsets(each.group_id)))
                 for each in described]  # fmt: skip
        places = sorted({place for pair in pairs for place in group_partitions(*pair)})
        listed = await self.list_offsets(dict.fromkeys(places, "latest"), timeout=deadline.left)
        ends = {(each.topic, each.partition): each for each in listed}
        return [_group_lag(group, own, ends) for group, own in pairs]


def group_failure(group: GroupDescription) -> Failure:
    """Why a group is not described. Brokers before 4.0 describe one that is not there as dead."""
    if group.error is None and group.state == "Dead":
        return Failure(error="GROUP_ID_NOT_FOUND", message="There is no group of that name.")
    return Failure(error=group.error, message=group.message)


def offsets_failure(committed: GroupOffsets | ShareOffsets, group: GroupDescription) -> Failure:
    """Why a group has no committed offsets: they could not be read, or it is not there."""
    if committed.error is None:
        return group_failure(group)
    return Failure(error=committed.error, message=committed.message)


def group_partitions(
    group: GroupDescription, committed: GroupOffsets | ShareOffsets
) -> list[Partition]:
    """The partitions that a group has committed an offset of or reads, sorted, each once."""
    offsets = ((each.topic, each.partition) for each in committed.offsets)
    return sorted({*offsets, *_readers(group)})


def partition_lags(
    group: GroupDescription,
    committed: GroupOffsets | ShareOffsets,
    ends: Mapping[Partition, ListedOffset],
) -> list[PartitionLag]:
    """The lag of each of the ``group_partitions``; ``ends`` has the end of the log of each."""
    offsets: dict[Partition, GroupOffset | ShareOffset] = {
        (each.topic, each.partition): each for each in committed.offsets
    }
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
    readers: dict[Partition, GroupMember] = {}
    for member in group.members:
        for each in member.assignment or ():
            for partition in each.partitions:
                readers.setdefault((each.topic, partition), member)
    return readers


def _group_lag(
    group: GroupDescription,
    committed: GroupOffsets | ShareOffsets,
    ends: Mapping[Partition, ListedOffset],
) -> GroupLag:
    why = offsets_failure(committed, group)
    return GroupLag(group, partition_lags(group, committed, ends), **why)


def _lag(
    offset: GroupOffset | ShareOffset, end: ListedOffset, member: GroupMember | None
) -> PartitionLag:
    end_offset = None if end.error else end.offset
    lag = metadata = None
    if isinstance(offset, ShareOffset):
        lag = offset.lag
    else:
        metadata = offset.metadata
        if not offset.error and offset.offset is not None and end_offset is not None:
            lag = end_offset - offset.offset
    return PartitionLag(
        topic=offset.topic,
        partition=offset.partition,
        offset=offset.offset,
        leader_epoch=offset.leader_epoch,
        metadata=metadata,
        error=offset.error or end.error,
        message=offset.message if offset.error else end.message,
        end_offset=end_offset,
        lag=lag,
        member_id=None if member is None else member.member_id,
    )
