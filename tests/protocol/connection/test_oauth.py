"""OAUTHBEARER on both sides: RFC 7628's messages as Kafka has them, refusals, and tokens unseen."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kafka_admin_proto import SaslError
from kafka_admin_proto.errors import LocalProtocolError, RemoteProtocolError
from kafka_admin_proto.messages import MetadataRequest
from kafka_admin_proto.protocol.connection import (
    Authenticated,
    ProofNeeded,
    Ready,
    Reauthenticated,
    RequestReceived,
    SaslOAuthBearer,
    SaslServer,
    TokenOwner,
)
from kafka_admin_proto.protocol.connection.oauth import ClientMessage, TokenSource
from kafka_admin_proto.protocol.connection.sasl_server import Step
from tests.protocol.connection.pair import Pair
from tests.protocol.connection.test_sasl import apis_with

TOKEN = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbGljZSJ9."
ERROR = '{"status":"invalid_token"}'


class Provider:
    """As kafka-python has it; each token is another one."""

    def __init__(self, *tokens: str) -> None:
        self.tokens = list(tokens)

    def token(self) -> str:
        return self.tokens.pop(0)

    def extensions(self) -> dict[str, str]:
        return {"logicalCluster": "lkc-1", "traceId": "a=b c"}


def server(**settings: Any) -> dict[str, Any]:
    sasl = SaslServer(oauthbearer={TOKEN: "alice", "other": "bob"}.get, **settings)
    return {"sasl": sasl}


def test_the_message_is_kafkas() -> None:
    """As ``OAuthBearerClientInitialResponse`` writes it, and reads it again."""
    _, message = TokenSource(Provider(TOKEN)).message()
    expected = b"n,,\x01auth=Bearer %s\x01logicalCluster=lkc-1\x01traceId=a=b c\x01\x01"
    assert message == expected % TOKEN.encode()
    assert ClientMessage.read(message) == (TOKEN, "")
    assert repr(ClientMessage.read(message)) == "ClientMessage('********', '')"
    assert TokenSource(lambda: TOKEN).message() == (
        TOKEN,
        b"n,,\x01auth=Bearer %s\x01\x01" % TOKEN.encode(),
    )


@pytest.mark.parametrize("versions", [(0, None), (1, 0), (1, 2)])
def test_a_token_that_is_valid(versions: tuple[int, int | None]) -> None:
    """The answer is empty, be the tokens in requests or bare."""
    pair = Pair(
        client={"sasl": SaslOAuthBearer(lambda: TOKEN)},
        server={**server(), "apis": apis_with(*versions)},
    ).start()
    assert pair.at_server == [Authenticated("User:alice", "OAUTHBEARER", 0, again=False)]
    assert isinstance(pair.at_client[0], Ready)


def test_a_token_that_is_refused() -> None:
    """The broker says why, the client sends RFC 7628's byte, and the broker refuses."""
    pair = Pair(client={"sasl": SaslOAuthBearer(lambda: "hush")}, server=server())
    with pytest.raises(SaslError, match="^OAUTHBEARER: " + ERROR) as at_server:
        pair.start()
    assert at_server.value.code == 58
    with pytest.raises(SaslError) as caught:
        pair.exchange(to_client=pair.server.data_to_send())
    assert str(caught.value) == (
        f"OAUTHBEARER: the broker refused the token: SASL_AUTHENTICATION_FAILED (58): {ERROR}"
    )
    assert "hush" not in str(at_server.value) + str(caught.value)


def test_a_refusal_after_the_old_handshake_is_a_close() -> None:
    pair = Pair(
        client={"sasl": SaslOAuthBearer(lambda: "hush")},
        server={**server(), "apis": apis_with(0, None)},
    )
    with pytest.raises(SaslError, match=ERROR):
        pair.start()
    pair.client.receive_data(b"")
    with pytest.raises(SaslError, match=r"for the token, which is how .*: check the token$"):
        pair.client.next_event()


@pytest.mark.parametrize("message", [None, "no, not token-hush", ""])
def test_a_broker_whose_words_have_the_token(message: str | None) -> None:
    exchange = SaslOAuthBearer(lambda: "token-hush").exchange(0)
    exchange.first()
    answer = exchange.next(b'{"status":"no token-hush here"}')
    assert answer is not None
    assert answer() == b"\x01"
    with pytest.raises(SaslError) as caught:
        exchange.next(b"welcome")
    assert "hush" not in str(caught.value) + exchange.masked(message or "")


