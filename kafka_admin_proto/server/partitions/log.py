"""The log of one partition (``UnifiedLog`` in Kafka)."""

from __future__ import annotations

import msgspec

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.batches.header import BatchHeader
from kafka_admin_proto.records.batches.model import Batch
from kafka_admin_proto.server.partitions.decompression import DecompressionBudget
from kafka_admin_proto.server.partitions.epochs import LeaderEpochs
from kafka_admin_proto.server.partitions.failures import OffsetOutOfRange, RecordsRefused
from kafka_admin_proto.server.partitions.headers import stamped
from kafka_admin_proto.server.partitions.indexes import AbortedRange
from kafka_admin_proto.server.partitions.markers import (
    end_transaction,
    marker_batch,
    replay_producers,
)
from kafka_admin_proto.server.partitions.producers import Producers, ProducerState
from kafka_admin_proto.server.partitions.segments import (
    FoundOffset,
    Segment,
    StoredBatch,
    aborted_between,
    first_of_largest,
    first_since,
    segment_index,
)
from kafka_admin_proto.server.partitions.settings import LogSettings
from kafka_admin_proto.server.partitions.store import LogStore
from kafka_admin_proto.server.partitions.validation import own_batch, validate


class Appended(msgspec.Struct, frozen=True):
    """Where a batch is in the log.

    ``log_append_time_ms`` is -1 where producers set the time. A ``duplicate`` was there before,
    with these offsets; as in Kafka its ``log_append_time_ms`` is its own largest timestamp.
    """

    base_offset: int
    last_offset: int
    log_append_time_ms: int
    start_offset: int
    duplicate: bool = False


