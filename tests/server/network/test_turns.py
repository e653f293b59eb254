"""Large requests: small ones of other clients are answered between them."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from kafka_admin_proto.messages import CreateTopicsRequest, CreateTopicsResponse, MetadataRequest
from kafka_admin_proto.protocol import read_response
from kafka_admin_proto.protocol.connection import RequestReceived
from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.values import Message
from tests.server.handlers.test_create_topics import topic
from tests.server.network.test_connection import answers, asked, connect, ids

_SECONDS = 30
_SMALL = MetadataRequest(topics=[])
#: Its answer is encoded in the event loop, and that of more topics in another thread.
_LARGE = CreateTopicsRequest([topic(f"large-{each}") for each in range(200)], 1000, True)
_LARGER = CreateTopicsRequest([topic(f"larger-{each}") for each in range(2000)], 1000)


@contextmanager
def held(cluster: SyncCluster) -> Iterator[None]:
    """The event loop of the cluster waits meanwhile, so that requests come together."""
    entered, gate = threading.Event(), threading.Event()

    def wait() -> None:
        entered.set()
        gate.wait(_SECONDS)

    assert cluster._thread is not None
    assert cluster._thread._loop is not None
    cluster._thread._loop.call_soon_threadsafe(wait)
    entered.wait(_SECONDS)
    try:
        yield
    finally:
        gate.set()


def test_a_small_request_overtakes_large_ones_that_came_first() -> None:
    order = list[int]()

    def note(node: int, event: RequestReceived, response: Message) -> None:
        assert event.request.header is not None
        order.append(event.request.header.correlation_id)

    with SyncCluster(trace=note) as cluster, ExitStack() as opened:
        clients = [opened.enter_context(connect(cluster)) for _ in range(10)]
        for number, client in enumerate(clients):  # all are connected, and known
            client.sendall(asked(_SMALL, 12, number))
            answers(client, 1)
        order.clear()
        with held(cluster):
            for number, client in enumerate(clients[:-1], 1):
                client.sendall(asked(_LARGE, 7, number))
            clients[-1].sendall(asked(_SMALL, 12, 99))
        for client in clients:
            answers(client, 1)
    assert order.index(99) <= 1
    assert sorted(order) == [*range(1, 10), 99]


def _both(client: socket.socket) -> list[bytes]:
    client.sendall(asked(_LARGER, 7, 1) + asked(_SMALL, 12, 2))
    return answers(client, 2)


def test_an_answer_that_another_thread_encodes_keeps_its_place() -> None:
    with SyncCluster() as cluster, connect(cluster) as client:
        first, second = _both(client)
        assert ids([first, second]) == [1, 2]
        body = read_response(first, api_key=19, api_version=7).body
        assert isinstance(body, CreateTopicsResponse)
        assert [each.name for each in body.topics] == [each.name for each in _LARGER.topics]
        assert {each.error_code for each in body.topics} == {0}


def test_a_client_that_goes_before_its_answer_is_encoded() -> None:
    with SyncCluster() as cluster:
        with connect(cluster) as client:
            client.sendall(asked(_LARGER, 7, 1))
        with connect(cluster) as other:
            assert {row.error_code for row in _codes(_both(other)[0])} <= {0, 36}


def _codes(payload: bytes) -> list[CreateTopicsResponse.CreatableTopicResult]:
    body = read_response(payload, api_key=19, api_version=7).body
    assert isinstance(body, CreateTopicsResponse)
    return body.topics
