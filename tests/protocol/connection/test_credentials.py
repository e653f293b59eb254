"""Passwords stay where they are: out of every repr, error, argument, traceback and pickle."""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Iterator

import pytest

from kafka_admin_proto import RemoteProtocolError, SaslError
from kafka_admin_proto.protocol import frame
from kafka_admin_proto.protocol.connection import (
    RequestReceived,
    Sasl,
    SaslPlain,
    SaslScram,
    ScramCredential,
)
from tests.protocol.connection.pair import SASL_SERVER, Pair

SECRET = "hunter2hunter2"
PLAIN = SaslPlain("me", SECRET)
SCRAM = SaslScram("SCRAM-SHA-256", "me", SECRET)


def shown(error: BaseException) -> Iterator[str]:
    """What an error and all that led to it may show, the local variables of its frames too."""
    below: BaseException | None = error
    while below is not None:
        yield repr(below)
        yield str(below)
        yield repr(below.args)
        yield repr(vars(below))
        for step, _ in traceback.walk_tb(below.__traceback__):
            if "/kafka_admin_proto/" in step.f_code.co_filename:
                yield repr(step.f_locals)
        below = below.__cause__ or below.__context__


@pytest.mark.parametrize("sasl", [PLAIN, SCRAM])
def test_credentials_are_masked_and_not_pickled(sasl: Sasl) -> None:
    assert SECRET not in repr(sasl)
    assert "me" in repr(sasl)
    with pytest.raises(TypeError, match="holds a password and is not pickled"):
        pickle.dumps(sasl)
    exchange = sasl.exchange(10_000)
    assert SECRET not in repr(exchange)
    assert SECRET not in repr(vars(exchange).keys())


@pytest.mark.parametrize("sasl", [PLAIN, SCRAM])
def test_a_connection_is_masked_and_not_pickled(sasl: Sasl) -> None:
    pair = Pair(client={"sasl": sasl}, server={"sasl": SASL_SERVER})
    for each in (pair.client, pair.server):
        assert SECRET not in repr(each)
        with pytest.raises(TypeError, match="cannot be copied"):
            pickle.dumps(each)


@pytest.mark.parametrize("sasl", [PLAIN, SCRAM])
def test_errors_of_both_ends(sasl: Sasl) -> None:
    pair = Pair(client={"sasl": sasl}, server={"sasl": SASL_SERVER})
    with pytest.raises(SaslError) as refused:
        pair.start()
    with pytest.raises(SaslError) as told:
        pair.exchange(to_client=pair.server.data_to_send())
    for error in (refused.value, told.value):
        assert SECRET not in str(error)
        assert SECRET.encode() not in pickle.dumps(error)
        copy = pickle.loads(pickle.dumps(error))
        assert (str(copy), copy.mechanism, copy.code) == (str(error), error.mechanism, error.code)
    assert not any(SECRET in text for text in shown(told.value))


@pytest.mark.parametrize("sasl", [PLAIN, SCRAM])
@pytest.mark.parametrize("answer", [frame(b""), frame(b"\0\0\0\1\0"), b"\xff" * 4, b"GET /"])
def test_errors_of_a_broker_that_is_none(sasl: Sasl, answer: bytes) -> None:
    pair = Pair(client={"sasl": sasl}, server={"sasl": SASL_SERVER})
    pair.server.receive_data(pair.client.start())
    event = pair.server.next_event()
    assert isinstance(event, RequestReceived)
    pair.client.receive_data(pair.server.send(pair.server.api_versions(), to=event))
    pair.client.next_event()
    pair.client.receive_data(answer)
    with pytest.raises(RemoteProtocolError) as caught:
        pair.client.next_event()
    assert not any(SECRET in text for text in shown(caught.value))
    assert SECRET.encode() not in pickle.dumps(caught.value)


def test_what_the_trace_sees_is_masked_in_its_repr() -> None:
    seen: list[str] = []
    pair = Pair(
        client={"sasl": PLAIN, "trace": lambda *passed: seen.append(repr(passed))},
        server={"sasl": SASL_SERVER},
    )
    with pytest.raises(SaslError):
        pair.start()
    assert ["SaslAuthenticateRequest" in each for each in seen] == [False] * 4 + [True]
    assert not any(SECRET in each for each in seen)


@pytest.mark.parametrize(
    ("user", "password"), [("", "x"), ("a\0b", "x"), ("a", SECRET + "\0"), ("a", SECRET + "\udc80")]
)
def test_names_and_passwords_that_no_broker_takes(user: str, password: str) -> None:
    with pytest.raises(ValueError, match="NULs") as caught:
        SaslPlain(user, password)
    assert SECRET not in str(caught.value)
    assert caught.value.__context__ is None
    with pytest.raises(ValueError, match="NULs") as refused:
        ScramCredential.of_password("SCRAM-SHA-256", SECRET + "\udc80")
    assert SECRET not in str(refused.value)
    assert refused.value.__context__ is None
