"""The network: connections that keep their order, delays, losses and links that are cut.

A frame that is lost breaks its connection, as TCP does in the end: whatever else was under way on
it is lost too, and the sender's requests without a response end with None. The next request opens
a new connection.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Literal, NamedTuple

from kafka_admin_proto.simulation.node import ConnectionRefused, Node, OnResponse, Request
from kafka_admin_proto.simulation.world.frames import (
    read_request_frame,
    read_response_frame,
    request_frame,
    response_frame,
)
from kafka_admin_proto.simulation.world.scheduler import Scheduler
from kafka_admin_proto.simulation.world.trace import Trace
from kafka_admin_proto.values import Message

#: How long it takes until a sender hears that its connection is broken.
BROKEN_AFTER_MS = 20
#: How long a request waits for its response before its sender gives the connection up.
REQUEST_TIMEOUT_MS = 30_000


class Peer:
    """A node that is up, as the network sees it."""

    def __init__(self, node_id: int, name: str) -> None:
        self.node_id: int = node_id
        self.name: str = name
        self.alive: bool = True
        self.node: Node | None = None

    def after_call(self) -> None:
        """Called after each of the node's calls has run."""


class Network:
    """The links between nodes, and the connections on them."""

    def __init__(self, scheduler: Scheduler, trace: Trace, random: Random) -> None:
        #: A frame takes between these, drawn anew for each.
        self.delay_ms: tuple[int, int] = (1, 10)
        #: The share of frames that are lost.
        self.loss: float = 0.0
        #: Asked with sender, receiver, api and "request" or "response" whether to lose a frame.
        self.loses: Callable[[int, int, str, str], bool] | None = None
        #: Frames that were delivered so far.
        self.delivered: int = 0
        self.peers: dict[int, Peer] = {}
        self.scheduler: Scheduler = scheduler
        self.trace: Trace = trace
        self.random: Random = random
        #: Node → the correlation id of its next request, on any connection of any of its lives.
        self.next_correlation_id: dict[int, int] = {}
        self._cut: set[tuple[int, int]] = set()
        self._connections: dict[tuple[int, int], Connection] = {}

    def cut(self, one: int, other: int) -> None:
        """Take the link between two nodes down: what is under way on it is lost."""
        self._cut.add((min(one, other), max(one, other)))
        self.trace.add(self.scheduler.now_ms, "cut", one, peer=other)
        for ends in ((one, other), (other, one)):
            if connection := self._connections.get(ends):
                connection.break_off()

    def heal(self, one: int, other: int) -> None:
        """Bring the link between two nodes up again."""
        self._cut.discard((min(one, other), max(one, other)))
        self.trace.add(self.scheduler.now_ms, "heal", one, peer=other)

    def heal_all(self) -> None:
        """Bring every link up again, and lose nothing from here on."""
        self.loss = 0.0
        self.loses = None
        for one, other in sorted(self._cut):
            self.heal(one, other)

    def send(self, source: Peer, to: int, body: Message, version: int, call: OnResponse) -> None:
        """Send a request on the connection from one node to another."""
        connection = self._connections.get((source.node_id, to))
        if connection is None:
            connection = Connection(self, source, to)
            self._connections[source.node_id, to] = connection
        connection.request(body, version, call)

    def respond(self, peer: Peer, request: Request, body: Message) -> None:
        """Send the response to a request, if the connection that it came on is still there."""
        connection = self._connections.get((request.source, peer.node_id))
        if connection is not None:
            connection.respond(request, body)

    def crashed(self, peer: Peer) -> None:
        """Break a node's connections. Requests that it has sent still arrive."""
        peer.alive = False
        del self.peers[peer.node_id]
        for (source, to), connection in list(self._connections.items()):
            if to == peer.node_id:
                connection.break_off()
            elif source == peer.node_id:
                connection.forget()

    def is_up(self, one: int, other: int) -> bool:
        """Whether frames get from one node to another now."""
        return other in self.peers and (min(one, other), max(one, other)) not in self._cut

    def closed(self, connection: Connection) -> None:
        """A connection is broken: the next request opens another one."""
        ends = (connection.source.node_id, connection.to)
        if self._connections.get(ends) is connection:
            del self._connections[ends]


class _Pending:
    """A request that waits for its response."""

    __slots__ = ("api", "api_key", "call", "version")

    def __init__(self, body: Message, version: int, call: OnResponse) -> None:
        self.api = body.message_name.removesuffix("Request")
        self.api_key = body.api_key or 0
        self.version = version
        self.call = call


class _Frame(NamedTuple):
    """A frame on its way from the first of ``ends`` to the second."""

    ends: tuple[int, int]
    kind: Literal["request", "response"]
    pending: _Pending
    number: int
    data: bytes


