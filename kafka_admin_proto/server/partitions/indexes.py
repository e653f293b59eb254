"""The indexes of a segment, as Kafka's files have them.

``.index`` says where some offsets are (``OffsetIndex``), ``.timeindex`` which offset had the
largest timestamp up to there (``TimeIndex``), and ``.txnindex`` has the aborted transactions
(``TransactionIndex``). Our own log finds batches without the first two, but a segment ends when one
of them is full.
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Iterable

import msgspec

from kafka_admin_proto.counts import counted
from kafka_admin_proto.records.segments.files_beside import (
    ABORTED_ENTRY,
    ABORTED_VERSION,
    OFFSET_ENTRY,
    TIME_ENTRY,
)


class AbortedRange(msgspec.Struct, frozen=True):
    """An entry of the transaction index: offsets of an aborted transaction.

    ``last_stable_offset`` is what it became by the marker; no later entry in the index begins
    before it.
    """

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


class SegmentIndex:
    """The offset index and the time index of a segment that begins at ``base_offset``.

    An entry is made for the first batch after each ``interval_bytes``. ``offsets`` and ``times``
    are the contents of the files.
    """

    def __init__(self, base_offset: int, interval_bytes: int) -> None:
        self.offsets: bytearray = bytearray()
        self.times: bytearray = bytearray()
        self._base_offset = base_offset
        self._interval_bytes = interval_bytes
        self._unindexed_bytes = 0
        self._last_timestamp = self._max_timestamp = -1
        #: The last offset of the first batch with the largest timestamp.
        self._max_at = base_offset

    def add(self, last_offset: int, max_timestamp: int, position: int, size_bytes: int) -> None:
        if max_timestamp > self._max_timestamp:
            self._max_timestamp, self._max_at = max_timestamp, last_offset
        if self._unindexed_bytes > self._interval_bytes:
            self.offsets += OFFSET_ENTRY.pack(last_offset - self._base_offset, position)
            self.finish()
            self._unindexed_bytes = 0
        self._unindexed_bytes += size_bytes

    def first_from(self, position: int) -> int | None:
        """The offset of the first entry at ``position`` of the segment or behind it, or None."""
        size = OFFSET_ENTRY.size
        place = bisect_left(
            range(len(self.offsets) // size),
            position,
            key=lambda each: OFFSET_ENTRY.unpack_from(self.offsets, each * size)[1],
        )
        if place * size == len(self.offsets):
            return None
        offset: int = OFFSET_ENTRY.unpack_from(self.offsets, place * size)[0]
        return self._base_offset + offset

    def finish(self) -> None:
        """The segment gets no more batches for now: index its largest timestamp."""
        if self._max_timestamp > self._last_timestamp:
            self.times += TIME_ENTRY.pack(self._max_timestamp, self._max_at - self._base_offset)
            self._last_timestamp = self._max_timestamp

    def is_full(self, most_bytes: int) -> bool:
        """Whether one of the files has no room; the last entry of times is for the segment's end.

        ``most_bytes`` is the largest size of a file.
        """
        offsets, times = most_bytes // OFFSET_ENTRY.size, most_bytes // TIME_ENTRY.size - 1
        return (
            len(self.offsets) >= offsets * OFFSET_ENTRY.size
            or len(self.times) >= times * TIME_ENTRY.size
        )

    def truncate(self, offset: int, max_timestamp: int, max_at: int) -> None:
        """Forget entries of the offset and behind it; the largest timestamp is that one now."""
        _cut(self.offsets, OFFSET_ENTRY, 0, offset - self._base_offset)
        _cut(self.times, TIME_ENTRY, 1, offset - self._base_offset)
        self._unindexed_bytes = 0
        last = self.times[-TIME_ENTRY.size :]
        self._last_timestamp = TIME_ENTRY.unpack(last)[0] if last else -1
        self._max_timestamp, self._max_at = max_timestamp, max_at


def _cut(entries: bytearray, layout: struct.Struct, field: int, relative_offset: int) -> None:
    while entries and layout.unpack(entries[-layout.size :])[field] >= relative_offset:
        del entries[-layout.size :]


def is_sane_offset_index(size: int, last: bytes) -> bool:
    """Whether ``.index`` may be what Kafka wrote, by its size and its end (``sanityCheck``)."""
    return size % OFFSET_ENTRY.size == 0 and (
        not size or OFFSET_ENTRY.unpack(last[-OFFSET_ENTRY.size :])[0] > 0
    )


def is_sane_time_index(size: int, last: bytes) -> bool:
    """The same for ``.timeindex``."""
    if size % TIME_ENTRY.size:
        return False
    timestamp, offset = TIME_ENTRY.unpack(last[-TIME_ENTRY.size :]) if size else (0, 0)
    return bool(timestamp >= 0 and offset >= 0)


def aborted_bytes(entries: Iterable[AbortedRange]) -> bytes:
    """The contents of ``.txnindex``."""
    return b"".join(
        ABORTED_ENTRY.pack(
            ABORTED_VERSION, each.producer_id, each.first_offset, each.last_offset,
            each.last_stable_offset,
        )
        for each in entries
    )  # fmt: skip


def read_aborted(data: bytes) -> list[AbortedRange]:
    """The entries of ``.txnindex``. Raises ValueError for what Kafka did not write."""
    if len(data) % ABORTED_ENTRY.size:
        raise ValueError(
            f"its {counted(len(data), 'bytes')} are not whole entries of {ABORTED_ENTRY.size}"
        )
    rows = list(ABORTED_ENTRY.iter_unpack(data))
    for version, _, first, last, _ in rows:
        if version != ABORTED_VERSION or not 0 <= first <= last:
            raise ValueError("it has an entry that no transaction has")
    return [AbortedRange(*row[1:]) for row in rows]
