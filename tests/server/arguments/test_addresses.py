"""The addresses that a cluster listens on and those that its clients get."""

from __future__ import annotations

import re
import socket
from pathlib import Path
from typing import Any

import pytest

from kafka_admin_proto.cli.server import serve
from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.protocol.addresses import parse_addresses
from kafka_admin_proto.server import Cluster, SyncCluster
from kafka_admin_proto.server.arguments.resolved_settings import Settings
from kafka_admin_proto.server.network.node import Listener
from tests.helpers.kap import run_kap

TWO = {"IN": "PLAINTEXT", "OUT": "PLAINTEXT"}


def settings(**given: Any) -> Settings:
    """The settings of a cluster that is not started."""
    return Cluster(**given)._settings


def advertised(found: Settings) -> dict[str, list[str]]:
    """The addresses that clients get, by listener."""
    nodes = found.nodes().values()
    return {
        name: [str(each.listeners[name].advertised) for each in nodes] for name in found.listeners
    }


def has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as tried:
            tried.bind(("::1", 0))
    except OSError:
        return False
    return True


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")
@pytest.mark.parametrize("host", ["::1", "[::1]"])
def test_addresses_of_ipv6_have_brackets(host: str) -> None:
    """In every property that has one, so that clients take them."""
    with SyncCluster(3, host=host) as cluster:
        ports = [each.port for each in parse_addresses(cluster.bootstrap_servers)]
        assert cluster.bootstrap_servers == ",".join(f"[::1]:{each}" for each in ports)
        static = cluster.state.static[2]
        assert static["listeners"] == f"PLAINTEXT://[::1]:{ports[1]},CONTROLLER://[::1]:0"
        voters = ",".join(f"{number}@[::1]:{each}" for number, each in enumerate(ports, 1))
        assert static["controller.quorum.voters"] == voters
        assert "advertised.listeners" not in static
        (endpoint,) = cluster.state.cluster.brokers[2].endpoints.values()
        assert (endpoint.host, endpoint.port) == ("::1", ports[1])  # on the wire without


def test_an_advertised_host_of_ipv6_has_brackets() -> None:
    listener = Listener("A", "127.0.0.1", "2001:db8::1", 9092)
    assert (str(listener.address), str(listener.advertised)) == (
        "127.0.0.1:9092",
        "[2001:db8::1]:9092",
    )


UNSPECIFIED = ["0.0.0.0", "::", "[::]", "::0", "0:0:0:0:0:0:0:0", "0", "0.0", "::ffff:0.0.0.0"]


