"""Captures of packets → decoded frames: the conversations of one or several files.

    for frame in read_captures(["admin.pcap"]):
        print(frame.ts, frame.api, frame.latency_us)

Memory is bounded by the data in flight: bytes behind a gap, the frame that is being received,
requests without a response yet, open connections.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from io import BufferedReader, BytesIO, FileIO
from os import PathLike
from pathlib import Path
from typing import IO, Any

from kafka_admin_proto.arguments import listed
from kafka_admin_proto.capture.connection.table import ConversationTable
from kafka_admin_proto.capture.dumps.text import SAMPLE_BYTES
from kafka_admin_proto.capture.files.buffered import BufferedSource, Packet
from kafka_admin_proto.capture.files.opening import open_packets, read_packets
from kafka_admin_proto.capture.frames import DecodedFrame, fault_frame
from kafka_admin_proto.capture.options import DEFAULT_OPTIONS, DecodeOptions
from kafka_admin_proto.capture.plain_rows import PlainRows, RowSink
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
)
from kafka_admin_proto.errors import DumpError
from kafka_admin_proto.protocol.frames import DEFAULT_FRAME_LIMIT
from kafka_admin_proto.wire.engine import compiled
from kafka_admin_proto.wire.types.blobs import replace_invalid_utf8


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
    requests. ``opener`` opens what a name stands for, such as bytes of an object store. Bytes that
    are no packet, no TCP that can be reassembled or no frame come as a DecodedFrame with an
    ``error``, and so does a file that cannot be opened.
    With the compiled engine, rows of plain frames go to the ``sink``, and only the other frames are
    returned, each when the rows before it have gone there.
    """
    decoder = CaptureDecoder(
        DecodeOptions(limit=limit, dialect=dialect, bodies=bodies, keep_requests=keep_requests),
        sink,
    )
    files = listed(names, "names")
    for each in files:
        if not isinstance(each, str | PathLike):
            raise TypeError(
                f"names: expected names of files, got {type(each).__name__}; bytes of a capture "
                "are read with opener=lambda name: io.BufferedReader(io.BytesIO(data))"
            )
    return _frames_of(list(map(str, files)), decoder, opener)


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
        self._out: list[DecodedFrame] = []
        self._table = ConversationTable(options, self._out)
        self._capture = ""
        #: Segments so far.
        self._ordinal = 0
        self._fragments = 0
        #: What the packets before the first with TCP are.
        self._others: Counter[str] = Counter()
        #: Takes the plain packets, where there is a sink for their rows.
        self._plain: PlainRows | None = None
        if sink is not None and engine is not None and not options.keep_requests:
            self._plain = PlainRows(sink, self._table, self._segment_within, engine)

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
        self._ordinal = self._plain.take(source, self._capture, self._ordinal)
        if source.at > start:
            return True
        source.at = behind
        return False

    def finish(self) -> Iterator[DecodedFrame]:
        """The capture is over: the frames that the connections still have."""
        for conversation, end in self._table.entries.values():
            if end == 0:
                conversation.close()
                yield from self._out
                self._out.clear()
        self._table.entries.clear()
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
        conversation, end = self._table.entry(key)
        conversation.segment(
            end, sequence, flags, payload, missing, acknowledged, ts, ordinal, self._capture
        )
        if conversation.unanswered:  # this decoder has no use for unanswered requests
            conversation.unanswered.clear()
        if flags & (FIN | RST) and conversation.ended_us == ts:
            self._table.note_end(ts, key, conversation)
        self._table.forget(ts)

    def _segment_within(self, segment: Segment, ts: int, ordinal: int) -> int:
        """Decode a segment amid plain ones; returns when the next conversation is to be dropped."""
        self._segment(segment, ts, ordinal)
        return self._table.next_end()
