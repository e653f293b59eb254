"""SASL that ends at the proxy: users log in there, and the proxy logs in at the brokers."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_admin_proto.admin import AuthenticationError, BrokerError, NewTopic, SyncAdminClient
from kafka_admin_proto.errors import RemoteProtocolError, SaslError, SettingsError
from kafka_admin_proto.messages import (
    ApiVersionsRequest,
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
    EnvelopeRequest,
    MetadataRequest,
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from kafka_admin_proto.protocol import api_versions, codes, frame, read_response, write_request
from kafka_admin_proto.protocol.addresses import parse_addresses
from kafka_admin_proto.protocol.connection import Limits, Sasl, SaslPlain, SaslScram, SaslServer
from kafka_admin_proto.protocol.payload_writers import write_response
from kafka_admin_proto.proxy import Proxy, SyncProxy
from kafka_admin_proto.proxy.call import Call
from kafka_admin_proto.proxy.connection.relay import Relay
from kafka_admin_proto.proxy.filters import Filters
from kafka_admin_proto.proxy.no_tokens import NoTokens
from kafka_admin_proto.proxy.rules import Rules
from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.testing import certificates
from kafka_admin_proto.values import Message
from tests.admin.live.helpers.kafka_python import kafka_python
from tests.server.differential.wire import Nodes

_USERS = {"alice": "al-secret", "bob": "bob-secret", "élise": "é-secret"}
_PROXY = {"proxy": "own-secret"}
_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")


@contextlib.contextmanager
def _behind(
    sasl: Any = None, tls: Any = None, **settings: Any
) -> Iterator[tuple[SyncCluster, str]]:
    """A cluster that lets in the proxy alone, or everybody, and the proxy's address."""
    protocol = ("SASL_" if sasl else "") + ("SSL" if tls else "PLAINTEXT")
    users = _PROXY if sasl else None
    with (
        SyncCluster(listeners={"BROKER": protocol}, users=users, **settings) as cluster,
        SyncProxy(
            cluster.bootstrap_servers,
            sasl=SaslServer.of_passwords(_USERS),
            upstream_sasl=sasl,
            upstream_tls=tls,
        ) as proxy,
    ):
        yield cluster, proxy.bootstrap_servers


def _client(address: str, mechanism: str, user: str, password: str) -> SyncAdminClient:
    return SyncAdminClient(
        address, sasl_mechanism=mechanism, sasl_username=user, sasl_password=password, timeout=10
    )


@pytest.mark.parametrize("mechanism", _MECHANISMS)
def test_a_user_logs_in_and_another_password_is_refused(mechanism: str) -> None:
    """The brokers know nobody."""
    with _behind() as (cluster, address):
        with _client(address, mechanism, "alice", "al-secret") as client:
            (made,) = client.create_topics([NewTopic("orders", 1, 1)])
        assert made.error is None
        others = (("alice", "bob-secret"), ("carol", "al-secret"), ("proxy", "own-secret"))
        for user, password in others:
            with (
                pytest.raises(AuthenticationError) as raised,
                _client(address, mechanism, user, password) as client,
            ):
                client.list_topics()
            assert f"the broker refused user '{user}'" in str(raised.value)
            assert "secret" not in str(raised.value)
        assert list(cluster.state.topic_names) == ["orders"]


@pytest.mark.parametrize(
    "own", [SaslPlain("proxy", "own-secret"), SaslScram("SCRAM-SHA-512", "proxy", "own-secret")]
)
def test_the_proxy_logs_in_at_each_broker(own: Sasl) -> None:
    with (
        _behind(own) as (cluster, address),
        _client(address, "PLAIN", "élise", "é-secret") as client,
    ):
        (made,) = client.create_topics([NewTopic("orders", 3, 1)])
        described = client.describe_topics(["orders"])
        assert made.error is None
        assert len(described[0].partitions) == 3
        with Nodes(cluster.bootstrap_servers) as nodes:  # who does not log in is not let in
            assert nodes.ask(0, MetadataRequest(), 12) is None


