"""A connection that has ended is freed at once: nothing of it waits for the cyclic collector.

A server collects rarely, so that its clients do not wait for it. What connections left to the
collector was 130 MiB after 50,000 logins, and a wait of a second when it came.
"""

from __future__ import annotations

import gc
import random
import socket
import ssl
import time
from collections.abc import Callable, Iterator

import pytest

from kafka_admin_proto.messages import ApiVersionsRequest, MetadataRequest
from kafka_admin_proto.protocol import frame, write_request
from kafka_admin_proto.server import SyncCluster
from tests.helpers.waiting import until
from tests.server.security.secured import PASSWORDS, Certificates, Peer, scram
from tests.server.security.test_tls import asked, tls

_CLIENTS = 10
_WAIT_S = 30.0
_HELD = {
    "NodeConnection",
    "ServerConnection",
    "ServerAuthentication",
    "TlsConnection",
    "FrameReader",
    "_SelectorSocketTransport",
}


def _asks(cluster: SyncCluster) -> None:
    _talk(cluster, "PLAINTEXT", lambda peer: peer.versions())


def _sends_half_a_request(cluster: SyncCluster) -> None:
    data = frame(write_request(MetadataRequest(topics=None), 12, 1))

    def half(peer: Peer) -> None:
        peer.versions()
        peer.send(data[:-1])

    _talk(cluster, "PLAINTEXT", half)


def _sends_byte_by_byte(cluster: SyncCluster) -> None:
    data = frame(write_request(ApiVersionsRequest("a", "1"), 3, 1))

    def trickle(peer: Peer) -> None:
        peer._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for each in data:
            peer.send(bytes([each]))
            time.sleep(0.001)
        assert peer.frame() is not None

    _talk(cluster, "PLAINTEXT", trickle)


def _sends_noise(cluster: SyncCluster) -> None:
    draw = random.Random(5)
    _talk(cluster, "PLAINTEXT", lambda peer: peer.send(draw.randbytes(200)))


def _sends_an_oversize_frame(cluster: SyncCluster) -> None:
    _talk(cluster, "PLAINTEXT", lambda peer: peer.send(b"\x7f" + bytes(2000)))


def _sends_a_wrong_header(cluster: SyncCluster) -> None:
    data = frame(bytes.fromhex("0012000300000001000a61"))  # it ends within the client id

    def refused(peer: Peer) -> None:
        peer.send(data)
        assert peer.frame() is None

    _talk(cluster, "PLAINTEXT", refused)


def _stops_amid_a_login(cluster: SyncCluster) -> None:
    def login(peer: Peer) -> None:
        peer.handshake("SCRAM-SHA-256")
        peer.authenticate(b"n,,n=bob,r=nonce")

    _talk(cluster, "SASL", login)


def _has_a_wrong_password(cluster: SyncCluster) -> None:
    def login(peer: Peer) -> None:
        peer.handshake("PLAIN")
        peer.authenticate(b"\0bob\0wrong")
        assert peer.frame() is None

    _talk(cluster, "SASL", login)
    _talk(cluster, "SASL", lambda peer: scram(peer, "SCRAM-SHA-512", "bob", "wrong"))


def _logs_in(cluster: SyncCluster) -> None:
    def login(peer: Peer) -> None:
        assert scram(peer, "SCRAM-SHA-256", "bob", PASSWORDS["bob"]).error_code == 0
        assert peer.versions() is not None

    _talk(cluster, "SASL", login)


def _talk(cluster: SyncCluster, listener: str, say: Callable[[Peer], object]) -> None:
    for _ in range(_CLIENTS):
        peer = Peer(cluster.addresses(listener))
        say(peer)
        peer.close()
    last = Peer(cluster.addresses(listener))
    assert last.versions() is not None  # the connections before it have been accepted
    last.close()


def _held() -> int:
    return sum(type(each).__name__ in _HELD for each in gc.get_objects())


@pytest.fixture
def without_collector(quick: SyncCluster) -> Iterator[None]:
    """Nothing is left of earlier tests, and nothing is collected."""
    _asks(quick)  # what is made once
    nodes = quick._cluster._parts.nodes.values()
    until(lambda: not any(node.connections for node in nodes), "the end of earlier connections")
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def _all_freed(before: int) -> bool:
    end_s = time.monotonic() + _WAIT_S
    while time.monotonic() < end_s:
        if _held() <= before:
            return True
        time.sleep(0.02)
    return False


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "client",
    [
        _asks, _sends_half_a_request, _sends_byte_by_byte, _sends_noise, _sends_an_oversize_frame,
        _sends_a_wrong_header, _stops_amid_a_login, _has_a_wrong_password, _logs_in,
    ],
)  # fmt: skip
@pytest.mark.usefixtures("without_collector")
def test_a_connection_that_has_ended_is_freed(
    quick: SyncCluster, client: Callable[[SyncCluster], None]
) -> None:
    before = _held()
    client(quick)
    assert _all_freed(before)


@pytest.mark.usefixtures("without_collector")
def test_a_connection_over_tls_is_freed(quick: SyncCluster, certificates: Certificates) -> None:
    before = _held()
    for _ in range(_CLIENTS):
        with tls(quick.addresses("TLS"), certificates) as client:
            assert asked(client)
    for _ in range(_CLIENTS):
        host, _, port = quick.addresses("TLS").rpartition(":")
        with socket.create_connection((host, int(port)), timeout=_WAIT_S) as plain:
            plain.sendall(b"no TLS at all")
            with pytest.raises((ssl.SSLError, OSError)):
                ssl.create_default_context().wrap_socket(plain, server_hostname=host)
    assert _all_freed(before)
