"""Callbacks of a server's SASL: True alone accepts a password; another answer ends the login."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto import SaslAuthenticateRequest, SaslHandshakeRequest
from kafka_admin_proto.errors import RemoteProtocolError, SaslError
from kafka_admin_proto.protocol import frame, write_request
from kafka_admin_proto.protocol.connection import (
    SERVER,
    Authenticated,
    Connection,
    SaslServer,
    ScramCredential,
    ServerConnection,
    State,
)
from tests.protocol.connection.pair import CREDENTIALS, events

PLAIN = b"\0alice\0secret"
SCRAM = b"n,,n=alice,r=nonce"
FIELDS = {"PLAIN": "plain", "SCRAM-SHA-256": "scram_sha_256", "SCRAM-SHA-512": "scram_sha_512"}


async def refuse(*_: str) -> bool:
    return False


async def refuse_each(*_: str) -> AsyncIterator[bool]:
    yield False


class Refuser:
    async def __call__(self, *_: str) -> bool:
        return False


def serving(**callbacks: Any) -> ServerConnection:
    return Connection(SERVER, sasl=SaslServer(**callbacks))


def log_in(server: ServerConnection, mechanism: str, version: int) -> list[Any]:
    """The events of a login whose first token is sent after that version of the handshake."""
    token = PLAIN if mechanism == "PLAIN" else SCRAM
    handshake = SaslHandshakeRequest(mechanism=mechanism)
    server.receive_data(frame(write_request(handshake, version, 1, "me")))
    assert list(events(server)) == []
    server.data_to_send()
    request = SaslAuthenticateRequest(auth_bytes=token)
    server.receive_data(frame(token if version == 0 else write_request(request, 2, 2, "me")))
    return list(events(server))


def check_closed(server: ServerConnection) -> None:
    """The login has failed for good: the client has no answer and no later chance."""
    assert (server.state, server.principal, server.data_to_send()) == (State.FAILED, None, b"")
    server.receive_data(frame(PLAIN))
    with pytest.raises(RemoteProtocolError):
        server.next_event()


ANSWERS = st.one_of(
    st.none(),
    st.text(),
    st.binary(),
    st.integers(),
    st.floats(),
    st.lists(st.booleans()),
    st.builds(object),
    st.sampled_from([refuse, Refuser(), bool, NotImplemented, next(iter(CREDENTIALS.values()))]),
)


@given(answer=ANSWERS, version=st.sampled_from([0, 1]))
def test_only_true_accepts_a_password(answer: object, version: int) -> None:
    server = serving(plain=lambda user, password: answer)
    with pytest.raises(TypeError, match=r"^plain of SaslServer returned .*: True accepts") as error:
        log_in(server, "PLAIN", version)
    assert "secret" not in str(error.value)
    check_closed(server)


@given(answer=ANSWERS.filter(lambda each: each is not None), version=st.sampled_from([0, 1]))
@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_only_a_credential_is_one(mechanism: str, answer: object, version: int) -> None:
    server = serving(**{FIELDS[mechanism]: lambda user: answer})
    with pytest.raises(TypeError, match=r"of SaslServer returned .*: a ScramCredential"):
        log_in(server, mechanism, version)
    check_closed(server)


@pytest.mark.parametrize(
    ("mechanism", "other"), [("SCRAM-SHA-256", "SCRAM-SHA-512"), ("SCRAM-SHA-512", "SCRAM-SHA-256")]
)
def test_a_credential_of_the_other_mechanism_is_refused_where_it_is_given(
    mechanism: str, other: str
) -> None:
    field = FIELDS[mechanism]
    server = serving(**{field: CREDENTIALS[other].get})
    words = f"^{field} of SaslServer returned a credential .* another mechanism than {mechanism}"
    with pytest.raises(ValueError, match=words):
        log_in(server, mechanism, 1)
    check_closed(server)


def test_a_coroutine_out_of_a_plain_function_lets_nobody_in() -> None:
    coroutine = refuse()
    server = serving(plain=lambda user, password: coroutine)
    with pytest.raises(TypeError, match="returned an object of type coroutine"):
        log_in(server, "PLAIN", 1)
    coroutine.close()
    check_closed(server)


@pytest.mark.parametrize("mechanism", FIELDS)
def test_an_error_of_a_callback_ends_the_login(mechanism: str) -> None:
    def fail(*_: str) -> Any:
        raise KeyError("the application's own")

    server = serving(**{FIELDS[mechanism]: fail})
    with pytest.raises(KeyError):
        log_in(server, mechanism, 1)
    check_closed(server)


def test_true_and_false_are_obeyed() -> None:
    for version in (0, 1):
        server = serving(plain=lambda user, password: True)
        (event,) = log_in(server, "PLAIN", version)
        assert isinstance(event, Authenticated)
        server = serving(plain=lambda user, password: False)
        with pytest.raises(SaslError):
            log_in(server, "PLAIN", version)


@pytest.mark.parametrize("field", [*FIELDS.values(), "clock"])
@pytest.mark.parametrize(
    "callback", [refuse, refuse_each, Refuser(), Refuser().__call__, partial(refuse, "a")]
)
def test_coroutine_functions_are_refused_where_given(
    field: str, callback: Callable[..., Any]
) -> None:
    given: dict[str, Any] = {"plain": lambda user, password: False, field: callback}
    with pytest.raises(TypeError, match=rf"^SaslServer\.{field}: .* never run; write it without"):
        SaslServer(**given)


@pytest.mark.parametrize("field", [*FIELDS.values(), "clock"])
@pytest.mark.parametrize("callback", [3, "no", True, {"alice": "secret"}])
def test_what_cannot_be_called_is_refused_where_given(field: str, callback: object) -> None:
    given: dict[str, Any] = {"plain": lambda user, password: False, field: callback}
    with pytest.raises(TypeError, match=rf"^SaslServer\.{field}: expected a function or None"):
        SaslServer(**given)


@pytest.mark.parametrize(
    ("lifetime_ms", "error"),
    [("1", TypeError), (True, TypeError), (1.5, TypeError), (-1, ValueError)],
)
def test_a_lifetime_is_a_number_of_milliseconds(lifetime_ms: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="session_lifetime_ms"):
        SaslServer(plain=lambda user, password: False, session_lifetime_ms=lifetime_ms)


@pytest.mark.parametrize("field", ["salt", "iterations", "stored_key", "server_key"])
def test_a_credential_has_bytes(field: str) -> None:
    given: dict[str, Any] = {
        "salt": b"a",
        "iterations": 4096,
        "stored_key": b"b",
        "server_key": b"c",
    }
    with pytest.raises(TypeError, match=rf"ScramCredential\.{field}: expected") as error:
        ScramCredential(**{**given, field: "secret"})
    assert "secret" not in str(error.value)
