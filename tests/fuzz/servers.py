"""Whatever a client sends, a cluster answers the next one: no error of its own, and no more memory.

The first bytes say by a checksum which listener the client has; the next byte how large the pieces
are; the rest is what it sends, to a node that is whole but for its sockets.
"""

from __future__ import annotations

import asyncio
import io
import logging
from collections.abc import Iterator

from kafka_admin_proto import codec
from kafka_admin_proto.loggers import SERVER
from kafka_admin_proto.messages import (
    CreateTopicsRequest,
    DescribeQuorumRequest,
    EnvelopeRequest,
    MetadataRequest,
)
from kafka_admin_proto.messages.create_topics_request import CreatableTopic
from kafka_admin_proto.protocol import frame, write_request
from kafka_admin_proto.protocol.connection import Limits
from kafka_admin_proto.server.answers import Answers
from kafka_admin_proto.server.apis import CONTROLLERS, served_apis
from kafka_admin_proto.server.brokers.views import Views
from kafka_admin_proto.server.inspection.asked_requests import AskedRequests
from kafka_admin_proto.server.network.connection import NodeConnection
from kafka_admin_proto.server.network.limits import ConnectionLimiter, NetworkLimits
from kafka_admin_proto.server.network.node import Listener, Node
from kafka_admin_proto.server.network.service import LoginRules, Service
from kafka_admin_proto.server.network.turns import Turns
from kafka_admin_proto.server.network.waits import Waits
from kafka_admin_proto.server.releases import ReleaseNumber
from kafka_admin_proto.server.state import State
from tests.fuzz import connections
from tests.fuzz import seeds as made
from tests.fuzz.choice import SIZE, Choice, number_of
from tests.fuzz.limits import bounded_memory
from tests.server.quorum.controller import PRINCIPAL, Controller
from tests.server.served import Served

_LIMITS = Limits(frame_bytes=1 << 20, in_flight=8, unauthenticated_frame_bytes=4096)
_LISTENERS: dict[str, LoginRules | None] = {
    "plain": None,
    "with logins": LoginRules(connections.SASL_SERVER, connections.LIMITS, 10.0, 0.0),
    "of a controller": None,
}
_CHOICE = Choice(_LISTENERS)
_BUFFER_BYTES = 64 << 10
#: What any request may take: the 10,000 partitions that a small one may create have 1 KiB each.
_LEAST_BYTES = (4 << 20) + 10_000 * 1024
_QUESTION_ID = 0x5EED
_QUESTION = frame(write_request(MetadataRequest(topics=[]), 12, _QUESTION_ID))
_TO_CONTROLLER = frame(write_request(DescribeQuorumRequest(), 2, _QUESTION_ID))


class _Transport(asyncio.Transport):
    """Takes what is written, and says whether the client is read."""

    def __init__(self) -> None:
        super().__init__()
        self.written = bytearray()
        self.is_read, self.is_closed = True, False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += data

    def pause_reading(self) -> None:
        self.is_read = False

    def resume_reading(self) -> None:
        self.is_read = True

    def get_write_buffer_size(self) -> int:
        return 0

    def close(self) -> None:
        self.is_closed = True

    abort = close


def one_input(data: bytes) -> None:
    name = _CHOICE[data]
    size = 1 + 16 * data[SIZE] if len(data) > SIZE else 1
    said = io.StringIO()
    handler = logging.StreamHandler(said)
    SERVER.addHandler(handler)
    try:
        asyncio.run(_talk(name, size, data[SIZE + 1 :]))
    finally:
        SERVER.removeHandler(handler)
    assert said.getvalue() == ""


async def _talk(name: str, size: int, sent: bytes) -> None:
    access, is_controller = _LISTENERS[name], name == "of a controller"
    state = _controller() if is_controller else Served().state
    apis = state.apis or served_apis(ReleaseNumber(4, 3))
    limiter = ConnectionLimiter(
        NetworkLimits(idle_ms=-1), state.clock, state.broker_value, lambda: state.cluster.quotas
    )
    views = Views(state)
    service = Service(
        answers=Answers(views),
        apis=apis,
        limits=_LIMITS,
        buffer=memoryview(bytearray(_BUFFER_BYTES)),
        trace=None,
        limiter=limiter,
        waits=Waits(views),
        clock=state.clock,
        turns=Turns(state.clock),
        requests=AskedRequests(apis),
        lost=state.shares.lost,
    )
    listener = Listener("CONTROLLER" if is_controller else "PLAINTEXT", "h", "h", 1)
    node = Node(state.controller, [listener])
    with bounded_memory(sent, factor=200, allowance=_LEAST_BYTES):
        client = NodeConnection(service, node, listener, access)
        transport = _Transport()
        client.connection_made(transport)
        for start in range(0, len(sent), size):
            await _send(client, transport, sent[start : start + size])
            if transport.is_closed:
                break
    client.connection_lost(None)
    assert limiter.unfinished_bytes == 0
    other, answered = NodeConnection(service, node, listener), _Transport()
    other.connection_made(answered)
    await _send(other, answered, _TO_CONTROLLER if is_controller else _QUESTION)
    assert int.from_bytes(answered.written[4:8], "big") == _QUESTION_ID
    other.connection_lost(None)
    limiter.close()


def _controller() -> State:
    """A controller with a broker in another process, and a topic on it."""
    controller = Controller()
    controller.start(1)
    controller.create("a", [1], [1])
    return controller.state


async def _send(client: NodeConnection, transport: _Transport, data: bytes) -> None:
    """Bytes come when the client is read; one that is muted for long is given up."""
    for _ in range(3):
        if transport.is_read:
            break
        await asyncio.sleep(0)
    if transport.is_read and not transport.is_closed:
        client.get_buffer(-1)[: len(data)] = data
        client.buffer_updated(len(data))


def seeds() -> Iterator[bytes]:
    start = number_of("plain") + b"\xff"
    every = [
        frame(
            write_request(made.filled(codec(api.api_key, version, "request").grammar), version, 1)
        )
        for api in served_apis(ReleaseNumber(4, 3))
        for version in api.versions
    ]
    for each in every:
        yield start + each
    yield start + b"".join(every)
    yield start + every[0] + every[1][:-1]
    yield number_of("plain") + b"\x00" + b"".join(every[:3])
    topics = [CreatableTopic("a", 2, 1), CreatableTopic("b.c", 1, 1)]
    yield start + frame(write_request(CreateTopicsRequest(topics, 1000), 7, 1)) + every[0]
    yield from _seeds_of_controllers()
    for seed in connections.seeds():
        if seed[:SIZE] == number_of("server, sasl"):
            yield number_of("with logins") + seed[SIZE:]


def _seeds_of_controllers() -> Iterator[bytes]:
    """Each request that a controller takes, plain and in an envelope."""
    start = number_of("of a controller") + b"\xff"
    for api in served_apis(ReleaseNumber(4, 4), CONTROLLERS):
        grammar = codec(api.api_key, api.versions.highest, "request").grammar
        request = write_request(made.filled(grammar), api.versions.highest, 1)
        envelope = EnvelopeRequest(request, PRINCIPAL, bytes(4))
        yield start + frame(request) + frame(write_request(envelope, 0, 2))
