"""Fetching records from the leaders of partitions, from offsets that the caller keeps."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec

from kafka_admin_proto.admin.caller import call_deadline
from kafka_admin_proto.admin.errors import InstructionError
from kafka_admin_proto.admin.operations.common.failures import Failure, failure
from kafka_admin_proto.admin.operations.common.routing import ask_leaders
from kafka_admin_proto.admin.operations.common.topic_partitions import Partition, by_topic
from kafka_admin_proto.admin.operations.partitions.records import (
    IsolationLevel,
    LogEnd,
    RecordOperations,
    isolation_level,
    log_end,
    log_ranges,
)
from kafka_admin_proto.admin.operations.topics.partition_search import (
    FindPartitions,
    FoundPartitions,
)
from kafka_admin_proto.errors import DecodeError, RemoteProtocolError
from kafka_admin_proto.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kafka_admin_proto.messages.fetch_response import FetchResponse, PartitionData
from kafka_admin_proto.records.batches.batches import Batch, Record, read_batches
from kafka_admin_proto.records.batches.control import read_control_key
from kafka_admin_proto.schema.versions import VersionRange

#: The versions of Fetch that give batches as they are stored and name topics.
_VERSIONS = VersionRange(4, 12)
#: The longest wait that a request can name: milliseconds in an INT32.
_LONGEST_WAIT_S = ((1 << 31) - 1) / 1000
_CLIENT, _NO_SESSION = -1, -1
_ABORT = "ABORT"


class FetchedRecords(msgspec.Struct, frozen=True, kw_only=True):
    """Records of a partition from an offset on, as many as a request may bring.

    ``next_offset`` is where to go on, which may be past records that are not shown: control records
    and those of aborted transactions. ``high_watermark`` and ``start_offset`` are the ends of what
    consumers can read, None where there is an ``error``, or where the broker gives nothing yet
    since a quota is exceeded.
    """

    topic: str
    partition: int
    records: Sequence[Record] = ()
    next_offset: int
    high_watermark: int | None = None
    start_offset: int | None = None
    error: str | None = None
    message: str | None = None


class UnreadPartition(msgspec.Struct, frozen=True, kw_only=True):
    """A partition whose offsets could not be looked up; of a whole topic ``partition`` is None."""

    topic: str
    partition: int | None = None
    error: str | None
    message: str | None


class ReadingPlan(msgspec.Struct, frozen=True):
    """The offset from which to read each partition (topic, number), and where its log ends now."""

    offsets: dict[Partition, int]
    ends: dict[Partition, int]
    failed: list[UnreadPartition]


class FetchOperations(FindPartitions, RecordOperations):
    """Fetch, outside of groups and sessions."""

    async def plan_reading(
        self,
        topics: Iterable[str],
        *,
        partitions: Collection[int] | None = None,
        begin: LogEnd | int = "earliest",
        since_ms: int | None = None,
        isolation: IsolationLevel = "read_uncommitted",
        timeout: float | None = None,
    ) -> ReadingPlan:
        """The offsets to ``fetch`` from, of all partitions of topics, or of these ``partitions``.

        ``begin`` is an end of the log, an offset, or a negative number of offsets before the end;
        it is kept within the log. ``since_ms`` (since 1970) is in its place the time of the first
        record. Raises InstructionError where both are given.
        """
        if since_ms is not None and begin != "earliest":
            raise InstructionError("give one of begin and since_ms: both say where to begin")
        if isinstance(begin, str):
            log_end(begin)
        isolation_level(isolation)
        deadline = call_deadline(self, timeout)
        plan = ReadingPlan({}, {}, [])
        names = list(dict.fromkeys(topics))
        found = FoundPartitions()
        if names:
            found = await self.find_partitions(names, timeout=deadline.left)
        for unread in found.failed:
            plan.failed.append(
                UnreadPartition(topic=unread.name or "", error=unread.error, message=unread.message)
            )
        places = found.partitions
        if partitions is not None:
            there = dict.fromkeys(topic for topic, _ in places)
            places = [(topic, number) for topic in there for number in sorted(partitions)]
        logs = await log_ranges(self, places, since_ms, deadline, isolation=isolation)
        for place, log in logs.items():
            if log.error is not None:
                topic, number = place
                plan.failed.append(
                    UnreadPartition(
                        topic=topic, partition=number, error=log.error, message=log.message
                    )
                )
                continue
            if since_ms is not None:
                at = log.at_time
            elif isinstance(begin, int):
                at = log.end + begin if begin < 0 else begin
            else:
                at = log.end if begin == "latest" else log.start
            plan.offsets[place], plan.ends[place] = log.within(at), log.end
        return plan

    async def fetch(
        self,
        offsets: Mapping[Partition, int],
        *,
        max_wait: float = 0.5,
        max_bytes: int = 50 << 20,
        isolation: IsolationLevel = "read_uncommitted",
        timeout: float | None = None,
    ) -> list[FetchedRecords]:
        """The next records of each partition (topic, number), in the order of ``offsets``.

        Without any records a leader answers after ``max_wait`` seconds, and over a quota at once,
        with none; the next call then waits as long as it asks for. Each leader gives at most
        ``max_bytes``, and at least one batch. With "read_committed" records of open and aborted
        transactions are left out. Raises RemoteProtocolError for a damaged batch, and
        InstructionError for a ``max_wait`` below 0 or nan and for ``max_bytes`` below 0.
        """
        if not max_wait >= 0:  # nan, too
            raise InstructionError(f"max_wait is 0 or more seconds, not {max_wait:g}")
        if max_bytes < 0:
            raise InstructionError(f"max_bytes is 0 or more, not {max_bytes}")
        level = isolation_level(isolation)

        def failed(partition: Partition, why: Failure) -> FetchedRecords:
            topic, number = partition
            next_offset = offsets[partition]
            return FetchedRecords(topic=topic, partition=number, next_offset=next_offset, **why)

        async def ask(
            broker: int, partitions: list[Partition], left: float
        ) -> dict[Partition, FetchedRecords]:
            request = FetchRequest(
                replica_id=_CLIENT,
                max_wait_ms=int(min(max_wait, left / 2, _LONGEST_WAIT_S) * 1000),
                min_bytes=1,
                max_bytes=max_bytes,
                isolation_level=level,
                session_epoch=_NO_SESSION,
                topics=[
                    FetchTopic(
                        topic=topic,
                        partitions=[
                            FetchPartition(
                                partition=number,
                                fetch_offset=offsets[topic, number],
                                partition_max_bytes=max_bytes,
                            )
                            for number in numbers
                        ],
                    )
                    for topic, numbers in by_topic(partitions).items()
                ],
            )
            reply = await self.call_owner(
                request, FetchResponse, to=broker, timeout=left, versions=_VERSIONS
            )
            if reply.body.error_code:
                why = failure(reply.body.error_code)
                return {each: failed(each, why) for each in partitions}
            if not reply.body.responses and reply.body.throttle_time_ms > 0:
                return {each: _throttled(each, offsets[each]) for each in partitions}
            fetched = {}
            for answered in reply.body.responses:
                for row in answered.partitions:
                    partition = answered.topic, row.partition_index
                    fetched[partition] = (
                        failed(partition, failure(row.error_code))
                        if row.error_code
                        else _fetched(partition, offsets[partition], row)
                    )
            return fetched

        return await ask_leaders(self, list(offsets), ask, failed, timeout=timeout)


def _throttled(partition: Partition, offset: int) -> FetchedRecords:
    """No records yet: over a quota of bytes a broker answers without partitions (KIP-219).

    The next request to it waits as long as it has asked for.
    """
    return FetchedRecords(topic=partition[0], partition=partition[1], next_offset=offset)


def _fetched(partition: Partition, offset: int, answered: PartitionData) -> FetchedRecords:
    records: list[Record] = []
    next_offset = offset
    try:
        for batch in _committed(read_batches(answered.records or b""), answered):
            if isinstance(batch, Batch):
                records += [each for each in batch.records if each.offset >= offset]
                batch = batch.last_offset
            next_offset = max(next_offset, batch + 1)
    except DecodeError as error:
        where = f"{partition[0]}-{partition[1]} at offset {offset}"
        raise RemoteProtocolError(f"records of {where}: {error}") from error
    return FetchedRecords(
        topic=partition[0],
        partition=partition[1],
        records=records,
        next_offset=next_offset,
        high_watermark=answered.high_watermark,
        start_offset=answered.log_start_offset if answered.log_start_offset >= 0 else None,
    )


def _committed(batches: Iterable[Batch], answered: PartitionData) -> Iterable[Batch | int]:
    """Each batch; of one that consumers do not see, its last offset.

    The answer lists aborted transactions only for "read_committed" (``CompletedFetch`` in Kafka).
    """
    begins = sorted(
        answered.aborted_transactions or (), key=lambda each: each.first_offset, reverse=True
    )
    aborted: set[int] = set()
    for batch in batches:
        while begins and begins[-1].first_offset <= batch.last_offset:
            aborted.add(begins.pop().producer_id)
        if batch.is_control:
            if batch.records and read_control_key(batch.records[0].key).name == _ABORT:
                aborted.discard(batch.producer_id)
            yield batch.last_offset
        elif batch.is_transactional and batch.producer_id in aborted:
            yield batch.last_offset
        else:
            yield batch
