"""A conversation: all TCP connections between two endpoints, one after the other.

Its frames depend on the packets between these two endpoints alone, so that conversations may be
decoded in any order, or on many machines, with the same frames.
"""

from __future__ import annotations

from typing import Self

from kafka_admin_proto.capture.connection.connection import Connection
from kafka_admin_proto.capture.connection.state import (
    ConnectionState,
    ConversationState,
    read_state,
    write_state,
)
from kafka_admin_proto.capture.connection.stream_decoder import StreamState
from kafka_admin_proto.capture.connection.topic_names import TopicNameIndex
from kafka_admin_proto.capture.frames import DecodedFrame
from kafka_admin_proto.capture.options import DecodeOptions
from kafka_admin_proto.capture.tcp.framing import UNSYNCED_START, FramingState
from kafka_admin_proto.capture.tcp.reassembly import ReassemblyState
from kafka_admin_proto.capture.tcp.segments import ACK, FIN, IN_ORDER, RST, SYN, endpoint

#: How long a connection is remembered after its end, for segments that are sent again.
LINGER_US = 5_000_000
_ALL = 1 << 32
#: The streams of a new connection, whose start was captured or was not; nothing changes them.
_SYNCED, _UNSYNCED = (
    (StreamState(FramingState(synced, fault), ReassemblyState()),) * 2
    for synced, fault in ((True, ""), (False, UNSYNCED_START))
)


def both_ends(key: bytes) -> tuple[str, str]:
    """The endpoints of a segment as texts, its source first."""
    size = (len(key) - 4) // 2
    return endpoint(key[:size], key[-4:-2]), endpoint(key[size : 2 * size], key[-2:])