class PartitionLog:
    """Batches from ``start_offset`` to ``end_offset``, the offset of the next record.

    ``name`` is the topic and the partition as in Kafka's texts: "orders-0". ``settings`` may be
    replaced at any time. All times are milliseconds since 1970. ``store`` is where the log is kept,
    in memory by default; a log that is there already goes on. With files any method may raise
    OSError.
    """

    def __init__(
        self,
        topic: str,
        partition: int,
        settings: LogSettings,
        now_ms: int,
        store: LogStore | None = None,
    ) -> None:
        self.name: str = f"{topic}-{partition}"
        self.settings = settings
        self.store: LogStore = store or LogStore()
        stored = self.store.open(settings, now_ms)
        self.segments: list[Segment] = stored.segments
        self.start_offset: int = stored.start_offset
        self.end_offset: int = self.segments[-1].next_offset
        #: The offset up to which compaction has cleaned the log.
        self.cleaned_to: int = stored.cleaned_to
        #: Whether compaction has met a damaged batch.
        self.is_uncleanable: bool = False
        #: When the log was flushed last.
        self.flushed_ms: int = now_ms
        self.epochs: LeaderEpochs = LeaderEpochs(stored.epochs, self.store.write_epochs)
        self._producers = Producers(self.name, settings.release, self.store.snapshots)
        self._high_watermark = self.start_offset
        if self.end_offset:
            self._reload_producers(now_ms, stored.recovered_from)
            self.high_watermark = stored.high_watermark

    @property
    def high_watermark(self) -> int:
        """The offset up to which all replicas in sync have the log; it stays within the log."""
        return self._high_watermark

    @high_watermark.setter
    def high_watermark(self, offset: int) -> None:
        self._high_watermark = min(max(offset, self.start_offset), self.end_offset)
        self._producers.replicated_to(self._high_watermark)

    @property
    def last_stable_offset(self) -> int:
        """The high watermark, or the first offset of a transaction below it that is open."""
        first = self._producers.first_unstable_offset
        if first is None:
            return self._high_watermark
        return min(max(first, self.start_offset), self._high_watermark)

    @property
    def size_bytes(self) -> int:
        return sum(each.size_bytes for each in self.segments)

    def append(
        self,
        data: bytes | memoryview,
        *,
        leader_epoch: int,
        now_ms: int,
        budget: DecompressionBudget | None = None,
    ) -> Appended:
        """Append the batches of a client as one, of which the log takes a copy.

        Without any, nothing is appended and the offsets are -1. The ``budget`` is that of the
        batches' request, their own if there are no others. Transactions count as verified. Raises
        RecordsRefused; the log is as before then, though as in Kafka a new segment may have begun.
        """
        stored = validate(
            data, self.name, self.settings,
            end_offset=self.end_offset, leader_epoch=leader_epoch, now_ms=now_ms,
            budget=budget or DecompressionBudget(len(data)),
        )  # fmt: skip
        if not stored:
            return Appended(-1, -1, -1, self.start_offset)
        header = BatchHeader.of(stored)
        self._make_room(stored, header, now_ms)
        if header.has_producer_id:
            duplicate = self._producers.duplicate_of(header)
            if duplicate is not None:
                return Appended(
                    duplicate.first_offset, duplicate.last_offset, duplicate.timestamp,
                    self.start_offset, duplicate=True,
                )  # fmt: skip
            self._producers.check(header, header.base_offset)
        return self._append(stored, header, now_ms)

    def append_own(self, batch: Batch, *, leader_epoch: int, now_ms: int) -> Appended:
        """Append a coordinator's batch, which begins at the log's end and has the time ``now_ms``.

        It has keys, and no sequences. Raises RecordsRefused as ``append``.
        """
        stored = own_batch(batch, self.name, self.settings, leader_epoch)
        header = BatchHeader.of(stored)
        self._make_room(stored, header, now_ms)
        if header.has_producer_id:
            self._producers.check(header, header.base_offset, of_coordinator=True)
        return self._append(stored, header, now_ms)

    def append_marker(
        self,
        producer_id: int,
        producer_epoch: int,
        *,
        commit: bool,
        coordinator_epoch: int,
        leader_epoch: int,
        now_ms: int,
        transaction_version: int = 0,
    ) -> Appended:
        """End the transaction of a producer with a control batch, as a coordinator asks for.

        ``transaction_version`` is the level of that feature; from 2 on (KIP-890) a marker has a
        higher epoch than the transaction's records. Raises RecordsRefused.
        """
        data = marker_batch(producer_id, producer_epoch, coordinator_epoch, now_ms, commit=commit)
        log_append = self.settings.is_log_append_time
        stored = stamped(
            data, self.end_offset, leader_epoch, log_append=log_append, max_timestamp=now_ms
        )
        header = BatchHeader.of(stored)
        self._make_room(stored, header, now_ms)
        self._producers.check_marker(
            producer_id, producer_epoch, coordinator_epoch, self.end_offset, transaction_version
        )
        self._store(stored, header, now_ms)
        transaction = self._producers.append_marker(
            header, coordinator_epoch, now_ms, is_aborted=not commit
        )
        end_transaction(self._producers, transaction, self.segments[-1])
        time = now_ms if log_append else -1
        return Appended(header.base_offset, header.last_offset, time, self.start_offset)

    def begin_epoch(self, leader_epoch: int) -> None:
        """A leader takes over: its epoch begins at the end of the log."""
        self.epochs.assign(leader_epoch, self.end_offset)

    def read(self, offset: int, max_bytes: int, *, up_to: int) -> bytes:
        """The bytes of the batches that ``batches`` gives, the first one whole."""
        return b"".join(each.data for each in self.batches(offset, max_bytes, up_to=up_to))

    def batches(
        self, offset: int, max_bytes: int, *, up_to: int, whole_first: bool = True
    ) -> list[StoredBatch]:
        """Whole batches of one segment, from the one that has ``offset`` on.

        Those with offsets of ``up_to`` or above are left out. The first one is given even if it
        is larger than ``max_bytes``, unless ``whole_first`` is False. Raises OffsetOutOfRange.
        """
        if not self.start_offset <= offset <= self.end_offset:
            there = f"upto {self.end_offset}"
            if offset < self.start_offset:
                there = f"starting from offset: {self.start_offset}"
            raise OffsetOutOfRange(
                f"Received request for offset {offset} for partition {self.name}, but we only "
                f"have log segments {there}."
            )
        for segment in self.segments[max(segment_index(self.segments, offset), 0) :]:
            fitting: list[StoredBatch] = []
            batches = segment.batches  # a slice of a large segment would copy thousands of rows
            for place in range(segment.index_of(offset), len(batches)):
                batch = batches[place]
                fits = batch.size_bytes <= max_bytes or (whole_first and not fitting)
                if batch.last_offset >= up_to or not fits:
                    return fitting
                fitting.append(batch)
                max_bytes -= batch.size_bytes
            if fitting:
                return fitting
        return []

    def aborted_transactions(self, first: int, end: int) -> list[AbortedRange]:
        """The aborted transactions with offsets from ``first`` up to ``end``, which is left out."""
        return aborted_between(self.segments, first, end)

    def ongoing_transaction(self, producer_id: int) -> int | None:
        """The epoch of a producer whose transaction is under way, if the log has records of it."""
        state = self._producers.states.get(producer_id)
        return state.producer_epoch if state is not None and state.is_in_transaction else None

    def offset_for_time(self, timestamp_ms: int, *, up_to: int) -> FoundOffset | None:
        """The first record with a timestamp of at least this, None if none is below ``up_to``.

        As in Kafka, only the first segment with such a timestamp is searched.
        """
        found = first_since(self.segments, self.start_offset, timestamp_ms)
        return found if found is not None and found.offset < up_to else None

    def offset_of_max_timestamp(self) -> FoundOffset | None:
        """The first record with the largest timestamp of the log; None if the log is empty."""
        return first_of_largest(self.segments)

    def end_of_epoch(self, epoch: int, *, of_leader: bool = True) -> tuple[int, int]:
        """The largest epoch up to this one, and the offset where it ends; (-1, -1) if unknown.

        A follower hears of an epoch with its first records.
        """
        end = self.end_offset
        is_whole = self.start_offset < end or end == 0
        is_known = of_leader or not (is_whole and self.epochs.start_of_latest == end)
        return self.epochs.end_of(epoch, end, is_latest_known=is_known)

    def producers(self) -> list[ProducerState]:
        return list(self._producers.states.values())

    def expire_producers(self, now_ms: int) -> None:
        """Forget the producers that wrote nothing for producer.id.expiration.ms."""
        self._producers.expire(now_ms, self.settings.producer_id_expiration_ms)

    def delete_before(self, offset: int) -> None:
        """Let the log begin at ``offset``; retention removes the segments before it.

        Raises OffsetOutOfRange above the high watermark. An offset below the start has no effect.
        """
        if offset > self._high_watermark:
            raise OffsetOutOfRange(
                f"Cannot increment the log start offset to {offset} of partition {self.name} "
                f"since it is larger than the high watermark {self._high_watermark}"
            )
        if offset > self.start_offset:
            self.start_offset = offset
            if offset > self.segments[0].base_offset:
                self.store.start_moved()
            self.epochs.truncate_from_start(offset)
            self._producers.start_at(offset)

    def truncate(self, offset: int, now_ms: int) -> None:
        """Let the log end at ``offset``; the batch that has it and all that follow are gone."""
        if offset >= self.end_offset:
            self.epochs.truncate_from_end(self.end_offset)
            return
        self.cleaned_to = min(self.cleaned_to, offset)
        if offset < self.start_offset:  # the log does not begin behind its end
            self.start_offset = offset
            self.store.start_moved()
        self.store.truncated(offset)
        if offset < self.segments[0].base_offset:
            self._start_empty(offset, now_ms)
            return
        kept = segment_index(self.segments, offset) + 1
        gone = self.segments[kept:]
        for segment in gone:
            self._producers.drop_snapshot(segment.base_offset)
        del self.segments[kept:]
        self.store.remove(gone[::-1], self.settings)  # what is left has no gaps
        self.segments[-1].truncate(offset, now_ms)
        self.end_offset = offset
        self.epochs.truncate_from_end(offset)
        self._reload_producers(now_ms)
        self.high_watermark = self._high_watermark  # bounded by the new end

    def roll(self, now_ms: int) -> Segment:
        """Begin a new segment at the end of the log, unless the last one is empty and is there."""
        segment = self.store.segment(self.end_offset, self.settings, now_ms)
        if self.segments[-1].base_offset == self.end_offset:
            self.segments.pop()
        else:
            self.segments[-1].finish()
        self.segments.append(segment)
        self._producers.map_end = self.end_offset
        self._producers.take_snapshot()
        self.flush(now_ms)
        return segment

    def flush(self, now_ms: int) -> None:
        """Let the log survive the end of the machine, as far as it is. Raises OSError."""
        self.store.flush(self.segments, self.end_offset)
        self.flushed_ms = now_ms

    def close(self, now_ms: int) -> None:
        """Let the log be opened again without a look at its batches; it gets no more. OSError."""
        self.segments[-1].finish()
        self._producers.take_snapshot()
        self.flush(now_ms)

    def remove_segments(self, count: int, now_ms: int) -> None:
        """Remove the first segments, none of which reaches above the high watermark."""
        if count == len(self.segments):
            self.roll(now_ms)
        gone = self.segments[:count]
        for segment in gone:
            self._producers.drop_snapshot(segment.base_offset)
        del self.segments[:count]
        self.delete_before(self.segments[0].base_offset)
        self.store.remove(gone, self.settings)

    def replace_segments(self, cleaned: Segment, segments: list[Segment]) -> None:
        """Put a cleaned segment in the place of those that it was made of."""
        place = self.segments.index(segments[0])
        cleaned.finish()
        self.store.replace(cleaned, segments, self.settings)
        self.segments[place : place + len(segments)] = [cleaned]

    def _make_room(self, stored: bytes, header: BatchHeader, now_ms: int) -> None:
        """Begin the batch's epoch, if it is new, and a segment, if the last one is full."""
        self.epochs.assign(header.leader_epoch, header.base_offset)
        if len(stored) > self.settings.segment_bytes:
            raise RecordsRefused(
                codes.RECORD_LIST_TOO_LARGE,
                f"Message batch size is {len(stored)} bytes in append to partition {self.name}, "
                f"which exceeds the maximum configured segment size of "
                f"{self.settings.segment_bytes}.",
            )
        if self.segments[-1].is_full(
            self.settings, len(stored), header.last_offset, header.max_timestamp, now_ms
        ):
            self.roll(now_ms)

    def _append(self, stored: bytes, header: BatchHeader, now_ms: int) -> Appended:
        """Take a batch that was checked."""
        self._store(stored, header, now_ms)
        if header.has_producer_id:
            self._producers.append(header)
        time = now_ms if self.settings.is_log_append_time else -1
        return Appended(header.base_offset, header.last_offset, time, self.start_offset)

    def _store(self, stored: bytes, header: BatchHeader, now_ms: int) -> None:
        self.segments[-1].append(stored, header, now_ms)
        self.end_offset = self._producers.map_end = header.last_offset + 1
        if self.end_offset - self.store.recovery_point >= self.settings.flush_messages:
            self.flush(now_ms)

    def _start_empty(self, offset: int, now_ms: int) -> None:
        """Remove everything; the log begins and ends at ``offset``."""
        self.store.remove(self.segments[::-1], self.settings)
        self.segments = [self.store.segment(offset, self.settings, now_ms)]
        self.end_offset = offset
        self.epochs.clear()
        self._producers.clear(offset)
        self.high_watermark = offset

    def _reload_producers(self, now_ms: int, recovered_from: float = float("inf")) -> None:
        """Bring the producers to the end of the log, from their last snapshot on."""
        producers = self._producers
        is_behind = producers.reload(self.start_offset, self.end_offset)
        self.expire_producers(now_ms)
        if is_behind:
            replay_producers(producers, self.segments, self.start_offset, recovered_from)
        producers.map_end = self.end_offset
        producers.take_snapshot()
