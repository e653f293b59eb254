"""Captures of packets → decoded frames: the conversations of one or several files.

    for frame in read_captures(["admin.pcap"]):
        print(frame.ts, frame.api, frame.latency_us)

Memory is bounded by the data in flight: bytes behind a gap, the frame that is being received,
requests without a response yet, open connections.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Collection, Iterable, Iterator
from io import BufferedReader, BytesIO, FileIO
from pathlib import Path
from typing import IO, Any

from kafka_admin_proto.arguments import listed
from kafka_admin_proto.capture.connection.conversation import LINGER_US, Conversation
from kafka_admin_proto.capture.connection.topic_names import TopicNameIndex
from kafka_admin_proto.capture.dumps.text import SAMPLE_BYTES
from kafka_admin_proto.capture.files.buffered import BufferedSource, Packet
from kafka_admin_proto.capture.files.opening import open_packets, read_packets
from kafka_admin_proto.capture.frames import DecodedFrame, fault_frame
from kafka_admin_proto.capture.options import DEFAULT_OPTIONS, DecodeOptions
from kafka_admin_proto.capture.plain_rows import NEVER_US, PlainRows, RowSink
from kafka_admin_proto.capture.tcp.segments import (
    FIN,
    FOREIGN,
    FRAGMENTS,
    LINK_TYPES,
    RST,
    Segment,
    kind_of,
    no_tcp,
    read_segment,
    reversed_key,
)
from kafka_admin_proto.errors import DumpError
from kafka_admin_proto.protocol.frames import DEFAULT_FRAME_LIMIT
from kafka_admin_proto.wire.engine import compiled
from kafka_admin_proto.wire.types.blobs import replace_invalid_utf8

#: Conversations that are followed; of more, those that were silent for longest are dropped.
MAX_CONVERSATIONS = 50_000
#: Pairs of endpoints that are remembered after their connections, and connections that may have
#: ended in the last seconds; of more, the first are forgotten earlier.
_MAX_REMEMBERED = 8192


def open_file(name: str) -> BufferedReader:
    """Open a file, with a buffer as large as detecting its format needs."""
    return BufferedReader(FileIO(name), SAMPLE_BYTES)


def read_captures(
    names: Iterable[str | Path],
    *,
    limit: int = DEFAULT_FRAME_LIMIT,
    dialect: str = "kafka",
    bodies: Collection[int] | None = None,
    opener: Callable[[str], BufferedReader] = open_file,
    keep_requests: Collection[int] = (),
    sink: RowSink | None = None,
) -> Iterator[DecodedFrame]:
    """The frames of one capture, which may be in several files, in the order of their ends.

    Files are read in the order of their first packets, so that those of a rotated capture may be
    named in any. ``limit`` is the largest frame; ``bodies`` are the api keys whose bodies are
    read, None for all, and ``keep_requests`` those whose responses have the frames of their
    requests. Bytes that are no packet, no TCP that can be reassembled or no frame
    come as a DecodedFrame with an ``error``, and so does a file that cannot be opened.
    With the compiled engine, rows of plain frames go to the ``sink``, and only the other frames are
    returned, each when the rows before it have gone there.
    """
    decoder = CaptureDecoder(
        DecodeOptions(limit=limit, dialect=dialect, bodies=bodies, keep_requests=keep_requests),
        sink,
    )
    return _frames_of(list(map(str, listed(names, "names"))), decoder, opener)


def _frames_of(
    names: Iterable[str], decoder: CaptureDecoder, opener: Callable[[str], BufferedReader]
) -> Iterator[DecodedFrame]:
    ordered = []
    for name in names:
        try:
            with opener(name) as stream:
                ordered.append((first_timestamp(stream.peek(SAMPLE_BYTES)), name))
        except OSError as error:
            yield fault_frame(name, DumpError(str(error)))
    for _, name in sorted(ordered):
        with opener(name) as stream:
            yield from decoder.read(stream, name)
    yield from decoder.finish()


def first_timestamp(head: bytes) -> int:
    """The time of a capture's first packet, 0 where the start of the file does not have it."""
    packet = first_packet(head)
    return 0 if packet is None else packet[0]


def first_packet(head: bytes) -> Packet | None:
    """The first packet of a capture that starts so, if it is whole there."""
    source = open_packets(BytesIO(head))
    return next(read_packets(source, lambda at, error: None), None)


