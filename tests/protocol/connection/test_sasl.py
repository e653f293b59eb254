"""SASL on both sides: mechanisms, both forms of tokens, refusals, re-authentication."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest

from kafka_admin_proto import (
    ApiVersionsRequest,
    CreateTopicsRequest,
    MetadataRequest,
    MetadataResponse,
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslError,
    SaslHandshakeRequest,
)
from kafka_admin_proto.errors import LocalProtocolError, RemoteProtocolError
from kafka_admin_proto.messages.create_topics_request import CreatableTopic
from kafka_admin_proto.protocol import Api, api_versions, frame, write_request
from kafka_admin_proto.protocol.connection import (
    NEED_DATA,
    SERVER,
    Authenticated,
    ClientConnection,
    Connection,
    ConnectionClosed,
    Limits,
    ProofNeeded,
    Ready,
    Reauthenticated,
    RequestReceived,
    ResponseReceived,
    Sasl,
    SaslServer,
    ScramCredential,
    ServerConnection,
    State,
)
from kafka_admin_proto.protocol.connection.sasl_server import Step
from kafka_admin_proto.schema.versions import VersionRange
from tests.protocol.connection.pair import PASSWORDS, SASL_SERVER, Pair, login

MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")


def apis_with(handshake: int, authenticate: int | None) -> list[Api]:
    """All apis, those of SASL up to the given versions; None is an api that is not there."""
    highest = {"SaslHandshake": handshake, "SaslAuthenticate": authenticate}
    found = []
    for each in api_versions():
        top = highest.get(each.name, each.versions.highest)
        if top is not None:
            found.append(Api(each.api_key, each.name, VersionRange(each.versions.lowest, top)))
    return found


@pytest.mark.parametrize("user", PASSWORDS)
@pytest.mark.parametrize("versions", [(0, None), (1, 0), (1, 1), (1, 2)])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_user_with_the_right_password(
    mechanism: str, versions: tuple[int, int | None], user: str
) -> None:
    if not user.isascii() and mechanism != "PLAIN":
        return  # refused: test_names_that_kafka_refuses
    pair = Pair(
        client={"sasl": login(mechanism, user)},
        server={"sasl": SASL_SERVER, "apis": apis_with(*versions)},
    ).start()
    lifetime_ms = 60_000 if versions[1] else 0
    assert pair.at_server == [Authenticated(f"User:{user}", mechanism, lifetime_ms, again=False)]
    [ready] = pair.at_client
    assert isinstance(ready, Ready)
    assert ready.session_lifetime_ms == lifetime_ms
    assert states(pair.client, pair.server) == [State.READY] * 2
    assert pair.server.principal == f"User:{user}"


def refusal(mechanism: str, password: str, kind: str = "authentication") -> str:
    """What Kafka's PlainSaslServer and SaslServerAuthenticator say."""
    if mechanism == "PLAIN":
        fault = "Invalid username or password" if password else "password not specified"
        return f"Authentication failed: {fault}"
    return (
        f"Authentication failed during {kind} due to invalid credentials with SASL mechanism "
        f"{mechanism}"
    )


@pytest.mark.parametrize("mechanism", MECHANISMS[1:])
def test_names_that_kafka_refuses(mechanism: str) -> None:
    """Kafka's pattern of a SCRAM message has ASCII only, so that PLAIN alone takes other names."""
    pair = Pair(client={"sasl": login(mechanism, "ª")}, server={"sasl": SASL_SERVER})
    with pytest.raises(SaslError, match="due to invalid credentials"):
        pair.start()


@pytest.mark.parametrize(("user", "password"), [("alice", "wonderland"), ("bob", "")])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_wrong_password_or_user(mechanism: str, user: str, password: str) -> None:
    """Both ends raise, the client with the broker's code; the broker does not say which it was."""
    pair = Pair(client={"sasl": login(mechanism, user, password)}, server={"sasl": SASL_SERVER})
    with pytest.raises(SaslError) as at_server:
        pair.start()
    assert str(at_server.value) == f"{mechanism}: {refusal(mechanism, password)}"
    answer = pair.server.data_to_send()
    assert pair.server.state is State.FAILED
    assert pair.server.principal is None
    with pytest.raises(
        SaslError, match=f"^{mechanism}: the broker refused user '{user}'"
    ) as caught:
        pair.exchange(to_client=answer)
    assert refusal(mechanism, password) in str(caught.value)
    assert caught.value.code == 58
    assert caught.value.mechanism == mechanism
    assert "SASL_AUTHENTICATION_FAILED" in str(caught.value)
    assert pair.client.state is State.FAILED


