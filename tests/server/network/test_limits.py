"""Limits of a cluster's clients together: connections, idle time, bytes in memory."""

from __future__ import annotations

import resource
import socket
import subprocess
import sys
import threading
from collections.abc import Callable

import pytest

from kafka_admin_proto.admin import ConfigChange, ConfigResource, SyncAdminClient
from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.messages import ApiVersionsRequest, MetadataRequest
from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.server.network.limits import NetworkLimits
from tests.server.differential.wire import Nodes
from tests.server.network.connections import connections_of
from tests.server.network.test_connection import answers, asked, connect, ids
from tests.server.test_cluster import create

_QUESTION = asked(ApiVersionsRequest("a", "1"), 3, 7)
_SHORT_S = 0.2
_SECONDS = 30


def is_answered(client: socket.socket) -> bool:
    client.sendall(_QUESTION)
    return ids(answers(client, 1)) == [7]


def is_closed(client: socket.socket) -> bool:
    try:
        return client.recv(1) == b""
    except ConnectionResetError:
        return True


def until(condition: Callable[[], bool]) -> None:
    wait = threading.Event()
    for _ in range(_SECONDS * 100):
        if condition():
            return
        wait.wait(0.01)
    raise AssertionError("it did not come to be")


def test_more_connections_wait_until_others_end() -> None:
    with SyncCluster(configs={"max.connections": "2"}) as cluster:
        first, second, third = (connect(cluster) for _ in range(3))
        with second, third:
            with first:
                assert is_answered(first)
                assert is_answered(second)
                third.sendall(_QUESTION)
                third.settimeout(_SHORT_S)
                with pytest.raises(TimeoutError):
                    third.recv(1)
            third.settimeout(_SECONDS)
            assert ids(answers(third, 1)) == [7]


def test_more_connections_of_an_address_are_closed() -> None:
    with (
        SyncCluster(configs={"max.connections.per.ip": "1"}) as cluster,
        connect(cluster) as first,
    ):
        assert is_answered(first)
        with connect(cluster) as second:
            assert is_closed(second)
        assert is_answered(first)


def test_an_address_has_a_limit_of_its_own() -> None:
    """Kafka's overrides go before max.connections.per.ip, in either direction."""
    configs = {"max.connections.per.ip": "0", "max.connections.per.ip.overrides": "localhost:1,"}
    with SyncCluster(configs=configs) as cluster, connect(cluster) as first:
        assert is_answered(first)
        with connect(cluster) as second:
            assert is_closed(second)


def test_limits_of_connections_are_changed_while_the_brokers_run() -> None:
    """As in Kafka they count for new connections; those that wait are accepted once they fit."""
    with SyncCluster() as cluster, SyncAdminClient(cluster.bootstrap_servers) as admin:

        def alter(name: str, value: str) -> None:
            admin.alter_configs(
                [ConfigChange(resource=ConfigResource("broker"), set={name: value})]
            )

        alter("max.connections.per.ip", "100")
        open_now = len(connections_of(cluster))
        alter("max.connections.per.ip.overrides", f"127.0.0.1:{open_now}")
        with connect(cluster) as closed:
            assert is_closed(closed)
        alter("max.connections.per.ip.overrides", "127.0.0.2:0")
        alter("max.connections", f"{open_now}")
        with connect(cluster) as waiting:
            waiting.sendall(_QUESTION)
            waiting.settimeout(_SHORT_S)
            with pytest.raises(TimeoutError):
                waiting.recv(1)
            waiting.settimeout(_SECONDS)
            alter("max.connections", f"{open_now + 1}")
            assert ids(answers(waiting, 1)) == [7]


def test_connections_that_are_idle_are_closed() -> None:
    with (
        SyncCluster(configs={"connections.max.idle.ms": "200"}) as cluster,
        connect(cluster) as idle,
        connect(cluster) as half,
    ):
        half.sendall(_QUESTION[:6])
        cluster.clock.advance(1)
        assert is_closed(idle)
        assert is_closed(half)
        with connect(cluster) as other:
            assert is_answered(other)


def test_requests_that_do_not_come_in_full_are_bounded() -> None:
    limits = NetworkLimits(unfinished_bytes=1 << 20)
    with SyncCluster(network_limits=limits) as cluster, connect(cluster) as good:
        service = cluster._cluster._parts.service
        assert service is not None
        limiter = service.limiter
        hostile = [connect(cluster) for _ in range(20)]
        start = (90 << 20).to_bytes(4, "big") + bytes(100_000)
        for each in hostile:
            each.sendall(start)
        until(lambda: limiter.unfinished_bytes > 0)
        assert is_answered(good)
        until(lambda: limiter.unfinished_bytes >= 900_000)

        async def unfinished_bytes() -> int:
            """Between two turns of the server's loop; within one the limit may be exceeded."""
            return limiter.unfinished_bytes

        assert cluster._run(unfinished_bytes()) <= 1 << 20
        for each in hostile:
            each.close()
        until(lambda: limiter.unfinished_bytes == 0)


def test_answers_that_are_not_read_are_bounded() -> None:
    limits = NetworkLimits(unread_bytes=1 << 20)
    with SyncCluster(network_limits=limits) as cluster:
        with Nodes(cluster.bootstrap_servers) as nodes:
            create(nodes, *(f"topic-{number}" for number in range(1000)))
        heap = b"".join(asked(MetadataRequest(topics=None), 12, number) for number in range(200))
        clients = []
        for _ in range(20):
            client = connect(cluster)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.sendall(heap)
            clients.append(client)
        node = cluster._cluster._parts.nodes[1]
        until(lambda: len(node.connections) < len(clients))
        with connect(cluster) as good:
            assert is_answered(good)
        assert sum(each.unread_bytes for each in list(node.connections)) < 2 << 20
        for each in clients:
            each.close()


def test_requests_over_the_limit_close_the_connection() -> None:
    with (
        SyncCluster(configs={"socket.request.max.bytes": "1000"}) as cluster,
        connect(cluster) as client,
    ):
        assert is_answered(client)
        client.sendall((1001).to_bytes(4, "big"))
        assert is_closed(client)


def test_limits_that_are_none() -> None:
    with pytest.raises(SettingsError, match=r"max\.connections"):
        SyncCluster(configs={"max.connections": "many"})


def test_kap_serve_takes_as_many_connections_as_the_system_allows() -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with subprocess.Popen(
        [sys.executable, "-m", "kafka_admin_proto", "serve"],
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (30, most)),
    ) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline().rpartition(":")[2])
        clients = [socket.create_connection(("127.0.0.1", port), _SECONDS) for _ in range(60)]
        assert all(map(is_answered, clients))
        for each in clients:
            each.close()
        process.terminate()
    assert process.returncode == 0
