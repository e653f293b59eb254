"""A connection: requests in pieces and in heaps, answered in order and as they are read."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator

import pytest

from kafka_admin_proto.messages import (
    ApiVersionsRequest,
    CreateTopicsRequest,
    MetadataRequest,
)
from kafka_admin_proto.protocol import FrameReader, frame, write_request
from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.values import Message
from tests.server.handlers.records.asked import produced
from tests.server.handlers.test_create_topics import topic
from tests.server.network.connections import connections_of

_SECONDS = 30


@pytest.fixture(scope="module")
def cluster() -> Iterator[SyncCluster]:
    with SyncCluster() as cluster:
        yield cluster


def connect(cluster: SyncCluster) -> socket.socket:
    host, _, port = cluster.bootstrap_servers.rpartition(":")
    return socket.create_connection((host, int(port)), timeout=_SECONDS)


def asked(message: Message, version: int, correlation_id: int) -> bytes:
    return frame(write_request(message, version, correlation_id))


def answers(client: socket.socket, count: int | None = None) -> list[bytes]:
    """So many payloads, or all until the server closes."""
    reader, found = FrameReader(), list[bytes]()
    while count is None or len(found) < count:
        data = client.recv(1 << 16)
        if not data:
            break
        found += reader.feed(data)
    assert reader.buffered == 0
    return found


def ids(payloads: list[bytes]) -> list[int]:
    return [int.from_bytes(each[:4], "big") for each in payloads]


def test_requests_that_come_together_are_answered_in_order(cluster: SyncCluster) -> None:
    kinds: list[tuple[Message, int]] = [
        (ApiVersionsRequest("a", "1"), 4),
        (MetadataRequest(topics=None), 12),
        (CreateTopicsRequest([topic("together")], 1000, True), 7),
    ]
    with connect(cluster) as client:
        client.sendall(b"".join(asked(*kinds[number % 3], number) for number in range(300)))
        assert ids(answers(client, 300)) == list(range(300))


def test_answers_do_not_wait_for_each_other(cluster: SyncCluster) -> None:
    """As Kafka's SocketServer; Nagle's algorithm holds a pipeline's later answers for 40 ms."""
    with connect(cluster) as client:
        client.sendall(asked(ApiVersionsRequest("n", "1"), 4, 1))
        answers(client, 1)
        transports = [each._transport for each in connections_of(cluster)]
        assert transports
        assert all(sends_at_once(each) for each in transports if each)


def sends_at_once(transport: asyncio.BaseTransport) -> bool:
    accepted = transport.get_extra_info("socket")
    return bool(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))


def test_pieces_of_several_clients_stay_apart(cluster: SyncCluster) -> None:
    data = asked(MetadataRequest(topics=None), 12, 7)
    with connect(cluster) as one, connect(cluster) as other:
        for at in range(1, len(data)):
            one.sendall(data[:at])
            other.sendall(asked(ApiVersionsRequest("b", "1"), 4, at))
            assert ids(answers(other, 1)) == [at]
            one.sendall(data[at:])
            assert ids(answers(one, 1)) == [7]


def test_what_came_before_a_fault_is_answered(cluster: SyncCluster) -> None:
    good = [asked(ApiVersionsRequest("c", "1"), 4, number) for number in range(3)]
    with connect(cluster) as client:
        client.sendall(b"".join(good) + frame(b"\x7f\xff" + bytes(20)) + good[0])
        assert ids(answers(client)) == [0, 1, 2]


def test_a_client_that_does_not_read_is_waited_for(cluster: SyncCluster) -> None:
    """Its requests wait, and not their answers: 20 MB are in no buffer."""
    count = 1000
    with connect(cluster) as client, connect(cluster) as other:
        new = [topic(f"large-{number}", partitions=4) for number in range(100)]
        client.sendall(asked(CreateTopicsRequest(new, 1000), 7, 0))
        answers(client, 1)
        question = MetadataRequest(topics=None)
        client.sendall(b"".join(asked(question, 12, number) for number in range(count)))
        for number in range(20):  # another client is answered meanwhile
            other.sendall(asked(ApiVersionsRequest("d", "1"), 4, number))
            assert ids(answers(other, 1)) == [number]
        transports = [each._transport for each in connections_of(cluster)]
        assert max(each.get_write_buffer_size() for each in transports if each) < 1 << 20
        found = answers(client, count)
        assert ids(found) == list(range(count))
        assert sum(map(len, found)) > 10 << 20


@pytest.mark.parametrize(("partition", "answered"), [(0, [2]), (7, [])])
def test_an_error_ends_the_connection(partition: int, answered: list[int]) -> None:
    seen: list[tuple[int, int]] = []

    def trace(_: int, request: object, response: Message) -> None:
        for each in getattr(response, "responses", ()):
            seen.extend((row.index, row.error_code) for row in each.partition_responses)

    request = produced("orders", b"value", number=partition, acks=0)
    with SyncCluster(1, topics={"orders": 1}, trace=trace) as cluster, connect(cluster) as client:
        client.sendall(asked(request, 9, 1))
        if answered:
            client.sendall(asked(MetadataRequest(topics=None), 12, 2))
        assert ids(answers(client, len(answered) or None)) == answered
        assert [each.value for each in cluster.records("orders")] == [b"value"] * len(answered)
    assert seen == [(partition, 0 if answered else 3)]
