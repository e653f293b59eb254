"""TLS of listeners: principals of certificates, and the alerts of failed handshakes."""

from __future__ import annotations

import contextlib
import math
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.messages import ApiVersionsRequest, CreateTopicsRequest, MetadataRequest
from kafka_admin_proto.protocol import FrameReader, frame, write_request
from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.testing import Authority, Certificate
from tests.helpers.waiting import until
from tests.server.handlers.records.asked import fetching
from tests.server.handlers.test_create_topics import topic
from tests.server.network.connections import connections_of
from tests.server.security.secured import Certificates, peer, secured_cluster

_SECONDS = 30
EVERYTHING = MetadataRequest(topics=None)


@contextlib.contextmanager
def tls(
    address: str,
    certificates: Certificates,
    shows: Certificate | None = None,
    version: ssl.TLSVersion = ssl.TLSVersion.TLSv1_3,
) -> Iterator[ssl.SSLSocket]:
    """A socket over TLS to the first node, after the handshake."""
    context = ssl.create_default_context(cafile=str(certificates.authority.file))
    context.minimum_version = context.maximum_version = version
    if shows is not None:
        context.load_cert_chain(shows.file, shows.key)
    host, _, port = address.split(",")[0].rpartition(":")
    with (
        socket.create_connection((host, int(port)), timeout=_SECONDS) as plain,
        context.wrap_socket(plain, server_hostname=host) as found,
    ):
        yield found


def asked(client: ssl.SSLSocket) -> bool:
    """Whether a request is answered."""
    client.sendall(frame(write_request(EVERYTHING, 12, 1)))
    return bool(client.recv(1 << 16))


def principal(cluster: SyncCluster, client: ssl.SSLSocket) -> str:
    """Who a client is; connections of earlier ones may not have ended yet."""
    (found,) = (
        each._principal
        for each in connections_of(cluster)
        if each._transport is not None
        and each._transport.get_extra_info("peername") == client.getsockname()
    )
    return found


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_who_a_client_is(
    cluster: SyncCluster, certificates: Certificates, version: ssl.TLSVersion
) -> None:
    mutual = cluster.addresses("MUTUAL")
    with tls(mutual, certificates, certificates.client, version) as client:
        assert asked(client)
        assert principal(cluster, client) == "User:CN=client"
    for listener, shows in (("TLS", certificates.client), ("WANTING", None)):
        with tls(cluster.addresses(listener), certificates, shows, version) as client:
            assert asked(client)
            assert principal(cluster, client) == "User:ANONYMOUS"


@pytest.mark.parametrize(
    ("case", "alert"),
    [
        ("foreign", "unknown ca"),
        ("old_client", "certificate expired"),
        ("", "certificate required"),
    ],
)
def test_certificates_that_are_refused(
    cluster: SyncCluster, certificates: Certificates, case: str, alert: str
) -> None:
    """The client hears why, in an alert, before the connection ends."""
    shows = getattr(certificates, case) if case else None
    with (
        tls(cluster.addresses("MUTUAL"), certificates, shows) as client,
        pytest.raises(ssl.SSLError, match=alert.replace(" ", "[ _]")),
    ):
        asked(client)


def test_a_certificate_that_is_asked_for_may_not_be_foreign(
    cluster: SyncCluster, certificates: Certificates
) -> None:
    with (
        tls(cluster.addresses("WANTING"), certificates, certificates.foreign) as client,
        pytest.raises(ssl.SSLError, match="unknown ca"),
    ):
        asked(client)


@pytest.mark.parametrize("trusts", ["issuing", "client"])
def test_an_issuing_authority_or_the_client_itself_is_trusted(
    certificates: Certificates, tmp_path: Path, trusts: str
) -> None:
    issuing = Authority(tmp_path, "issuing", issuer=certificates)
    client = issuing.issue("client")
    trusted = {"issuing": issuing.certificate, "client": client}[trusts]
    end = "-----END CERTIFICATE-----\n"
    trust = tmp_path / "trust.pem"
    trust.write_text(trusted.file.read_text().partition(end)[0] + end)
    configs = certificates.configs("TLS", mutual=True)
    configs["listener.name.tls.ssl.truststore.location"] = str(trust)
    with SyncCluster(listeners={"TLS": "SSL"}, configs=configs) as cluster:
        with tls(cluster.bootstrap_servers, certificates, client) as found:
            assert asked(found)
        with (
            tls(cluster.bootstrap_servers, certificates, certificates.client) as other,
            pytest.raises(ssl.SSLError, match="unknown ca"),
        ):
            asked(other)


#: What is sent to a port with TLS by a client that speaks none.
NO_TLS = (b"\0\0\0\x10" + bytes(16), b"GET / HTTP/1.0\r\n\r\n", b"\xff" * 64)


def all_bytes(address: str, data: bytes) -> bytes:
    """What the first node says to the data until it closes the connection."""
    host, _, port = address.split(",")[0].rpartition(":")
    found = b""
    with socket.create_connection((host, int(port)), timeout=_SECONDS) as client:
        client.sendall(data)
        with contextlib.suppress(ConnectionResetError):
            while part := client.recv(100):
                found += part
    return found