@pytest.mark.parametrize("version", [0, 1, 2])
def test_a_refusal_with_a_null_token_has_the_brokers_words(version: int) -> None:
    """Kafka's definition has no null there, and brokers of others send it."""
    pair = Pair(
        client={"sasl": login("PLAIN", "alice", "wrong")},
        server={"sasl": SASL_SERVER, "apis": apis_with(1, version)},
    )
    with pytest.raises(SaslError):
        pair.start()
    answer = bytearray(pair.server.data_to_send())
    at = answer.index(b"or password") + len(b"or password")
    answer[at : at + 4] = b"\xff" * 4 if version < 2 else b"\0" + answer[at + 1 : at + 4]
    with pytest.raises(SaslError, match=r"\(58\): .*Invalid username or password") as caught:
        pair.exchange(to_client=bytes(answer))
    assert caught.value.code == 58


def test_a_refusal_after_the_old_handshake_is_a_close() -> None:
    pair = Pair(
        client={"sasl": login("PLAIN", "alice", "wrong")},
        server={"sasl": SASL_SERVER, "apis": apis_with(0, None)},
    )
    with pytest.raises(SaslError, match="Invalid username or password"):
        pair.start()
    assert pair.server.data_to_send() == b""
    pair.client.receive_data(b"")
    with pytest.raises(SaslError, match=r"closed .* user 'alice', which is how it refuses"):
        pair.client.next_event()


def test_a_mechanism_that_the_broker_lacks() -> None:
    server = SaslServer(scram_sha_256=lambda user: None)
    assert repr(server) == "SaslServer(SCRAM-SHA-256)"
    pair = Pair(client={"sasl": login("PLAIN")}, server={"sasl": server})
    with pytest.raises(SaslError, match="mechanism that is none of SCRAM-SHA-256"):
        pair.start()
    with pytest.raises(SaslError, match="it names SCRAM-SHA-256: UNSUPPORTED_SASL_MECHANISM"):
        pair.exchange(to_client=pair.server.data_to_send())


def test_a_listener_without_sasl() -> None:
    pair = Pair(client={"sasl": login("PLAIN")})
    with pytest.raises(
        SaslError, match=r"no authentication now: ILLEGAL_SASL_STATE .* without SASL"
    ):
        pair.start()
    pair = Pair(
        client={"sasl": login("PLAIN")},
        server={"apis": [each for each in api_versions() if each.name != "SaslHandshake"]},
    )
    with pytest.raises(SaslError, match="the broker has no SaslHandshake"):
        pair.start()


def test_a_client_that_asks_before_it_authenticates() -> None:
    pair = Pair(server={"sasl": SASL_SERVER}).start()
    with pytest.raises(RemoteProtocolError, match="Metadata before the authentication"):
        pair.exchange(pair.client.send(MetadataRequest()))


def states(*connections: ClientConnection | ServerConnection) -> list[State]:
    return [each.state for each in connections]


def metadata(number: int) -> MetadataResponse:
    return MetadataResponse(controller_id=number)


def numbers(pair: Pair) -> list[object]:
    """The contexts of the answers, in the order in which they came."""
    return [each.request.context for each in pair.at_client if isinstance(each, ResponseReceived)]


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_authenticating_again_amid_requests(mechanism: str) -> None:
    """KIP-368: earlier requests are answered in order, later ones wait for the end."""
    pair = Pair(client={"sasl": login(mechanism)}, server={"sasl": SASL_SERVER}).start()
    for _ in range(2):
        pair.at_client.clear()
        pair.at_server.clear()
        pair.exchange(pair.client.send(MetadataRequest(), context=1))
        [first] = pair.at_server
        assert isinstance(first, RequestReceived)
        to_server = pair.client.reauthenticate()
        assert pair.client.send(MetadataRequest(), context=2) == b""
        assert [each.context for each in pair.client.unanswered] == [1, 2]
        with pytest.raises(LocalProtocolError, match="is re-authenticating"):
            pair.client.reauthenticate()
        pair.exchange(to_server)
        assert states(pair.server) == [State.REAUTHENTICATING]
        assert pair.at_client == []  # the answer to SaslHandshake waits for its turn
        pair.exchange(to_client=pair.server.send(metadata(1), to=first))
        authenticated, second = pair.at_server[1:]
        assert authenticated == Authenticated("User:alice", mechanism, 60_000, again=True)
        assert isinstance(second, RequestReceived)
        pair.exchange(to_client=pair.server.send(metadata(2), to=second))
        assert [type(each) for each in pair.at_client] == [
            ResponseReceived,
            Reauthenticated,
            ResponseReceived,
        ]
        assert numbers(pair) == [1, 2]
        assert states(pair.client, pair.server) == [State.READY] * 2


