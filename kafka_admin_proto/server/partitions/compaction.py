"""Compaction: of each key the latest record stays (``LogCleanerManager`` and ``Cleaner``).

Batches of aborted transactions go with their markers (``CleanedTransactionMetadata``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heappop, heappush

from kafka_admin_proto.errors import DecodeError
from kafka_admin_proto.loggers import SERVER
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.batches.batches import write_batch
from kafka_admin_proto.records.batches.control import read_control_key
from kafka_admin_proto.records.batches.header import BatchHeader
from kafka_admin_proto.records.batches.model import NO_TIMESTAMP, Batch, Record
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.partitions.headers import stamped
from kafka_admin_proto.server.partitions.indexes import AbortedRange
from kafka_admin_proto.server.partitions.log import PartitionLog
from kafka_admin_proto.server.partitions.segments import (
    Segment,
    StoredBatch,
    read_stored,
    segments_between,
)
from kafka_admin_proto.server.partitions.settings import LogSettings


def compact(log: PartitionLog, now_ms: int) -> None:
    """Clean the log if enough of it is dirty, or some of it for too long.

    What may be cleaned is below the last stable offset, and in segments that are closed and old
    enough. Batches keep their offsets; tombstones stay for delete.retention.ms from when they were
    first cleaned. A log with a damaged batch is left as it is until the next start.
    """
    if not log.settings.is_compacted or log.is_uncleanable:
        return
    try:
        _compact(log, now_ms)
    except ApiFailure as failure:
        if failure.code != codes.CORRUPT_MESSAGE:
            raise
        log.is_uncleanable = True
        SERVER.warning(
            "%s is not compacted any more, since a batch is damaged: %s", log.name, failure.message
        )


def _compact(log: PartitionLog, now_ms: int) -> None:
    first = log.cleaned_to
    if not log.start_offset <= first <= log.end_offset:
        first = log.start_offset
    end = _uncleanable_offset(log, first, now_ms)
    if not _is_due(log, first, end, now_ms):
        return
    cleaning = _Cleaning(log, first, end, now_ms)
    closed = [each for each in log.segments if each.base_offset < end]
    while closed:
        group = _group(closed, log.settings)
        log.replace_segments(cleaning.clean(group), group)
        closed = closed[len(group) :]
    log.cleaned_to = end


def _closed_from(log: PartitionLog, offset: int) -> list[Segment]:
    last = log.segments[-1].base_offset
    return segments_between(log.segments, offset, last) if offset <= last else []


def _uncleanable_offset(log: PartitionLog, first: int, now_ms: int) -> int:
    """The first offset that may not be cleaned; the base offset of a segment if it is in one."""
    end = min(log.last_stable_offset, log.segments[-1].base_offset)
    lag_ms = log.settings.min_compaction_lag_ms
    if lag_ms > 0:
        young = (
            each.base_offset
            for each in _closed_from(log, first)
            if each.largest_timestamp > now_ms - lag_ms
        )
        end = min(end, next(young, end))
    closed = _closed_from(log, max(end, first))
    return closed[0].base_offset if closed else log.segments[-1].base_offset


def _is_due(log: PartitionLog, first: int, end: int, now_ms: int) -> bool:
    dirty = sum(each.size_bytes for each in segments_between(log.segments, min(first, end), end))
    clean = sum(each.size_bytes for each in segments_between(log.segments, -1, first))
    if not dirty:
        return False
    times = [each.first_timestamp for each in _closed_from(log, first)]
    oldest = min((each for each in times if each > 0), default=now_ms)
    return (
        dirty / (dirty + clean) > log.settings.min_cleanable_dirty_ratio
        or oldest < now_ms - log.settings.max_compaction_lag_ms
    )


def _group(segments: list[Segment], settings: LogSettings) -> list[Segment]:
    """The first segments that fit into one, with their indexes."""
    sizes = [0, 0, 0]
    for count, segment in enumerate(segments):
        index = segment.index
        more = segment.size_bytes, len(index.offsets), len(index.times)
        sizes = [size + of_segment for size, of_segment in zip(sizes, more, strict=True)]
        is_too_large = sizes[0] > settings.segment_bytes
        if count and (is_too_large or max(sizes[1:]) > settings.segment_index_bytes):
            return segments[:count]
    return segments


class _Cleaning:
    """One run over the log, whose offsets from ``first`` to ``end`` are dirty."""

    def __init__(self, log: PartitionLog, first: int, end: int, now_ms: int) -> None:
        self._log = log
        self._end = end
        self._now_ms = now_ms
        self._latest = dict(self._keys(first, end))
        self._transactions = CleanedTransactions()
        #: What stays of a producer so that it is known: its last batch, or without one a marker.
        self._last = {
            each.producer_id: (each.batches[-1].last_offset if each.batches else None,
                               each.producer_epoch)
            for each in log.producers()
        }  # fmt: skip

    def clean(self, group: list[Segment]) -> Segment:
        """One segment with what is kept of some."""
        log = self._log
        cleaned = log.store.segment(
            group[0].base_offset, log.settings, group[0].created_ms, is_cleaned=True
        )
        for place, segment in enumerate(group):
            end = segment.next_offset if place + 1 == len(group) else group[place + 1].base_offset
            self._transactions.add(self._log.aborted_transactions(segment.base_offset, end))
            for stored in segment.batches:
                data = self._kept(stored)
                if data is not None:
                    cleaned.append(data, BatchHeader.of(data), segment.modified_ms)
        cleaned.modified_ms = group[-1].modified_ms
        cleaned.aborted = self._transactions.take_kept()
        return cleaned

    def _keys(self, first: int, end: int) -> Iterator[tuple[bytes, int]]:
        """Each key in the dirty part, and its offset; aborted records do not count."""
        transactions = CleanedTransactions()
        if first < end:
            transactions.add(self._log.aborted_transactions(first, end))
        for segment in segments_between(self._log.segments, min(first, end), end):
            for stored in segment.batches:
                batch = read_stored(stored)
                if not transactions.is_discarded(batch):
                    for record in batch.records:
                        if record.key is not None and record.offset >= first:
                            yield record.key, record.offset

    def _kept(self, stored: StoredBatch) -> bytes | None:
        """The bytes of a batch with the records that stay, None if nothing stays of it."""
        batch = read_stored(stored)
        can_discard = is_discarded = self._transactions.is_discarded(batch)
        horizon = batch.base_timestamp if batch.has_delete_horizon else None
        if batch.is_control:
            is_discarded = can_discard and horizon is not None and horizon <= self._now_ms
        records = [
            each
            for each in batch.records
            if not is_discarded and (batch.is_control or self._is_kept(each, horizon))
        ]
        if not records:
            return _without_records(batch) if self._is_needed(batch) else None
        has_tombstone = any(each.value is None for each in records)
        is_first = horizon is None and (has_tombstone or (can_discard and batch.is_control))
        if is_first:
            horizon = self._now_ms + self._log.settings.delete_retention_ms
        elif len(records) == len(batch.records):
            return stored.data
        batch.records = records
        timestamps = [each.timestamp for each in records]
        batch.max_timestamp = max(timestamps)
        batch.has_delete_horizon = horizon is not None
        batch.base_timestamp = timestamps[0] if horizon is None else horizon
        # Written as if by producers, so that the deltas count from the horizon.
        log_append = batch.timestamp_type == "log_append"
        batch.timestamp_type = "create"
        return stamped(
            write_batch(batch),
            batch.base_offset,
            batch.partition_leader_epoch,
            log_append=log_append,
            max_timestamp=batch.max_timestamp,
        )

    def _is_kept(self, record: Record, horizon: int | None) -> bool:
        if record.offset >= self._end:
            return True
        if record.key is None or record.offset < self._latest.get(record.key, -1):
            return False
        return record.value is not None or horizon is None or self._now_ms < horizon

    def _is_needed(self, batch: Batch) -> bool:
        """Whether an empty batch stays, for its producer or for the last offset."""
        log = self._log
        last = log.high_watermark if log.settings.release >= (4, 4) else self._end
        if batch.last_offset + 1 == last:
            return True
        if batch.producer_id not in self._last:
            return False
        offset, epoch = self._last[batch.producer_id]
        if offset is None:
            return batch.is_control and batch.producer_epoch == epoch
        return batch.last_offset == offset


def _without_records(batch: Batch) -> bytes:
    batch.records = []
    batch.compression = "none"
    batch.has_delete_horizon = False
    batch.base_timestamp = NO_TIMESTAMP
    return write_batch(batch)


class CleanedTransactions:
    """The transactions around the batch that compaction is at; batches come by their offsets."""

    def __init__(self) -> None:
        self._coming: list[tuple[int, int, AbortedRange]] = []
        #: By producer: the aborted transaction that is under way, and whether a batch of it came.
        self._aborted: dict[int, tuple[AbortedRange, bool]] = {}
        self._committed: set[int] = set()
        self._kept: list[AbortedRange] = []

    def add(self, aborted: Iterable[AbortedRange]) -> None:
        """More aborted transactions, of the segment that comes next."""
        for each in aborted:
            heappush(self._coming, (each.first_offset, each.last_offset, each))

    def take_kept(self) -> list[AbortedRange]:
        """The aborted transactions that still have batches, for the index of a cleaned segment."""
        kept, self._kept = self._kept, []
        return kept

    def is_discarded(self, batch: Batch) -> bool:
        """Whether a batch is of an aborted transaction, or marks one that has no batches left."""
        while self._coming and self._coming[0][0] <= batch.last_offset:
            entry = heappop(self._coming)[2]
            self._aborted.setdefault(entry.producer_id, (entry, False))
        producer_id = batch.producer_id
        if batch.is_control:
            return self._is_empty(batch)
        if not batch.is_transactional:
            return False
        if producer_id in self._aborted:
            self._aborted[producer_id] = (self._aborted[producer_id][0], True)
            return True
        self._committed.add(producer_id)
        return False

    def _is_empty(self, marker: Batch) -> bool:
        if not marker.records:
            return True
        try:
            name = read_control_key(marker.records[0].key).name
        except DecodeError:  # what it marks is not known: it stays
            return False
        if name == "ABORT":
            entry, has_batches = self._aborted.pop(marker.producer_id, (None, False))
            if entry is not None and has_batches:
                self._kept.append(entry)
            return not has_batches
        if name == "COMMIT" and marker.producer_id in self._committed:
            self._committed.remove(marker.producer_id)
            return False
        return name == "COMMIT"
