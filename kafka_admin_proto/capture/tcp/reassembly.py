"""Puts the TCP segments of one direction in order: segments in any order → bytes in order."""

from __future__ import annotations

from bisect import insort
from typing import NamedTuple, Protocol

import msgspec

#: Bytes that wait behind a gap; with more, the missing bytes are taken as not captured.
MAX_BUFFERED_BYTES = 16 * 1024 * 1024
_MAX_BUFFERED_SEGMENTS = 65_536
#: Time of the capture that they wait at most: longer than a retransmission takes. Bytes that the
#: peer has acknowledged are never sent again, so that they are awaited a moment longer only.
REASSEMBLY_TIMEOUT_US = 10_000_000
_ACKNOWLEDGED_TIMEOUT_US = 200_000
#: A segment that is further behind, or ahead, is from another connection on the same ports.
_MAX_BYTES_BEHIND = 16 * 1024 * 1024
_MAX_BYTES_AHEAD = 64 * 1024 * 1024
#: A stream whose start was not captured waits for so many segments, or so long, before it takes
#: the lowest sequence number as its start: the first segments may be out of order.
_FIRST_SEGMENTS = 8
_FIRST_WAIT_US = 500_000
_HALF, _ALL = 1 << 31, 1 << 32


class StreamSink(Protocol):
    """Takes the bytes of a direction, in order."""

    def data(self, data: bytes, ts: int) -> None: ...

    def missing(self, size: int, ts: int, *, cut_off: bool = False) -> None:
        """``size`` bytes were sent here and not captured.

        ``cut_off``: their packet was, up to the capture's snap length.
        """


class BufferedSegment(NamedTuple):
    """A segment behind a gap; ``start`` is its position, or before the stream's start is known its
    sequence number. ``missing`` bytes of its end were not captured.
    """

    start: int
    payload: bytes
    missing: int
    ts: int


class ReassemblyState(msgspec.Struct):
    """All that a reassembler needs to go on.

    ``sequence`` and ``position`` are the sequence number and the position of the next byte;
    ``sequence`` is None before the start of the stream is known. ``since`` is when the oldest of
    the ``buffered`` segments came. ``fin`` is the position of the end, once the side announced it.
    """

    sequence: int | None = None
    position: int = 0
    buffered: list[BufferedSegment] = []
    since: int = 0
    fin: int | None = None