@pytest.mark.parametrize("host", UNSPECIFIED)
def test_an_address_of_all_interfaces_is_not_advertised(host: str) -> None:
    """Kafka: "advertised.listeners cannot use the nonroutable meta-address"."""
    for given in (
        {"host": host},
        {"advertised_host": host},
        {"listeners": TWO, "host": host, "advertised_listeners": {"OUT": "kafka.example:9"}},
    ):
        with pytest.raises(SettingsError, match=r"clients cannot connect to .*advertised_host"):
            settings(**given)
    ended = run_kap("serve --host", host)
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert "clients cannot connect to" in ended.stderr
    assert advertised(settings(host=host, advertised_host="kafka", port=9092)) == {
        "PLAINTEXT": ["kafka:9092"]
    }
    everywhere = {"PLAINTEXT": "kafka:9"}
    assert advertised(settings(host=host, advertised_listeners=everywhere)) == {
        "PLAINTEXT": ["kafka:9"]
    }


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "0"])
def test_it_is_not_advertised_by_a_listener_either(host: str) -> None:
    address = f"[{host}]:9" if ":" in host else f"{host}:9"
    with pytest.raises(SettingsError, match="clients cannot connect to"):
        settings(advertised_listeners={"PLAINTEXT": address})


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("k:9", ["k:9", "k:10", "k:11"]),
        (["k:9"], ["k:9", "k:10", "k:11"]),
        ("a:9,b:9,c:9", ["a:9", "b:9", "c:9"]),
        (["a:9", "[::1]:9", "c:7"], ["a:9", "[::1]:9", "c:7"]),
        (("k:9", "k:9", "k:9"), ["k:9", "k:9", "k:9"]),
    ],
)
def test_each_listener_and_node_may_have_its_own(given: Any, found: list[str]) -> None:
    made = settings(
        brokers=3, listeners=TWO, port=100, advertised_host="h", advertised_listeners={"out": given}
    )
    assert advertised(made) == {"IN": ["h:100", "h:101", "h:102"], "OUT": found}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"NO": "k:9"}, "advertised_listeners['NO'] is of no listener"),
        ({"OUT": "k:9", "out": "k:8"}, "advertised_listeners['out']: the listener has addresses"),
        ({"OUT": "k"}, "advertised_listeners['OUT']: 'k' is not an address: write host:port"),
        ({"OUT": "::1:9"}, "advertised_listeners['OUT']: '::1:9' is not an address: write an IPv6"),
        (
            {"OUT": "[]:9"},
            "advertised_listeners['OUT']: '[]' is no host; expected a name or an IP address",
        ),
        *[
            ({"OUT": f"{host}:9"}, f"advertised_listeners['OUT']: {host.strip('[]')!r} is no host")
            for host in ("a b", "u@h", "/x", "[a:b]", "[::1%a b]", "\ud800")
        ],
        ({"OUT": ""}, "advertised_listeners['OUT']: no address"),
        ({"OUT": []}, "advertised_listeners['OUT'] has 0 addresses for 3 brokers"),
        ({"OUT": "a:1,b:1"}, "advertised_listeners['OUT'] has 2 addresses for 3 brokers"),
        ({"OUT": "a:65534"}, "with ports up to 65535; give one for each"),
        ({"OUT": "a:0"}, "a port is a number from 1 to 65535"),
    ],
)
def test_addresses_that_cannot_be(given: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsError) as refused:
        settings(brokers=3, listeners=TWO, advertised_listeners=given)
    assert said in str(refused.value)


def test_clients_and_configs_have_what_is_advertised() -> None:
    """The registration, the answers, `addresses` and the properties file agree."""
    given = {"OUT": ["a.example:19092", "b.example:19092"]}
    with SyncCluster(2, listeners=TWO, advertised_listeners=given, racks=["r1", "r2"]) as cluster:
        assert cluster.addresses("OUT") == "a.example:19092,b.example:19092"
        inside = parse_addresses(cluster.bootstrap_servers)
        broker, static = cluster.state.cluster.brokers[2], cluster.state.static[2]
        assert [(each.name, each.host, each.port) for each in broker.endpoints.values()] == [
            ("IN", "127.0.0.1", inside[1].port),
            ("OUT", "b.example", 19092),
        ]
        listed = f"IN://{inside[1]},OUT://b.example:19092"
        assert static["advertised.listeners"] == listed
        assert (broker.rack, static["broker.rack"]) == ("r2", "r2")
        assert static["controller.quorum.voters"] == f"1@{inside[0]},2@{inside[1]}"


def test_the_examples_of_the_page_advertise_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parents[3] / "docs" / "server.md").read_text("utf-8")
    (block,) = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
    clusters: list[Cluster] = []

    async def started(cluster: Cluster, _: Any) -> None:
        clusters.append(cluster)

    monkeypatch.setattr(serve, "_serve", started)
    monkeypatch.setattr(serve, "tune_for_server", lambda: None)
    monkeypatch.setattr(serve, "allow_open_files", lambda: None)
    for line in block.splitlines():
        assert run_kap(line.removeprefix("kap ")).exit_code == 0
    first, second = (each._settings for each in clusters)
    assert first.racks == {1: "r1", 2: "r2"}
    assert (first.host, second.host) == ("0.0.0.0", "::1")
    said = [", ".join(each) for each in (*advertised(first).values(), *advertised(second).values())]
    assert said == ["kafka.example:9092, kafka.example:9093", "[::1]:0", "kafka.example:19092"]
    assert "| `kafka.example:9092`, `kafka.example:9093` |" in page
    assert "| `[::1]:PORT` of IN, `kafka.example:19092` of OUT |" in page