class Conversation:
    """``key`` has the endpoints as a segment has them: end 0 is its source, end 1 its destination.

    Frames go to ``out``, and to ``unanswered`` requests of `DecodeOptions.keep_requests` that get
    no response. ``connections`` is how many connections these two endpoints had so far.
    """

    __slots__ = (
        "_client", "_connection", "_ends", "_flipped", "_names", "_options", "_out",
        "connections", "ended_us", "ordinal", "ts", "unanswered",
    )  # fmt: skip

    def __init__(
        self,
        key: bytes,
        options: DecodeOptions,
        topic_names: TopicNameIndex,
        out: list[DecodedFrame],
        connections: int = 0,
    ) -> None:
        self._ends = both_ends(key)
        self._options = options
        self._names = topic_names
        self._out = out
        self.unanswered: list[DecodedFrame] = []
        #: The connection that is open, or has ended a moment ago; None between two.
        self._connection: Connection | None = None
        #: 1 where the connection's end 0 is end 1 here.
        self._flipped = 0
        #: Which end was the client of the last connection, as far as that is known.
        self._client: int | None = None
        self.connections: int = connections
        #: Time of the last packet in microseconds since 1970, and its ordinal in the capture.
        self.ts: int = 0
        self.ordinal: int = 0
        #: When the connection ended; from then on only segments that are sent again are expected.
        self.ended_us: int | None = None

    @classmethod
    def from_state(
        cls,
        data: bytes,
        key: bytes,
        options: DecodeOptions,
        topic_names: TopicNameIndex,
        out: list[DecodedFrame],
    ) -> Self:
        """The conversation whose ``state`` the data is. Raises StateError."""
        state = read_state(data)
        conversation = cls(key, options, topic_names, out, state.connections)
        conversation._flipped, conversation._client = state.flipped, state.client
        conversation.ts, conversation.ordinal = state.ts, state.ordinal
        conversation.ended_us = state.ended_us
        if state.connection is not None:
            conversation._connection = Connection(
                state.connection, options, topic_names, out, conversation.unanswered
            )
        return conversation

    def state(self) -> bytes | None:
        """The state to go on from, in another process; None where there is nothing to remember."""
        if self._connection is None:
            state = ConversationState(self.connections)
            return write_state(state) if self.connections else None
        return write_state(
            ConversationState(
                self.connections,
                self._flipped,
                self._client,
                self.ts,
                self.ordinal,
                self.ended_us,
                self._connection.state(),
            )
        )

    def segment(
        self,
        end: int,
        sequence: int,
        flags: int,
        payload: bytes,
        missing: int,
        acknowledged: int,
        ts: int,
        ordinal: int,
        capture: str,
    ) -> None:
        """Decode a segment that ``end`` has sent; see `Segment` for the fields of its packet."""
        if self.ended_us is not None:
            self.expire(ts)
        connection = self._connection
        self.ts, self.ordinal = ts, ordinal
        self._names.ordinal = ordinal
        if flags & SYN:
            sequence = (sequence + 1) % _ALL
            connection = self._syn(end, sequence, flags, capture)
            if payload:  # a usual SYN has none: the flag may be damage, and this no start
                connection.streams[end ^ self._flipped].started = False
        elif connection is None:
            if not payload and not missing:
                return
            connection = self._open(end, self._client, capture, synced=False)
        connection.endpoints.capture = capture
        side = end ^ self._flipped
        sender = connection.streams[side].reassembler
        if flags & IN_ORDER:
            sequence = sender.next_sequence()
        if (payload or missing) and not sender.segment(sequence, payload, missing, ts):
            self.close()
            connection = self._open(end, self._client, capture, synced=False)
            side = 0
            sender = connection.streams[side].reassembler
            sender.segment(sequence, payload, missing, ts)
        if flags & ACK:
            receiver = connection.streams[1 - side].reassembler
            if receiver.buffered:
                receiver.acknowledged(acknowledged, ts)
        if flags & (FIN | RST) and self.ended_us is None:
            if flags & FIN:
                sender.fin((sequence + len(payload) + missing) % _ALL)
            one, other = connection.streams
            if flags & RST or (one.reassembler.ended and other.reassembler.ended):
                self.ended_us = ts

    def expire(self, now_us: int) -> None:
        """Close a connection that ended more than ``LINGER_US`` ago."""
        if self.ended_us is not None and now_us - self.ended_us > LINGER_US:
            self.close()
            self._client = None

    def close(self) -> None:
        """The connection is over, or the capture is: decode the bytes that still wait."""
        connection = self._connection
        if connection is None:
            return
        self._names.ordinal = self.ordinal
        ends = [stream.reassembler for stream in connection.streams]
        # By time, so that a hole in the responses does not end the wait for the requests.
        while ends[0].buffered or ends[1].buffered:
            waiting = [each for each in ends if each.has_gap]
            min(waiting, key=lambda each: each.buffered[0].ts).finish_gap(self.ts)
        for each in ends:
            each.finish(self.ts)
        connection.finish(self.ts)
        if connection.endpoints.client is not None:
            self._client = connection.endpoints.client ^ self._flipped
        connection.release()
        self._connection = self.ended_us = None

    def _syn(self, end: int, start: int, flags: int, capture: str) -> Connection:
        """A SYN gives the start of a stream, and says who is the client."""
        connection = self._connection
        if connection is not None:
            side = end ^ self._flipped
            if self.ended_us is None and connection.streams[side].reassembler.start(start):
                client = 1 - side if flags & ACK else side
                connection.endpoints.capture = capture
                connection.handshake(client, side, self.ts)
                return connection
            self.close()
        client = 1 - end if flags & ACK else end
        connection = self._open(end, client, capture, synced=True)
        connection.streams[0].reassembler.start(start)
        connection.streams[0].started = True
        return connection

    def _open(self, end: int, client: int | None, capture: str, *, synced: bool) -> Connection:
        """A connection of which ``end`` sent the first packet that was captured."""
        self.connections += 1
        self._flipped = end
        streams = _SYNCED if synced else _UNSYNCED
        self._connection = Connection(
            ConnectionState(
                (self._ends[end], self._ends[1 - end]),
                f"#{self.connections}" if self.connections > 1 else "",
                None if client is None else client ^ end,
                streams,
            ),
            self._options,
            self._names,
            self._out,
            self.unanswered,
        )
        self._connection.endpoints.capture = capture
        return self._connection