class StreamReassembler:
    """One direction. Positions count from the first byte after SYN, or the first captured one."""

    __slots__ = ("_buffered_bytes", "_fin", "_since", "buffered", "position", "sequence", "sink")

    def __init__(self, sink: StreamSink, state: ReassemblyState) -> None:
        self.sink: StreamSink = sink
        self.sequence: int | None = state.sequence
        self.position: int = state.position
        #: Segments behind a gap, in order.
        self.buffered: list[BufferedSegment] = list(state.buffered)
        self._buffered_bytes = sum([len(each.payload) for each in state.buffered])
        self._since = state.since
        self._fin: int | None = state.fin

    def state(self) -> ReassemblyState:
        """The state to go on from, in another process."""
        return ReassemblyState(
            self.sequence, self.position, list(self.buffered), self._since, self._fin
        )

    def start(self, sequence: int) -> bool:
        """A SYN gives the start of the stream; False if the bytes so far contradict it."""
        if self.sequence is None:
            self.sequence = sequence
            buffered, self.buffered = self.buffered, []
            self._buffered_bytes = 0
            for segment in buffered:  # by sequence number as long as there is no start
                self.segment(segment.start, segment.payload, segment.missing, segment.ts)
            return True
        return (sequence + self.position - self.sequence) % _ALL == 0

    def next_sequence(self) -> int:
        """The sequence number of the next byte; 0 where the stream has none and begins so."""
        if self.sequence is None:
            self.start(0)
        return self.sequence or 0

    def segment(self, sequence: int, payload: bytes, missing: int, ts: int) -> bool:
        """A segment with data; False for one that must be from another connection."""
        if sequence == self.sequence and not self.buffered and not missing:
            self._deliver(payload, ts)
            return True
        if self.sequence is None:
            self._collect(BufferedSegment(sequence, payload, missing, ts), ts)
            return True
        ahead = (sequence - self.sequence) % _ALL
        if ahead >= _HALF:
            ahead -= _ALL
        if not -_MAX_BYTES_BEHIND <= ahead <= _MAX_BYTES_AHEAD:
            return False
        self._insert(BufferedSegment(self.position + ahead, payload, missing, ts), ts)
        self._drain(ts)
        return True

    def acknowledged(self, number: int, ts: int) -> None:
        """The peer has everything before this sequence number."""
        if self.sequence is None or not self.buffered:
            return
        if ts - self._since < _ACKNOWLEDGED_TIMEOUT_US:
            return
        reached = self.position + _signed(number - self.sequence)
        while self.buffered and self.buffered[0].start <= reached:
            self._skip_gap(ts)

    @property
    def has_gap(self) -> bool:
        """Whether bytes wait behind a gap that may still be filled."""
        return bool(self.buffered)

    def fin(self, sequence: int) -> None:
        """The side has announced that it sends nothing beyond this sequence number."""
        if self.sequence is not None:
            self._fin = self.position + _signed(sequence - self.sequence)

    @property
    def ended(self) -> bool:
        return self._fin is not None and self.position >= self._fin

    def finish_gap(self, ts: int) -> None:
        """No more segments come: deliver the buffered ones up to the next gap."""
        if self.sequence is None:
            self._begin(ts)
        else:
            self._skip_gap(ts)

    def finish(self, ts: int) -> None:
        """No more segments come: deliver the buffered ones, with the gaps before them."""
        while self.buffered:
            self.finish_gap(ts)
        if self._fin is not None and self.position < self._fin:
            self._lose(self._fin - self.position, ts)

    def _deliver(self, payload: bytes, ts: int) -> None:
        size = len(payload)
        self.position += size
        assert self.sequence is not None
        self.sequence = (self.sequence + size) % _ALL
        self.sink.data(payload, ts)

    def _lose(self, size: int, ts: int, *, cut_off: bool = False) -> None:
        self.position += size
        assert self.sequence is not None
        self.sequence = (self.sequence + size) % _ALL
        self.sink.missing(size, ts, cut_off=cut_off)

    def _collect(self, segment: BufferedSegment, ts: int) -> None:
        """Buffer a segment while the start of the stream is not known."""
        if not self.buffered:
            self._since = ts
        self.buffered.append(segment)
        self._buffered_bytes += len(segment.payload)
        if len(self.buffered) >= _FIRST_SEGMENTS or ts - self._since >= _FIRST_WAIT_US:
            self._begin(ts)

    def _begin(self, ts: int) -> None:
        first = self.buffered[0].start
        lowest = min((_signed(segment.start - first) for segment in self.buffered), default=0)
        if lowest < -_MAX_BYTES_BEHIND:
            lowest = 0
        self.start((first + lowest) % _ALL)

    def _insert(self, segment: BufferedSegment, ts: int) -> None:
        if not self.buffered:
            self._since = ts
        insort(self.buffered, segment)
        self._buffered_bytes += len(segment.payload)

    def _drain(self, ts: int) -> None:
        buffered = self.buffered
        while buffered and buffered[0].start <= self.position:
            self._take(buffered.pop(0), ts)
            self._since = ts
        while buffered and (
            self._buffered_bytes > MAX_BUFFERED_BYTES
            or len(buffered) > _MAX_BUFFERED_SEGMENTS
            or ts - self._since > REASSEMBLY_TIMEOUT_US
        ):
            self._skip_gap(ts)

    def _take(self, segment: BufferedSegment, ts: int) -> None:
        """Deliver the new bytes of a segment that starts at or before the position."""
        self._buffered_bytes -= len(segment.payload)
        known = self.position - segment.start
        if known < len(segment.payload):
            self._deliver(segment.payload[known:] if known else segment.payload, segment.ts)
        if segment.missing:
            end = segment.start + len(segment.payload) + segment.missing
            if self.buffered:
                end = min(end, self.buffered[0].start)
            if end > self.position:
                self._lose(end - self.position, ts, cut_off=True)

    def _skip_gap(self, ts: int) -> None:
        """Take the gap before the buffered segments as not captured."""
        gap = self.buffered[0].start - self.position
        if gap > 0:
            self._lose(gap, ts)
        while self.buffered and self.buffered[0].start <= self.position:
            self._take(self.buffered.pop(0), ts)


def _signed(difference: int) -> int:
    difference %= _ALL
    return difference - _ALL if difference >= _HALF else difference
