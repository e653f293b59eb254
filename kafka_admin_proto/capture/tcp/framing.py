"""Cuts the bytes of one direction into frames, and collects bytes where no frame can be cut.

A stream is synced as long as each frame starts where the one before it ended. It is unsynced where
bytes are missing and the size of a frame with them, and at the start when the capture began in the
middle of the connection. Then bytes are collected until a search finds a frame boundary.
"""

from __future__ import annotations

import re
import struct
from collections import deque
from typing import Protocol

import msgspec

from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import FrameError
from kafka_admin_proto.protocol.frames import check_frame_size

#: Without a sign: a negative size is over each limit.
_SIZE = struct.Struct(">I").unpack_from
#: Bytes that are collected in an unsynced stream before the older ones are discarded.
MAX_UNSYNCED_BYTES = 4 * 1024 * 1024
#: Packets in the buffer whose times are kept apart: more than it has of usual sizes.
_MOST_ARRIVALS = 16_384

#: Why bytes of a packet were not captured that itself was.
CUT_OFF = "because the capture's snap length cut their packet off"
#: Why a stream is unsynced whose start was not captured.
UNSYNCED_START = "the capture started after the connection did"


class FrameSink(Protocol):
    """Takes the parts of a direction in order; ``offset`` counts from the start of the stream.

    ``ts`` is when the last bytes of the part came, which may have waited since, and of bytes that
    were not captured when that was found.
    """

    def frame(self, data: bytes, offset: int, ts: int) -> None:
        """A whole frame, its size prefix included."""

    def truncated(
        self, data: bytes, offset: int, size: int, missing: int, ts: int, reason: str = ""
    ) -> None:
        """The start of a frame of ``size`` bytes, ``missing`` of which were not captured.

        ``reason`` is added to the problem.
        """

    def gap(self, data: bytes, offset: int, fault: str, ts: int) -> None:
        """Bytes that belong to no frame; ``data`` is empty for bytes that were not captured."""

    def search(self, ts: int) -> None:
        """The stream is unsynced, and ``Framer.buffer`` has more bytes than before."""


class FramingState(msgspec.Struct):
    """All that a framer needs to go on.

    ``synced``: the next byte is the start of a frame, or inside one whose start is in ``buffer``;
    ``fault`` says why it is not. ``offset`` is the place of the buffer in the stream. ``wanted`` is
    the size of the frame at the start of the buffer, 0 as long as that is not known. ``arrivals``
    are the packets of the buffer, each with the place in the stream where it ends and its time.
    ``rest`` is how many bytes of a truncated frame are still to come, ``passed`` those that came,
    the last of them at ``passed_ts``.
    """

    synced: bool
    fault: str = ""
    buffer: bytes = b""
    offset: int = 0
    wanted: int = 0
    arrivals: list[tuple[int, int]] = []
    rest: int = 0
    passed: bytes = b""
    passed_ts: int = 0


