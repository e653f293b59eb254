"""Each fault on a socket: which bytes come and when, and that all is well behind it."""

from __future__ import annotations

import signal
import socket
from collections.abc import Iterator

import pytest

from kafka_admin_proto.messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    CreateTopicsRequest,
    CreateTopicsResponse,
    MetadataRequest,
    MetadataResponse,
)
from kafka_admin_proto.protocol import read_response
from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.values import Message
from tests.server.differential.wire import Nodes
from tests.server.handlers.test_create_topics import topic
from tests.server.network.test_connection import answers, asked, connect, ids
from tests.server.test_cluster import serve

_METADATA = MetadataRequest(topics=None)
_SHORT_S = 0.2


@pytest.fixture
def cluster() -> Iterator[SyncCluster]:
    with SyncCluster() as cluster:
        yield cluster


def metadata(client: socket.socket, number: int = 1) -> MetadataResponse:
    client.sendall(asked(_METADATA, 12, number))
    (payload,) = answers(client, 1)
    body = read_response(payload, api_key=3, api_version=12).body
    assert isinstance(body, MetadataResponse)
    return body


def test_answers_behind_a_delayed_one_wait(cluster: SyncCluster) -> None:
    with connect(cluster) as client, connect(cluster) as other:
        fault = cluster.faults.add(api="Metadata", count=1, delay_ms=60_000)
        client.sendall(b"".join(asked(_METADATA, 12, number) for number in range(5)))
        metadata(other)  # the fault is the first's, and nobody else waits
        cluster.clock.advance(60)
        client.settimeout(30)
        assert ids(answers(client, 5)) == [0, 1, 2, 3, 4]
        assert fault.fired == 1


@pytest.mark.parametrize(("cut", "answered", "made"), [
    ("before", 0, False), ("within", 0.5, True), ("after", 1, True)
])  # fmt: skip
@pytest.mark.exhaustive
def test_connections_are_cut(cluster: SyncCluster, cut: str, answered: float, made: bool) -> None:
    cluster.faults.add_text(f"api=CreateTopics cut={cut}")
    request = asked(CreateTopicsRequest([topic("cut")], 1000), 7, 2)
    with connect(cluster) as client:
        metadata(client)
        client.sendall(request + asked(_METADATA, 12, 3))
        rest = b""
        while data := client.recv(1 << 16):
            rest += data
    size = int.from_bytes(rest[:4], "big") + 4 if rest else 1
    assert len(rest) / size == pytest.approx(answered, abs=0.1)
    with connect(cluster) as client:
        assert bool(metadata(client).topics) is made


@pytest.mark.parametrize(("drop", "made"), [("request", False), ("answer", True)])
def test_nothing_is_answered_behind_a_lost_one(cluster: SyncCluster, drop: str, made: bool) -> None:
    fault = cluster.faults.add_text(f"api=CreateTopics drop={drop} count=1")
    with connect(cluster) as client, connect(cluster) as other:
        client.sendall(asked(CreateTopicsRequest([topic("lost")], 1000), 7, 1))
        client.sendall(asked(_METADATA, 12, 2))
        client.settimeout(_SHORT_S)
        with pytest.raises(TimeoutError):
            client.recv(1)
        assert bool(metadata(other).topics) is made
        assert fault.fired == 1
        client.shutdown(socket.SHUT_WR)  # the cluster sees the end all the same
        client.settimeout(30)
        assert client.recv(1) == b""


@pytest.mark.parametrize("garbage", ["correlation-id", "size", "noise"])
def test_garbage_is_no_answer(cluster: SyncCluster, garbage: str) -> None:
    with connect(cluster) as client:
        good = asked(_METADATA, 12, 7)
        client.sendall(good)
        (payload,) = answers(client, 1)
        cluster.faults.add_text(f"garbage={garbage} count=1")
        client.sendall(good)
        data = b""
        while len(data) < len(payload) + 4:
            data += client.recv(1 << 16)
        size, correlation = int.from_bytes(data[:4], "big", signed=True), data[4:8]
        assert {
            "correlation-id": size == len(payload) and correlation != payload[:4],
            "size": size > 100 << 20,
            "noise": size < 0,
        }[garbage]
        assert metadata(client).cluster_id == cluster.state.cluster_id