def test_nobody_gets_a_token_of_the_proxys_user() -> None:
    """It would be a login at the brokers, without the proxy."""
    configs = {"delegation.token.secret.key": "key"}
    with (
        _behind(SaslPlain("proxy", "own-secret"), configs=configs) as (cluster, address),
        _client(address, "PLAIN", "alice", "al-secret") as client,
    ):
        with SyncAdminClient(
            cluster.bootstrap_servers, sasl_mechanism="PLAIN", sasl_username="proxy",
            sasl_password="own-secret",
        ) as own:  # fmt: skip
            token = own.create_delegation_token()
        asked: tuple[Callable[[], object], ...] = (
            client.create_delegation_token,
            client.describe_delegation_tokens,
            lambda: client.renew_delegation_token(token.hmac),
            lambda: client.expire_delegation_token(token.hmac),
        )
        for ask in asked:
            with pytest.raises(BrokerError, match="DELEGATION_TOKEN_REQUEST_NOT_ALLOWED"):
                ask()
        assert list(cluster.state.cluster.delegation_tokens) == [token.token_id]


@pytest.mark.parametrize("protocol", ["SSL", "SASL_SSL"])
def test_a_certificate_of_the_proxy_is_no_token_either(tmp_path: Path, protocol: str) -> None:
    """Who logs in at the broker asks for tokens of its own; all others are the certificate's."""
    settings = certificates(tmp_path)
    logs_in = protocol == "SASL_SSL"
    login: dict[str, Any] = (
        {"sasl_mechanism": "PLAIN", "sasl_username": "alice", "sasl_password": "al-secret"}
        if logs_in
        else {}
    )
    with (
        SyncCluster(
            listeners={"BROKER": protocol},
            users=_USERS if logs_in else None,
            configs={
                **settings.configs("BROKER", mutual=True), "delegation.token.secret.key": "key"
            },
        ) as cluster,
        SyncProxy(
            cluster.bootstrap_servers, upstream_tls=settings.client_context(mutual=True)
        ) as proxy,
        SyncAdminClient(proxy.bootstrap_servers, timeout=10, **login) as client,
    ):  # fmt: skip
        if logs_in:
            assert client.create_delegation_token().owner == "User:alice"
            return
        with pytest.raises(BrokerError, match="DELEGATION_TOKEN_REQUEST_NOT_ALLOWED"):
            client.create_delegation_token()
        assert not cluster.state.cluster.delegation_tokens


@pytest.mark.parametrize("logs_in", [False, True])
def test_what_an_envelope_carries_is_no_token_either(logs_in: bool) -> None:
    """It may ask for one, in the name of anybody."""
    call = Call(58, 0, 7, "me", logs_in=logs_in)
    answer: Any = NoTokens().on_request(EnvelopeRequest(), call)
    assert (answer and answer.error_code) == (
        None if logs_in else codes.CLUSTER_AUTHORIZATION_FAILED
    )


@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize("logs_in", [False, True])
def test_a_handshake_that_a_broker_refuses_changes_no_login(logs_in: bool, version: int) -> None:
    """Brokers answer ILLEGAL_SASL_STATE without SASL, and behind a login, which goes on."""
    relay = Relay(Rules(Filters([NoTokens()]), lambda *_: ("", 1), api_versions(), Limits()), "")

    def ask(request: Message, version: int, response: Message) -> Any:
        if _sent(relay, request, version) is None:
            relay.from_broker(frame(write_response(response, version, 7)))
            taken = b"".join(relay.to_client)
            relay.to_client.clear()
            return read_response(taken[4:], request.api_key or 0, version).body
        return None

    if logs_in:
        ask(SaslHandshakeRequest("PLAIN"), version, SaslHandshakeResponse())
        if version:
            ask(SaslAuthenticateRequest(b"token"), 2, SaslAuthenticateResponse())
    refused = ask(SaslHandshakeRequest("PLAIN"), version, SaslHandshakeResponse(34))
    assert refused.error_code == 34
    passes = ask(CreateDelegationTokenRequest(), 3, CreateDelegationTokenResponse()) is not None
    assert passes is logs_in