class CaptureDecoder:
    """All conversations of a capture; ``read`` takes the files one after the other."""

    def __init__(
        self,
        options: DecodeOptions = DEFAULT_OPTIONS,
        sink: RowSink | None = None,
        engine: Any = compiled,
    ) -> None:
        self._options = options
        self._names = TopicNameIndex()
        self._out: list[DecodedFrame] = []
        #: Source and destination → the conversation, and which of its ends sends.
        self._table: dict[bytes, tuple[Conversation, int]] = {}
        #: Conversations whose connection has ended, and when.
        self._ended: deque[tuple[int, bytes, Conversation]] = deque()
        #: How many connections each pair of endpoints had, of the pairs seen last.
        self._connections: OrderedDict[bytes, int] = OrderedDict()
        self._capture = ""
        #: Segments so far.
        self._ordinal = 0
        self._fragments = 0
        #: What the packets before the first with TCP are.
        self._others: Counter[str] = Counter()
        #: Takes the plain packets, where there is a sink for their rows.
        self._plain: PlainRows | None = None
        if sink is not None and engine is not None and not options.keep_requests:
            self._plain = PlainRows(
                options, sink, self._names, self._table, self._out, self._ended,
                self._segment_within, self._forget_within, engine,
            )  # fmt: skip

    def read(self, stream: IO[bytes], name: str) -> Iterator[DecodedFrame]:
        """The frames that are whole by the end of this file."""
        self._capture = replace_invalid_utf8(name)
        foreign: dict[int, int] = {}
        out = self._out

        def report(_: int, error: DumpError) -> None:
            out.append(fault_frame(name, error))

        source = open_packets(stream)
        for packet in read_packets(source, report):
            if packet[1] not in LINK_TYPES:
                foreign[packet[1]] = foreign.get(packet[1], 0) + 1
                continue
            if self._plain is None or not self._take(source, source.start):
                self._packet(packet)
            while out:
                yield from out
                out.clear()
                self._take(source, source.at)
        yield from out
        out.clear()
        if self._fragments:
            count, self._fragments = self._fragments, 0
            yield fault_frame(name, DumpError(FRAGMENTS.format(count=count)))
        for link, count in foreign.items():
            yield fault_frame(name, DumpError(FOREIGN.format(count=count, link=link)))

    def _take(self, source: BufferedSource, start: int) -> bool:
        """Have the engine take the packets that are in the buffer from ``start`` on.

        True if there is one that it takes; it may leave frames in ``out``.
        """
        if self._plain is None:
            return False
        behind, source.at = source.at, start
        self._ordinal = self._plain.take(source, self._capture, self._ordinal, self._next_end())
        if source.at > start:
            return True
        source.at = behind
        return False

    def finish(self) -> Iterator[DecodedFrame]:
        """The capture is over: the frames that the connections still have."""
        for conversation, end in self._table.values():
            if end == 0:
                conversation.close()
                yield from self._out
                self._out.clear()
        self._table.clear()
        if self._others and not self._ordinal:
            yield fault_frame(self._capture, DumpError(no_tcp(self._others)))

    def _packet(self, packet: Packet) -> None:
        ts, link, data = packet
        segment = read_segment(link, data)
        if segment is None:
            if not self._ordinal:
                self._others[kind_of(link, data)] += 1
            return
        if not segment[0]:
            self._fragments += 1
            return
        self._segment(segment, ts, self._ordinal + 1)

    def _segment(self, segment: Segment, ts: int, ordinal: int) -> None:
        key, sequence, flags, payload, missing, acknowledged = segment
        self._ordinal = ordinal
        conversation, end = self._table.get(key) or self._new(key)
        conversation.segment(
            end, sequence, flags, payload, missing, acknowledged, ts, ordinal, self._capture
        )
        if conversation.unanswered:  # this decoder has no use for unanswered requests
            conversation.unanswered.clear()
        if flags & (FIN | RST) and conversation.ended_us == ts:
            self._ended.append((ts, key, conversation))
        ended = self._ended
        if ended and (ts - ended[0][0] > LINGER_US or len(ended) > _MAX_REMEMBERED):
            self._forget(ts)

    def _segment_within(self, segment: Segment, ts: int, ordinal: int) -> int:
        """Decode a segment amid plain ones; returns when the next conversation is to be dropped."""
        self._segment(segment, ts, ordinal)
        return self._next_end()

    def _forget_within(self, ts: int) -> int:
        """Drop what is to be dropped, amid plain segments; returns when the next one is."""
        self._forget(ts)
        return self._next_end()

    def _next_end(self) -> int:
        """When the next conversation that has ended is to be dropped."""
        # A damaged capture has times up to the last of 63 bits.
        return min(self._ended[0][0] + LINGER_US, NEVER_US) if self._ended else NEVER_US

    def _new(self, key: bytes) -> tuple[Conversation, int]:
        if len(self._table) >= 2 * MAX_CONVERSATIONS:
            self._drop_silent()
        back = reversed_key(key)
        connections = self._connections.pop(min(key, back), 0)
        conversation = Conversation(key, self._options, self._names, self._out, connections)
        self._table[back] = conversation, 1
        entry = self._table[key] = conversation, 0
        return entry

    def _forget(self, ts: int) -> None:
        """Drop the conversations whose connection ended a while ago."""
        while self._ended and (
            ts - self._ended[0][0] > LINGER_US or len(self._ended) > _MAX_REMEMBERED // 2
        ):
            ended_us, key, conversation = self._ended.popleft()
            if conversation.ended_us == ended_us:
                self._drop(key)

    def _drop_silent(self) -> None:
        """Drop the fifth of the conversations that has been silent for longest."""
        silent = [(each.ts, key) for key, (each, end) in self._table.items() if end == 0]
        silent.sort()
        for _, key in silent[: len(silent) // 5]:
            self._drop(key)

    def _drop(self, key: bytes) -> None:
        back = reversed_key(key)
        conversation, _ = self._table.pop(key)
        # A damaged packet may have one endpoint as source and destination: its two keys are one.
        self._table.pop(back, None)
        conversation.close()
        self._connections[min(key, back)] = conversation.connections
        if len(self._connections) > _MAX_REMEMBERED:
            self._connections.popitem(last=False)