@pytest.mark.parametrize("data", NO_TLS)
def test_no_tls_at_all(cluster: SyncCluster, data: bytes) -> None:
    """An alert in plain text, as Java sends it, and the end."""
    assert all_bytes(cluster.addresses("TLS"), data) == bytes.fromhex("15030300020250")


@pytest.mark.parametrize("closes", ["TLS", "socket"])
def test_what_is_sent_behind_a_request_that_waits_is_done_though_the_client_has_ended(
    certificates: Certificates, closes: str
) -> None:
    waits = write_request(fetching(("t", 0, 0), max_wait_ms=100_000), 12, 1)
    behind = write_request(CreateTopicsRequest([topic("late")], timeout_ms=1000), 5, 2)
    with secured_cluster(certificates, topics={"t": 1}) as cluster:
        with tls(cluster.addresses("MUTUAL"), certificates, certificates.client) as client:
            client.sendall(frame(waits) + frame(behind))
            if closes == "socket":
                client.shutdown(socket.SHUT_WR)
            else:  # close_notify is sent, and that of the server not waited for
                client.settimeout(0)
                with contextlib.suppress(ssl.SSLWantReadError):
                    client.unwrap()
            cluster.wait_for(lambda: any(each._ended for each in connections_of(cluster)))
            assert cluster.state.topic("late") is None
            cluster.clock.advance(100)
            cluster.wait_for(lambda: cluster.state.topic("late") is not None)
        cluster.wait_for(lambda: not connections_of(cluster))


def test_names_by_rules(certificates: Certificates) -> None:
    rules = {"listener.name.mutual.ssl.principal.mapping.rules": "RULE:^CN=(.*)$/me-$1/U"}
    with (
        secured_cluster(certificates, configs=rules) as cluster,
        tls(cluster.addresses("MUTUAL"), certificates, certificates.client) as client,
    ):
        assert asked(client)
        assert principal(cluster, client) == "User:ME-CLIENT"
    rules = {"listener.name.mutual.ssl.principal.mapping.rules": "RULE:^UID=(.*)$/$1/"}
    with (
        secured_cluster(certificates, configs=rules) as cluster,
        tls(cluster.addresses("MUTUAL"), certificates, certificates.client) as client,
    ):
        assert not asked(client)


@pytest.mark.parametrize("end", ["stop_broker", "kill_broker"])
def test_nodes_that_end_cut_off_their_clients_alone(certificates: Certificates, end: str) -> None:
    with secured_cluster(certificates, brokers=3) as cluster:
        first, second, _ = cluster.addresses("MUTUAL").split(",")
        with tls(second, certificates, certificates.client) as other:
            with tls(first, certificates, certificates.client) as client:
                assert asked(client)
                getattr(cluster, end)(1)
                with contextlib.suppress(ConnectionResetError, ssl.SSLEOFError):
                    assert client.recv(1) == b""
                with pytest.raises(ConnectionError), tls(first, certificates, certificates.client):
                    pass
            assert asked(other)
        if end == "stop_broker":
            cluster.start_broker(1)
            with tls(first, certificates, certificates.client) as client:
                assert asked(client)


def test_large_answers_to_a_client_that_reads_slowly(
    cluster: SyncCluster, certificates: Certificates
) -> None:
    """Requests wait and not their answers, as without TLS, and all come in order."""
    count = 300
    new = [topic(f"tls-{number}", partitions=4) for number in range(100)]
    with peer(cluster.addresses("PLAINTEXT")) as admin:
        admin.ask(CreateTopicsRequest(new, 1000), 7)
    question = MetadataRequest(topics=None)
    with tls(cluster.addresses("TLS"), certificates) as client:
        for number in range(count):
            client.sendall(frame(write_request(question, 12, number)))
        with peer(cluster.addresses("PLAINTEXT")) as other:
            assert other.versions().api_keys
        sizes = [
            each._transport.get_write_buffer_size()
            for each in connections_of(cluster)
            if each._transport is not None
        ]
        assert max(sizes) < 1 << 20
        reader, found = FrameReader(), list[int]()
        while len(found) < count:
            data = client.recv(1 << 16)
            assert data
            found += [int.from_bytes(each[:4], "big") for each in reader.feed(data)]
    assert found == list(range(count))


def test_an_end_of_tls_is_answered(cluster: SyncCluster, certificates: Certificates) -> None:
    with tls(cluster.addresses("TLS"), certificates) as client:
        assert asked(client)
        client.unwrap().close()


def test_a_lost_answer_over_tls(certificates: Certificates) -> None:
    """A fault puts another protocol in the place of the connection, which hears nothing more."""
    with (
        secured_cluster(certificates) as cluster,
        tls(cluster.addresses("TLS"), certificates) as client,
    ):
        fault = cluster.faults.add_text("api=Metadata drop=answer count=1")
        client.sendall(frame(write_request(EVERYTHING, 12, 1)))
        end_s = time.monotonic() + _SECONDS
        while not fault.fired and time.monotonic() < end_s:
            time.sleep(0.01)
        client.sendall(b"more" * 100_000)
        client.settimeout(0.1)
        with pytest.raises(TimeoutError):
            client.recv(1)
        client.settimeout(_SECONDS)
        client.unwrap()


