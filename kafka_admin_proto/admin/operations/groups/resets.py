"""Planning how offsets of a group are reset or deleted, as kafka-consumer-groups.sh does it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from kafka_admin_proto.admin.caller import call_deadline
from kafka_admin_proto.admin.errors import InstructionError
from kafka_admin_proto.admin.operations.common.failures import NONE
from kafka_admin_proto.admin.operations.common.topic_partitions import Partition
from kafka_admin_proto.admin.operations.groups.lag import SHARE, LagOperations, offsets_failure
from kafka_admin_proto.admin.operations.groups.model import (
    AlteredOffset,
    DeletedShareOffsets,
    GroupDescription,
    GroupOffsets,
    ShareOffsets,
)
from kafka_admin_proto.admin.operations.partitions.records import LogEnd, log_end, log_ranges
from kafka_admin_proto.admin.retry import Deadline
from kafka_admin_proto.counts import counted


class OffsetReset(msgspec.Struct, frozen=True, kw_only=True):
    """A partition, its committed offset (None where there is none) and the one to commit.

    ``new_offset`` is within the log's range, and None where an ``error`` says why it is not known,
    or where the offset is to be deleted.
    """

    topic: str
    partition: int
    offset: int | None
    new_offset: int | None = None
    error: str | None = None
    message: str | None = None


class OffsetResets(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be committed or deleted for a group; ``error`` where that cannot be known.

    ``type`` is that of the group, as in its description; None where there is no group yet.
    """

    group_id: str
    type: str | None = None
    offsets: Sequence[OffsetReset] = ()
    error: str | None = None
    message: str | None = None


