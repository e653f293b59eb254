"""All connections between two endpoints, one after the other: TCP segments → frames.

What comes out depends on the packets between these two alone, so that flows may be read in any
order, or on many machines, with the same frames.
"""

from __future__ import annotations

from kafka_admin_proto.capture.connection.connection import Connection, DecodeOptions
from kafka_admin_proto.capture.frames import DecodedFrame
from kafka_admin_proto.capture.tcp.segments import ACK, FIN, RST, SYN, endpoint

#: Microseconds that a connection is remembered after its end, for what is sent again.
LINGER_US = 5_000_000
_ALL = 1 << 32


class Conversation:
    """``key`` has the endpoints as a segment has them: end 0 is its source, end 1 its destination.

    Frames go to ``out``. ``uses`` is how many connections these two had before.
    """

    __slots__ = (
        "_client", "_conversation", "_ends", "_flipped", "_out", "_settings", "at", "over", "ts",
        "uses",
    )  # fmt: skip

    def __init__(
        self, key: bytes, settings: DecodeOptions, out: list[DecodedFrame], uses: int = 0
    ) -> None:
        size = (len(key) - 4) // 2
        self._ends = (
            endpoint(key[:size], key[-4:-2]),
            endpoint(key[size : 2 * size], key[-2:]),
        )
        self._settings = settings
        self._out = out
        #: The connection that is open, or over a moment ago; None between two.
        self._conversation: Connection | None = None
        #: 1 where the conversation's end 0 is end 1 here.
        self._flipped = 0
        #: Which end was the client of the last connection, as far as that is known.
        self._client: int | None = None
        self.uses = uses
        #: Time of the last packet in microseconds since 1970, and its place in the whole capture.
        self.ts = self.at = 0
        #: When the connection ended, and only aftermath is to come.
        self.over: int | None = None

    @property
    def is_open(self) -> bool:
        """Whether ``close`` has something to do."""
        return self._conversation is not None

    def segment(
        self,
        end: int,
        sequence: int,
        flags: int,
        payload: bytes,
        missing: int,
        acknowledged: int,
        ts: int,
        at: int,
        capture: str,
    ) -> None:
        """A segment that ``end`` has sent, and the packet it was in; see `tcp_segments.Segment`."""
        if self.over is not None:
            self.settle(ts)
        conversation = self._conversation
        self.ts, self.at = ts, at
        self._settings.topics.now = at
        if flags & SYN:
            sequence = (sequence + 1) % _ALL
            conversation = self._syn(end, sequence, flags, capture)
            if payload:  # none of a usual SYN: the flag may be damage, and a start it is not
                conversation.started[end ^ self._flipped] = False
        elif conversation is None:
            if not payload and not missing:
                return
            conversation = self._open(end, self._client, capture, in_step=False)
        conversation.capture = capture
        side = end ^ self._flipped
        direction = conversation.directions[side]
        if (payload or missing) and not direction.segment(sequence, payload, missing, ts):
            self.close()
            conversation = self._open(end, self._client, capture, in_step=False)
            side = 0
            direction = conversation.directions[side]
            direction.segment(sequence, payload, missing, ts)
        if flags & ACK and conversation.directions[1 - side].is_waiting:
            conversation.directions[1 - side].acknowledged(acknowledged, ts)
        if flags & (FIN | RST) and self.over is None:
            if flags & FIN:
                direction.fin((sequence + len(payload) + missing) % _ALL)
            one, other = conversation.directions
            if flags & RST or (one.ended and other.ended):
                self.over = ts

    def settle(self, now: int) -> None:
        """Close a connection that ended a while before: of it only ``uses`` is left."""
        if self.over is not None and now - self.over > LINGER_US:
            self.close()
            self._client = None

    def close(self) -> None:
        """The connection is over, or the capture is: hand out what it still has."""
        conversation = self._conversation
        if conversation is None:
            return
        self._settings.topics.now = self.at
        for direction in conversation.directions:
            direction.finish(self.ts)
        conversation.finish(self.ts)
        if conversation.client is not None:
            self._client = conversation.client ^ self._flipped
        conversation.release()
        self._conversation = self.over = None

    def _syn(self, end: int, start: int, flags: int, capture: str) -> Connection:
        """A handshake says who is the client and where the stream starts."""
        conversation = self._conversation
        if conversation is not None:
            side = end ^ self._flipped
            if self.over is None and conversation.directions[side].start(start):
                client = 1 - side if flags & ACK else side
                conversation.capture = capture
                conversation.handshake(client, side, self.ts)
                return conversation
            self.close()
        client = 1 - end if flags & ACK else end
        conversation = self._open(end, client, capture, in_step=True)
        conversation.directions[0].start(start)
        conversation.started[0] = True
        return conversation

    def _open(self, end: int, client: int | None, capture: str, *, in_step: bool) -> Connection:
        """A connection of which ``end`` sent the first packet that was captured."""
        self.uses += 1
        self._flipped = end
        self._conversation = Connection(
            (self._ends[end], self._ends[1 - end]),
            None if client is None else client ^ end,
            (in_step, in_step),
            self._settings,
            self._out,
            f"#{self.uses}" if self.uses > 1 else "",
        )
        self._conversation.capture = capture
        return self._conversation