class Connection:
    """From the node that opened it to another: requests go there, responses come back."""

    def __init__(self, network: Network, source: Peer, to: int) -> None:
        self.source: Peer = source
        self.to: int = to
        self.open: bool = True
        #: The life of the other node that the connection is with; None if that is down.
        self.target: Peer | None = network.peers.get(to)
        self._network = network
        self._pending: dict[int, _Pending] = {}
        #: When the last frame each way arrives: none overtakes it.
        self._last_arrival_ms = {"request": 0, "response": 0}

    def request(self, body: Message, version: int, call: OnResponse) -> None:
        next_number = self._network.next_correlation_id
        number = next_number.get(self.source.node_id, 0)
        next_number[self.source.node_id] = number + 1
        dialect = self._network.trace.dialect
        data = request_frame(body, version, number, self.source.name, dialect)
        pending = self._pending[number] = _Pending(body, version, call)
        frame = _Frame((self.source.node_id, self.to), "request", pending, number, data)
        self._send(frame, self._arrived)

    def respond(self, request: Request, body: Message) -> None:
        """Encode the response to a request that waits for one, and send it."""
        number = request.correlation_id
        pending = self._pending.get(number)
        if pending is None:
            return
        data = response_frame(body, pending.version, number, self._network.trace.dialect)
        frame = _Frame((self.to, self.source.node_id), "response", pending, number, data)
        self._send(frame, self._answered)

    def break_off(self) -> None:
        """What is under way is lost; the sender hears of it a moment later."""
        if not self.open:
            return
        self.open = False
        self._network.closed(self)
        if self._pending:
            self._network.scheduler.call_later(BROKEN_AFTER_MS, self._notify_broken)

    def forget(self) -> None:
        """The sender has crashed: requests in flight still arrive, and their responses are
        dropped.
        """
        self._pending.clear()
        self._network.closed(self)

    def _send(self, frame: _Frame, arrive: Callable[[_Frame], None]) -> None:
        network, kind = self._network, frame.kind
        self._note("send", frame)
        lost = network.loss > 0 and network.random.random() < network.loss
        api = frame.pending.api
        lost = lost or (network.loses is not None and network.loses(*frame.ends, api, kind))
        if lost or not network.is_up(*frame.ends):
            self._note("lose", frame)
            self.break_off()
            return
        arrival_ms = network.scheduler.now_ms + network.random.randint(*network.delay_ms)
        arrival_ms = max(arrival_ms, self._last_arrival_ms[kind])
        self._last_arrival_ms[kind] = arrival_ms

        def deliver() -> None:
            if not self.open or self.target is None or not self.target.alive:
                self._note("lose", frame)
                return
            self._note("receive", frame)
            network.delivered += 1
            arrive(frame)

        network.scheduler.call_at(arrival_ms, deliver)

    def _note(self, event: Literal["send", "receive", "lose"], frame: _Frame) -> None:
        """Put the frame into the trace of its sender, or of its receiver where it arrives."""
        node, peer = reversed(frame.ends) if event == "receive" else frame.ends
        self._network.trace.add(
            self._network.scheduler.now_ms,
            event,
            node,
            peer=peer,
            api=frame.pending.api,
            type=frame.kind,
            version=frame.pending.version,
            correlation_id=frame.number,
            frame=frame.data,
        )

    def _arrived(self, frame: _Frame) -> None:
        """A request is there: the node handles what its frame says."""
        peer = self.target
        assert peer is not None, "a frame arrives at a node that is up"
        assert peer.node is not None, "a node gets requests once it has been made"
        header, body = read_request_frame(frame.data, self._network.trace.dialect)
        request = Request(
            source=self.source.node_id,
            version=header.request_api_version,
            correlation_id=header.correlation_id,
            client_id=header.client_id,
            body=body,
        )
        try:
            answer = peer.node.handle(request)
        except ConnectionRefused:
            self.break_off()
            return
        finally:
            peer.after_call()
        if answer is not None:
            self.respond(request, answer)
            return

        def time_out() -> None:
            if frame.number in self._pending:
                self.break_off()

        self._network.scheduler.call_later(REQUEST_TIMEOUT_MS, time_out)

    def _answered(self, frame: _Frame) -> None:
        pending = self._pending.pop(frame.number, None)
        if pending is None:
            return
        dialect = self._network.trace.dialect
        _, body = read_response_frame(frame.data, pending.api_key, pending.version, dialect)
        pending.call(body)
        self.source.after_call()

    def _notify_broken(self) -> None:
        while self._pending and self.source.alive:
            number = next(iter(self._pending))
            self._pending.pop(number).call(None)
            self.source.after_call()