class ResetOperations(LagOperations):
    """OffsetFetch and ListOffsets, for OffsetCommit."""

    async def plan_offset_resets(
        self,
        group: str,
        partitions: Iterable[Partition] | None = None,
        *,
        to: LogEnd | None = None,
        to_offset: int | None = None,
        to_time_ms: int | None = None,
        shift_by: int | None = None,
        validate: bool = False,
        timeout: float | None = None,
    ) -> OffsetResets:
        """Where committed offsets would go; changes nothing, ``run_offset_resets`` commits them.

        Of a share group it is where the group begins. ``partitions`` are (topic, partition) pairs;
        None stands for all that the group has committed. One of the others says where to: an end of
        the log, an offset, the first record at or after a time (milliseconds since 1970; the end of
        the log where there is none), or so many offsets on from the committed one, or from the end
        of the log. Offsets beyond the log become its ends. ``validate`` gives each the error that
        it would have while the group has members. Raises InstructionError where none or several of
        them are given.
        """
        if sum(each is not None for each in (to, to_offset, to_time_ms, shift_by)) != 1:
            raise InstructionError("give one of to, to_offset, to_time_ms and shift_by")
        if to is not None:
            log_end(to)
        deadline = call_deadline(self, timeout)
        (described,) = await self.describe_groups([group], timeout=deadline.left)
        listed = await self._committed(described, deadline)
        committed = {(each.topic, each.partition): each.offset for each in listed.offsets}
        places = list(committed if partitions is None else dict.fromkeys(partitions))
        if listed.error is not None or not places:
            return OffsetResets(
                group_id=group, type=described.type, **offsets_failure(listed, described)
            )
        logs = await log_ranges(self, places, to_time_ms, deadline)

        def planned(place: Partition) -> OffsetReset:
            log, before = logs[place], committed.get(place)
            reset = OffsetReset(topic=place[0], partition=place[1], offset=before)
            if log.error is not None:
                return msgspec.structs.replace(reset, error=log.error, message=log.message)
            if shift_by is not None:
                new = (log.end if before is None else before) + shift_by
            elif to_time_ms is not None:
                new = log.at_time
            elif to_offset is not None:
                new = to_offset
            else:
                new = log.start if to == "earliest" else log.end
            return msgspec.structs.replace(reset, new_offset=log.within(new))

        offsets = [planned(each) for each in places]
        resets = OffsetResets(group_id=group, type=described.type, offsets=offsets)
        return refused_by_members(resets, described) if validate else resets

    async def run_offset_resets(
        self, resets: OffsetResets, *, timeout: float | None = None
    ) -> OffsetResets:
        """Commit the offsets of a plan that have no error; of a share group it begins there.

        The result is the plan with the errors of those that were not committed. Raises as
        ``alter_group_offsets``.
        """
        new = {
            (each.topic, each.partition): each.new_offset
            for each in resets.offsets
            if each.error is None and each.new_offset is not None
        }
        if not new:
            return resets
        group, is_share = resets.group_id, resets.type == SHARE
        alter = self.alter_share_group_offsets if is_share else self.alter_group_offsets
        answers = await alter(group, new, timeout=timeout)
        return _with_errors(resets, {(each.topic, each.partition): each for each in answers})

    async def plan_offset_deletions(
        self,
        group: str,
        *,
        topics: Iterable[str] = (),
        partitions: Iterable[Partition] = (),
        timeout: float | None = None,
    ) -> OffsetResets:
        """Which offsets would be deleted; changes nothing, ``run_offset_deletions`` deletes them.

        ``topics`` stand for all their partitions that the group has committed, ``partitions`` are
        (topic, partition) pairs. Raises InstructionError for partitions of a share group, of which
        whole topics are deleted. A group that does not exist has the error GROUP_ID_NOT_FOUND.
        """
        whole, single = set(topics), list(partitions)
        deadline = call_deadline(self, timeout)
        (described,) = await self.describe_groups([group], timeout=deadline.left)
        listed = await self._committed(described, deadline)
        if described.type == SHARE and single:
            raise InstructionError(
                f"{group} is a share group, whose offsets are deleted by whole topics: name the "
                f"topic {single[0][0]} without partitions"
            )
        why = NONE
        if listed.error is not None or not listed.offsets:
            why = offsets_failure(listed, described)
        committed = {(each.topic, each.partition): each.offset for each in listed.offsets}
        places = dict.fromkeys([*(place for place in committed if place[0] in whole), *single])
        offsets = [OffsetReset(topic=place[0], partition=place[1], offset=committed.get(place))
                   for place in (() if why["error"] else places)]  # fmt: skip
        return OffsetResets(group_id=group, type=described.type, offsets=offsets, **why)

    async def run_offset_deletions(
        self, deletions: OffsetResets, *, timeout: float | None = None
    ) -> OffsetResets:
        """Delete the offsets of a plan; of a share group those of its topics.

        The result is the plan with the errors of those that stay. Raises as
        ``delete_group_offsets``.
        """
        group = deletions.group_id
        places = [(each.topic, each.partition) for each in deletions.offsets]
        results: dict[Partition, AlteredOffset | DeletedShareOffsets] = {}
        if places and deletions.type == SHARE:
            topics = dict.fromkeys(topic for topic, _ in places)
            answers = await self.delete_share_group_offsets(group, topics, timeout=timeout)
            of_topic = {each.topic: each for each in answers}
            results |= {place: of_topic[place[0]] for place in places}
        elif places:
            deleted = await self.delete_group_offsets(group, places, timeout=timeout)
            results |= {(each.topic, each.partition): each for each in deleted}
        return _with_errors(deletions, results)

    async def _committed(
        self, group: GroupDescription, deadline: Deadline
    ) -> GroupOffsets | ShareOffsets:
        """All committed offsets of a group, or where it begins."""
        ask = self.list_share_group_offsets if group.type == SHARE else self.list_group_offsets
        (listed,) = await ask({group.group_id: None}, timeout=deadline.left)
        return listed


def _with_errors(
    resets: OffsetResets, results: Mapping[Partition, AlteredOffset | DeletedShareOffsets]
) -> OffsetResets:
    """The plan with the errors of what was tried of it."""
    offsets = [
        msgspec.structs.replace(each, error=result.error, message=result.message)
        if (result := results.get((each.topic, each.partition))) is not None
        else each
        for each in resets.offsets
    ]
    return msgspec.structs.replace(resets, offsets=offsets)


def refused_by_members(resets: OffsetResets, group: GroupDescription) -> OffsetResets:
    """The resets as a coordinator answers them while the group has members."""
    if not (count := len(group.members)):
        return resets
    is_share = group.type == SHARE
    fault = "its offsets stay" if is_share else "only they may commit offsets"
    message = (
        f"group {group.group_id} has {counted(count, 'members')}, and {fault}; "
        f"stop them first: kap groups describe {group.group_id} --members lists them"
    )
    error = "NON_EMPTY_GROUP" if is_share else "UNKNOWN_MEMBER_ID"
    refused = [
        each if each.error else msgspec.structs.replace(each, error=error, message=message)
        for each in resets.offsets
    ]
    return msgspec.structs.replace(resets, offsets=refused)
