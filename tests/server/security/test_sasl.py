"""Logging in by SASL, on real sockets: what a peer may ask before, and what ends its connection."""

from __future__ import annotations

import contextlib
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_admin_proto.messages import MetadataRequest
from kafka_admin_proto.protocol import frame
from kafka_admin_proto.protocol.connection import SaslScram
from kafka_admin_proto.server import SyncCluster
from tests.helpers.profile import draws
from tests.server.network.connections import connections_of
from tests.server.security.secured import (
    MECHANISMS,
    PASSWORDS,
    Certificates,
    Peer,
    peer,
    scram,
    secured_cluster,
)

EVERYTHING = MetadataRequest(topics=None)
#: What SaslHandshake names, in the order of Java's HashSet.
NAMED = ["PLAIN", "SCRAM-SHA-512", "SCRAM-SHA-256"]
_DELAY_S = 0.1


def test_each_mechanism(cluster: SyncCluster) -> None:
    for mechanism in MECHANISMS[1:]:
        with peer(cluster.addresses("SASL")) as client:
            assert scram(client, mechanism, "bob", PASSWORDS["bob"]).error_code == 0
            assert client.ask(EVERYTHING, 12).brokers
    with peer(cluster.addresses("SASL")) as client:
        handshake = client.handshake("PLAIN")
        assert (handshake.error_code, handshake.mechanisms) == (0, NAMED)
        answer = client.authenticate(b"\0bob\0bob-secret")
        assert (answer.error_code, answer.auth_bytes, answer.session_lifetime_ms) == (0, b"", 0)
        ports = {each.port for each in client.ask(EVERYTHING, 12).brokers}
        assert ports == {int(each[-5:]) for each in cluster.addresses("SASL").split(",")}


def test_bare_tokens(cluster: SyncCluster) -> None:
    with peer(cluster.addresses("SASL")) as client:
        assert client.handshake("PLAIN", 0).error_code == 0
        client.send(frame(b"\0bob\0bob-secret"))
        assert client.frame() == b""
        assert client.ask(EVERYTHING, 12).brokers
    with peer(cluster.addresses("SASL")) as client:
        client.handshake("PLAIN", 0)
        client.send(frame(b"\0bob\0wrong"))
        assert client.frame() is None


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize(("user", "password"), [("bob", "wrong"), ("mallory", "wrong")])
def test_wrong_passwords_and_users(
    cluster: SyncCluster, mechanism: str, user: str, password: str
) -> None:
    """The answer comes after Kafka's delay, then the end; its words are the same for both."""
    with peer(cluster.addresses("SASL")) as client:
        if mechanism == "PLAIN":
            client.handshake(mechanism)
            start_s = time.monotonic()
            answer = client.authenticate(f"\0{user}\0{password}".encode())
            assert time.monotonic() - start_s >= _DELAY_S
            words = "Authentication failed: Invalid username or password"
        else:
            answer = scram(client, mechanism, user, password)
            words = (
                "Authentication failed during authentication due to invalid credentials with "
                f"SASL mechanism {mechanism}"
            )
        assert (answer.error_code, answer.error_message) == (58, words)
        assert client.frame() is None


@pytest.mark.parametrize("mechanism", MECHANISMS[1:])
def test_the_first_answer_of_scram_says_who_exists(cluster: SyncCluster, mechanism: str) -> None:
    """As Kafka's ``ScramSaslServer``, which looks the user up before it sends the salt."""
    codes = []
    for user in ("bob", "mallory"):
        with peer(cluster.addresses("SASL")) as client:
            assert client.handshake(mechanism).error_code == 0
            first = SaslScram(mechanism, user, "wrong").exchange(100_000).first()
            codes.append(client.authenticate(first).error_code)
    assert codes == [0, 58]


def test_a_mechanism_that_the_listener_lacks(cluster: SyncCluster) -> None:
    for listener, named in (("SASL", NAMED), ("SCRAM_ONLY", ["SCRAM-SHA-512"])):
        with peer(cluster.addresses(listener)) as client:
            answer = client.handshake("GSSAPI")
            assert (answer.error_code, answer.mechanisms) == (33, named)
            assert client.frame() is None


def test_a_listener_without_sasl(cluster: SyncCluster) -> None:
    with peer(cluster.addresses("PLAINTEXT")) as client:
        answer = client.handshake("PLAIN")
        assert (answer.error_code, answer.mechanisms) == (34, [])
        answer = client.authenticate(b"\0bob\0bob-secret")
        assert answer.error_code == 34
        assert answer.error_message == (
            "SaslAuthenticate request received after successful authentication"
        )
        assert client.ask(EVERYTHING, 12).brokers