def test_a_login_with_a_token_is_refused_at_the_proxy() -> None:
    with (
        _behind() as (_, address),
        SyncAdminClient(
            address, sasl_mechanism="SCRAM-SHA-256", sasl_username="id", sasl_password="aG1hYw==",
            sasl_delegation_token=True,
        ) as client,
        pytest.raises(AuthenticationError, match="Delegation Token feature is not enabled"),
    ):  # fmt: skip
        client.list_topics()


def test_the_proxy_logs_in_over_tls(tmp_path: Path) -> None:
    made = certificates(tmp_path)
    configs = {"ssl.keystore.location": str(made.server.bundle)}
    own = SaslScram("SCRAM-SHA-256", "proxy", "own-secret")
    with (
        _behind(own, made.client_context(), configs=configs) as (_, address),
        _client(address, "PLAIN", "alice", "al-secret") as client,
    ):
        assert client.describe_cluster().controller == 1


def test_a_broker_that_refuses_the_proxy_ends_the_clients_connection(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The line in the log says why, and shows no password."""
    with _behind(SaslPlain("proxy", "wrong-secret")) as (_, address), Nodes(address) as nodes:
        assert nodes.ask(0, ApiVersionsRequest(), 0) is None
    (line,) = {each.getMessage().partition(": ")[2] for each in caplog.records}
    assert "no broker for a client" in caplog.text
    assert "the broker refused user 'proxy': SASL_AUTHENTICATION_FAILED (58)" in line
    assert "secret" not in caplog.text


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "no connection within 0.5 s"),
        (b"", "the broker closed the connection during the login"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "a frame"),
        (b"\0\0\0\4\0\0\0\x63", "correlation id"),
    ],
)
def test_a_broker_that_is_none_holds_no_client(
    answer: bytes | None, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    """While the proxy logs in it says nothing, ends, or answers what nobody has asked."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        upstream = f"127.0.0.1:{listening.getsockname()[1]}"
        with (
            SyncProxy(
                upstream,
                sasl=SaslServer.of_passwords(_USERS),
                upstream_sasl=SaslPlain("proxy", "own-secret"),
                connect_timeout=0.5,
            ) as proxy,
            socket.create_connection(_pair(proxy.bootstrap_servers)) as client,
        ):
            client.settimeout(20)
            taken, _ = listening.accept()
            with taken:
                assert taken.recv(1 << 16)
                if answer:
                    taken.sendall(answer)
                elif answer is not None:
                    taken.close()
                assert client.recv(1) == b""
    assert said in caplog.text
    assert "secret" not in caplog.text


def test_a_client_writes_no_lines_into_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """Whoever has not logged in chooses the mechanism's name, which the log has."""
    with _behind() as (_, address):
        for name in ("PL\nAIN\x1b[31m", "P" * 30_000):
            with socket.create_connection(_pair(address), timeout=20) as client:
                client.sendall(frame(write_request(SaslHandshakeRequest(name), 1, 7)))
                assert b"".join(iter(lambda: client.recv(1 << 16), b""))
    first, second = (each.getMessage() for each in caplog.records)
    assert r"PL\nAIN\x1b[31m: the client asked for a mechanism that is none of" in first
    assert len(second) < 1100


def test_a_client_of_another_project_logs_in() -> None:
    """kafka-python by PLAIN, librdkafka by SCRAM; both write."""
    with _behind(SaslPlain("proxy", "own-secret"), topics={"orders": 1}) as (cluster, address):
        with kafka_python() as kafka:
            producer = kafka.KafkaProducer(
                bootstrap_servers=address, security_protocol="SASL_PLAINTEXT",
                sasl_mechanism="PLAIN", sasl_plain_username="bob",
                sasl_plain_password="bob-secret",
            )  # fmt: skip
            with contextlib.closing(producer):
                producer.send("orders", b"one").get(20)
        confluent_kafka = pytest.importorskip("confluent_kafka")
        other = confluent_kafka.Producer(
            {
                "bootstrap.servers": address, "security.protocol": "SASL_PLAINTEXT",
                "sasl.mechanism": "SCRAM-SHA-256", "sasl.username": "alice",
                "sasl.password": "al-secret",
            }
        )  # fmt: skip
        other.produce("orders", b"two")
        assert other.flush(20) == 0
        assert [each.value for each in cluster.records("orders")] == [b"one", b"two"]


def _pair(text: str) -> tuple[str, int]:
    (found,) = parse_addresses(text)
    return found.host, found.port


def _relay(sasl: SaslServer | None = None) -> Relay:
    sasl = sasl or SaslServer.of_passwords(_USERS)
    rules = Rules(Filters([]), lambda *_: ("", 1), api_versions(), Limits(), sasl=sasl)
    return Relay(rules, "127.0.0.1:1")


def test_a_session_ends_at_the_proxy() -> None:
    """Unless the client logs in again; the proxy's own session at the broker has no end."""
    now = [0.0]
    sasl = SaslServer(plain=lambda *_: True, session_lifetime_ms=5000, clock=lambda: now[0])
    for logs_in_again in (True, False):
        relay = _relay(sasl)
        for at in (1.0, 5.9) if logs_in_again else (1.0,):
            now[0] = at
            assert _sent(relay, SaslHandshakeRequest("PLAIN"), 1).error_code == 0
            login = _sent(relay, SaslAuthenticateRequest(b"\0alice\0al-secret"), 2)
            assert (login.error_code, login.session_lifetime_ms) == (0, 5000)
        for request, version in ((MetadataRequest(), 12), (ApiVersionsRequest(), 0)):
            now[0] = 6.1
            if logs_in_again:
                assert _sent(relay, request, version) is None
                continue
            with pytest.raises(RemoteProtocolError, match="a request after the session's 5000 ms"):
                _sent(relay, request, version)
            assert not relay.to_broker


def _sent(relay: Relay, request: Message, version: int) -> Any:
    """The answer to a request, None where the broker got it instead."""
    assert request.api_key is not None
    relay.from_client(frame(write_request(request, version, 7)))
    if relay.to_broker:
        relay.to_broker.clear()
        return None
    data = b"".join(relay.to_client)
    relay.to_client.clear()
    return read_response(data[4:], request.api_key, version).body


def test_nothing_passes_before_the_login() -> None:
    """But the question which versions the broker has."""
    relay = _relay()
    assert _sent(relay, ApiVersionsRequest(), 0) is None
    with pytest.raises(SaslError, match="a request of Metadata before the authentication"):
        _sent(relay, MetadataRequest(), 0)
    assert not relay.to_broker
    relay = _relay()
    assert _sent(relay, SaslHandshakeRequest("PLAIN"), 1).error_code == 0
    with pytest.raises(SaslError, match="of Metadata during the authentication"):
        _sent(relay, MetadataRequest(), 0)
    relay = _relay()
    with pytest.raises(SaslError, match="of SaslAuthenticate before the authentication"):
        _sent(relay, SaslAuthenticateRequest(b"\0alice\0al-secret"), 1)
    relay = _relay()
    with pytest.raises(SaslError, match="a mechanism that is none of PLAIN, SCRAM-SHA-512, SCRAM"):
        _sent(relay, SaslHandshakeRequest("GSSAPI"), 1)
    answer = read_response(b"".join(relay.to_client)[4:], 17, 1).body
    assert answer == SaslHandshakeResponse(33, ["PLAIN", "SCRAM-SHA-512", "SCRAM-SHA-256"])


_FIRST_VERSIONS = ApiVersionsRequest(client_software_name="a", client_software_version="1")


@pytest.mark.parametrize(
    ("first", "request_", "version", "answered"),
    [
        (SaslHandshakeRequest("PLAIN"), SaslHandshakeRequest("PLAIN"), 1, True),
        (SaslHandshakeRequest("PLAIN"), SaslHandshakeRequest("PLAIN"), 0, True),
        (SaslHandshakeRequest("PLAIN"), ApiVersionsRequest(), 3, True),
        (SaslHandshakeRequest("PLAIN"), ApiVersionsRequest(), 99, False),
        (SaslHandshakeRequest("PLAIN"), MetadataRequest(), 12, False),
        (_FIRST_VERSIONS, _FIRST_VERSIONS, 3, False),
    ],
)
def test_what_is_no_token_amid_a_login_is_answered_as_by_a_broker(
    first: Message, request_: Message, version: int, answered: bool
) -> None:
    """A client that starts again gets ILLEGAL_SASL_STATE before the end, and others the end.

    Nor is there a second ApiVersions before the login.
    """
    assert request_.api_key is not None
    data = bytearray(frame(write_request(request_, 3 if version == 99 else version, 7)))
    data[6:8] = version.to_bytes(2, "big")
    with SyncCluster(listeners={"BROKER": "SASL_PLAINTEXT"}, users=_PROXY) as cluster:
        own = SaslPlain("proxy", "own-secret")
        users = SaslServer.of_passwords(_USERS)
        with SyncProxy(cluster.bootstrap_servers, sasl=users, upstream_sasl=own) as proxy:
            found = []
            for address in (cluster.bootstrap_servers, proxy.bootstrap_servers):
                with socket.create_connection(_pair(address), timeout=20) as client:
                    client.sendall(frame(write_request(first, 1 if first.api_key == 17 else 3, 6)))
                    assert client.recv(1 << 16)
                    client.sendall(data)
                    found.append(b"".join(iter(lambda: client.recv(1 << 16), b"")))
    assert found[0] == found[1]
    assert (found[1][8:10] == b"\0\x22") is answered
    assert bool(found[1]) is answered


def test_a_login_is_answered_at_the_proxy_and_another_one_is_refused() -> None:
    relay = _relay()
    assert _sent(relay, SaslHandshakeRequest("PLAIN"), 1).error_code == 0
    assert _sent(relay, SaslAuthenticateRequest(b"\0alice\0al-secret"), 2).error_code == 0
    assert _sent(relay, SaslHandshakeRequest("PLAIN"), 1).error_code == 34
    assert _sent(relay, MetadataRequest(), 12) is None


def test_the_tokens_of_an_old_client_are_bare() -> None:
    """After SaslHandshake v0 they are frames of their own, and a refusal is the end."""
    for password, passes in ((b"al-secret", True), (b"no", False)):
        relay = _relay()
        assert _sent(relay, SaslHandshakeRequest("PLAIN"), 0).error_code == 0
        token = frame(b"\0alice\0" + password)
        if passes:
            relay.from_client(token)
            assert b"".join(relay.to_client) == bytes(4)
            relay.to_client.clear()
            assert _sent(relay, MetadataRequest(), 0) is None
        else:
            with pytest.raises(SaslError):
                relay.from_client(token)
            assert not relay.to_client
        assert not relay.to_broker


def test_a_wrong_password_is_answered_before_the_end() -> None:
    relay = _relay()
    _sent(relay, SaslHandshakeRequest("PLAIN"), 1)
    with pytest.raises(SaslError):
        _sent(relay, SaslAuthenticateRequest(b"\0alice\0wrong"), 2)
    answer = read_response(b"".join(relay.to_client)[4:], 36, 2).body
    assert isinstance(answer, SaslAuthenticateResponse)
    assert (answer.error_code, answer.error_message) == (
        58,
        "Authentication failed: Invalid username or password",
    )


def test_a_frame_before_the_login_is_small() -> None:
    relay = _relay()
    with pytest.raises(Exception, match="the client sent no frame"):
        relay.from_client((1 << 20).to_bytes(4, "big"))


def test_settings_that_cannot_work() -> None:
    with pytest.raises(SettingsError, match="would let every client in as the proxy"):
        Proxy("127.0.0.1:9", upstream_sasl=SaslPlain("a", "b"))
    for users in ({"": "a"}, {"a": ""}, {"a": "b\0"}):
        with pytest.raises(SettingsError, match="cannot log in"):
            SaslServer.of_passwords(users)
