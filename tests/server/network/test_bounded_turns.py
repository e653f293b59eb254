"""What one turn of the event loop does among hostile peers, counted and not timed.

The kinds of peers are those of the table in docs/server-faults.md. Their bytes and a well-behaved
client's request arrive while the event loop is held. The clock of the slices moves by a third of a
slice whenever it is read, so that a slice is a number of requests on any machine.
"""

from __future__ import annotations

import asyncio
import random
import socket
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import ExitStack

import pytest

from kafka_admin_proto.messages import (
    ApiVersionsRequest,
    CreateTopicsRequest,
    MetadataRequest,
    SaslAuthenticateRequest,
    SaslHandshakeRequest,
)
from kafka_admin_proto.protocol import frame
from kafka_admin_proto.protocol.connection import RequestReceived
from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.server.network.connection import NodeConnection
from kafka_admin_proto.server.network.turns import _SLICE_S
from tests.helpers.waiting import until
from tests.server.handlers.test_create_topics import topic
from tests.server.network.connections import connections_of
from tests.server.network.test_connection import answers, asked, connect
from tests.server.network.test_turns import held

_PEERS = 20
#: Requests of a slice: it ends after three steps of the clock, and one request goes beyond it.
_SLICE_REQUESTS = 5
#: Bytes of a request that is answered at once, as docs/server-faults.md has it.
_SMALL_BYTES = 512
_GOOD = 99
_DRAW = random.Random(1)
_API_VERSIONS = asked(ApiVersionsRequest("a", "1"), 3, 1)
_METADATA = asked(MetadataRequest(topics=None), 12, 1)
_TOPICS = CreateTopicsRequest(
    [topic(f"t-{number}", partitions=5) for number in range(100)], 1000, True
)


def _damaged() -> bytes:
    data = bytearray(_METADATA[4:])
    data[_DRAW.randrange(len(data))] ^= 0xFF
    return frame(bytes(data))


def _login() -> bytes:
    wrong = SaslAuthenticateRequest(auth_bytes=b"\0me\0wrong")
    return asked(SaslHandshakeRequest("PLAIN"), 1, 1) + asked(wrong, 2, 2)


#: What one peer sends of each kind.
PEERS: dict[str, Callable[[], bytes]] = {
    "topics in batches": lambda: asked(_TOPICS, 7, 1) * 10,
    "damaged requests": lambda: b"".join(_damaged() for _ in range(100)),
    "oversize frames": lambda: (100 << 20).to_bytes(4, "big") + bytes(60_000),
    "answers never read": lambda: _METADATA * 1000,
    "many connections": lambda: _API_VERSIONS,
    "logins half done": _login,
    "random bytes": lambda: _DRAW.randbytes(2000),
    "byte by byte": lambda: _METADATA[:1],
}


class _Steps:
    """A clock that moves by a third of a slice whenever it is read."""

    def __init__(self) -> None:
        self._now_s = 1.0

    def time_s(self) -> float:
        self._now_s += _SLICE_S / 3
        return self._now_s


@pytest.mark.parametrize("kind", PEERS)
def test_a_turn_does_so_much_and_no_more(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each client a small request at once, a slice of the others, and one buffer of bytes."""
    turn = 0
    #: In each turn, the connections with a request at once, and the requests that may wait.
    at_once = defaultdict[int, set[NodeConnection]](set)
    of_slices = Counter[int]()
    bytes_read = Counter[tuple[int, NodeConnection]]()
    good_turns = list[int]()
    usual_handle, usual_update = NodeConnection._handle, NodeConnection.buffer_updated

    def handle(self: NodeConnection, event: RequestReceived) -> bytes:
        assert event.request.header is not None
        if event.request.header.correlation_id == _GOOD:
            good_turns.append(turn)
        if self in at_once[turn] or len(event.request.data) > _SMALL_BYTES:
            of_slices[turn] += 1
        at_once[turn].add(self)
        return usual_handle(self, event)

    def update(self: NodeConnection, nbytes: int) -> None:
        bytes_read[turn, self] += nbytes
        usual_update(self, nbytes)

    def next_turn() -> None:
        nonlocal turn
        turn += 1
        asyncio.get_running_loop().call_soon(next_turn)

    listeners = {"PLAIN": "PLAINTEXT", "LOGIN": "SASL_PLAINTEXT"}
    with SyncCluster(listeners=listeners, users={"me": "right"}) as cluster, ExitStack() as opened:
        good = opened.enter_context(connect(cluster))
        name = "LOGIN" if kind == "logins half done" else "PLAIN"
        host, _, port = cluster.addresses(name).rpartition(":")
        peers = [
            opened.enter_context(socket.create_connection((host, int(port)))) for _ in range(_PEERS)
        ]
        until(lambda: len(connections_of(cluster)) == _PEERS + 1)
        good.sendall(_API_VERSIONS)
        answers(good, 1)
        service = connections_of(cluster)[0].service
        monkeypatch.setattr(service.turns, "_clock", _Steps())
        monkeypatch.setattr(NodeConnection, "_handle", handle)
        monkeypatch.setattr(NodeConnection, "buffer_updated", update)
        with held(cluster):
            assert cluster._thread is not None
            assert cluster._thread._loop is not None
            cluster._thread._loop.call_soon_threadsafe(next_turn)
            for peer in peers:
                peer.sendall(PEERS[kind]())
            good.sendall(asked(ApiVersionsRequest("good", "1"), 4, _GOOD))
        answers(good, 1)
        until(lambda: not service.turns._waiting)
    first_turn = min(number for number, _ in bytes_read)
    assert good_turns[0] - first_turn <= 1
    assert max(bytes_read.values()) <= len(service.buffer)
    # A connection that has waited begins a slice of its own in its turn.
    assert max(of_slices.values(), default=0) <= 2 * _SLICE_REQUESTS
