"""A run as a capture: the frames that arrived, each connection as a TCP conversation of its own.

Node 1 is 10.0.0.1 and listens on port 9092. Times are those of arrival, from the first second of
2020 on.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from kafka_admin_proto.simulation.world.trace import Trace, TraceEvent

PORT = 9092
#: When virtual time is 0, in seconds since 1970: 2020-01-01T00:00:00Z.
START_S = 1_577_836_800
#: Bytes of a segment; a longer frame goes into several.
_SEGMENT_BYTES = 1448
#: LINKTYPE_RAW: packets begin with their IP header.
_RAW = 101
_HEADER = struct.Struct("<IHHiIII")
_PACKET = struct.Struct("<IIII")
_IP = struct.Struct(">BBHHHBBH4s4s")
_TCP = struct.Struct(">HHIIBBHHH")
_SYN, _RST, _PSH, _ACK = 2, 4, 8, 16
_FIRST_PORT, _PORTS = 40_000, 20_000


def write_pcap(trace: Trace) -> Iterator[bytes]:
    """The capture, piece by piece."""
    yield _HEADER.pack(0xA1B2C3D4, 2, 4, 0, 0, 262_144, _RAW)
    conversations = _Conversations()
    for event in trace.events:
        if event.kind == "send" and event.type == "request":
            yield from conversations.opened(event)
        elif event.kind == "receive":
            yield from conversations.arrived(event)
        elif event.kind == "lose":
            yield from conversations.lost(event)
        elif event.kind == "cut":
            yield from conversations.cut(event.at_ms, event.node, event.peer)
        elif event.kind == "crash":
            yield from conversations.crashed(event.at_ms, event.node)


class _Conversation:
    """One connection: its ends are the node that opened it (0) and the other one (1)."""

    def __init__(self, client: int, server: int, port: int) -> None:
        self._ends = ((_address(client), port), (_address(server), PORT))
        self._next = [1000, 2000]
        self.open = True

    def begin(self, at_ms: int) -> Iterator[bytes]:
        yield self._packet(at_ms, 0, _SYN)
        yield self._packet(at_ms, 1, _SYN | _ACK)
        yield self._packet(at_ms, 0, _ACK)

    def data(self, at_ms: int, side: int, frame: bytes) -> Iterator[bytes]:
        for start in range(0, len(frame), _SEGMENT_BYTES):
            yield self._packet(at_ms, side, _PSH | _ACK, frame[start : start + _SEGMENT_BYTES])

    def reset(self, at_ms: int) -> Iterator[bytes]:
        self.open = False
        yield self._packet(at_ms, 0, _RST | _ACK)

    def _packet(self, at_ms: int, side: int, flags: int, data: bytes = b"") -> bytes:
        (source, source_port), (target, target_port) = self._ends[side], self._ends[1 - side]
        acknowledged = self._next[1 - side] if flags & _ACK else 0
        tcp = _TCP.pack(
            source_port, target_port, self._next[side], acknowledged, 0x50, flags, 0xFFFF, 0, 0
        )
        self._next[side] += len(data) + bool(flags & _SYN)
        pseudo = source + target + struct.pack(">BBH", 0, 6, len(tcp) + len(data))
        tcp = tcp[:16] + struct.pack(">H", _checksum(pseudo + tcp + data)) + tcp[18:]
        size = 20 + len(tcp) + len(data)
        ip = _IP.pack(0x45, 0, size, 0, 0x4000, 64, 6, 0, source, target)
        ip = ip[:10] + struct.pack(">H", _checksum(ip)) + ip[12:]
        seconds, rest = divmod(at_ms, 1000)
        return _PACKET.pack(START_S + seconds, rest * 1000, size, size) + ip + tcp + data


class _Conversations:
    """Which conversation a frame belongs to: requests name it, responses have its correlation id.

    A frame may arrive after its sender has crashed, on a conversation that nobody uses any more.
    """

    def __init__(self) -> None:
        self._current: dict[tuple[int, int], _Conversation] = {}
        self._of_request: dict[tuple[int, int], _Conversation] = {}
        self._begun = 0

    def opened(self, event: TraceEvent) -> Iterator[bytes]:
        """A request is sent: on the connection between the two, or on a new one."""
        ends = (event.node, event.peer)
        found = self._current.get(ends)
        if found is None:
            port = _FIRST_PORT + self._begun % _PORTS
            self._begun += 1
            found = self._current[ends] = _Conversation(*ends, port)
            yield from found.begin(event.at_ms)
        self._of_request[event.node, event.correlation_id] = found

    def arrived(self, event: TraceEvent) -> Iterator[bytes]:
        """A frame is there."""
        assert event.frame is not None, "what arrives is a frame"
        is_request = event.type == "request"
        client = event.peer if is_request else event.node
        found = self._of_request[client, event.correlation_id]
        if found.open:
            yield from found.data(event.at_ms, 0 if is_request else 1, event.frame)

    def lost(self, event: TraceEvent) -> Iterator[bytes]:
        """A frame is lost, and its connection broken."""
        is_request = event.type == "request"
        ends = (event.node, event.peer) if is_request else (event.peer, event.node)
        found = self._of_request[ends[0], event.correlation_id]
        if found.open:
            yield from found.reset(event.at_ms)
        if self._current.get(ends) is found:
            del self._current[ends]

    def cut(self, at_ms: int, one: int, other: int) -> Iterator[bytes]:
        """The connections between two nodes end."""
        for ends in ((one, other), (other, one)):
            found = self._current.pop(ends, None)
            if found is not None:
                yield from found.reset(at_ms)

    def crashed(self, at_ms: int, node: int) -> Iterator[bytes]:
        """A node's connections end; what it has sent still arrives."""
        for ends in [each for each in self._current if node in each]:
            found = self._current.pop(ends)
            if ends[1] == node:
                yield from found.reset(at_ms)


def _address(node: int) -> bytes:
    return bytes((10, node >> 16 & 0xFF, node >> 8 & 0xFF, node & 0xFF))


def _checksum(data: bytes) -> int:
    """The checksum of IP and TCP (RFC 1071)."""
    if len(data) % 2:
        data += b"\0"
    total: int = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
