"""One direction of a connection: reassembled bytes → frames, with searches where sync is lost."""

from __future__ import annotations

from typing import Protocol

import msgspec

from kafka_admin_proto.capture.tcp.framing import MAX_UNSYNCED_BYTES, Framer, FramingState
from kafka_admin_proto.capture.tcp.protocol_detection import ForeignTraffic
from kafka_admin_proto.capture.tcp.reassembly import ReassemblyState, StreamReassembler

#: An unsynced buffer up to this size is searched again with each new pending request.
_SEARCHED_OFTEN_BYTES = 64 * 1024


class StreamState(msgspec.Struct):
    """All that a stream decoder needs to go on.

    ``started``: the SYN of this end was captured, before any of its bytes. ``silent``: no bytes
    have come yet. ``next_search`` is the size of the buffer that is worth another search, and
    ``searched_ids`` how many correlation ids were pending at the last one.
    """

    framing: FramingState
    reassembly: ReassemblyState
    started: bool = False
    silent: bool = True
    next_search: int = 0
    searched_ids: int = 0


class StreamEvents(Protocol):
    """The methods of a connection that its two streams call."""

    #: Counts the bytes of a connection that does not speak Kafka; None as long as it does.
    foreign: ForeignTraffic | None

    def first_bytes(self, stream: StreamDecoder, data: bytes) -> None: ...

    def search(self, stream: StreamDecoder, ts: int, *, complete: bool) -> bool: ...

    def frame(self, stream: StreamDecoder, data: bytes, offset: int, ts: int) -> None: ...

    def packet_cut_off(self) -> None: ...

    def truncated(
        self, stream: StreamDecoder, data: bytes, offset: int, size: int, missing: int, ts: int,
        reason: str,
    ) -> None: ...  # fmt: skip

    def gap(self, stream: StreamDecoder, data: bytes, offset: int, fault: str, ts: int) -> None: ...


class StreamDecoder:
    """Decodes the bytes that one end of a connection sends; ``end`` is 0 or 1."""

    __slots__ = (
        "_events", "_next_search", "_searched_ids", "_silent", "end", "framer", "reassembler",
        "started",
    )  # fmt: skip

    def __init__(self, events: StreamEvents, end: int, limit: int, state: StreamState) -> None:
        self._events = events
        self.end: int = end
        self.framer: Framer = Framer(self, limit, state.framing)
        self.reassembler: StreamReassembler = StreamReassembler(self, state.reassembly)
        self.started: bool = state.started
        self._silent = state.silent
        self._next_search = state.next_search
        self._searched_ids = state.searched_ids

    def state(self) -> StreamState:
        """The state to go on from, in another process."""
        return StreamState(
            self.framer.state(), self.reassembler.state(), self.started, self._silent,
            self._next_search, self._searched_ids,
        )  # fmt: skip

    def release(self) -> None:
        """Remove the references to what refers back to this object."""
        del self.framer, self.reassembler

    def syn(self, ts: int) -> None:
        """A SYN came after bytes of this end: those bytes are the start of its stream."""
        self.started = True
        if not self.framer.synced and self.framer.offset == 0:
            self.framer.sync(0, ts)
            self.framer.go_on(ts)

    @property
    def is_unsynced(self) -> bool:
        """Whether bytes wait for a frame boundary to be found."""
        return not self.framer.synced and bool(self.framer.buffer)

    @property
    def is_full(self) -> bool:
        """Whether unsynced bytes are about to be discarded."""
        return len(self.framer.buffer) > MAX_UNSYNCED_BYTES

    def worth_a_search(self, ids: int) -> bool:
        """Whether enough is new since the last search; ``ids`` correlation ids are pending.

        To search a long buffer again with each packet would take quadratic time.
        """
        size = len(self.framer.buffer)
        if size < self._next_search and (ids == self._searched_ids or size > _SEARCHED_OFTEN_BYTES):
            return False
        self._next_search = size + size // 4
        self._searched_ids = ids
        return True

    def synced_at(self, at: int, ts: int) -> None:
        """A search has found a frame boundary."""
        self.framer.sync(at, ts)
        self._next_search = 0

    def search_at_end(self, ts: int) -> None:
        """No more bytes join the unsynced ones: search the whole buffer once."""
        if self.is_unsynced and self._events.search(self, ts, complete=True):
            self.framer.go_on(ts)

    # Events of the reassembler ----------------------------------------------------------------

    def data(self, data: bytes, ts: int) -> None:
        events = self._events
        if self._silent and data:
            self._silent = False
            events.first_bytes(self, data)
        if events.foreign is not None:
            events.foreign.add(self.end, data)
        else:
            self.framer.data(data, ts)

    def missing(self, size: int, ts: int, *, cut_off: bool = False) -> None:
        if cut_off:
            self._events.packet_cut_off()
        if self._events.foreign is None:
            self.search_at_end(ts)
            self._next_search = 0
            self.framer.missing(size, ts, cut_off=cut_off)

    # Events of the framer ---------------------------------------------------------------------

    def frame(self, data: bytes, offset: int, ts: int) -> None:
        events = self._events
        if events.foreign is not None:
            events.foreign.add(self.end, data)
        else:
            events.frame(self, data, offset, ts)

    def truncated(
        self, data: bytes, offset: int, size: int, missing: int, ts: int, reason: str = ""
    ) -> None:
        self._events.truncated(self, data, offset, size, missing, ts, reason)

    def gap(self, data: bytes, offset: int, fault: str, ts: int) -> None:
        self._events.gap(self, data, offset, fault, ts)

    def search(self, ts: int) -> None:
        self._events.search(self, ts, complete=False)