def test_requests_that_wait_for_a_reauthentication_are_limited() -> None:
    pair = Pair(
        client={"sasl": login("PLAIN"), "limits": Limits(waiting_bytes=100)},
        server={"sasl": SASL_SERVER},
    ).start()
    pair.client.reauthenticate()
    pair.client.send(MetadataRequest())
    with pytest.raises(LocalProtocolError, match="the limit waiting_bytes is 100"):
        pair.client.send(CreateTopicsRequest([CreatableTopic("x" * 100)]))
    assert len(pair.client.unanswered) == 1


def test_who_cannot_authenticate_again() -> None:
    with pytest.raises(LocalProtocolError, match="has no credentials"):
        Pair().start().client.reauthenticate()
    old = Pair(
        client={"sasl": login("PLAIN")}, server={"sasl": SASL_SERVER, "apis": apis_with(1, 0)}
    ).start()
    with pytest.raises(LocalProtocolError, match="no SaslHandshake v1 and SaslAuthenticate v1"):
        old.client.reauthenticate()


def another(sasl: Sasl, first: str = "PLAIN") -> Pair:
    """A pair whose client authenticates again as somebody else, or otherwise."""
    pair = Pair(client={"sasl": login(first)}, server={"sasl": SASL_SERVER}).start()
    pair.client._sasl = sasl
    return pair


def test_nobody_becomes_another_user() -> None:
    pair = another(login("PLAIN", "ª"))
    words = "Cannot change principals during re-authentication from User.alice: User.ª"
    with pytest.raises(SaslError, match=words):
        pair.exchange(pair.client.reauthenticate())
    assert pair.server.principal == "User:alice"
    with pytest.raises(SaslError, match=words):
        pair.exchange(to_client=pair.server.data_to_send())


def test_another_mechanism_again_is_a_close() -> None:
    """Its handshake is answered, and its token is not."""
    pair = another(login("SCRAM-SHA-256"))
    words = "'SCRAM-SHA-256' requested by client is not supported for re-authentication of .*PLAIN"
    with pytest.raises(SaslError, match=words):
        pair.exchange(pair.client.reauthenticate())
    assert pair.server.data_to_send() == b""


def test_a_wrong_password_again() -> None:
    pair = another(login("SCRAM-SHA-256", "alice", "wrong"), "SCRAM-SHA-256")
    with pytest.raises(SaslError, match="re-authentication"):
        pair.exchange(pair.client.reauthenticate())
    words = refusal("SCRAM-SHA-256", "wrong", "re-authentication")
    with pytest.raises(SaslError, match=words):
        pair.exchange(to_client=pair.server.data_to_send())


def test_an_old_handshake_authenticates_again() -> None:
    """Bare tokens follow, as in Kafka, whose clients do not do this."""
    server = Connection(SERVER, sasl=SASL_SERVER)
    for again in (False, True):
        server.receive_data(frame(write_request(SaslHandshakeRequest(mechanism="PLAIN"), 0, 1)))
        server.receive_data(frame(b"\0alice\0" + PASSWORDS["alice"].encode()))
        event = server.next_event()
        assert isinstance(event, Authenticated)
        assert event.again == again
        assert server.data_to_send().endswith(frame(b""))


class Clock:
    """A server's clock, moved by hand."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


def timed(clock: Clock) -> Pair:
    """Logged in for a second and a half, by the server's clock."""
    server = msgspec.structs.replace(SASL_SERVER, session_lifetime_ms=1500, clock=clock)
    return Pair(client={"sasl": login("PLAIN")}, server={"sasl": server}).start()


def test_a_session_that_is_over() -> None:
    clock = Clock()
    pair = timed(clock)
    clock.now_s += 1.4
    pair.exchange(pair.client.reauthenticate())
    clock.now_s += 1.4
    pair.exchange(pair.client.send(MetadataRequest()))
    assert isinstance(pair.at_server[-1], RequestReceived)
    clock.now_s += 0.2
    with pytest.raises(RemoteProtocolError, match="after the session's 1500 ms"):
        pair.exchange(pair.client.send(MetadataRequest()))
    assert pair.server.data_to_send() == b""


