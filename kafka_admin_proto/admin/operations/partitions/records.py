"""Records of partitions: listing their offsets, and deleting those before an offset."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, get_args

import msgspec

from kafka_admin_proto.admin.caller import Caller
from kafka_admin_proto.admin.errors import InstructionError
from kafka_admin_proto.admin.operations.common.failures import Failure, failure
from kafka_admin_proto.admin.operations.common.routing import ask_leaders
from kafka_admin_proto.admin.operations.common.timeouts import wire_timeout_ms
from kafka_admin_proto.admin.operations.common.topic_partitions import Partition, by_topic
from kafka_admin_proto.admin.retry import Deadline
from kafka_admin_proto.messages import DeleteRecordsResponse, ListOffsetsResponse
from kafka_admin_proto.messages.delete_records_request import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from kafka_admin_proto.messages.list_offsets_request import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from kafka_admin_proto.schema.versions import MAX_VERSION, VersionRange

OffsetSpec = Literal[
    "latest",
    "earliest",
    "max_timestamp",
    "earliest_local",
    "latest_tiered",
    "earliest_pending_upload",
]
LogEnd = Literal["earliest", "latest"]
IsolationLevel = Literal["read_uncommitted", "read_committed"]

#: The number of each spec on the wire, and the version of ListOffsets that first has it.
_SPECS: dict[OffsetSpec, tuple[int, int]] = {
    "latest": (-1, 1),
    "earliest": (-2, 1),
    "max_timestamp": (-3, 7),
    "earliest_local": (-4, 8),
    "latest_tiered": (-5, 9),
    "earliest_pending_upload": (-6, 11),
}
_LEVELS: dict[IsolationLevel, int] = {"read_uncommitted": 0, "read_committed": 1}
#: Since this version of ListOffsets a request has an isolation level. Version 0 has other answers.
_ISOLATION, _OFFSETS = 2, 1
#: The replica id of clients.
_CLIENT = -1
#: Stands for the high watermark where records are deleted: all that consumers can see.
ALL_RECORDS = -1


class ListedOffset(msgspec.Struct, frozen=True, kw_only=True):
    """An offset of a partition.

    ``offset`` is None where no record matches (all are older, or none is in tiered storage).
    ``timestamp_ms`` (since 1970) is the record's, where the request was for a time.
    """

    topic: str
    partition: int
    offset: int | None = None
    timestamp_ms: int | None = None
    leader_epoch: int | None = None
    error: str | None = None
    message: str | None = None


class LogRange(msgspec.Struct, frozen=True, kw_only=True):
    """The offsets that a partition's log begins and ends with, unless there is an ``error``.

    ``at_time`` is the first offset at or after the time that was asked for, else ``end``.
    """

    start: int
    end: int
    at_time: int
    error: str | None = None
    message: str | None = None

    def within(self, offset: int) -> int:
        """The offset, or the end of the log that it is beyond."""
        return min(max(offset, self.start), self.end)


class DeletedRecords(msgspec.Struct, frozen=True, kw_only=True):
    """The first offset that a partition has, after records before it were deleted."""

    topic: str
    partition: int
    low_watermark: int | None = None
    error: str | None = None
    message: str | None = None


class RecordOperations(Caller):
    """ListOffsets and DeleteRecords, which leaders alone answer."""

    async def list_offsets(
        self,
        specs: Mapping[Partition, OffsetSpec | int],
        *,
        isolation: IsolationLevel = "read_uncommitted",
        timeout: float | None = None,
    ) -> list[ListedOffset]:
        """An offset of each partition (topic, number), in the order of ``specs``.

        A number of milliseconds since 1970 asks for the first record that is not older.
        "read_committed" leaves out what open transactions have written. Raises InstructionError for
        another spec, and UnsupportedVersionError for one that no broker here has.
        """
        times = {partition: _timestamp(spec) for partition, spec in specs.items()}
        level = isolation_level(isolation)
        lowest = max(
            (_SPECS[spec][1] for spec in specs.values() if not isinstance(spec, int)),
            default=_OFFSETS,
        )
        if isolation == "read_committed":
            lowest = max(lowest, _ISOLATION)

        async def ask(
            broker: int, partitions: list[Partition], left: float
        ) -> dict[Partition, ListedOffset]:
            request = ListOffsetsRequest(
                replica_id=_CLIENT,
                isolation_level=level,
                topics=[
                    ListOffsetsTopic(
                        name=topic,
                        partitions=[
                            ListOffsetsPartition(
                                partition_index=number, timestamp=times[topic, number]
                            )
                            for number in numbers
                        ],
                    )
                    for topic, numbers in by_topic(partitions).items()
                ],
                timeout_ms=wire_timeout_ms(left),
            )
            reply = await self.call_owner(
                request,
                ListOffsetsResponse,
                to=broker,
                timeout=left,
                versions=VersionRange(lowest, MAX_VERSION),
            )
            return {
                (topic.name, row.partition_index): ListedOffset(
                    topic=topic.name,
                    partition=row.partition_index,
                    offset=row.offset if row.offset >= 0 else None,
                    timestamp_ms=row.timestamp if row.timestamp >= 0 else None,
                    leader_epoch=row.leader_epoch if row.leader_epoch >= 0 else None,
                    **failure(row.error_code),
                )
                for topic in reply.body.topics
                for row in topic.partitions
            }

        def failed(place: Partition, why: Failure) -> ListedOffset:
            return ListedOffset(topic=place[0], partition=place[1], **why)

        return await ask_leaders(self, list(specs), ask, failed, timeout=timeout)

    async def delete_records(
        self, offsets: Mapping[Partition, int], *, timeout: float | None = None
    ) -> list[DeletedRecords]:
        """Delete the records before an offset of each partition (topic, number), in that order.

        ``ALL_RECORDS`` (-1) deletes all that are replicated. Where an answer was lost, the second
        attempt finds the records gone and says the same.
        """

        async def ask(
            broker: int, partitions: list[Partition], left: float
        ) -> dict[Partition, DeletedRecords]:
            request = DeleteRecordsRequest(
                topics=[
                    DeleteRecordsTopic(
                        name=topic,
                        partitions=[
                            DeleteRecordsPartition(
                                partition_index=number, offset=offsets[topic, number]
                            )
                            for number in numbers
                        ],
                    )
                    for topic, numbers in by_topic(partitions).items()
                ],
                timeout_ms=wire_timeout_ms(left),
            )
            reply = await self.call_owner(request, DeleteRecordsResponse, to=broker, timeout=left)
            return {
                (topic.name, row.partition_index): DeletedRecords(
                    topic=topic.name,
                    partition=row.partition_index,
                    low_watermark=row.low_watermark if row.low_watermark >= 0 else None,
                    **failure(row.error_code),
                )
                for topic in reply.body.topics
                for row in topic.partitions
            }

        def failed(place: Partition, why: Failure) -> DeletedRecords:
            return DeletedRecords(topic=place[0], partition=place[1], **why)

        return await ask_leaders(self, list(offsets), ask, failed, timeout=timeout)


async def log_ranges(
    operations: RecordOperations,
    partitions: Iterable[Partition],
    time_ms: int | None,
    deadline: Deadline,
    *,
    isolation: IsolationLevel = "read_uncommitted",
) -> dict[Partition, LogRange]:
    """Where the log of each partition begins and ends, and where it is at a time (since 1970)."""
    places = list(dict.fromkeys(partitions))
    specs: list[OffsetSpec | int] = ["earliest", "latest"]
    specs += [] if time_ms is None else [time_ms]
    listed = [
        await operations.list_offsets(
            dict.fromkeys(places, each), isolation=isolation, timeout=deadline.left
        )
        for each in specs
    ]
    return {place: _range(*found) for place, *found in zip(places, *listed, strict=True)}


def _range(
    first: ListedOffset, last: ListedOffset, at_time: ListedOffset | None = None
) -> LogRange:
    failed = next((each for each in (first, last, at_time) if each and each.error), first)
    end = last.offset or 0
    return LogRange(
        start=first.offset or 0,
        end=end,
        at_time=end if at_time is None or at_time.offset is None else at_time.offset,
        error=failed.error,
        message=failed.message,
    )


def log_end(end: LogEnd) -> LogEnd:
    """The end of a log as it was given. Raises InstructionError for another text."""
    if end not in get_args(LogEnd):
        raise InstructionError(
            f"{end!r} is no end of a log; expected {' or '.join(get_args(LogEnd))}"
        )
    return end


def isolation_level(isolation: IsolationLevel) -> int:
    """Its number on the wire. Raises InstructionError for another text."""
    if isolation not in _LEVELS:
        raise InstructionError(f"isolation {isolation!r}: expected one of {', '.join(_LEVELS)}")
    return _LEVELS[isolation]


def _timestamp(spec: OffsetSpec | int) -> int:
    if isinstance(spec, int) and not isinstance(spec, bool) and spec >= 0:
        return spec
    if isinstance(spec, str) and spec in _SPECS:
        return _SPECS[spec][0]
    raise InstructionError(
        f"{spec!r} stands for no offset; expected milliseconds since 1970 or one of "
        f"{', '.join(_SPECS)}"
    )