def test_each_authentication_has_a_token_of_its_own_computed_elsewhere() -> None:
    """With ``defer_proofs`` the caller asks the provider, again before the session ends."""
    provider = Provider(TOKEN, TOKEN, "other")
    client = {"sasl": SaslOAuthBearer(provider), "defer_proofs": True}
    pair = Pair(client, server(session_lifetime_ms=60_000)).start()

    def prove() -> None:
        event = pair.at_client.pop()
        assert isinstance(event, ProofNeeded)
        pair.exchange(pair.client.send_proof(event.compute()))

    prove()
    assert isinstance(pair.at_client.pop(), Ready)
    pair.exchange(pair.client.reauthenticate())
    prove()
    assert pair.at_client.pop() == Reauthenticated(60_000)
    assert provider.tokens == ["other"]
    pair.exchange(pair.client.reauthenticate())
    with pytest.raises(SaslError, match=r"Cannot change principals.* User\.alice: User\.bob"):
        prove()
    with pytest.raises(LocalProtocolError, match="needs no proof"):
        pair.client.send_proof(b"")


@pytest.mark.parametrize("versions", [(0, None), (1, 0), (1, 1)], ids=["bare", "v0", "v1"])
@pytest.mark.parametrize(
    ("reauth_ms", "token_ms", "lifetime_ms"),
    [(0, 5000, 5000), (60_000, 5000, 5000), (3000, 5000, 3000), (3000, -1, 0)],
)
def test_a_session_ends_with_its_token(
    versions: tuple[int, int | None], reauth_ms: int, token_ms: int, lifetime_ms: int
) -> None:
    """Kafka's ``ReauthInfo``: by the token and by connections.max.reauth.ms, whichever is first."""
    now_s = 1000.0
    sasl = SaslServer(
        oauthbearer=lambda token: TokenOwner("alice", token_ms),
        session_lifetime_ms=reauth_ms,
        clock=lambda: now_s,
    )
    pair = Pair(
        client={"sasl": SaslOAuthBearer(lambda: TOKEN)},
        server={"sasl": sasl, "apis": apis_with(*versions)},
    ).start()
    granted_ms = lifetime_ms if versions[1] else 0
    assert pair.at_server == [Authenticated("User:alice", "OAUTHBEARER", granted_ms, again=False)]
    now_s += lifetime_ms / 1000
    pair.exchange(pair.client.send(MetadataRequest()))
    assert isinstance(pair.at_server[-1], RequestReceived)
    now_s += 0.001
    with pytest.raises(RemoteProtocolError, match=f"after the session's {lifetime_ms} ms"):
        pair.exchange(pair.client.send(MetadataRequest()))


@pytest.mark.parametrize("versions", [(0, None), (1, 0), (1, 1)], ids=["bare", "v0", "v1"])
def test_a_session_of_more_nanoseconds_than_a_long_has_closes(
    versions: tuple[int, int | None],
) -> None:
    """Kafka's ``Utils.msToNs`` fails then, and the client sees its connection end, unanswered."""
    longest_ms = 9_223_372_036_854

    def pair(token_ms: int, reauth_ms: int) -> Pair:
        sasl = SaslServer(
            oauthbearer=lambda token: TokenOwner("alice", token_ms), session_lifetime_ms=reauth_ms
        )
        return Pair(
            client={"sasl": SaslOAuthBearer(lambda: TOKEN)},
            server={"sasl": sasl, "apis": apis_with(*versions)},
        )

    for token_ms, reauth_ms in ((longest_ms, 0), (2**63, 60_000)):
        assert isinstance(pair(token_ms, reauth_ms).start().at_server[-1], Authenticated)
    for token_ms in (longest_ms + 1, 2**63 - 1, 2**64):
        refused = pair(token_ms, 0)
        with pytest.raises(SaslError, match=f"a session of {token_ms} ms") as caught:
            refused.start()
        assert not caught.value.code
        assert not refused.server.data_to_send()


@pytest.mark.parametrize("lifetime", [5000.5, float("nan"), True, "5000"])
def test_a_lifetime_that_is_no_whole_number(lifetime: Any) -> None:
    sasl = SaslServer(oauthbearer=lambda token: TokenOwner("alice", lifetime))
    pair = Pair(
        client={"sasl": SaslOAuthBearer(lambda: TOKEN)},
        server={"sasl": sasl, "apis": apis_with(0, None)},
    )
    with pytest.raises(TypeError, match="oauthbearer of SaslServer returned an object of type"):
        pair.start()


def test_a_session_that_ended_with_its_token_begins_again() -> None:
    now_s = 1000.0
    sasl = SaslServer(oauthbearer=lambda token: TokenOwner("alice", 5000), clock=lambda: now_s)
    pair = Pair(client={"sasl": SaslOAuthBearer(lambda: TOKEN)}, server={"sasl": sasl}).start()
    now_s += 6
    pair.exchange(pair.client.reauthenticate())
    assert pair.at_client[-1] == Reauthenticated(5000)


