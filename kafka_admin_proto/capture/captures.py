"""Captures of packets → frame records: the connections of one or several files.

    for frame in read_captures(["admin.pcap"]):
        print(frame.ts, frame.api, frame.latency_us)

Memory is bounded by what is in flight: bytes behind a hole, the frame that is being received,
requests without a response yet, open connections.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from io import BufferedReader, BytesIO, FileIO
from pathlib import Path
from typing import IO

from kafka_admin_proto.capture.connection.connection import DecodeOptions
from kafka_admin_proto.capture.connection.conversation import LINGER_US, Conversation
from kafka_admin_proto.capture.dumps.text import SAMPLE_BYTES
from kafka_admin_proto.capture.files.buffered import Packet
from kafka_admin_proto.capture.files.opening import open_packets, read_packets
from kafka_admin_proto.capture.frames import DecodedFrame
from kafka_admin_proto.capture.tcp.segments import (
    FIN,
    FOREIGN,
    FRAGMENTS,
    LINK_TYPES,
    RST,
    read_segment,
    reversed_key,
)
from kafka_admin_proto.errors import DumpError
from kafka_admin_proto.protocol.frames import DEFAULT_FRAME_LIMIT
from kafka_admin_proto.wire.blobs import replace_invalid_utf8

#: Pairs of endpoints that are followed; of more, those silent for longest are given up.
MAX_CONVERSATIONS = 50_000
#: Pairs of endpoints that are remembered after their connections, and connections that may have
#: ended in the last seconds; of more, the first are forgotten earlier.
_REMEMBERED = 8192


def open_file(name: str) -> BufferedReader:
    """A file, with as much of a look ahead as telling its format takes."""
    return BufferedReader(FileIO(name), SAMPLE_BYTES)


def read_captures(
    names: Iterable[str | Path],
    *,
    limit: int = DEFAULT_FRAME_LIMIT,
    dialect: str = "kafka",
    bodies: Collection[int] | None = None,
    opener: Callable[[str], BufferedReader] = open_file,
) -> Iterator[DecodedFrame]:
    """The frames of one capture, which may be in several files, in the order of their ends.

    Files are read in the order of their first packets, so that those of a rotated capture may be
    named in any. ``limit`` is the largest frame; ``bodies`` are the api keys whose bodies are
    read, None for all. What is no packet, no TCP that can be put together or no frame comes as a
    DecodedFrame with an ``error``, and so does a file that cannot be opened.
    """
    connections = CaptureDecoder(DecodeOptions(limit=limit, dialect=dialect, bodies=bodies))
    ordered = []
    for name in map(str, names):
        try:
            with opener(name) as stream:
                ordered.append((first_timestamp(stream.peek(SAMPLE_BYTES)), name))
        except OSError as error:
            yield connections.fault(name, DumpError(str(error)))
    for _, name in sorted(ordered):
        with opener(name) as stream:
            yield from connections.read(stream, name)
    yield from connections.finish()


def first_timestamp(head: bytes) -> int:
    """The time of a capture's first packet, 0 where the start of the file does not have it."""
    packet = first_packet(head)
    return 0 if packet is None else packet[0]


def first_packet(head: bytes) -> Packet | None:
    """The first packet of a capture that starts so, if it is whole there."""
    source = open_packets(BytesIO(head))
    return next(read_packets(source, lambda at, error: None), None)


class CaptureDecoder:
    """All connections of a capture; ``read`` takes the files one after the other."""

    def __init__(self, settings: DecodeOptions) -> None:
        self._settings = settings
        self._out: list[DecodedFrame] = []
        #: Source and destination → the flow, and which of its ends sends.
        self._table: dict[bytes, tuple[Conversation, int]] = {}
        #: Those whose connection has ended, and when.
        self._over: deque[tuple[int, bytes, Conversation]] = deque()
        #: How often each pair of endpoints was used, of those seen last.
        self._uses: dict[bytes, int] = {}
        self._capture = ""
        #: Segments so far.
        self._at = 0
        self._fragments = 0

    def read(self, stream: IO[bytes], name: str) -> Iterator[DecodedFrame]:
        """The frames that are whole by the end of this file."""
        self._capture = replace_invalid_utf8(name)
        foreign: dict[int, int] = {}
        out = self._out

        def report(_: int, error: DumpError) -> None:
            out.append(self.fault(name, error))

        for packet in read_packets(open_packets(stream), report):
            _, link, _ = packet
            if link not in LINK_TYPES:
                foreign[link] = foreign.get(link, 0) + 1
                continue
            self._packet(packet)
            if out:
                yield from out
                out.clear()
        yield from out
        out.clear()
        if self._fragments:
            count, self._fragments = self._fragments, 0
            yield self.fault(name, DumpError(FRAGMENTS.format(count=count)))
        for link, count in foreign.items():
            yield self.fault(
                name,
                DumpError(FOREIGN.format(count=count, link=link)),
            )

    def finish(self) -> Iterator[DecodedFrame]:
        """The capture is over: what the connections still have."""
        for flow, end in self._table.values():
            if end == 0:
                flow.close()
                yield from self._out
                self._out.clear()
        self._table.clear()

    def _packet(self, packet: Packet) -> None:
        ts, link, data = packet
        segment = read_segment(link, data)
        if segment is None:
            return
        key, sequence, flags, payload, missing, acknowledged = segment
        if not key:
            self._fragments += 1
            return
        self._at += 1
        entry = self._table.get(key)
        if entry is None:
            entry = self._new(key)
        flow, end = entry
        flow.segment(
            end, sequence, flags, payload, missing, acknowledged, ts, self._at, self._capture
        )
        if flags & (FIN | RST) and flow.over == ts:
            self._over.append((ts, key, flow))
        if self._over and (ts - self._over[0][0] > LINGER_US or len(self._over) > _REMEMBERED):
            self._forget(ts)

    def _new(self, key: bytes) -> tuple[Conversation, int]:
        if len(self._table) >= 2 * MAX_CONVERSATIONS:
            self._give_up_silent()
        uses = self._uses.pop(min(key, reversed_key(key)), 0)
        flow = Conversation(key, self._settings, self._out, uses)
        self._table[reversed_key(key)] = flow, 1
        entry = self._table[key] = flow, 0
        return entry

    def _forget(self, ts: int) -> None:
        """Connections that ended a while ago."""
        while self._over and (
            ts - self._over[0][0] > LINGER_US or len(self._over) > _REMEMBERED // 2
        ):
            since, key, flow = self._over.popleft()
            if flow.over == since:
                self._drop(key)

    def _give_up_silent(self) -> None:
        flows = [(flow.ts, key) for key, (flow, end) in self._table.items() if end == 0]
        flows.sort()
        for _, key in flows[: len(flows) // 5]:
            self._drop(key)

    def _drop(self, key: bytes) -> None:
        flow, _ = self._table.pop(key)
        # A damaged packet may have one endpoint as source and destination: its two keys are one.
        self._table.pop(reversed_key(key), None)
        flow.close()
        self._uses[min(key, reversed_key(key))] = flow.uses
        if len(self._uses) > _REMEMBERED:
            del self._uses[next(iter(self._uses))]

    def fault(self, name: str, error: DumpError) -> DecodedFrame:
        """What is wrong with a file, in the place of frames."""
        return DecodedFrame(
            capture=replace_invalid_utf8(name),
            stream_offset=0,
            direction="data",
            data=b"",
            error=error,
        )
