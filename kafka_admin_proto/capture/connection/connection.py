"""One TCP connection: its two byte streams → decoded frames, in the order of the events.

A stream passes on whole frames, truncated frames and gaps, in the order of its bytes. Protocol
detection decides whether they are Kafka's, a search finds the boundary of a frame where sync is
lost, and the exchange decodes requests and responses. A frame is appended to ``out`` when its last
byte is there; a response waits a moment for its request, as captures may have them reversed.
"""

from __future__ import annotations

from kafka_admin_proto.capture.connection import state as states
from kafka_admin_proto.capture.connection.client_end import is_client
from kafka_admin_proto.capture.connection.endpoints import Endpoints
from kafka_admin_proto.capture.connection.exchange import Exchange
from kafka_admin_proto.capture.connection.resync import find_boundary
from kafka_admin_proto.capture.connection.stream_decoder import StreamDecoder
from kafka_admin_proto.capture.connection.token_guard import is_plausible_client
from kafka_admin_proto.capture.connection.topic_names import TopicNameIndex
from kafka_admin_proto.capture.frames import DecodedFrame
from kafka_admin_proto.capture.options import DecodeOptions
from kafka_admin_proto.capture.tcp import protocol_detection
from kafka_admin_proto.capture.tcp.protocol_detection import ForeignTraffic
from kafka_admin_proto.errors import FrameError

#: Requests at the start of a connection that cannot be Kafka's, after which it is not Kafka.
_MAX_IMPLAUSIBLE_REQUESTS = 3


