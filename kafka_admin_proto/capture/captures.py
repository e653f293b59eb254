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

from kafka_admin_proto.capture.conversation import Conversation, Settings
from kafka_admin_proto.capture.frame_records import DecodedFrame
from kafka_admin_proto.capture.packet_files import (
    Packet,
    open_packets,
    read_packets,
)
from kafka_admin_proto.capture.reassembly import Direction
from kafka_admin_proto.capture.tcp_segments import (
    ACK,
    FIN,
    LINK_TYPES,
    RST,
    SYN,
    endpoint,
    read_segment,
    reversed_key,
)
from kafka_admin_proto.capture.text import SAMPLE
from kafka_admin_proto.errors import DumpError
from kafka_admin_proto.protocol.frames import DEFAULT_FRAME_LIMIT
from kafka_admin_proto.wire.blobs import readable

#: Connections that are followed at a time; of more, those silent for longest are given up.
MAX_CONNECTIONS = 50_000
#: Pairs of endpoints, and brokers, that are remembered after their connections.
_REMEMBERED = 8192
#: Microseconds that a connection is remembered after its end, for what is sent again.
_AFTERMATH = 5_000_000
_ALL = 1 << 32


def open_file(name: str) -> BufferedReader:
    """A file, with as much of a look ahead as telling its format takes."""
    return BufferedReader(FileIO(name), SAMPLE)


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
    connections = Connections(Settings(limit=limit, dialect=dialect, bodies=bodies))
    ordered = []
    for name in map(str, names):
        try:
            with opener(name) as stream:
                ordered.append((_first_timestamp(stream.peek(SAMPLE)), name))
        except OSError as error:
            yield connections.fault(name, DumpError(str(error)))
    for _, name in sorted(ordered):
        with opener(name) as stream:
            yield from connections.read(stream, name)
    yield from connections.finish()


def _first_timestamp(head: bytes) -> int:
    try:
        return next((packet[0] for packet in read_packets(open_packets(BytesIO(head)))), 0)
    except DumpError:
        return 0


class _Connection:
    """Two directions and the conversation that they feed."""

    __slots__ = ("conversation", "directions", "last", "over")

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self.directions = (Direction(conversation.sides[0]), Direction(conversation.sides[1]))
        self.last = 0
        #: Whether it has ended, and only aftermath is to come.
        self.over = False


