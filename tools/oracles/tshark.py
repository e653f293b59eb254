"""A capture as Wireshark's dissector reads it: an independent view of connections and frames.

Only the header of each frame is taken, because the dissector knows the bodies of older versions
only.
"""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kafka_admin_proto.capture import DecodedFrame, read_captures
from tools.oracles.jars import ToolMissingError

#: Between the values of a field that a packet has several times.
_BETWEEN = ";"
#: A connection: client and server as "ip:port", and which one between the two it is, from 0.
Connection = tuple[str, str, int]

_PLACE = ("tcp.stream", "ip.src", "tcp.srcport", "ip.dst", "tcp.dstport")
_HEADER = ("kafka.len", "kafka.api_key", "kafka.correlation_id", "kafka.client_id")
_VERSIONS = ("kafka.api_version", "kafka.response.version")
_PAIRS = ("kafka.correlation_id", "kafka.request_frame")
_REMARKS = ("_ws.malformed", "_ws.expert.message")


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame as tshark shows it; None for what it does not show.

    ``size`` is without the size prefix; ``remarks`` are those on the packet, and ``alone`` says
    that it has no other frame they could be about.
    """

    connection: Connection
    is_request: bool
    size: int
    api_key: int | None
    api_version: int | None
    correlation_id: int | None
    client_id: str | None
    remarks: tuple[str, ...]
    alone: bool


def why_unavailable() -> str | None:
    """What is missing, in plain words; None if nothing is."""
    return None if shutil.which("tshark") else "comparing with tshark needs it (package `tshark`)"


def version() -> str:
    """Such as "4.0.17"."""
    return _run(["--version"]).split()[2]


def known_apis() -> dict[int, str]:
    """The api keys that the dissector has a name for."""
    rows = (line.split("\t") for line in _run(["-G", "values"]).splitlines())
    return {int(row[2]): row[3] for row in rows if row[:2] == ["V", "kafka.api_key"]}


def read_frames(path: Path, ports: Sequence[int]) -> Iterator[Frame]:
    """Each frame, in the order of the packets in which they end."""
    connections = _Connections(ports)
    for row in _fields(path, ports, (*_PLACE, *_HEADER, *_VERSIONS, *_REMARKS)):
        place, header, remarks = row[:5], row[5:11], row[11:]
        sizes = header[0].split(_BETWEEN) if header[0] else []
        if not sizes:
            continue
        connection, is_request = connections.of(place)
        keys, ids, clients, asked, answered = (_each(text, len(sizes)) for text in header[1:])
        versions = asked if is_request else answered
        said = tuple(part for text in remarks for part in text.split(_BETWEEN) if part)
        for at, size in enumerate(sizes):
            yield Frame(
                connection, is_request, int(size), _number(keys[at]), _number(versions[at]),
                _number(ids[at]), clients[at], said, len(sizes) == 1,
            )  # fmt: skip


@dataclass(frozen=True, slots=True)
class TimedFrame:
    """When a frame ended, in microseconds since 1970, and in which packet, by tshark's numbers.

    ``request_packet`` is that of the request to which tshark takes it for the response.
    """

    connection: Connection
    is_request: bool
    correlation_id: int | None
    packet: str
    ts: int
    request_packet: str | None


def timed_frames(path: Path, ports: Sequence[int]) -> Iterator[TimedFrame]:
    """Each frame with its time, in the order of the packets in which they end."""
    connections = _Connections(ports)
    wanted = ("frame.number", "frame.time_epoch", "kafka.len", *_PAIRS)
    for row in _fields(path, ports, (*_PLACE, *wanted)):
        packet, time, sizes = row[5:8]
        if sizes:
            count = len(sizes.split(_BETWEEN))
            connection, is_request = connections.of(row[:5])
            seconds, fraction = time.split(".")
            ts = int(seconds) * 1_000_000 + int(fraction[:6])
            asked = [None] * count if is_request else _each(row[9], count)
            for correlation_id, request in zip(_each(row[8], count), asked, strict=True):
                yield TimedFrame(
                    connection, is_request, _number(correlation_id), packet, ts, request
                )


def payload_sizes(path: Path, ports: Sequence[int]) -> dict[tuple[Connection, bool], int]:
    """How many bytes each side has sent: (connection, is it the client's) → bytes, none of them 0.

    Counted by sequence numbers, so that bytes that were sent again count once.
    """
    connections = _Connections(ports)
    sizes: Counter[tuple[Connection, bool]] = Counter()
    for row in _fields(path, ports, (*_PLACE, "tcp.seq", "tcp.len")):
        if row[6] != "0":
            direction = connections.of(row[:5])
            # Relative numbers: 0 is the SYN, so that the first byte has 1.
            sizes[direction] = max(sizes[direction], int(row[5]) - 1 + int(row[6]))
    return dict(sizes)


def matched(path: Path, ports: Sequence[int]) -> Iterator[tuple[Frame, DecodedFrame]]:
    """tshark's frames beside ours: by connection, side and order.

    Without connections that have SASL tokens for frames, of which tshark does not know. ValueError
    where the two find different numbers of frames in a direction.
    """
    theirs: dict[tuple[Connection, bool], list[Frame]] = defaultdict(list)
    for frame in read_frames(path, ports):
        theirs[frame.connection, frame.is_request].append(frame)
    ours = by_direction(read_captures([path]))
    if unknown := theirs.keys() - ours.keys():
        raise ValueError(f"tshark alone has frames of {unknown}")
    for direction, mine in ours.items():
        if any(each.is_token for each in mine):
            continue
        if len(mine) != len(theirs[direction]):
            found = f"{len(theirs[direction])} frames by tshark, {len(mine)} here"
            raise ValueError(f"{direction}: {found}")
        yield from zip(theirs[direction], mine, strict=True)


def by_direction(
    frames: Iterable[DecodedFrame],
) -> dict[tuple[Connection, bool], list[DecodedFrame]]:
    """Our frames of each (connection, is it the client's), in order; not those inside others.

    A token does not say which side sent it: it belongs to the side whose frames end where it
    begins.
    """
    found: dict[tuple[Connection, bool], list[DecodedFrame]] = defaultdict(list)
    tokens = []
    for frame in frames:
        if frame.is_token:
            tokens.append(frame)
        elif not frame.forwarded:
            found[connection_of(frame), frame.direction == "request"].append(frame)
    for token in tokens:
        for is_client in (True, False):
            side = found[connection_of(token), is_client]
            before = [each.size for each in side if each.stream_offset < token.stream_offset]
            if sum(before) == token.stream_offset:
                side.append(token)
                break
        else:
            raise ValueError(f"a token at {token.stream_offset} continues no side: {token}")
    for side in found.values():
        side.sort(key=lambda each: each.stream_offset)
    return found


def connection_of(frame: DecodedFrame) -> Connection:
    """Where the frame of a capture belongs, as tshark's frames say it."""
    assert frame.connection is not None
    assert frame.client is not None
    assert frame.server is not None
    _, _, number = frame.connection.partition("#")
    return frame.client, frame.server, int(number or 1) - 1


class _Connections:
    """Names for tshark's streams."""

    def __init__(self, ports: Sequence[int]) -> None:
        self._ports = {str(port) for port in ports}
        self._known: dict[str, Connection] = {}
        self._between: Counter[tuple[str, str]] = Counter()

    def of(self, place: Sequence[str]) -> tuple[Connection, bool]:
        """The connection of a packet with payload, and whether its client has sent it."""
        stream, source, source_port, destination, destination_port = place
        ends = f"{source}:{source_port}", f"{destination}:{destination_port}"
        from_client = destination_port in self._ports
        pair = ends if from_client else ends[::-1]
        if stream not in self._known:
            self._known[stream] = (*pair, self._between[pair])
            self._between[pair] += 1
        return self._known[stream], from_client


def _fields(path: Path, ports: Sequence[int], names: Sequence[str]) -> Iterator[list[str]]:
    options = [option for port in ports for option in ("-d", f"tcp.port=={port},kafka")]
    wanted = [option for name in names for option in ("-e", name)]
    shape = ["-T", "fields", "-E", f"aggregator={_BETWEEN}", *wanted]
    for line in _run(["-n", "-r", str(path), *options, *shape]).splitlines():
        yield line.split("\t")


def _each(text: str, count: int) -> list[str | None]:
    """A value for each of ``count`` frames; None for all if it is unclear which value is whose."""
    values = text.split(_BETWEEN)
    return [*values] if text and len(values) == count else [None] * count


def _number(text: str | None) -> int | None:
    return None if text is None else int(text)


@cache
def _tshark() -> str:
    found = shutil.which("tshark")
    if found is None:
        raise ToolMissingError("tshark is not on the PATH; install it (package `tshark`)")
    return found


def _run(arguments: Sequence[str]) -> str:
    run = subprocess.run([_tshark(), *arguments], capture_output=True, text=True, check=True)
    return run.stdout
