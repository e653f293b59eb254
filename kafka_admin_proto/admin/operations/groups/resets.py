"""Planning where the committed offsets of a group go, as kafka-consumer-groups.sh resets them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from kafka_admin_proto.admin.errors import InstructionError
from kafka_admin_proto.admin.operations.common.topic_partitions import Partition
from kafka_admin_proto.admin.operations.groups.lag import SHARE, LagOperations, group_failure
from kafka_admin_proto.admin.operations.groups.model import GroupDescription
from kafka_admin_proto.admin.operations.partitions.records import LogEnd, log_end, log_ranges
from kafka_admin_proto.admin.retry import Deadline
from kafka_admin_proto.counts import counted


class OffsetReset(msgspec.Struct, frozen=True, kw_only=True):
    """A partition, its committed offset (None where there is none) and the one to commit.

    ``new_offset`` is within the log's range, and None where an ``error`` says why it is not known.
    """

    topic: str
    partition: int
    offset: int | None
    new_offset: int | None = None
    error: str | None = None
    message: str | None = None


class OffsetResets(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be committed for a group; ``error`` where the group cannot be looked at.

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
        deadline = Deadline(self.default_timeout if timeout is None else timeout)
        (described,) = await self.describe_groups([group], timeout=deadline.left)
        found = await self._all_committed(described, deadline)
        committed = {(each.topic, each.partition): each.offset for each in found.offsets}
        places = list(committed if partitions is None else dict.fromkeys(partitions))
        error, message = found.error, found.message
        if error is None and not places:
            error, message = group_failure(described)
        if error is not None or not places:
            return OffsetResets(group_id=group, type=described.type, error=error, message=message)
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
        failed = {
            (each.topic, each.partition): each
            for each in await alter(group, new, timeout=timeout)
            if each.error is not None
        }
        offsets = [
            reset
            if (failure := failed.get((reset.topic, reset.partition))) is None
            else msgspec.structs.replace(reset, error=failure.error, message=failure.message)
            for reset in resets.offsets
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