class Framer:
    """Cuts the bytes of one direction. ``synced`` False: they may start anywhere in a frame."""

    __slots__ = (
        "_arrivals", "_fault", "_limit", "_passed", "_passed_ts", "_rest", "_sink", "_wanted",
        "buffer", "offset", "synced",
    )  # fmt: skip

    def __init__(self, sink: FrameSink, limit: int, state: FramingState) -> None:
        self._sink = sink
        self._limit = limit
        self.synced: bool = state.synced
        self._fault = state.fault
        self.buffer: bytearray = bytearray(state.buffer)
        self.offset: int = state.offset
        self._wanted = state.wanted
        self._arrivals = deque(state.arrivals)
        self._rest = state.rest
        self._passed = bytearray(state.passed)
        self._passed_ts = state.passed_ts

    def state(self) -> FramingState:
        """The state to go on from, in another process."""
        return FramingState(
            self.synced, self._fault, bytes(self.buffer), self.offset, self._wanted,
            list(self._arrivals), self._rest, bytes(self._passed), self._passed_ts,
        )  # fmt: skip

    def data(self, data: bytes, ts: int) -> None:
        """The next bytes of the stream."""
        if self._rest:
            data = self._pass_rest(data, ts)
        if self.synced and not self.buffer:
            self._cut(data, ts)
        else:
            self.buffer += data
            self._arrived(ts)
            if self.synced and len(self.buffer) < self._wanted:
                return
        if self.buffer:
            self.go_on(ts)

    def go_on(self, ts: int) -> None:
        """Pass the frames in the buffer on, after a search where the stream is unsynced."""
        while True:
            if self.synced:
                data = bytes(self.buffer)
                self.buffer.clear()
                self._cut(data, ts)
                if self.synced:
                    return
            self._sink.search(ts)
            if not self.synced:
                if len(self.buffer) > MAX_UNSYNCED_BYTES:
                    self.discard(len(self.buffer) // 2, ts)
                return

    def missing(self, size: int, ts: int, *, cut_off: bool = False) -> None:
        """``size`` bytes of the stream were not captured; see `StreamSink.missing`."""
        reason = f", {CUT_OFF}" if cut_off else ""
        fault = f"{counted(size, 'bytes')} not captured{reason}"
        if self._rest:
            self._report_rest()
            passed = min(self._rest, size)
            self._sink.gap(b"", self.offset, f"{passed} of them in this frame: {fault}", ts)
            self._rest -= passed
            self.offset += passed
            size -= passed
            if not size:
                return
            fault = f"{counted(size, 'more bytes')} not captured{reason}"
        have = len(self.buffer)
        came = self._time_of(self.offset + have, ts)
        if self.synced and self._wanted and have + size <= self._wanted:
            self._sink.truncated(bytes(self.buffer), self.offset, self._wanted, size, came, reason)
            self._rest = self._wanted - have - size
            self.offset += have + size
        else:
            if self.synced and self._wanted:
                self._sink.truncated(
                    bytes(self.buffer), self.offset, self._wanted, size, came, reason
                )
            else:
                if have:
                    self._sink.gap(bytes(self.buffer), self.offset, self._fault or fault, came)
                self._sink.gap(b"", self.offset + have, fault, ts)
            self.synced = False
            self._fault = f"after a hole: {fault}"
            self.offset += have + size
        self.buffer.clear()
        self._wanted = 0

    def sync(self, at: int, ts: int) -> None:
        """A frame starts at that byte of the buffer; the bytes before it are a gap."""
        if at:
            self.discard(at, ts)
        self.synced, self._fault = True, ""
        self._wanted = 0

    def discard(self, size: int, ts: int) -> None:
        """Report the first bytes of the buffer as a gap."""
        came = self._time_of(self.offset + size, ts)
        self._sink.gap(bytes(self.buffer[:size]), self.offset, self._fault, came)
        del self.buffer[:size]
        self.offset += size

    def forget(self) -> None:
        """Drop the bytes in the buffer, which somebody else has taken."""
        self.buffer.clear()
        self._arrivals.clear()

    def finish(self, ts: int) -> None:
        """The stream ends here."""
        self._report_rest()
        if not self.buffer:
            return
        came = self._time_of(self.offset + len(self.buffer), ts)
        if self.synced and self._wanted:
            missing = self._wanted - len(self.buffer)
            self._sink.truncated(bytes(self.buffer), self.offset, self._wanted, missing, came)
        else:
            fault = self._fault or "the connection ends inside the size of a frame"
            self._sink.gap(bytes(self.buffer), self.offset, fault, came)
        self.offset += len(self.buffer)
        self.buffer.clear()

    def _cut(self, data: bytes, ts: int) -> None:
        """Pass the frames in the data on. The buffer is empty, and takes the bytes left over.

        The data came at ``ts``, if it was not in the buffer before.
        """
        at, end, limit = 0, len(data), self._limit
        self._wanted = 0
        while end - at >= 4:
            (size,) = _SIZE(data, at)
            if size > limit:
                self._lose_sync(data[at:], ts)
                return
            after = at + 4 + size
            if after > end:
                self._wanted = 4 + size
                break
            offset = self.offset
            self.offset = offset + 4 + size
            when = self._time_of(self.offset, ts) if self._arrivals else ts
            self._sink.frame(data if end == after and not at else data[at:after], offset, when)
            at = after
        if at < end:
            self.buffer += data[at:] if at else data
            if not self._arrivals:
                self._arrived(ts)

    def _arrived(self, ts: int) -> None:
        """The last bytes of the buffer came at ``ts``."""
        arrivals, end = self._arrivals, self.offset + len(self.buffer)
        if len(arrivals) >= _MOST_ARRIVALS:  # tiny packets; their frames may get a later time
            ts = max(ts, arrivals.pop()[1])
        arrivals.append((end, ts))

    def _time_of(self, end: int, ts: int) -> int:
        """When all bytes before that place in the stream, which leave the buffer, had come.

        ``ts`` where none of them were in it. A packet that came before an earlier one had to wait
        for that one, so that the latest time counts.
        """
        arrivals, latest = self._arrivals, None
        while arrivals:
            last, came = arrivals[0]
            latest = came if latest is None else max(latest, came)
            if last > end:
                break
            arrivals.popleft()
            if last == end:
                break
        return ts if latest is None else latest

    def _lose_sync(self, data: bytes, ts: int) -> None:
        """The four bytes read as a frame size are not a plausible size: the stream is unsynced."""
        try:
            check_frame_size(data[:4], self._limit, self.offset)
        except FrameError as error:
            # Without the number: the four bytes may be of a password.
            self._fault = re.sub(r"frame size -?\d+", "a frame size", error.fault)
        self.synced = False
        self.buffer += data
        if not self._arrivals:
            self._arrived(ts)

    def _pass_rest(self, data: bytes, ts: int) -> bytes:
        """Collect the rest of a truncated frame; returns the bytes behind it."""
        rest = data[: self._rest]
        self._passed += rest
        self._passed_ts = ts
        self._rest -= len(rest)
        if not self._rest:
            self._report_rest()
        return data[len(rest) :]

    def _report_rest(self) -> None:
        if self._passed:
            fault = "the rest of a frame, after a hole in it"
            self._sink.gap(bytes(self._passed), self.offset, fault, self._passed_ts)
            self.offset += len(self._passed)
            self._passed.clear()