def test_what_comes_before_the_authentication(cluster: SyncCluster) -> None:
    """Versions once, those of SASL among them, and nothing else."""
    with peer(cluster.addresses("SASL")) as client:
        assert {17, 36} < {each.api_key for each in client.versions().api_keys}
        assert client.ask(EVERYTHING, 12) is None
    for ask in (Peer.versions, lambda client: client.authenticate(b"\0bob\0bob-secret")):
        with peer(cluster.addresses("SASL")) as client:
            client.versions()
            assert ask(client) is None
    with peer(cluster.addresses("SASL")) as client:
        client.handshake("PLAIN")
        assert client.versions().error_code == 34
        assert client.frame() is None


def test_sessions_end(certificates: Certificates) -> None:
    """connections.max.reauth.ms, KIP-368; the listener's own config counts."""
    configs = {"listener.name.sasl.connections.max.reauth.ms": "400"}
    with secured_cluster(certificates, configs=configs) as cluster:
        with peer(cluster.addresses("SASL")) as client:
            for _ in range(2):
                assert client.handshake("PLAIN").error_code == 0
                assert client.authenticate(b"\0bob\0bob-secret").session_lifetime_ms == 400
            cluster.clock.advance(0.5)
            assert client.ask(EVERYTHING, 12) is None
        with peer(cluster.addresses("SCRAM_ONLY")) as client:
            answer = scram(client, "SCRAM-SHA-512", "bob", PASSWORDS["bob"])
            assert answer.session_lifetime_ms == 0
            assert client.handshake("SCRAM-SHA-512").error_code == 34


def test_who_does_not_log_in_is_closed(certificates: Certificates) -> None:
    """Whatever it has said: nothing, half a handshake of TLS or of SASL, half a frame."""
    with (
        secured_cluster(certificates, configs={"connections.max.idle.ms": "300"}) as cluster,
        contextlib.ExitStack() as stack,
    ):
        clients = []
        for listener, data in (
            ("SASL", b""),
            ("SASL", b"\0\0\1\0half"),
            ("TLS", b""),
            ("TLS", b"\x16\x03\x01\x02\0\1"),
            ("SASL_TLS", b""),
        ):
            client = stack.enter_context(peer(cluster.addresses(listener)))
            client.send(data)
            clients.append(client)
        client = stack.enter_context(peer(cluster.addresses("SASL")))
        client.handshake("SCRAM-SHA-256")
        client.authenticate(b"n,,n=bob,r=abc")
        cluster.clock.advance(0.3)
        for each in (*clients, client):
            assert each.frame() is None


def test_who_has_logged_in_stays(cluster: SyncCluster) -> None:
    with peer(cluster.addresses("SASL")) as client:
        client.handshake("PLAIN")
        client.authenticate(b"\0bob\0bob-secret")
        connections = connections_of(cluster)
        timers = [each._login_timer for each in connections if each._principal == "User:bob"]
        assert timers == [None]


_FIRST = b"n,,n=bob,r=abc"
_TOKENS = st.one_of(
    st.binary(max_size=60),
    st.sampled_from([_FIRST, b"\0bob\0bob-secret", b"c=biws,r=abc,p=AAAA"]).flatmap(
        lambda token: st.tuples(
            st.integers(0, len(token)), st.integers(0, len(token) - 1), st.integers(0, 7)
        ).map(
            lambda drawn: (
                token[: drawn[1]] + bytes([token[drawn[1]] ^ 1 << drawn[2]]) + token[drawn[1] + 1 :]
            )[: drawn[0]]
        )
    ),
)


@settings(max_examples=draws(200))
@given(st.sampled_from(MECHANISMS), st.integers(0, 1), st.lists(_TOKENS, min_size=1, max_size=3))
def test_no_token_but_the_right_one_lets_anybody_in(
    quick: SyncCluster, mechanism: str, version: int, tokens: list[bytes]
) -> None:
    """Random, cut and flipped tokens: an answer or the end, and the cluster goes on."""
    if b"\0bob\0bob-secret" in tokens:
        tokens.remove(b"\0bob\0bob-secret")
    with peer(quick.addresses("SASL")) as client:
        client.handshake(mechanism, version)
        for token in tokens:
            if version:
                answer = client.authenticate(token)
                ended = answer is None or answer.error_code == 58
                assert ended or mechanism != "PLAIN"
            else:
                client.send(frame(token))
                ended = client.frame() is None
            if ended:
                break
        if not ended:
            assert client.ask(EVERYTHING, 12) is None
    with peer(quick.addresses("PLAINTEXT")) as client:
        assert client.ask(EVERYTHING, 12).brokers


@settings(max_examples=draws(200))
@given(st.sampled_from(["SASL", "TLS", "SASL_TLS"]), st.binary(max_size=200))
def test_bytes_before_the_handshake(quick: SyncCluster, listener: str, data: bytes) -> None:
    with peer(quick.addresses(listener)) as client:
        client.send(data)
    with peer(quick.addresses("PLAINTEXT")) as client:
        assert client.ask(EVERYTHING, 12).brokers