class Connection:
    """Frames go to ``out``, kept requests without a response to ``unanswered``."""

    __slots__ = ("_exchange", "_implausible", "_options", "endpoints", "foreign", "streams")

    def __init__(
        self,
        state: states.ConnectionState,
        options: DecodeOptions,
        topic_names: TopicNameIndex,
        out: list[DecodedFrame],
        unanswered: list[DecodedFrame],
    ) -> None:
        self._options = options
        self.endpoints: Endpoints = Endpoints(state.ends, state.suffix, state.client)
        self.endpoints.capture = state.capture
        self._exchange = Exchange(
            state, self.endpoints, options, topic_names, out, unanswered, self._client_has_gap
        )
        self.streams: tuple[StreamDecoder, StreamDecoder] = (
            StreamDecoder(self, 0, options.limit, state.streams[0]),
            StreamDecoder(self, 1, options.limit, state.streams[1]),
        )
        self._implausible = state.implausible
        #: The bytes of a connection that does not speak Kafka; None as long as it does.
        self.foreign: ForeignTraffic | None = state.foreign

    def state(self) -> states.ConnectionState:
        """The state to go on from, in another process."""
        endpoints, exchange = self.endpoints, self._exchange
        return states.ConnectionState(
            ends=endpoints.ends,
            suffix=endpoints.suffix,
            client=endpoints.client,
            capture=endpoints.capture,
            streams=(self.streams[0].state(), self.streams[1].state()),
            pending=states.pending_states(exchange.pending),
            holes=exchange.pending.holes,
            early=list(exchange.early.waiting),
            sasl=exchange.sasl,
            guard=exchange.guard,
            software=exchange.software,
            client_id=states.client_bytes(exchange.client_id),
            kafka_seen=exchange.kafka_seen,
            implausible=self._implausible,
            foreign=self.foreign,
        )

    def handshake(self, client: int, end: int, ts: int) -> None:
        """A late SYN: it says who is the client, and that no byte of this end is missing so far."""
        if self.endpoints.client is None:
            self.endpoints.set_client(client)
        self.streams[end].syn(ts)

    def finish(self, ts: int) -> None:
        """The connection is over, or the capture is."""
        self._exchange.answer_early(ts, hurry=True)
        if self.foreign is None:
            for stream in self.streams:
                stream.search_at_end(ts)
            for stream in self.streams:
                stream.framer.finish(ts)
            self._exchange.answer_early(ts, hurry=True)
        if self.foreign is not None:
            for stream in self.streams:
                self.foreign.add(stream.end, bytes(stream.framer.buffer))
            error = FrameError(self.foreign.describe(), expected="Kafka's frames")
            self._exchange.emit("data", b"", 0, ts, skipped=self.foreign.size, error=error)
        self._exchange.pending.finish()

    def release(self) -> None:
        """Remove references in circles: captures have more connections than memory."""
        for stream in self.streams:
            stream.release()
        del self.streams, self._exchange

    # Events of the streams --------------------------------------------------------------------

    def first_bytes(self, stream: StreamDecoder, data: bytes) -> None:
        """The first bytes of an end, which may be the start of its stream."""
        if not stream.started:
            self._exchange.bytes_missing()
        if self.foreign is None and protocol_detection.is_foreign(
            data, mid_stream=not stream.framer.synced
        ):
            self._stop_decoding("")

    def frame(self, stream: StreamDecoder, data: bytes, offset: int, ts: int) -> None:
        if stream.end != self.endpoints.client:
            self._exchange.response(data, offset, ts)
            return
        frame = self._exchange.request(data, offset, ts)
        if frame is not None:
            self._check_plausible(frame)
        other = self.streams[1 - stream.end]
        # The response to this request may be what the other stream was searched for.
        if other.is_unsynced and self.search(other, ts, complete=False):
            other.framer.go_on(ts)

    def packet_cut_off(self) -> None:
        """The capture's snap length cut off a packet."""
        self._exchange.guard.cut_off = True

    def truncated(
        self, stream: StreamDecoder, data: bytes, offset: int, size: int, missing: int, ts: int,
        reason: str,
    ) -> None:  # fmt: skip
        """A frame of ``size`` bytes of which only the start was captured."""
        from_client = self._from_client(stream)
        self._exchange.truncated(from_client, data, offset, size, missing, ts, reason)

    def gap(self, stream: StreamDecoder, data: bytes, offset: int, fault: str, ts: int) -> None:
        """Bytes in no frame, or bytes that were not captured."""
        from_client = self._from_client(stream)
        if not from_client:
            self._exchange.answer_early(ts, hurry=True)
        self._exchange.bytes_missing()
        if from_client is not None:
            fault = f"from the {'client' if from_client else 'server'}: {fault}"
        error = FrameError(fault, expected="a frame")
        self._exchange.emit("data", data, offset, ts, may_be_token=True, error=error)

    def search(self, stream: StreamDecoder, ts: int, *, complete: bool) -> bool:
        """Search the unsynced bytes of a stream for a frame boundary.

        Returns True when one is found: the stream is synced from there. ``complete``: the stream
        has ended, so that no more bytes join those that are searched.
        """
        pending = self._exchange.pending
        if not (complete or stream.worth_a_search(len(pending))):
            return False
        boundary = find_boundary(
            stream.framer.buffer,
            self._from_client(stream),
            pending,
            self._options,
            complete=complete,
            full=stream.is_full,
        )
        if boundary is None:
            return False
        if self.endpoints.client is None:
            from_client = boundary.from_client
            if from_client is None:
                from_client = self._is_client(stream)
            self.endpoints.set_client(stream.end if from_client else 1 - stream.end)
        stream.synced_at(boundary.at, ts)
        return True

    def _from_client(self, stream: StreamDecoder) -> bool | None:
        """Whether the stream is the client's, None as long as that is not known."""
        client = self.endpoints.client
        return None if client is None else stream.end == client

    def _is_client(self, stream: StreamDecoder) -> bool:
        """Whether the end of a stream is the client, going by what neither stream has read yet."""
        own, other = stream.framer, self.streams[1 - stream.end].framer
        own_end, other_end = self.endpoints.ends[stream.end], self.endpoints.ends[1 - stream.end]
        return is_client(bytes(own.buffer), bytes(other.buffer), own_end, other_end)

    def _client_has_gap(self) -> bool:
        client = self.endpoints.client
        return client is not None and self.streams[client].reassembler.has_gap

    # Protocol detection -----------------------------------------------------------------------

    def _check_plausible(self, frame: DecodedFrame) -> None:
        """Count the first requests that cannot be Kafka's, and stop after some of them."""
        if self._exchange.kafka_seen or is_plausible_client(frame.client_id):
            return
        self._implausible += 1
        if self._implausible >= _MAX_IMPLAUSIBLE_REQUESTS:
            self._stop_decoding(
                f"not Kafka: none of the first {_MAX_IMPLAUSIBLE_REQUESTS} requests is one"
            )

    def _stop_decoding(self, fault: str) -> None:
        """The connection does not speak Kafka: from now on its bytes are only counted."""
        early = self._exchange.early
        self.foreign = ForeignTraffic(fault, size=early.size)
        early.clear()
        for stream in self.streams:
            self.foreign.add(stream.end, bytes(stream.framer.buffer))
            stream.framer.forget()
