"""The conversations of a capture, found by the endpoints of a segment."""

from __future__ import annotations

from collections import OrderedDict, deque

from kafka_admin_proto.capture.connection.conversation import LINGER_US, Conversation
from kafka_admin_proto.capture.connection.topic_names import TopicNameIndex
from kafka_admin_proto.capture.frames import DecodedFrame
from kafka_admin_proto.capture.options import DecodeOptions
from kafka_admin_proto.capture.tcp.segments import reversed_key

#: Entries of conversations that are followed, two of each; of more, those that were silent for
#: longest are dropped.
MAX_ENTRIES = 100_000
#: Pairs of endpoints that are remembered after their connections, and connections that may have
#: ended in the last seconds; of more, the first are forgotten earlier.
MAX_REMEMBERED = 8192
#: A time of a capture that never comes.
NEVER_US = 1 << 62


class ConversationTable:
    """Conversations whose frames go to ``out``.

    The compiled engine, where it is in use, opens and drops plain ones in these containers itself.
    """

    __slots__ = ("ended", "entries", "names", "options", "out", "remembered")

    def __init__(self, options: DecodeOptions, out: list[DecodedFrame]) -> None:
        self.options: DecodeOptions = options
        self.names: TopicNameIndex = TopicNameIndex()
        self.out: list[DecodedFrame] = out
        #: Source and destination → the conversation, and which of its ends sends.
        self.entries: dict[bytes, tuple[Conversation, int]] = {}
        #: Conversations whose connection has ended, and when.
        self.ended: deque[tuple[int, bytes, Conversation]] = deque()
        #: How many connections each pair of endpoints had, of the pairs seen last.
        self.remembered: OrderedDict[bytes, int] = OrderedDict()

    def entry(self, key: bytes) -> tuple[Conversation, int]:
        """The conversation of a segment, a new one perhaps, and which of its ends sends."""
        return self.entries.get(key) or self._new(key)

    def note_end(self, ts: int, key: bytes, conversation: Conversation) -> None:
        self.ended.append((ts, key, conversation))

    def forget(self, ts: int) -> None:
        """Drop the conversations whose connection ended a while ago."""
        ended = self.ended
        if not ended or (ts - ended[0][0] <= LINGER_US and len(ended) <= MAX_REMEMBERED):
            return
        while ended and (ts - ended[0][0] > LINGER_US or len(ended) > MAX_REMEMBERED // 2):
            ended_us, key, conversation = ended.popleft()
            if conversation.ended_us == ended_us:
                self._drop(key)

    def next_end(self) -> int:
        """The time up to which no conversation that has ended is to be dropped."""
        # A damaged capture has times up to the last of 63 bits.
        return min(self.ended[0][0] + LINGER_US, NEVER_US) if self.ended else NEVER_US

    def _new(self, key: bytes) -> tuple[Conversation, int]:
        if len(self.entries) >= MAX_ENTRIES:
            self._drop_silent()
        back = reversed_key(key)
        connections = self.remembered.pop(min(key, back), 0)
        conversation = Conversation(key, self.options, self.names, self.out, connections)
        self.entries[back] = conversation, 1
        entry = self.entries[key] = conversation, 0
        return entry

    def _drop_silent(self) -> None:
        """Drop the fifth of the conversations that has been silent for longest."""
        silent = [(each.ts, key) for key, (each, end) in self.entries.items() if end == 0]
        silent.sort()
        for _, key in silent[: len(silent) // 5]:
            self._drop(key)

    def _drop(self, key: bytes) -> None:
        back = reversed_key(key)
        conversation, _ = self.entries.pop(key)
        # A damaged packet may have one endpoint as source and destination: its two keys are one.
        self.entries.pop(back, None)
        conversation.close()
        self.remembered[min(key, back)] = conversation.connections
        if len(self.remembered) > MAX_REMEMBERED:
            self.remembered.popitem(last=False)
