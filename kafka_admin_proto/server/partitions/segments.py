"""The segments of a log: whole batches as they are sent and stored, in the order of offsets.

A segment's batches, one after the other, are what Kafka's ``.log`` file of that name has. Their
records are found by offset and by timestamp.
"""

from __future__ import annotations

import random
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from operator import attrgetter
from typing import Protocol

import msgspec

from kafka_admin_proto.errors import DecodeError
from kafka_admin_proto.loggers import SERVER
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.batches.batches import read_batches
from kafka_admin_proto.records.batches.header import MAX_INT, BatchHeader
from kafka_admin_proto.records.batches.layout import BATCH_HEADER
from kafka_admin_proto.records.batches.model import Batch, Record
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.partitions.indexes import AbortedRange, SegmentIndex
from kafka_admin_proto.server.partitions.settings import LogSettings

_BASE_OFFSET = attrgetter("base_offset")
_MAX_TIMESTAMP_SO_FAR = attrgetter("max_timestamp_so_far")


#: What reading a batch of the log may decompress: it was checked when it was appended.
_STORED_LIMIT = 1 << 40


class BatchSource(Protocol):
    """The file of a segment, as its batches read it."""

    def read(self, position: int, size_bytes: int) -> bytes:
        """So many bytes from a position on. Raises OSError."""


class StoredBatch(msgspec.Struct, gc=False):
    """One batch of a log: where its bytes are, and what is asked for often.

    ``source`` are the bytes, or the file that has them at ``position``. ``max_timestamp_so_far`` is
    the largest timestamp in the segment up to this batch.
    """

    source: bytes | BatchSource
    position: int
    size_bytes: int
    base_offset: int
    last_offset: int
    max_timestamp: int
    max_timestamp_so_far: int

    @property
    def data(self) -> bytes:
        """The batch. Raises ApiFailure if its file cannot be read."""
        source = self.source
        return source if type(source) is bytes else self._read(self.size_bytes)

    @property
    def header(self) -> BatchHeader:
        """The header of the batch. Raises ApiFailure if its file cannot be read."""
        source = self.source
        return BatchHeader.of(source if type(source) is bytes else self._read(BATCH_HEADER.size))

    def _read(self, size_bytes: int) -> bytes:
        assert not isinstance(self.source, bytes)
        try:
            return self.source.read(self.position, size_bytes)
        except OSError as error:
            SERVER.warning("records cannot be read: %s", error)
            raise ApiFailure(codes.KAFKA_STORAGE_ERROR, str(error)) from None


def read_stored(batch: StoredBatch) -> Batch:
    """A batch of the log with its records. Raises ApiFailure if it was damaged."""
    try:
        (read,) = read_batches(batch.data, limit=_STORED_LIMIT)
    except DecodeError as error:
        raise ApiFailure(codes.CORRUPT_MESSAGE, str(error)) from None
    return read


class Segment:
    """A run of batches from ``base_offset`` on; ``created_ms`` and ``modified_ms`` are times."""

    def __init__(self, base_offset: int, settings: LogSettings, now_ms: int) -> None:
        self.base_offset = base_offset
        self.created_ms: int = now_ms
        self.modified_ms: int = now_ms
        self.batches: list[StoredBatch] = []
        self.size_bytes: int = 0
        self.aborted: list[AbortedRange] = []
        self.index: SegmentIndex = SegmentIndex(base_offset, settings.index_interval_bytes)
        jitter_ms = min(settings.segment_jitter_ms, settings.segment_ms)
        self._jitter_ms = random.randrange(jitter_ms) if jitter_ms else 0

    @property
    def max_timestamp(self) -> int:
        """The largest timestamp of the segment's batches, -1 without one."""
        return self.batches[-1].max_timestamp_so_far if self.batches else -1

    @property
    def largest_timestamp(self) -> int:
        """The same; of a segment without timestamps, when it was written last."""
        return self.max_timestamp if self.max_timestamp >= 0 else self.modified_ms

    @property
    def first_timestamp(self) -> int:
        """The timestamp of the first batch, from which segment.ms counts; -1 without one."""
        return self.batches[0].max_timestamp if self.batches else -1

    @property
    def next_offset(self) -> int:
        return self.batches[-1].last_offset + 1 if self.batches else self.base_offset

    def append(self, data: bytes, header: BatchHeader, now_ms: int) -> None:
        """Take a batch, whose ``header`` has its final values. Raises OSError."""
        self._add(self._keep(data), header)
        self.modified_ms = now_ms

    def _keep(self, data: bytes) -> bytes | BatchSource:
        """Put the bytes of the next batch where this segment has them: in memory."""
        return data

    def _add(self, source: bytes | BatchSource, header: BatchHeader) -> None:
        size = header.size
        self.index.add(header.last_offset, header.max_timestamp, self.size_bytes, size)
        self.batches.append(
            StoredBatch(
                source, self.size_bytes, size,
                header.base_offset, header.last_offset, header.max_timestamp,
                max(self.max_timestamp, header.max_timestamp),
            )
        )  # fmt: skip
        self.size_bytes += size

    def finish(self) -> None:
        """The segment gets no more batches. Raises OSError."""
        self.index.finish()

    def is_full(
        self, settings: LogSettings, size_bytes: int, last_offset: int, timestamp: int, now_ms: int
    ) -> bool:
        """Whether a batch of that size, last offset and timestamp begins a new segment."""
        first = self.first_timestamp
        waited_ms = timestamp - first if first >= 0 else now_ms - self.created_ms
        return (
            self.size_bytes > settings.segment_bytes - size_bytes
            or (self.size_bytes > 0 and waited_ms > settings.segment_ms - self._jitter_ms)
            or self.index.is_full(settings.segment_index_bytes)
            or last_offset - self.base_offset > MAX_INT
        )

    def index_of(self, offset: int) -> int:
        """The place of the batch with this offset, or of the first one behind it."""
        return bisect_left(self.batches, offset, key=attrgetter("last_offset"))

    def position_of(self, offset: int) -> int:
        """The bytes in front of the batch with this offset, or of the first one behind it."""
        place = self.index_of(offset)
        return self.batches[place].position if place < len(self.batches) else self.size_bytes

    def index_of_time(self, timestamp_ms: int) -> int:
        """The place of the first batch with a timestamp of at least this."""
        return bisect_left(self.batches, timestamp_ms, key=_MAX_TIMESTAMP_SO_FAR)

    def truncate(self, offset: int, now_ms: int) -> None:
        """Remove the batch with this offset and all that follow. Raises OSError."""
        self.size_bytes = self.position_of(offset)
        del self.batches[self.index_of(offset) :]
        self.aborted = [each for each in self.aborted if each.last_offset < offset]
        largest = self.max_timestamp
        first = self.batches[self.index_of_time(largest)] if self.batches else None
        self.index.truncate(offset, largest, first.last_offset if first else self.base_offset)
        if not self.batches:
            self.created_ms = now_ms