class Connections:
    """All connections of a capture; ``read`` takes the files one after the other."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._out: list[DecodedFrame] = []
        #: Source and destination → the connection, and which of its ends sends.
        self._table: dict[bytes, tuple[_Connection, int]] = {}
        self._over: deque[tuple[int, bytes, _Connection]] = deque()
        #: How often each pair of endpoints was used, of those seen last.
        self._uses: dict[bytes, int] = {}
        #: Endpoints that a handshake has shown to be a broker's.
        self._brokers: set[bytes] = set()
        self._capture = ""
        self._now = 0

    def read(self, stream: IO[bytes], name: str) -> Iterator[DecodedFrame]:
        """The frames that are whole by the end of this file."""
        self._capture = readable(name)
        for entry in set(self._table.values()):
            entry[0].conversation.capture = self._capture
        foreign: dict[int, int] = {}
        out = self._out
        try:
            for packet in read_packets(open_packets(stream)):
                _, link, _ = packet
                if link not in LINK_TYPES:
                    foreign[link] = foreign.get(link, 0) + 1
                    continue
                self._packet(packet)
                if out:
                    yield from out
                    out.clear()
        except DumpError as error:
            yield self.fault(name, error)
        for link, count in foreign.items():
            yield self.fault(
                name,
                DumpError(
                    f"{count} packets of link type {link} are not decoded; "
                    "Ethernet, Linux cooked, loopback and raw IP are"
                ),
            )

    def finish(self) -> Iterator[DecodedFrame]:
        """The capture is over: what the connections still have."""
        for connection in {id(c): c for c, _ in self._table.values()}.values():
            self._finish(connection)
            yield from self._out
            self._out.clear()
        self._table.clear()

    def _packet(self, packet: Packet) -> None:
        ts, link, data = packet
        segment = read_segment(link, data)
        if segment is None:
            return
        key, sequence, flags, payload, missing = segment
        self._now = ts
        entry = self._table.get(key)
        if flags & SYN:
            entry = self._syn(key, sequence, flags, entry)
            sequence = (sequence + 1) % _ALL
        if entry is None:
            if not payload and not missing:
                return
            entry = self._open(key, self._guessed_client(key), in_step=False)
        connection, end = entry
        direction = connection.directions[end]
        if payload or missing:
            connection.last = ts
            if not direction.segment(sequence, payload, missing, ts):
                self._close(key, connection)
                entry = self._open(key, self._guessed_client(key), in_step=False)
                connection, end = entry
                direction = connection.directions[end]
                direction.segment(sequence, payload, missing, ts)
        if flags & (FIN | RST) and not connection.over:
            if flags & FIN:
                direction.fin((sequence + len(payload) + missing) % _ALL)
            one, other = connection.directions
            if flags & RST or (one.ended and other.ended):
                connection.over = True
                self._over.append((ts, key, connection))
        if self._over and ts - self._over[0][0] > _AFTERMATH:
            self._forget(ts)

    def _syn(
        self, key: bytes, sequence: int, flags: int, entry: tuple[_Connection, int] | None
    ) -> tuple[_Connection, int]:
        """A handshake says who is the client and where the stream starts."""
        start = (sequence + 1) % _ALL
        if entry is not None:
            connection, end = entry
            if not connection.over and connection.directions[end].start(start):
                client = 1 - end if flags & ACK else end
                connection.conversation.handshake(client, end, self._now)
                return entry
            self._close(key, connection)
        client = 1 if flags & ACK else 0
        entry = self._open(key, client, in_step=True)
        entry[0].directions[entry[1]].start(start)
        return entry

    def _guessed_client(self, key: bytes) -> int | None:
        """Which end is the client where no handshake was captured: not the known broker."""
        source, destination = _ends(key)
        if destination in self._brokers:
            return 0
        return 1 if source in self._brokers else None

    def _open(self, key: bytes, client: int | None, *, in_step: bool) -> tuple[_Connection, int]:
        if len(self._table) >= 2 * MAX_CONNECTIONS:
            self._give_up_silent()
        source, destination = _ends(key)
        if in_step and len(self._brokers) < _REMEMBERED:
            self._brokers.add(source if client else destination)
        pair = min(key, reversed_key(key))
        uses = self._uses[pair] = self._uses.pop(pair, 0) + 1
        if len(self._uses) > _REMEMBERED:
            del self._uses[next(iter(self._uses))]
        size = len(source) - 2
        names = tuple(endpoint(end[:size], end[size:]) for end in (source, destination))
        conversation = Conversation(
            (names[0], names[1]),
            client,
            (in_step, in_step),
            self._settings,
            self._out,
            f"#{uses}" if uses > 1 else "",
        )
        conversation.capture = self._capture
        connection = _Connection(conversation)
        connection.last = self._now
        entry = self._table[key] = (connection, 0)
        self._table[reversed_key(key)] = (connection, 1)
        return entry

    def _finish(self, connection: _Connection) -> None:
        for direction in connection.directions:
            direction.finish(self._now)
        connection.conversation.finish(self._now)
        connection.conversation.release()

    def _close(self, key: bytes, connection: _Connection) -> None:
        self._finish(connection)
        self._table.pop(key, None)
        self._table.pop(reversed_key(key), None)

    def _forget(self, ts: int) -> None:
        """Connections that ended a while ago."""
        while self._over and ts - self._over[0][0] > _AFTERMATH:
            _, key, connection = self._over.popleft()
            entry = self._table.get(key)
            if entry is not None and entry[0] is connection:
                self._close(key, connection)

    def _give_up_silent(self) -> None:
        by_age = sorted(self._table.items(), key=lambda item: item[1][0].last)
        for key, (connection, end) in by_age[: len(by_age) // 5]:
            if end == 0:
                self._close(key, connection)

    def fault(self, name: str, error: DumpError) -> DecodedFrame:
        """What is wrong with a file, in the place of frames."""
        return DecodedFrame(
            capture=readable(name), stream_offset=0, direction="data", data=b"", error=error
        )


def _ends(key: bytes) -> tuple[bytes, bytes]:
    """Source and destination, each an address and a port."""
    size = (len(key) - 4) // 2
    return key[:size] + key[-4:-2], key[size : 2 * size] + key[-2:]
