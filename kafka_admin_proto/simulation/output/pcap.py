"""A run as a capture: the frames that arrived, each connection as a TCP conversation of its own.

Node 1 is 10.0.0.1 and listens on port 9092. Times are those of arrival, from the first second of
2020 on.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafka_admin_proto.capture.files.pcap_writer import PCAP_HEADER, WrittenConnection
from kafka_admin_proto.simulation.world.trace import Trace, TraceEvent

PORT = 9092
#: When virtual time is 0, in seconds since 1970: 2020-01-01T00:00:00Z.
START_S = 1_577_836_800
_FIRST_PORT, _PORTS = 40_000, 20_000


def write_pcap(trace: Trace) -> Iterator[bytes]:
    """The capture, piece by piece."""
    yield PCAP_HEADER
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


class _Conversations:
    """Which conversation a frame belongs to: requests name it, responses have its correlation id.

    A frame may arrive after its sender has crashed, on a conversation that nobody uses any more.
    """

    def __init__(self) -> None:
        self._current: dict[tuple[int, int], WrittenConnection] = {}
        self._of_request: dict[tuple[int, int], WrittenConnection] = {}
        self._begun = 0

    def opened(self, event: TraceEvent) -> Iterator[bytes]:
        """A request is sent: on the connection between the two, or on a new one."""
        ends = (event.node, event.peer)
        connection = self._current.get(ends)
        if connection is None:
            port = _FIRST_PORT + self._begun % _PORTS
            self._begun += 1
            client, server = (f"10.{n >> 16 & 0xFF}.{n >> 8 & 0xFF}.{n & 0xFF}" for n in ends)
            connection = self._current[ends] = WrittenConnection((client, port), (server, PORT))
            yield from connection.begin(_micros(event.at_ms))
        self._of_request[event.node, event.correlation_id] = connection

    def arrived(self, event: TraceEvent) -> Iterator[bytes]:
        assert event.frame is not None, "what arrives is a frame"
        is_request = event.type == "request"
        client = event.peer if is_request else event.node
        connection = self._of_request[client, event.correlation_id]
        if connection.open:
            yield from connection.data(_micros(event.at_ms), 0 if is_request else 1, event.frame)

    def lost(self, event: TraceEvent) -> Iterator[bytes]:
        """A frame is lost, and its connection broken."""
        is_request = event.type == "request"
        ends = (event.node, event.peer) if is_request else (event.peer, event.node)
        connection = self._of_request[ends[0], event.correlation_id]
        if connection.open:
            yield from connection.reset(_micros(event.at_ms))
        if self._current.get(ends) is connection:
            del self._current[ends]

    def cut(self, at_ms: int, one: int, other: int) -> Iterator[bytes]:
        """The connections between two nodes end."""
        for ends in ((one, other), (other, one)):
            connection = self._current.pop(ends, None)
            if connection is not None:
                yield from connection.reset(_micros(at_ms))

    def crashed(self, at_ms: int, node: int) -> Iterator[bytes]:
        """A node's connections end; what it has sent still arrives."""
        for ends in [each for each in self._current if node in each]:
            connection = self._current.pop(ends)
            if ends[1] == node:
                yield from connection.reset(_micros(at_ms))


def _micros(at_ms: int) -> int:
    return (START_S * 1000 + at_ms) * 1000
