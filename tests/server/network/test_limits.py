"""Limits of a cluster's clients together: connections, idle time, bytes in memory."""

from __future__ import annotations

import resource
import socket
import subprocess
import sys
from typing import Any
from unittest.mock import Mock

import pytest

from kafka_admin_proto.admin import ConfigChange, ConfigResource, QuotaAlteration, SyncAdminClient
from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.messages import ApiVersionsRequest, MetadataRequest
from kafka_admin_proto.records.metadata.entities import QuotaEntity
from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.server.clock import Clock
from kafka_admin_proto.server.network.limits import ConnectionLimiter, NetworkLimits
from tests.helpers.waiting import until
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
    with SyncCluster(configs={"max.connections.per.ip": "1"}) as cluster, connect(cluster) as first:
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


def _alter(admin: SyncAdminClient, **configs: str) -> None:
    given = {name.replace("_", "."): value for name, value in configs.items()}
    admin.alter_configs([ConfigChange(resource=ConfigResource("broker"), set=given)])


def test_a_lower_limit_closes_the_connections_that_are_used_least() -> None:
    """As in Kafka, whose processors close one at each turn; the request's own is used just then."""
    with (
        SyncCluster() as cluster,
        SyncAdminClient(cluster.bootstrap_servers) as admin,
        connect(cluster) as first,
        connect(cluster) as second,
    ):
        assert is_answered(second)
        assert is_answered(first)
        assert is_answered(second)
        _alter(admin, max_connections="2")
        assert is_closed(first)
        assert is_answered(second)


class _Limited:
    """A limiter of connections to one node, whose configs a test changes."""

    def __init__(self, idle_ms: int = -1, **configs: Any) -> None:
        self.clock = Mock(spec=Clock)
        self.clock.time_s.return_value = 0.0
        self.quotas: dict[QuotaEntity, dict[str, float]] = {}
        self.configs: dict[str, Any] = {
            "max.connections": 1, "max.connections.per.ip": 99,
            "max.connections.per.ip.overrides": "", "max.connection.creation.rate": 99,
            "quota.window.num": 11, "quota.window.size.seconds": 1,
        }  # fmt: skip

        def config(name: str, _: int) -> Any:
            return self.configs[name]

        self.limiter = ConnectionLimiter(
            NetworkLimits(idle_ms=idle_ms), self.clock, config, lambda: self.quotas
        )
        self.set(**configs)

    def set(self, **configs: Any) -> None:
        self.configs |= {name.replace("_", "."): value for name, value in configs.items()}
        self.limiter.follow_configs()

    def connect(
        self, host: str = "127.0.0.1", *, used_s: float = 0, is_protected: bool = False
    ) -> Mock:
        found = Mock(
            host=host,
            node_id=1,
            used_s=used_s,
            is_protected=is_protected,
            active=False,
            idle_checks=0,
            unfinished_bytes=0,
        )
        self.limiter.admit(found)
        return found


def test_connections_that_wait_count_for_their_address_when_they_are_accepted() -> None:
    """Kafka counts an address behind the wait: any number may wait while one of it is open."""
    limited = _Limited(max_connections_per_ip=2)
    limited.connect()
    waiting = [limited.connect() for _ in range(3)]
    limited.set(max_connections=9)
    assert [each.resume.called for each in waiting] == [True, False, False]
    assert [each.close.called for each in waiting] == [False, True, True]


def test_the_listener_between_brokers_has_room_where_another_connection_is_closed() -> None:
    """Kafka's protected listener: the least recently used connection of another one makes room."""
    limited = _Limited(max_connections=2)
    first, second = limited.connect(used_s=2), limited.connect(used_s=1)
    third = limited.connect(used_s=0, is_protected=True)
    assert [each.close.called for each in (first, second, third)] == [False, True, False]
    assert not third.pause.called


def _due(limited: _Limited) -> list[tuple[float, Any, Any]]:
    """The calls that the clock is to make: after how long, which, with what."""
    return [(delay, call, given) for (delay, call, *given), _ in limited.clock.later.call_args_list]


