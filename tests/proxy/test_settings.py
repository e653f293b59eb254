"""What a proxy is made of is checked where it is given, before it listens anywhere."""

from __future__ import annotations

import asyncio
import ssl
from typing import Any

import pytest

from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.faults.words import FaultError
from kafka_admin_proto.protocol.connection import SaslServer
from kafka_admin_proto.proxy import PolicyFilter, Proxy, SyncProxy

_OF_CLIENTS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
_OF_SERVERS = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)


class _Half:
    def frame(self, *_: object) -> None: ...


class _Late(_Half):
    async def closed(self, *_: object) -> None: ...


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"upstream": 5}, "upstream: expected str or a collection of str, got int"),
        ({"upstream": [5]}, r"upstream\[0\]: expected str, got int"),
        ({"listen": 9092}, "listen: expected str, got int"),
        ({"advertised_host": 5}, "advertised_host: expected str or None, got int"),
        ({"connect_timeout": "x"}, "connect_timeout: expected float, got str"),
        ({"deny_versions": {"Produce": "3"}}, r"deny_versions\['Produce'\]: expected int, got str"),
        ({"deny_versions": "Produce<3"}, "deny_versions: expected Mapping or None, got str"),
        ({"tls": "x"}, "tls: expected SSLContext or None, got str"),
        ({"upstream_tls": True}, "upstream_tls: expected SSLContext or None, got bool"),
        ({"sasl": {}}, "sasl: expected SaslServer or None, got dict"),
        ({"upstream_sasl": "a"}, "upstream_sasl: expected Sasl or None, got str"),
        ({"read_only": "no"}, "read_only: expected bool, got str"),
        ({"limits": 5}, "limits: expected Limits or None, got int"),
        ({"observers": [object()]}, "which is no observer: an object with the methods frame and"),
        ({"observers": [_Half()]}, "which is no observer"),
        ({"observers": [_Late()]}, "which is no observer: .*without async"),
    ],
)
def test_values_of_another_type(settings: dict[str, Any], said: str) -> None:
    for kind in (Proxy, SyncProxy):
        with pytest.raises(TypeError, match=said):
            kind(**{"upstream": "a:1", **settings})


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"connect_timeout": float("nan")}, "connect_timeout is nan; expected seconds, above 0"),
        ({"connect_timeout": 0}, "connect_timeout is 0; expected seconds, above 0"),
        ({"advertised_host": ""}, "advertised_host is empty; leave it out"),
        *[
            ({"advertised_host": each}, "expected a name or an IP address, without a port")
            for each in ("a:9", "[::1", "[a]", "[::1]:9", " a", "a b", "a,b", "127.0.0.1:9092")
        ],
        ({"listen": "0.0.0.0:0"}, "clients cannot connect to 0.0.0.0, .*; give advertised_host"),
        ({"listen": "[::]:0"}, "clients cannot connect to ::, .*; give advertised_host"),
        ({"advertised_host": "0.0.0.0"}, "clients cannot connect to 0.0.0.0"),
        ({"deny_versions": {"Produce": 0}}, "Produce has no version before 0; leave it out"),
        ({"tls": _OF_CLIENTS}, "tls is a context of clients; .* ssl.PROTOCOL_TLS_SERVER"),
        ({"upstream_tls": _OF_SERVERS}, "upstream_tls is a context of servers; .*_TLS_CLIENT"),
    ],
)
def test_values_that_cannot_be(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        Proxy("a:1", **settings)


@pytest.mark.parametrize(
    ("policies", "said"),
    [
        ((), "give create_topic_policy or alter_config_policy"),
        ((5,), "create_topic_policy: int has no method configure; a policy has configure"),
        ((None, _Half()), "alter_config_policy: _Half has no method configure"),
        ((_Half,), "create_topic_policy is the class _Half; give an object of it"),
    ],
)
def test_what_is_no_policy(policies: tuple[Any, ...], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        PolicyFilter(*policies)


def test_an_observer_that_is_added_later_is_checked_too() -> None:
    wrong: Any = _Half()
    with pytest.raises(TypeError, match="which is no observer"):
        Proxy("a:1").observe(wrong)


def test_a_broker_of_a_fault_has_a_number() -> None:
    """Which brokers there are a proxy does not know."""
    with pytest.raises(FaultError, match="node is -1; it is 0 or more"):
        Proxy("a:1").faults.add(node=-1, cut="before")


def test_a_fault_of_what_the_proxy_answers_itself_is_refused() -> None:
    """Faults are not asked about a login that ends at the proxy."""
    users = SaslServer.of_passwords({"alice": "al-secret"})
    for api in ("SaslHandshake", "SaslAuthenticate"):
        Proxy("a:1").faults.add(api=api, cut="before")
        with pytest.raises(FaultError, match=f"the proxy answers {api} itself, and a fault"):
            Proxy("a:1", sasl=users).faults.add(api=api, cut="before")


def test_the_address_of_a_proxy_that_has_ended() -> None:
    proxy = SyncProxy("127.0.0.1:1")
    with proxy:
        assert proxy.bootstrap_servers.startswith("127.0.0.1:")
    with pytest.raises(RuntimeError, match="the proxy does not run"):
        print(proxy.bootstrap_servers)


def test_a_proxy_is_ended_in_the_loop_that_it_was_started_in() -> None:
    proxy = Proxy("127.0.0.1:1")
    asyncio.run(proxy.stop())  # it has not been started
    with asyncio.Runner() as runner:
        runner.run(proxy.start())
        with pytest.raises(RuntimeError, match=r"event loop that it was started in.*a SyncProxy"):
            asyncio.run(proxy.stop())
        runner.run(proxy.stop())


@pytest.mark.parametrize(
    "host", ["proxy.example", "::1", "[::1]", "fe80::1%eth0", "[fe80::1%eth0]", "10.0.0.1", "a_b-c"]
)
def test_hosts_that_clients_may_be_given(host: str) -> None:
    """Those of IPv6 with brackets too, which stand once in the addresses of clients."""

    async def run() -> str:
        proxy = Proxy("127.0.0.1:1", listen="127.0.0.1:0", advertised_host=host)
        await proxy.start()
        try:
            return proxy.bootstrap_servers
        finally:
            await proxy.stop()

    found, _, _ = asyncio.run(run()).rpartition(":")
    assert found == (f"[{host.strip('[]')}]" if ":" in host else host)


def test_addresses_may_come_one_by_one() -> None:
    Proxy(each for each in ["a:1", "b:2"])  # type: ignore[arg-type]
