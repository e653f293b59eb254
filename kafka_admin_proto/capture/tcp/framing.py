"""Cuts the bytes of one direction into frames, and collects bytes where no frame can be cut.

A stream is synced as long as each frame starts where the one before it ended. It is unsynced where
bytes are missing and the size of a frame with them, and at the start when the capture began in the
middle of the connection. Then bytes are collected until a search finds a frame boundary.
"""

from __future__ import annotations

import re
import struct
from typing import Protocol

import msgspec

from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import FrameError
from kafka_admin_proto.protocol.frames import check_frame_size

#: Without a sign: a negative size is over each limit.
_SIZE = struct.Struct(">I").unpack_from
#: Bytes that are collected in an unsynced stream before the older ones are discarded.
MAX_UNSYNCED_BYTES = 4 * 1024 * 1024

#: Why bytes of a packet were not captured that itself was.
CUT_OFF = "since the capture's snap length cut off their packet"
#: Why a stream is unsynced whose start was not captured.
UNSYNCED_START = "the capture started after the connection did"


class FrameSink(Protocol):
    """Takes the parts of a direction in order; ``offset`` counts from the start of the stream."""

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
    the size of the frame at the start of the buffer, 0 as long as that is not known. ``rest`` is
    how many bytes of a truncated frame are still to come, ``passed`` those that came. ``latest`` is
    when the last of the bytes in the buffer came.
    """

    synced: bool
    fault: str = ""
    buffer: bytes = b""
    offset: int = 0
    wanted: int = 0
    rest: int = 0
    passed: bytes = b""
    latest: int = 0


class Framer:
    """Cuts the bytes of one direction. ``synced`` False: they may start anywhere in a frame."""

    def __init__(self, sink: FrameSink, limit: int, state: FramingState) -> None:
        self._sink = sink
        self._limit = limit
        self.synced: bool = state.synced
        self._fault = state.fault
        self.buffer: bytearray = bytearray(state.buffer)
        self.offset: int = state.offset
        self._wanted = state.wanted
        self._rest = state.rest
        self._passed = bytearray(state.passed)
        self._latest = state.latest

    def state(self) -> FramingState:
        """The state to go on from, in another process."""
        return FramingState(
            self.synced, self._fault, bytes(self.buffer), self.offset, self._wanted, self._rest,
            bytes(self._passed), self._latest,
        )  # fmt: skip

    def data(self, data: bytes, ts: int) -> None:
        """The next bytes of the stream."""
        if self._rest:
            data = self._pass_rest(data, ts)
        if self.synced and not self.buffer:
            self._latest = ts
            self._cut(data, ts)
        else:
            self._latest = max(self._latest, ts)
            self.buffer += data
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
            self._report_rest(ts)
            passed = min(self._rest, size)
            self._sink.gap(b"", self.offset, f"{passed} of them in this frame: {fault}", ts)
            self._rest -= passed
            self.offset += passed
            size -= passed
            if not size:
                return
            fault = f"{counted(size, 'more bytes')} not captured{reason}"
        have = len(self.buffer)
        if self.synced and self._wanted and have + size <= self._wanted:
            self._sink.truncated(bytes(self.buffer), self.offset, self._wanted, size, ts, reason)
            self._rest = self._wanted - have - size
            self.offset += have + size
        else:
            if self.synced and self._wanted:
                self._sink.truncated(
                    bytes(self.buffer), self.offset, self._wanted, size, ts, reason
                )
            else:
                if have:
                    self._sink.gap(bytes(self.buffer), self.offset, self._fault or fault, ts)
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
        self._sink.gap(bytes(self.buffer[:size]), self.offset, self._fault, ts)
        del self.buffer[:size]
        self.offset += size

    def finish(self, ts: int) -> None:
        """The stream ends here."""
        self._report_rest(ts)
        if not self.buffer:
            return
        if self.synced and self._wanted:
            missing = self._wanted - len(self.buffer)
            self._sink.truncated(bytes(self.buffer), self.offset, self._wanted, missing, ts)
        else:
            fault = self._fault or "the connection ends inside the size of a frame"
            self._sink.gap(bytes(self.buffer), self.offset, fault, ts)
        self.offset += len(self.buffer)
        self.buffer.clear()

    def _cut(self, data: bytes, ts: int) -> None:
        """Pass the frames in the data on. The buffer is empty, and takes the bytes left over."""
        at, end, limit = 0, len(data), self._limit
        self._wanted = 0
        while end - at >= 4:
            (size,) = _SIZE(data, at)
            if size > limit:
                self._lose_sync(data[at:])
                return
            after = at + 4 + size
            if after > end:
                self._wanted = 4 + size
                break
            offset = self.offset
            self.offset = offset + 4 + size
            when, self._latest = max(self._latest, ts), ts
            self._sink.frame(data if end == after and not at else data[at:after], offset, when)
            at = after
        if at < end:
            self.buffer += data[at:] if at else data

    def _lose_sync(self, data: bytes) -> None:
        """The four bytes read as a frame size are not a plausible size: the stream is unsynced."""
        try:
            check_frame_size(data[:4], self._limit, self.offset)
        except FrameError as error:
            # Without the number: the four bytes may be of a password.
            self._fault = re.sub(r"frame size -?\d+", "a frame size", error.fault)
        self.synced = False
        self.buffer += data

    def _pass_rest(self, data: bytes, ts: int) -> bytes:
        """Collect the rest of a truncated frame; returns the bytes behind it."""
        rest = data[: self._rest]
        self._passed += rest
        self._rest -= len(rest)
        if not self._rest:
            self._report_rest(ts)
        return data[len(rest) :]

    def _report_rest(self, ts: int) -> None:
        if self._passed:
            fault = "the rest of a frame, after a hole in it"
            self._sink.gap(bytes(self._passed), self.offset, fault, ts)
            self.offset += len(self._passed)
            self._passed.clear()