def test_a_session_that_is_over_can_begin_again() -> None:
    clock = Clock()
    pair = timed(clock)
    clock.now_s += 5
    pair.exchange(pair.client.reauthenticate())
    assert pair.at_client[-1] == Reauthenticated(1500)


def test_not_twice_in_a_second() -> None:
    clock = Clock()
    pair = timed(clock)
    pair.exchange(pair.client.reauthenticate())
    clock.now_s += 0.9
    with pytest.raises(SaslError, match=r"ILLEGAL_SASL_STATE .* one a second at most$"):
        pair.exchange(pair.client.reauthenticate())


def test_no_second_time_where_sessions_do_not_end() -> None:
    server = msgspec.structs.replace(SASL_SERVER, session_lifetime_ms=0)
    pair = Pair(client={"sasl": login("PLAIN")}, server={"sasl": server}).start()
    with pytest.raises(SaslError, match="ILLEGAL_SASL_STATE"):
        pair.exchange(pair.client.reauthenticate())
    assert pair.server.state is State.READY


def test_versions_are_told_once_before_the_authentication() -> None:
    pair = Pair(server={"sasl": SASL_SERVER}).start()
    with pytest.raises(SaslError, match="ApiVersions before the authentication"):
        pair.exchange(pair.client.send(ApiVersionsRequest("a", "1"), version=3))


def test_a_token_without_a_handshake_after_authentication() -> None:
    pair = Pair(client={"sasl": login("PLAIN")}, server={"sasl": SASL_SERVER}).start()
    pair.exchange(pair.client.send(SaslAuthenticateRequest(auth_bytes=b"\0a\0b")))
    answer = pair.at_client[-1]
    assert isinstance(answer, ResponseReceived)
    assert isinstance(answer.response.body, SaslAuthenticateResponse)
    assert answer.response.body.error_code == 34


def first_step(mechanism: str, token: bytes) -> Step:
    """What the server answers to the first token of an exchange."""
    exchange = SASL_SERVER.exchange(mechanism)
    assert exchange is not None
    return exchange.take(token)


@pytest.mark.parametrize(
    ("token", "fault"),
    [
        (b"", "Invalid SASL/PLAIN response: expected 3 tokens, got 1"),
        (b"alice\0secret", "Invalid SASL/PLAIN response: expected 3 tokens, got 2"),
        (b"\0a\0b\0c\0d", "Invalid SASL/PLAIN response: expected 3 tokens, got 4"),
        (b"\0\xff\0x", "Authentication failed: Invalid username or password"),
        (
            b"bob\0alice\0wonder=land,",
            "Authentication failed: Client requested an authorization id that is different from "
            "username",
        ),
        (b"\0\0", "Authentication failed: username not specified"),
        (b"\0alice\0", "Authentication failed: password not specified"),
    ],
)
def test_plain_tokens_that_nobody_takes(token: bytes, fault: str) -> None:
    step = first_step("PLAIN", token)
    assert (step.user, step.refusal) == (None, fault)


@pytest.mark.parametrize(
    "token",
    [
        b"",
        b"n,,n=alice",
        b"n,,n=,r=x",
        b"n,,n=nobody,r=x",
        b"y,,n=alice,r=x",
        b"n,,n=ali=ce,r=x",
        b"n,,n=alice,r=\xff",
    ],
)
def test_scram_tokens_that_nobody_takes(token: bytes) -> None:
    step = first_step("SCRAM-SHA-256", token)
    assert step == Step(refusal="")


def test_a_server_without_delegation_tokens_says_so() -> None:
    step = first_step("SCRAM-SHA-256", b"n,,n=alice,r=x,tokenauth=true")
    assert step == Step(refusal="Delegation Token feature is not enabled.")


def test_a_scram_user_who_would_be_another() -> None:
    step = first_step("SCRAM-SHA-256", b"n,a=bob,n=alice,r=x")
    assert "an authorization id that is different from username" in str(step.refusal)


@pytest.mark.parametrize("last", [b"", b"c=biws,r=x,p=AAAA", b"c=biws,r=NONCE,p=!"])
def test_scram_proofs_that_are_none(last: bytes) -> None:
    exchange = SASL_SERVER.exchange("SCRAM-SHA-256")
    assert exchange is not None
    nonce = exchange.take(b"n,,n=alice,r=x").answer.split(b",")[0].removeprefix(b"r=")
    assert exchange.take(last.replace(b"NONCE", nonce)) == Step(refusal="")


