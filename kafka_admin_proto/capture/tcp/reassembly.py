"""One direction of a TCP connection: segments in any order → its bytes in order, holes reported."""

from __future__ import annotations

from bisect import insort
from typing import NamedTuple, Protocol

#: Bytes that wait behind a hole; more, and the hole is taken as one that stays.
MAX_WAITING = 16 * 1024 * 1024
_MOST_PIECES = 65_536
#: Microseconds of the capture that they wait at most: longer than a retransmission takes. What the
#: peer has acknowledged is never sent again, so that it is only looked for a moment longer.
REASSEMBLY_TIMEOUT_US = 10_000_000
_ACKNOWLEDGED_PATIENCE = 200_000
#: A segment this far behind, or ahead, is from another connection on the same ports.
_FAR = 16 * 1024 * 1024
_FAR_AHEAD = 64 * 1024 * 1024
#: A stream whose start was not captured waits for so many segments, or so long, before it takes
#: the lowest sequence number as its start: the first segments may be out of order.
_FIRST_SEGMENTS = 8
_FIRST_WAIT = 500_000
_HALF, _ALL = 1 << 31, 1 << 32


class Sink(Protocol):
    """Takes the bytes of a direction, in order."""

    def data(self, data: bytes, ts: int) -> None: ...

    def hole(self, size: int, ts: int) -> None:
        """So many bytes were sent and not captured."""


class _Piece(NamedTuple):
    start: int
    payload: bytes
    missing: int
    ts: int


class StreamReassembler:
    """What one side sends. Positions count from the first byte after SYN, or the first captured."""

    __slots__ = ("_fin", "_since", "_waiting", "_waiting_bytes", "position", "sequence", "sink")

    def __init__(self, sink: Sink) -> None:
        self.sink: Sink = sink
        #: Sequence number and position of the byte that comes next; None before the start.
        self.sequence: int | None = None
        self.position: int = 0
        self._waiting: list[_Piece] = []
        self._waiting_bytes = 0
        self._since = 0
        self._fin: int | None = None

    def start(self, sequence: int) -> bool:
        """A SYN says where the stream starts; False if that contradicts what was seen."""
        if self.sequence is None:
            self.sequence = sequence
            waiting, self._waiting = self._waiting, []
            self._waiting_bytes = 0
            for piece in waiting:  # by sequence number as long as there is no start
                self.segment(piece.start, piece.payload, piece.missing, piece.ts)
            return True
        return (sequence + self.position - self.sequence) % _ALL == 0

    def segment(self, sequence: int, payload: bytes, missing: int, ts: int) -> bool:
        """A segment with data; False for one that must be from another connection."""
        if sequence == self.sequence and not self._waiting and not missing:
            self._deliver(payload, ts)
            return True
        if self.sequence is None:
            self._collect(_Piece(sequence, payload, missing, ts), ts)
            return True
        ahead = (sequence - self.sequence) % _ALL
        if ahead >= _HALF:
            ahead -= _ALL
        if not -_FAR <= ahead <= _FAR_AHEAD:
            return False
        self._insert(_Piece(self.position + ahead, payload, missing, ts), ts)
        self._drain(ts)
        return True

    def acknowledged(self, number: int, ts: int) -> None:
        """The peer has everything before this sequence number."""
        if self.sequence is None or not self._waiting or ts - self._since < _ACKNOWLEDGED_PATIENCE:
            return
        reached = self.position + _signed(number - self.sequence)
        while self._waiting and self._waiting[0].start <= reached:
            self._skip(ts)

    @property
    def is_waiting(self) -> bool:
        """Whether there are bytes behind a hole that may still be filled."""
        return bool(self._waiting)

    def fin(self, sequence: int) -> None:
        """The side has said that it sends nothing beyond this sequence number."""
        if self.sequence is not None:
            self._fin = self.position + _signed(sequence - self.sequence)

    @property
    def ended(self) -> bool:
        return self._fin is not None and self.position >= self._fin

    def finish(self, ts: int) -> None:
        """Nothing comes any more: deliver what waits, with the holes before it."""
        if self.sequence is None and self._waiting:
            self._begin(ts)
        while self._waiting:
            self._skip(ts)
        if self._fin is not None and self.position < self._fin:
            self._lose(self._fin - self.position, ts)

    def _deliver(self, payload: bytes, ts: int) -> None:
        size = len(payload)
        self.position += size
        assert self.sequence is not None
        self.sequence = (self.sequence + size) % _ALL
        self.sink.data(payload, ts)

    def _lose(self, size: int, ts: int) -> None:
        self.position += size
        assert self.sequence is not None
        self.sequence = (self.sequence + size) % _ALL
        self.sink.hole(size, ts)

    def _collect(self, piece: _Piece, ts: int) -> None:
        """Before the start is known; pieces have sequence numbers in the place of positions."""
        if not self._waiting:
            self._since = ts
        self._waiting.append(piece)
        self._waiting_bytes += len(piece.payload)
        if len(self._waiting) >= _FIRST_SEGMENTS or ts - self._since >= _FIRST_WAIT:
            self._begin(ts)

    def _begin(self, ts: int) -> None:
        first = self._waiting[0].start
        lowest = min((_signed(piece.start - first) for piece in self._waiting), default=0)
        if lowest < -_FAR:
            lowest = 0
        self.start((first + lowest) % _ALL)

    def _insert(self, piece: _Piece, ts: int) -> None:
        if not self._waiting:
            self._since = ts
        insort(self._waiting, piece)
        self._waiting_bytes += len(piece.payload)

    def _drain(self, ts: int) -> None:
        waiting = self._waiting
        while waiting and waiting[0].start <= self.position:
            self._take(waiting.pop(0), ts)
            self._since = ts
        while waiting and (
            self._waiting_bytes > MAX_WAITING
            or len(waiting) > _MOST_PIECES
            or ts - self._since > REASSEMBLY_TIMEOUT_US
        ):
            self._skip(ts)

    def _take(self, piece: _Piece, ts: int) -> None:
        """A piece that starts at or before the position: deliver what of it is new."""
        self._waiting_bytes -= len(piece.payload)
        known = self.position - piece.start
        if known < len(piece.payload):
            self._deliver(piece.payload[known:] if known else piece.payload, piece.ts)
        if piece.missing:
            end = piece.start + len(piece.payload) + piece.missing
            if self._waiting:
                end = min(end, self._waiting[0].start)
            if end > self.position:
                self._lose(end - self.position, ts)

    def _skip(self, ts: int) -> None:
        """Give up on the hole before what waits."""
        gap = self._waiting[0].start - self.position
        if gap > 0:
            self._lose(gap, ts)
        while self._waiting and self._waiting[0].start <= self.position:
            self._take(self._waiting.pop(0), ts)


def _signed(difference: int) -> int:
    difference %= _ALL
    return difference - _ALL if difference >= _HALF else difference
