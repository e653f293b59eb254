"""Hosts of ACLs: the client's address as Java writes it."""

from __future__ import annotations

import socket
from ipaddress import IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.messages import CreateTopicsRequest
from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.server.java import host_address
from tests.server.differential.wire import Nodes
from tests.server.handlers.test_create_topics import topic


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("::1", "0:0:0:0:0:0:0:1"),
        ("2001:db8::ff00:42", "2001:db8:0:0:0:0:ff00:42"),
        ("fe80::1%eth0", "fe80:0:0:0:0:0:0:1%eth0"),
        ("::ffff:10.0.0.7", "10.0.0.7"),
    ],
)
def test_as_java_writes_it(address: str, host: str) -> None:
    assert host_address(address) == host


@given(st.ip_addresses(v=6))
def test_it_is_the_same_address(address: IPv6Address) -> None:
    host = host_address(str(address))
    assert IPv6Address(host if ":" in host else f"::ffff:{host}") == address


def test_a_client_of_ipv6() -> None:
    """An ACL counts for the long form, as on a broker, and for no other."""
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as tried:
            tried.bind(("::1", 0))
    except OSError:
        pytest.skip("this machine has no IPv6")
    acls = [
        {"principal": "User:ANONYMOUS", "operation": "CREATE", "resource_type": "TOPIC"}
        | {"name": name, "host": host}
        for name, host in (("long", "0:0:0:0:0:0:0:1"), ("short", "::1"))
    ]
    with SyncCluster(host="::1", acls=acls) as cluster, Nodes(cluster.bootstrap_servers) as nodes:
        new = [topic("long"), topic("short")]
        found = nodes.ask(0, CreateTopicsRequest(new, 1000, True), 7)
    assert {each.name: each.error_code for each in found.topics} == {"long": 0, "short": 29}