def test_a_scram_proof_of_another_length() -> None:
    """Kafka's code stumbles, and the connection ends without an answer."""
    exchange = SASL_SERVER.exchange("SCRAM-SHA-256")
    assert exchange is not None
    nonce = exchange.take(b"n,,n=alice,r=x").answer.split(b",")[0].removeprefix(b"r=")
    with pytest.raises(RemoteProtocolError, match="3 bytes"):
        exchange.take(b"c=biws,r=" + nonce + b",p=AAAA")


def test_a_broker_that_does_not_know_the_password() -> None:
    """SCRAM proves both ends: a server's last token without the proof is no success."""
    exchange = login("SCRAM-SHA-256").exchange(10_000)
    nonce = exchange.first().rpartition(b"r=")[2]
    compute = exchange.next(b"r=" + nonce + b"more,s=" + b"c2Fs" * 4 + b",i=4096")
    assert compute is not None
    assert compute()
    with pytest.raises(SaslError, match="signature doesn't match"):
        exchange.next(b"v=AAAA")
    exchange = login("SCRAM-SHA-256").exchange(10_000)
    nonce = exchange.first().rpartition(b"r=")[2]
    with pytest.raises(SaslError, match="10001 iterations, and the limit is 10000"):
        exchange.next(b"r=" + nonce + b"more,s=" + b"c2Fs" * 4 + b",i=10001")


@pytest.mark.parametrize("challenge", [b"", b"\xff", b"x" * 5000, b"r=other,s=c2Fs,i=1", b"e=?"])
def test_challenges_that_are_none(challenge: bytes) -> None:
    exchange = login("SCRAM-SHA-512").exchange(10_000)
    exchange.first()
    with pytest.raises(SaslError, match="the broker's side of the exchange is wrong"):
        exchange.next(challenge)


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_a_proof_is_computed_elsewhere(mechanism: str) -> None:
    """Nothing passes until it is sent; requests of a re-authentication wait as ever."""
    pair = Pair({"sasl": login(mechanism), "defer_proofs": True}, {"sasl": SASL_SERVER})

    def prove() -> None:
        event = pair.at_client.pop()
        assert isinstance(event, ProofNeeded)
        assert pair.client.next_event() is NEED_DATA
        with ThreadPoolExecutor(1) as pool:
            token = pool.submit(event.compute).result()
        pair.exchange(pair.client.send_proof(token))

    with pytest.raises(LocalProtocolError, match="needs no proof"):
        pair.client.send_proof(b"")
    pair.exchange(pair.client.start())
    prove()
    assert isinstance(pair.at_client.pop(), Ready)
    pair.exchange(pair.client.reauthenticate())
    assert pair.client.send(MetadataRequest()) == b""
    prove()
    assert pair.at_client.pop() == Reauthenticated(60_000)
    assert isinstance(pair.at_server.pop(), RequestReceived)


def test_a_stream_that_ends_while_a_proof_is_computed() -> None:
    pair = Pair({"sasl": login("SCRAM-SHA-256"), "defer_proofs": True}, {"sasl": SASL_SERVER})
    pair.exchange(pair.client.start())
    event = pair.at_client.pop()
    assert isinstance(event, ProofNeeded)
    pair.client.receive_data(b"")
    assert pair.client.next_event() is NEED_DATA
    pair.client.send_proof(event.compute())
    assert isinstance(pair.client.next_event(), ConnectionClosed)


def test_what_an_application_raises_passes_through() -> None:
    def lookup(user: str) -> ScramCredential | None:
        raise KeyError("the application's own")

    for mechanism in MECHANISMS:
        server = SaslServer(
            plain=lambda user, password: bool(lookup(user)),
            scram_sha_256=lookup,
            scram_sha_512=lookup,
        )
        with pytest.raises(KeyError):
            Pair(client={"sasl": login(mechanism)}, server={"sasl": server}).start()


def test_without_negotiation_sasl_comes_first() -> None:
    apis = apis_with(0, None)
    pair = Pair(
        client={"sasl": login("SCRAM-SHA-256"), "negotiate": False, "apis": apis},
        server={"sasl": SASL_SERVER, "apis": apis},
    ).start()
    [ready] = pair.at_client
    assert isinstance(ready, Ready)
    assert ready.response is None


def test_an_unknown_mechanism_again_is_a_close() -> None:
    pair = Pair(client={"sasl": login("PLAIN")}, server={"sasl": SASL_SERVER}).start()
    with pytest.raises(SaslError, match="none of PLAIN"):
        pair.exchange(pair.client.send(SaslHandshakeRequest(mechanism="GSSAPI"), version=1))
    assert pair.server.data_to_send() == b""