@pytest.mark.parametrize("api", ["Metadata", "CreateTopics"])
def test_a_throttled_client_is_answered_and_then_muted(cluster: SyncCluster, api: str) -> None:
    cluster.faults.add(api=api, throttle_ms=600_000, count=1)
    kinds: dict[str, tuple[Message, int]] = {
        "Metadata": (_METADATA, 12),
        "CreateTopics": (CreateTopicsRequest([topic("t")], 1000), 7),
    }
    request, version = kinds[api]
    with connect(cluster) as client:
        client.sendall(asked(request, version, 1) + asked(_METADATA, 12, 2))
        (payload,) = answers(client, 1)
        assert request.api_key is not None
        body = read_response(payload, api_key=request.api_key, api_version=version).body
        assert isinstance(body, MetadataResponse | CreateTopicsResponse)
        assert body.throttle_time_ms == 600_000
        cluster.clock.advance(500)
        client.setblocking(False)
        with pytest.raises(BlockingIOError):
            client.recv(1)
        cluster.clock.advance(100)
        client.settimeout(30)
        assert ids(answers(client, 1)) == [2]


def test_conditions_and_counts(cluster: SyncCluster) -> None:
    faults = cluster.faults
    with faults.add(api="Metadata", client_id="an*", error="NOT_CONTROLLER") as fault:
        with Nodes(cluster.bootstrap_servers) as nodes:
            assert nodes.ask(0, _METADATA, 13).error_code == 0
        assert fault.fired == 0
        with connect(cluster) as client:
            from kafka_admin_proto.protocol import frame, write_request

            client.sendall(frame(write_request(_METADATA, 13, 1, "anna")))
            (payload,) = answers(client, 1)
            body = read_response(payload, api_key=3, api_version=13).body
            assert isinstance(body, MetadataResponse)
            assert body.error_code == 41
        assert fault.fired == 1
    with Nodes(cluster.bootstrap_servers) as nodes:
        counted = faults.add(api=3, versions="13", error=41, count=2)
        first = faults.add(api="Metadata", versions="0-12", error=42)
        codes = [nodes.ask(0, _METADATA, 13).error_code for _ in range(4)]
        assert codes == [41, 41, 0, 0]
        assert (counted.fired, first.fired) == (2, 0)
        assert repr(counted) == "<Fault api=3 version=13 error=41 count=2, fired 2 times>"
        nodes.ask(0, _METADATA, 12)
        assert first.fired == 1
        first.remove()
        first.remove()


def test_the_fixture_of_pytest_has_faults(kafka_cluster: SyncCluster) -> None:
    with (
        kafka_cluster.faults.add(error="BROKER_NOT_AVAILABLE", count=1) as fault,
        Nodes(kafka_cluster.bootstrap_servers) as nodes,
    ):
        assert [nodes.ask(0, _METADATA, 13).error_code for _ in range(2)] == [8, 0]
        assert fault.fired == 1


def test_of_one_node_only() -> None:
    with SyncCluster(2) as cluster, Nodes(cluster.bootstrap_servers) as nodes:
        cluster.faults.add(node=2, error="BROKER_NOT_AVAILABLE")
        assert [nodes.ask(each, _METADATA, 13).error_code for each in (0, 1)] == [0, 8]


def test_an_older_cluster_api_by_api() -> None:
    versions = {"Metadata": "0-9", "describe-topic-partitions": "none"}
    with SyncCluster(api_versions=versions) as cluster, Nodes(cluster.bootstrap_servers) as nodes:
        answer = nodes.ask(0, ApiVersionsRequest("a", "1"), 3)
        assert isinstance(answer, ApiVersionsResponse)
        found = {each.api_key: (each.min_version, each.max_version) for each in answer.api_keys}
        assert found[3] == (0, 9)
        assert 75 not in found
        assert nodes.ask(0, _METADATA, 9).topics == []
        assert nodes.ask(0, _METADATA, 10) is None


def test_faults_of_the_command_line_are_counted_at_the_end() -> None:
    with serve("--fault", "api=Metadata error=NOT_CONTROLLER count=2", "--fault", "cut=before",
               "--api-versions", "CreateTopics=none") as process:  # fmt: skip
        assert process.stdout is not None
        with Nodes(process.stdout.readline().strip()) as nodes:
            assert nodes.ask(0, _METADATA, 13).error_code == 41
            assert nodes.ask(0, ApiVersionsRequest("a", "1"), 3) is None
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 0
    assert errors.splitlines() == [
        "fault api=Metadata error=NOT_CONTROLLER count=2: fired 1 time",
        "fault cut=before: fired 1 time",
    ]


def test_answers_stay_in_order_where_a_heap_of_requests_has_delays(cluster: SyncCluster) -> None:
    """A slice of a heap may end at the very request that is delayed."""
    fault = cluster.faults.add(api="Metadata", delay_ms=3)
    validate = CreateTopicsRequest([topic("validated")], 1000, True)
    count = 800
    heap = b"".join(
        asked(validate, 7, number) if number % 20 else asked(_METADATA, 12, number)
        for number in range(count)
    )
    with connect(cluster) as client:
        client.sendall(heap)
        assert ids(answers(client, count)) == list(range(count))
    assert fault.fired == 40