def test_a_session_goes_on_without_end_after_a_token_without_end() -> None:
    now_s = 1000.0
    owners: Iterator[TokenOwner | str] = iter([TokenOwner("alice", 5000), "alice"])
    sasl = SaslServer(oauthbearer=lambda token: next(owners), clock=lambda: now_s)
    pair = Pair(client={"sasl": SaslOAuthBearer(lambda: TOKEN)}, server={"sasl": sasl}).start()
    pair.exchange(pair.client.reauthenticate())
    assert pair.at_client[-1] == Reauthenticated(0)
    now_s += 6
    pair.exchange(pair.client.send(MetadataRequest()))
    assert isinstance(pair.at_server[-1], RequestReceived)


async def _async_token() -> str:
    return TOKEN


@pytest.mark.parametrize("provider", [TOKEN, None, _async_token, object()])
def test_providers_that_cannot_be(provider: Any) -> None:
    with pytest.raises(TypeError, match="a token provider is a function that returns a token"):
        SaslOAuthBearer(provider)


def _fails() -> str:
    raise ValueError("the token is hush")


class _Hidden(dict[str, str]):
    def items(self) -> Any:
        raise ValueError("the token is hush")


class _Extended(Provider):
    def __init__(self, extensions: Any) -> None:
        super().__init__(TOKEN)
        self.found = extensions

    def extensions(self) -> Any:
        return self.found


@pytest.mark.parametrize(
    ("provider", "said"),
    [
        (_fails, "the token provider's token failed: ValueError"),
        (lambda: "hush\x01a=b", "returned text with other characters"),
        (lambda: "", "returned text with other characters"),
        (lambda: b"hush", "returned bytes in the place of a token"),
        (lambda: _async_token(), "returned coroutine in the place"),
        (_Extended({"auth": "hush"}), "the extension 'auth' cannot be sent"),
        (_Extended({"a": "hush\x01"}), "the extension 'a' cannot be sent"),
        (_Extended({"a-b": "hush"}), "the extension 'a-b' cannot be sent"),
        (_Extended("hush"), "the extensions of the token provider are str"),
        (_Extended(_Hidden({"a": "hush"})), "the token provider's extensions failed: ValueError"),
    ],
)
def test_tokens_that_cannot_be_sent(provider: Callable[[], str], said: str) -> None:
    pair = Pair(client={"sasl": SaslOAuthBearer(provider)}, server=server())
    with pytest.raises(SaslError, match=f"^OAUTHBEARER: .*{said}") as caught:
        pair.start()
    assert "hush" not in str(caught.value)
    assert pair.server.principal is None


def test_tokens_are_in_no_repr_and_not_pickled() -> None:
    sasl = SaslOAuthBearer(Provider("hush"))
    assert "hush" not in repr(sasl)
    with pytest.raises(TypeError, match="is not pickled"):
        pickle.dumps(sasl)


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"\x01",
        b"n,,\x01\x01",
        b"y,,\x01auth=Bearer a\x01\x01",
        b"n,,\x01auth=Bearer \x01\x01",
        b"n,,\x01auth=Bearer a\x01",
        b"n,,\x01auth=Bearer a\xff\x01\x01",
        b"n,a=b=c,\x01auth=Bearer a\x01\x01",
        b"n,,\x01k1=v\x01auth=Bearer a\x01\x01",
    ],
)
def test_messages_that_kafka_does_not_take(message: bytes) -> None:
    assert ClientMessage.read(message) is None
    exchange = SaslServer(oauthbearer=lambda token: "alice").exchange("OAUTHBEARER")
    assert exchange is not None
    assert exchange.take(message) == Step(refusal="")


def test_another_scheme_is_a_close() -> None:
    exchange = SaslServer(oauthbearer=lambda token: "alice").exchange("OAUTHBEARER")
    assert exchange is not None
    with pytest.raises(RemoteProtocolError, match="whose scheme is not Bearer"):
        exchange.take(b"n,,\x01auth=Basic a\x01\x01")


def test_an_authorization_id_is_the_name_of_the_token() -> None:
    for given, works in (("alice", True), ("a=2Cb", False)):
        exchange = SaslServer(oauthbearer=lambda token: "alice").exchange("OAUTHBEARER")
        assert exchange is not None
        step = exchange.take(f"n,a={given},\x01auth=bearer  a\x01\x01".encode())
        assert (step.user == "alice") == works
        assert works or "authorization id (a,b) that is different" in str(step.refusal)


@pytest.mark.parametrize("answer", [True, "", b"alice", 1])
def test_verifiers_that_answer_something_else(answer: Any) -> None:
    pair = Pair(
        client={"sasl": SaslOAuthBearer(lambda: "hush")},
        server={"sasl": SaslServer(oauthbearer=lambda token: answer)},
    )
    with pytest.raises(TypeError, match="oauthbearer of SaslServer returned") as caught:
        pair.start()
    assert "hush" not in str(caught.value)