def segment_index(segments: Sequence[Segment], offset: int) -> int:
    """The place of the segment that has the offset, -1 before the first one."""
    return bisect_right(segments, offset, key=_BASE_OFFSET) - 1


def segments_between(segments: list[Segment], start: int, end: int) -> list[Segment]:
    """The segments with offsets from ``start`` up to ``end``, which is left out."""
    if start >= end:
        return []
    first = max(segment_index(segments, start), 0)
    return [each for each in segments[first:] if each.base_offset < end]


def aborted_between(segments: Sequence[Segment], first: int, end: int) -> list[AbortedRange]:
    """The aborted transactions with offsets from ``first`` up to ``end``, which is left out."""
    ranges: list[AbortedRange] = []
    for segment in segments[max(segment_index(segments, first), 0) :]:
        for aborted in segment.aborted:
            if aborted.last_offset >= first and aborted.first_offset < end:
                ranges.append(aborted)
            if aborted.last_stable_offset >= end:
                return ranges
    return ranges


def aborted_beside(
    segments: Sequence[Segment], offset: int, batch: StoredBatch, size: int
) -> list[AbortedRange]:
    """The aborted transactions that Kafka sends with ``size`` bytes, from a batch on.

    These are those up to the next entry of the offset index, or up to the segment's end.
    ``offset`` is the one that was asked for.
    """
    place = segment_index(segments, batch.base_offset)
    end = segments[place].index.first_from(batch.position + size)
    if end is None:
        following = segments[place + 1 : place + 2]
        end = following[0].base_offset if following else segments[place].next_offset
    return aborted_between(segments, offset, end)


def bytes_below(segments: Sequence[Segment], batch: StoredBatch, up_to: int) -> tuple[int, bool]:
    """The bytes of the batch's segment below ``up_to``, and whether that is in a later one."""
    segment, last = (
        segments[segment_index(segments, offset)] for offset in (batch.base_offset, up_to)
    )
    end = segment.size_bytes if segment is not last else last.position_of(up_to)
    return end - batch.position, segment is not last


_LATEST, _EARLIEST = -1, -2


class FoundOffset(msgspec.Struct, frozen=True):
    """A record that was looked for by its timestamp."""

    offset: int
    timestamp: int
    leader_epoch: int


def first_since(
    segments: Sequence[Segment], start_offset: int, timestamp_ms: int
) -> FoundOffset | None:
    """The first record from ``start_offset`` on with a timestamp of at least this.

    As in Kafka, only the first segment with such a timestamp is searched.
    """
    for segment in segments:
        if segment.largest_timestamp >= timestamp_ms:
            for batch in segment.batches[segment.index_of_time(timestamp_ms) :]:
                if batch.max_timestamp >= timestamp_ms and batch.last_offset >= start_offset:
                    for record in read_stored(batch).records:
                        if record.timestamp >= timestamp_ms and record.offset >= start_offset:
                            return _found(record, batch)
            return None
    return None


def first_of_largest(segments: Sequence[Segment]) -> FoundOffset | None:
    """The first record with the largest timestamp; None without records."""
    segment = max(segments, key=lambda each: each.max_timestamp)
    for batch in segment.batches:
        if batch.max_timestamp == segment.max_timestamp:
            for record in read_stored(batch).records:
                if record.timestamp == batch.max_timestamp:
                    return _found(record, batch)
    return None


def offsets_before(
    segments: Sequence[Segment], start_offset: int, timestamp_ms: int, most: int, now_ms: int
) -> list[int]:
    """Where segments begin that were there at a time, the last first, and where the log ends.

    The log begins at ``start_offset``. It is asked for by the first version of ListOffsets; -1 is
    for all of them, -2 for the first.
    """
    starts = [(max(each.base_offset, start_offset), each.modified_ms) for each in segments]
    if segments[-1].batches:
        starts.append((segments[-1].next_offset, now_ms))
    if timestamp_ms == _EARLIEST:
        starts = starts[:1]
    elif timestamp_ms != _LATEST:
        while starts and starts[-1][1] > timestamp_ms:
            starts.pop()
    return sorted([offset for offset, _ in starts[::-1][:most]], reverse=True)


def _found(record: Record, batch: StoredBatch) -> FoundOffset:
    return FoundOffset(record.offset, record.timestamp, batch.header.leader_epoch)
