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

_OFFSET = struct.Struct(">ii")
_TIME = struct.Struct(">qi")
_ABORTED = struct.Struct(">hqqqq")
_ABORTED_VERSION = 0


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
        """A batch is at a position of the segment."""
        if max_timestamp > self._max_timestamp:
            self._max_timestamp, self._max_at = max_timestamp, last_offset
        if self._unindexed_bytes > self._interval_bytes:
            self.offsets += _OFFSET.pack(last_offset - self._base_offset, position)
            self.finish()
            self._unindexed_bytes = 0
        self._unindexed_bytes += size_bytes

    def first_from(self, position: int) -> int | None:
        """The offset of the first entry at ``position`` of the segment or behind it, or None."""
        size = _OFFSET.size
        place = bisect_left(
            range(len(self.offsets) // size),
            position,
            key=lambda each: _OFFSET.unpack_from(self.offsets, each * size)[1],
        )
        if place * size == len(self.offsets):
            return None
        offset: int = _OFFSET.unpack_from(self.offsets, place * size)[0]
        return self._base_offset + offset

    def finish(self) -> None:
        """The segment gets no more batches for now: index its largest timestamp."""
        if self._max_timestamp > self._last_timestamp:
            self.times += _TIME.pack(self._max_timestamp, self._max_at - self._base_offset)
            self._last_timestamp = self._max_timestamp

    def is_full(self, most_bytes: int) -> bool:
        """Whether one of the files has no room; the last entry of times is for the segment's end.

        ``most_bytes`` is the largest size of a file.
        """
        offsets, times = most_bytes // _OFFSET.size, most_bytes // _TIME.size - 1
        return len(self.offsets) >= offsets * _OFFSET.size or len(self.times) >= times * _TIME.size

    def truncate(self, offset: int, max_timestamp: int, max_at: int) -> None:
        """Forget entries of the offset and behind it; the largest timestamp is that one now."""
        _cut(self.offsets, _OFFSET, 0, offset - self._base_offset)
        _cut(self.times, _TIME, 1, offset - self._base_offset)
        self._unindexed_bytes = 0
        last = self.times[-_TIME.size :]
        self._last_timestamp = _TIME.unpack(last)[0] if last else -1
        self._max_timestamp, self._max_at = max_timestamp, max_at


def _cut(entries: bytearray, layout: struct.Struct, field: int, relative_offset: int) -> None:
    while entries and layout.unpack(entries[-layout.size :])[field] >= relative_offset:
        del entries[-layout.size :]


def is_sane_offset_index(size: int, last: bytes) -> bool:
    """Whether ``.index`` may be what Kafka wrote, by its size and its end (``sanityCheck``)."""
    return size % _OFFSET.size == 0 and (not size or _OFFSET.unpack(last[-_OFFSET.size :])[0] > 0)


def is_sane_time_index(size: int, last: bytes) -> bool:
    """The same for ``.timeindex``."""
    if size % _TIME.size:
        return False
    timestamp, offset = _TIME.unpack(last[-_TIME.size :]) if size else (0, 0)
    return bool(timestamp >= 0 and offset >= 0)


def aborted_bytes(entries: Iterable[AbortedRange]) -> bytes:
    """The contents of ``.txnindex``."""
    return b"".join(
        _ABORTED.pack(
            _ABORTED_VERSION, each.producer_id, each.first_offset, each.last_offset,
            each.last_stable_offset,
        )
        for each in entries
    )  # fmt: skip


def read_aborted(data: bytes) -> list[AbortedRange]:
    """The entries of ``.txnindex``. Raises ValueError for what Kafka did not write."""
    if len(data) % _ABORTED.size:
        raise ValueError(
            f"its {counted(len(data), 'bytes')} are not whole entries of {_ABORTED.size}"
        )
    rows = list(_ABORTED.iter_unpack(data))
    for version, _, first, last, _ in rows:
        if version != _ABORTED_VERSION or not 0 <= first <= last:
            raise ValueError("it has an entry that no transaction has")
    return [AbortedRange(*row[1:]) for row in rows]
