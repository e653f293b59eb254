"""Hosts of ACLs: addresses as Java writes them, and since 4.4 ranges as CidrUtils has them."""

from __future__ import annotations

import re
import socket
from ipaddress import IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.messages import CreateAclsRequest, CreateTopicsRequest, FeatureLevelRecord
from kafka_admin_proto.messages.create_acls_request import AclCreation
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.server.java import host_address
from kafka_admin_proto.server.security.authorizer.host_ranges import (
    address_of,
    contains,
    host_range,
)
from tests.server.differential.wire import Nodes
from tests.server.handlers.test_create_topics import topic
from tests.server.served import Served

#: 4.4-IV0
_LOWER = 31


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("10.0.0.0/8", "10.0.0.0 10.1.2.3 10.255.255.255", "11.0.0.1 0:0:0:0:0:0:0:1"),
        ("10.1.2.3/8", "10.200.0.1", "9.1.2.3"),
        ("10.0.0.0/0", "1.2.3.4 255.255.255.255", "0.0.0.0 0:0:0:0:0:0:0:1 localhost"),
        ("10.0.0.1/32", "10.0.0.1", "10.0.0.2 10.0.0.0"),
        ("10.0.0.1/31", "10.0.0.0 10.0.0.1", "10.0.0.2"),
        ("010.0.0.0/08", "10.9.9.9", "8.0.0.1"),
        ("192.168.1.0/24", "192.168.001.5", "192.168.2.5"),
        ("fe80::/10", "fe80:0:0:0:0:0:0:1 fe80:0:0:0:0:0:0:1%eth0", "1:2:3:4:5:6:7:8 10.0.0.1 x"),
        ("::/0", "1:2:3:4:5:6:7:8 0:0:0:0:0:0:0:0", "10.0.0.1"),
        ("2001:db8::1/127", "2001:db8:0:0:0:0:0:0", "2001:db8:0:0:0:0:0:2"),
        ("[::1]/0128", "0:0:0:0:0:0:0:1", "0:0:0:0:0:0:0:2"),
        ("::1.2.3.4/120", "0:0:0:0:0:0:102:305", "0:0:0:0:0:0:103:305"),
        ("::01.1.1.1/+16", "0:0:0:0:0:0:0:9", "1:0:0:0:0:0:0:0"),
        ("00001::%1/16", "1:2:0:0:0:0:0:0", "2:0:0:0:0:0:0:0"),
        ("1:2:3:4:5:6:1.2.3.4/128", "1:2:3:4:5:6:102:304", "1:2:3:4:5:6:102:305"),
    ],
)
def test_the_addresses_of_a_range(text: str, inside: str, outside: str) -> None:
    found = host_range(text)
    for host in inside.split():
        address = address_of(host)
        assert address is not None
        assert contains(found, address), host
    for host in outside.split():
        address = address_of(host)
        assert address is None or not contains(found, address), host


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("10.0.0.0/33", "Value [33] not in range [0,32]"),
        ("256.0.0.0/33", "Value [256] not in range [0,255]"),
        ("10.0.0.0/100", "Could not parse [10.0.0.0/100]"),
        ("10.0.0/8", "Could not parse [10.0.0/8]"),
        ("10.0.0.0/8 ", "Could not parse [10.0.0.0/8 ]"),
        ("/", "Could not parse [/]"),
        ("2001:db8::/129", "Could not parse [2001:db8::/129] - prefix length must be between 0 "
         "and 128"),
        ("::1/-1", "Could not parse [::1/-1] - prefix length must be between 0 and 128"),
        ("2001:db8::/x", "Could not parse [2001:db8::/x] - invalid prefix length"),
        ("::1/128/1", "Could not parse [::1/128/1] - invalid prefix length"),
        ("/::1", "Could not parse [/::1] - invalid prefix length"),
        ("g::/8", "Could not parse [g::]"),
        ("1:2:3:4:5:6:7:8:9/8", "Could not parse [1:2:3:4:5:6:7:8:9]"),
        ("12345::/16", "Could not parse [12345::]"),
        ("::256.1.1.1/16", "Could not parse [::256.1.1.1]"),
        ("::1%/64", "Could not parse [::1%]"),
        ("[::1]%1/64", "Could not parse [[::1]%1]"),
        ("::1]/64", "Could not parse [::1]]"),
        ("::ffff:10.0.0.0/104", "Could not parse [::ffff:10.0.0.0] - not an IPv6 address"),
    ],
)  # fmt: skip
def test_a_text_that_is_no_range(text: str, fault: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(fault)}$"):
        host_range(text)


def _created(served: Served, host: str) -> tuple[int, str | None]:
    row = AclCreation(2, "t", 3, "User:alice", host, 3, 3)
    (found,) = served.ask(CreateAclsRequest([row])).results
    return found.error_code, found.error_message


def test_the_host_of_a_new_acl() -> None:
    configs = {"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
               "allow.everyone.if.no.acl.found": "true"}  # fmt: skip
    served = Served("4.4", configs=configs)
    assert _created(served, "10.0.0.0/8") == (0, "")
    assert _created(served, "localhost") == (0, "")
    assert _created(served, "") == (codes.INVALID_REQUEST, "Host pattern cannot be null or empty")
    fault = "Invalid CIDR notation '10.0.0.0/33': Value [33] not in range [0,32]"
    assert _created(served, "10.0.0.0/33") == (codes.INVALID_REQUEST, fault)
    served.state.append([FeatureLevelRecord("metadata.version", _LOWER)])
    fault = "CIDR-based ACL host patterns require metadata version 4.4-IV1 or higher."
    assert _created(served, "10.0.0.0/8") == (codes.UNSUPPORTED_VERSION, fault)
    for host in ("10.0.0.0/33", ""):
        assert _created(Served("4.3", configs=configs), host) == (0, "")


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