@pytest.mark.parametrize(("rate", "waits_s"), [(1, 1.0), (0, 1.0), (2, 0.5)])
def test_connections_wait_that_come_faster_than_the_brokers_rate(rate: int, waits_s: float) -> None:
    """Ten whole samples of a second, as of each quota; no wait is longer than one of them."""
    limited = _Limited(max_connections=99, max_connection_creation_rate=rate)
    accepted = [limited.connect() for _ in range(10 * rate)]
    waiting = [limited.connect() for _ in range(2)]
    assert not any(each.pause.called for each in accepted if rate)
    assert all(each.pause.called and not each.resume.called for each in waiting)
    ((delay_s, admit, given),) = _due(limited)
    assert delay_s == waits_s
    limited.clock.time_s.return_value = delay_s
    admit(*given)
    assert [each.resume.called for each in waiting] == [True, False]
    assert len(_due(limited)) == 2
    assert not limited.connect(is_protected=True).pause.called


def test_the_first_that_waits_for_the_rate_has_gone() -> None:
    limited = _Limited(max_connections=99, max_connection_creation_rate=0)
    first, second = (limited.connect() for _ in range(2))
    limited.limiter.remove(first)
    limited.clock.time_s.return_value = 1.0
    for _, admit, given in _due(limited):
        admit(*given)
    assert second.resume.called


@pytest.mark.parametrize("named", ["127.0.0.1", "localhost", None])
def test_an_address_that_connects_faster_than_its_quota_is_not_accepted(named: str | None) -> None:
    """It is closed when the rate would allow it, and takes no part of the rate."""
    limited = _Limited(max_connections=99)
    limited.quotas[("ip", named),] = {"connection_creation_rate": 1.0}
    limited.quotas[("ip", "10.0.0.2"),] = {"connection_creation_rate": 99.0}
    first = [limited.connect() for _ in range(10)]
    assert not any(each.pause.called for each in first)
    for _ in range(2):
        refused = limited.connect()
        assert refused.pause.called
        assert not refused.close.called
        delay_s, close, given = _due(limited)[-1]
        assert delay_s == 1.0
        close(*given)
        assert refused.close.called
    assert not limited.connect("10.0.0.2").pause.called


def test_the_quota_of_an_address_is_that_of_the_cluster() -> None:
    with SyncCluster() as cluster, SyncAdminClient(cluster.bootstrap_servers) as admin:
        admin.alter_client_quotas(
            [QuotaAlteration({"ip": None}, {"connection_creation_rate": 1.0})]
        )
        clients = [connect(cluster) for _ in range(12)]
        assert is_answered(clients[0])
        until(lambda: len(connections_of(cluster)) >= len(clients))
        cluster.clock.advance(1.1)
        assert is_closed(clients[-1])
        for each in clients:
            each.close()


def test_which_listener_is_between_brokers() -> None:
    listeners = {"INTERNAL": "PLAINTEXT", "EXTERNAL": "PLAINTEXT"}
    for given, spared in ((listeners, True), ({"INTERNAL": "PLAINTEXT"}, False)):
        with SyncCluster(listeners=given) as cluster:
            for name in given:
                host, _, port = cluster.addresses(name).rpartition(":")
                with socket.create_connection((host, int(port))) as client:
                    assert is_answered(client)
                    (found,) = connections_of(cluster)
                    assert found.is_protected == (spared and name == "INTERNAL")
                until(lambda: not connections_of(cluster))


def test_a_connection_that_has_waited_is_closed_when_it_is_idle() -> None:
    limited = _Limited(idle_ms=200, max_connections=0)
    idle = limited.connect()
    limited.set(max_connections=9)
    assert idle.resume.called
    for _ in range(4):
        (_, check), _ = limited.clock.later.call_args
        check()
    assert idle.close.called


@pytest.mark.parametrize("wrong", ["a" * 64, "a..b", "nowhere.invalid"])
def test_an_override_of_a_host_without_an_address_has_no_effect(wrong: str) -> None:
    limited = _Limited(max_connections=9, max_connections_per_ip_overrides=f"{wrong}:0,127.0.0.1:1")
    assert not limited.connect().close.called
    assert limited.connect().close.called


def test_an_override_of_a_name_is_for_its_first_address_of_ipv4(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """That is Java's preference, where the system may list ::1 first."""
    found = [(family, 1, 6, "", (host, 0)) for family, host in (
        (socket.AF_INET6, "::1"), (socket.AF_INET, "127.0.0.3"), (socket.AF_INET, "127.0.0.4"),
    )]  # fmt: skip
    monkeypatch.setattr("kafka_admin_proto.server.network.limits.getaddrinfo", lambda *_: found)
    limited = _Limited(max_connections=9, max_connections_per_ip_overrides="both.test:0")
    hosts = ["0:0:0:0:0:0:0:1", "127.0.0.3", "127.0.0.4"]
    assert [limited.connect(each).close.called for each in hosts] == [False, True, False]


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