def test_sasl_with_tls_asks_for_certificates_where_its_own_config_says_so(
    certificates: Certificates,
) -> None:
    """A config of all listeners does not, since SASL says who the client is.

    Where there are no others it is refused.
    """
    listeners, users = {"S": "SASL_SSL"}, {"a": "b"}
    for name, refused in (("ssl.client.auth", False), ("listener.name.s.ssl.client.auth", True)):
        configs = {
            "ssl.keystore.location": str(certificates.server.bundle),
            "ssl.truststore.location": str(certificates.authority.file),
            name: "required",
        }
        if not refused:
            with pytest.raises(SettingsError, match="has no effect"):
                SyncCluster(listeners=listeners, users=users, configs=configs)
            listeners |= {"T": "SSL"}
        with (
            SyncCluster(listeners=listeners, users=users, configs=configs) as cluster,
            tls(cluster.addresses("S"), certificates) as client,
        ):
            versions = frame(write_request(ApiVersionsRequest("tests", "1"), 3, 1))
            client.sendall(versions)
            if refused:
                with pytest.raises(ssl.SSLError, match="certificate required"):
                    client.recv(1)
            else:
                assert client.recv(1)


def test_a_client_that_sends_tls_byte_by_byte(
    quick: SyncCluster, certificates: Certificates
) -> None:
    """Bytes of records, then records of one byte: all are answered."""
    asks = frame(write_request(EVERYTHING, 12, 7))
    host, _, port = quick.addresses("TLS").rpartition(":")
    context = ssl.create_default_context(cafile=str(certificates.authority.file))
    received, written = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = context.wrap_bio(received, written, server_hostname=host)
    with socket.create_connection((host, int(port)), timeout=_SECONDS) as plain:
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

        def send(piece_bytes: int) -> None:
            data = written.read()
            for start in range(0, len(data), piece_bytes):
                plain.sendall(data[start : start + piece_bytes])

        def until_done(step: Callable[[], Any], piece_bytes: int) -> Any:
            while True:
                try:
                    found = step()
                except ssl.SSLWantReadError:
                    send(piece_bytes)
                    received.write(plain.recv(1 << 16))
                else:
                    send(piece_bytes)
                    return found

        until_done(client.do_handshake, 1 << 16)
        for record_bytes, piece_bytes in ((len(asks), 1 << 16), (len(asks), 1), (1, 1 << 16)):
            for start in range(0, len(asks), record_bytes):
                client.write(asks[start : start + record_bytes])
                send(piece_bytes)
            assert until_done(lambda: client.read(1 << 16), 1 << 16)[:4]


@pytest.mark.parametrize("stays", [True, False])
def test_a_client_of_tls_waits_for_its_topics_while_it_stays(
    certificates: Certificates, stays: bool
) -> None:
    """KIP-4's timeout; a client that closes its connection is noticed although it waits."""
    with secured_cluster(certificates, rules="kip-4") as waited:
        waited.delay_metadata(math.inf)
        waits = waited._cluster._parts.service.waits._waits  # type: ignore[union-attr]

        def until_waiting(count: int) -> None:
            until(lambda: len(waits) == count)

        with tls(waited.addresses("TLS"), certificates) as client:
            client.sendall(frame(write_request(CreateTopicsRequest([topic("a")], 60_000), 1, 7)))
            until_waiting(1)
            if stays:
                waited.delay_metadata(0)
                assert client.recv(1 << 16)[4:8] == (7).to_bytes(4, "big")
        until_waiting(0)


def test_requests_behind_one_that_waits_are_decrypted_or_not_read(
    certificates: Certificates,
) -> None:
    """No limit of the cluster counts bytes that are not decrypted yet: they are few."""
    waiting = frame(write_request(fetching(("t", 0, 0), max_wait_ms=60_000), 4, 7))
    behind = frame(write_request(EVERYTHING, 12, 8)) * 100_000
    with secured_cluster(certificates, topics={"t": 1}) as waited:
        limiter = waited._cluster._parts.service.limiter  # type: ignore[union-attr]
        with tls(waited.addresses("TLS"), certificates) as client:
            assert asked(client)
            (connection,) = connections_of(waited)
            transport: Any = connection._transport
            accepted = transport._socket.get_extra_info("socket")
            accepted.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
            has_come = threading.Event()
            connection._loop.call_soon_threadsafe(has_come.wait, _SECONDS)
            client.settimeout(0.2)
            with contextlib.suppress(TimeoutError):  # as much as the sockets take
                client.sendall(waiting + behind)
            has_come.set()
            until(lambda: limiter.unfinished_bytes >= 128 << 10)
            assert transport._received.pending <= 64 << 10
