"""One direction's bytes → frames, and back on its feet after a hole.

A stream is in step as long as each frame starts where the one before it ended. It gets out of step
where bytes are missing and the size of a frame with them, and it starts so when the capture began
in the middle of the connection. Then bytes collect until someone finds a frame among them.
"""

from __future__ import annotations

import re
from typing import Protocol

from kafka_admin_proto.errors import FrameError
from kafka_admin_proto.protocol.frames import check_frame_size

#: Bytes that collect out of step before the older ones are given up.
MAX_UNSYNCED_BYTES = 4 * 1024 * 1024


class FrameSink(Protocol):
    """Takes what a direction consists of, in order; ``offset`` is the place in the stream."""

    def frame(self, data: bytes, offset: int, ts: int) -> None:
        """A whole frame, its size prefix included."""

    def broken(self, data: bytes, offset: int, size: int, missing: int, ts: int) -> None:
        """The start of a frame of ``size`` bytes, ``missing`` of which were not captured."""

    def unframed(self, data: bytes, offset: int, fault: str, ts: int) -> None:
        """Bytes that belong to no frame, or ``data`` empty and ``fault`` of what is not there."""

    def searching(self, ts: int) -> None:
        """There is more to look at in ``Framer.buffer``, out of step."""


class Framer:
    """Cuts the bytes of one direction. ``in_step`` False: the stream starts who knows where."""

    def __init__(self, sink: FrameSink, limit: int, *, in_step: bool) -> None:
        self._sink = sink
        self._limit = limit
        self.in_step: bool = in_step
        #: Why the stream is out of step.
        self.why = "" if in_step else "the capture started after the connection did"
        self.buffer: bytearray = bytearray()
        #: Where in the stream the buffer starts.
        self.offset: int = 0
        #: Size of the frame at the start of the buffer, once that is known.
        self._wanted = 0
        #: How many bytes are still the rest of a broken frame, and those that came.
        self._rest = 0
        self._passed = bytearray()
        #: When the last of the bytes in the buffer came.
        self._latest = 0

    def data(self, data: bytes, ts: int) -> None:
        """The next bytes of the stream."""
        if self._rest:
            data = self._pass_rest(data, ts)
        if self.in_step and not self.buffer:
            self._latest = ts
            self._cut(data, ts)
        else:
            self._latest = max(self._latest, ts)
            self.buffer += data
            if self.in_step and len(self.buffer) < self._wanted:
                return
        if self.buffer:
            self.go_on(ts)

    def go_on(self, ts: int) -> None:
        """Hand out what the buffer has, in step or back in step."""
        while True:
            if self.in_step:
                data = bytes(self.buffer)
                self.buffer.clear()
                self._cut(data, ts)
                if self.in_step:
                    return
            self._sink.searching(ts)
            if not self.in_step:
                if len(self.buffer) > MAX_UNSYNCED_BYTES:
                    self.give_up(len(self.buffer) // 2, ts)
                return

    def hole(self, size: int, ts: int) -> None:
        """So many bytes are missing here."""
        fault = f"{size} byte{'s were' if size != 1 else ' was'} not captured"
        if self._rest:
            self._report_rest(ts)
            passed = min(self._rest, size)
            self._sink.unframed(b"", self.offset, f"{passed} of them in this frame: {fault}", ts)
            self._rest -= passed
            self.offset += passed
            size -= passed
            if not size:
                return
            fault = f"{size} more bytes were not captured"
        have = len(self.buffer)
        if self.in_step and self._wanted and have + size <= self._wanted:
            self._sink.broken(bytes(self.buffer), self.offset, self._wanted, size, ts)
            self._rest = self._wanted - have - size
            self.offset += have + size
        else:
            if self.in_step and self._wanted:
                self._sink.broken(bytes(self.buffer), self.offset, self._wanted, size, ts)
            else:
                if have:
                    self._sink.unframed(bytes(self.buffer), self.offset, self.why or fault, ts)
                self._sink.unframed(b"", self.offset + have, fault, ts)
            self.in_step = False
            self.why = f"after a hole: {fault}"
            self.offset += have + size
        self.buffer.clear()
        self._wanted = 0

    def found(self, at: int, ts: int) -> None:
        """A frame starts there in the buffer, and ``go_on`` goes on. Before it none did."""
        if at:
            self.give_up(at, ts)
        self.in_step, self.why = True, ""
        self._wanted = 0

    def give_up(self, size: int, ts: int) -> None:
        """Report the first bytes of the buffer as in no frame."""
        self._sink.unframed(bytes(self.buffer[:size]), self.offset, self.why, ts)
        del self.buffer[:size]
        self.offset += size

    def finish(self, ts: int) -> None:
        """The stream ends here."""
        self._report_rest(ts)
        if not self.buffer:
            return
        if self.in_step and self._wanted:
            missing = self._wanted - len(self.buffer)
            self._sink.broken(bytes(self.buffer), self.offset, self._wanted, missing, ts)
        else:
            why = self.why or "the connection ends inside the size of a frame"
            self._sink.unframed(bytes(self.buffer), self.offset, why, ts)
        self.offset += len(self.buffer)
        self.buffer.clear()

    def _cut(self, data: bytes, ts: int) -> None:
        """Hand out the frames in the data; the buffer is empty and takes what is left."""
        at, end = 0, len(data)
        self._wanted = 0
        while end - at >= 4:
            size = int.from_bytes(data[at : at + 4], "big")
            if size > self._limit:
                self._lost(data[at:])
                return
            after = at + 4 + size
            if after > end:
                self._wanted = 4 + size
                break
            offset = self.offset
            self.offset += 4 + size
            when, self._latest = max(self._latest, ts), ts
            self._sink.frame(data if end == after and not at else data[at:after], offset, when)
            at = after
        self.buffer += data[at:] if at else data

    def _lost(self, data: bytes) -> None:
        """What stands where a size should be is none: out of step."""
        try:
            check_frame_size(data[:4], self._limit, self.offset)
        except FrameError as error:
            # Without the number: the four bytes may be of a password.
            self.why = re.sub(r"frame size -?\d+", "a frame size", error.fault)
        self.in_step = False
        self.buffer += data

    def _pass_rest(self, data: bytes, ts: int) -> bytes:
        """The rest of a broken frame is no frame; give back what comes after it."""
        rest = data[: self._rest]
        self._passed += rest
        self._rest -= len(rest)
        if not self._rest:
            self._report_rest(ts)
        return data[len(rest) :]

    def _report_rest(self, ts: int) -> None:
        if self._passed:
            fault = "the rest of a frame, after a hole in it"
            self._sink.unframed(bytes(self._passed), self.offset, fault, ts)
            self.offset += len(self._passed)
            self._passed.clear()
