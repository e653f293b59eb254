"""Credentials in values: never in an exception."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from kafka_admin_proto import (
    AlterUserScramCredentialsRequest,
    CreateDelegationTokenResponse,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    EncodeError,
    JsonError,
    RequestHeader,
    SaslAuthenticateRequest,
    TrailingBytesError,
    codec,
)
from kafka_admin_proto.codec import Codec
from kafka_admin_proto.messages.alter_user_scram_credentials_request import ScramCredentialUpsertion
from kafka_admin_proto.messages.create_topics_request import CreatableTopic, CreatableTopicConfig
from kafka_admin_proto.protocol import write_request
from kafka_admin_proto.values import Message
from tests.package.secrets.credentials import (
    SECRET,
    hides,
    secret_members,
    value_with,
    with_secrets,
    wrong_values,
)


@with_secrets
def test_no_encode_error_has_a_secret(c: Codec[Any]) -> None:
    refused = 0
    for value in wrong_values(c):
        for call in (c.encode, c.to_json):
            try:
                call(value)
            except EncodeError as error:
                assert hides(error), error
                assert error.value is None
                refused += 1
            except (AttributeError, TypeError, ValueError):
                assert call == c.to_json  # it takes values as they are; nothing is promised
    assert refused or c.name == "EnvelopeResponse"


@with_secrets
def test_no_json_error_has_a_secret(c: Codec[Any]) -> None:
    there = [(path, each) for path, each in secret_members(c.grammar) if each.wire_type]
    refused = 0
    for path, member in there:
        good = c.to_json(value_with(c, path, member, member.default()))
        places = [*path, member]
        for depth, _ in enumerate(places):
            for wrong in (SECRET + "!", [SECRET], {"x": SECRET}, 1234567890123456):
                obj = msgspec.json.decode(msgspec.json.encode(good))
                inside = obj
                for each in places[:depth]:
                    inside = inside[each.json]
                    inside = inside[0] if isinstance(inside, list) else inside
                if inside is None:
                    continue
                inside[places[depth].json] = wrong
                try:
                    c.from_json(obj)
                except JsonError as error:
                    assert hides(error), error
                    assert hides(error, "1234567890123456"), error
                    refused += 1
    tags: tuple[Any, ...] = (
        SECRET, [SECRET], [{"tag": SECRET, "data": ""}], [{"tag": 5, "data": SECRET + "!"}],
    )  # fmt: skip
    for each in tags if c.grammar.tagged is not None else ():
        with pytest.raises(JsonError) as caught:
            c.from_json(c.to_json(c.value_class()) | {"_unknownTaggedFields": each})
        assert hides(caught.value)
    assert refused or not there


@with_secrets
def test_no_json_error_quotes_a_key_of_a_struct_with_secrets(c: Codec[Any]) -> None:
    for path, member in secret_members(c.grammar):
        if not all(each.wire_type for each in (*path, member)):
            continue
        good = c.to_json(value_with(c, path, member, member.default()))
        inside = good
        for each in path:
            inside = inside[each.json]
            inside = inside[0] if isinstance(inside, list) else inside
        inside[SECRET] = 1
        with pytest.raises(JsonError, match="unknown field, whose name may be") as caught:
            c.from_json(good)
        assert hides(caught.value)


@with_secrets
def test_what_trailing_bytes_leave_stays_in_the_process(c: Codec[Any]) -> None:
    data = c.encode(c.value_class())
    with pytest.raises(TrailingBytesError) as caught:
        c.decode(data + SECRET.encode())
    error = caught.value
    assert (error.value, error.rest) == (c.value_class(), SECRET.encode())
    there = pickle.loads(pickle.dumps(error))
    assert (there.value, there.rest, str(there)) == (None, b"", str(error))
    assert SECRET not in f"{error} {error!r} {error.args} {pickle.dumps(error)!r}"


def test_a_token_in_front_of_trailing_bytes_is_not_pickled() -> None:
    data = SaslAuthenticateRequest(auth_bytes=SECRET.encode()).encode(0)
    with pytest.raises(TrailingBytesError) as caught:
        SaslAuthenticateRequest.decode(data + SECRET.encode(), 0)
    assert SECRET.encode() not in pickle.dumps(caught.value)
    assert caught.value.value.auth_bytes == SECRET.encode()


def test_unicode_errors_do_not_carry_the_text_along() -> None:
    """UnicodeEncodeError has the whole text, and is what an EncodeError comes from."""
    config = CreatableTopicConfig("ssl.keystore.password", SECRET + "\ud800")
    request = CreateTopicsRequest(topics=[CreatableTopic(configs=[config])])
    with pytest.raises(EncodeError, match="may be a secret") as caught:
        request.encode(1)
    assert caught.value.__context__ is None
    # Values that are no credentials are shown, as they say what is wrong.
    config.name = "cleanup.policy"
    with pytest.raises(EncodeError, match="UTF-8 form, got 'hunter2") as caught:
        request.encode(1)


def test_a_body_of_the_wrong_kind_is_named_and_not_kept() -> None:
    body: Any = codec("SaslAuthenticateResponse", 0).value_class(auth_bytes=SECRET.encode())
    with pytest.raises(EncodeError, match="SaslAuthenticateResponse is not a request") as caught:
        write_request(body, 0, 1)
    assert hides(caught.value)


def test_a_struct_with_a_secret_that_is_something_else_is_named_by_its_type() -> None:
    pair: Any = ("alice", SECRET)
    request = AlterUserScramCredentialsRequest(upsertions=[pair])
    with pytest.raises(EncodeError) as caught:
        request.encode(0)
    assert str(caught.value) == (
        "AlterUserScramCredentialsRequest v0, upsertions[0]: expected a "
        "ScramCredentialUpsertion, got a tuple that may hold a secret and is not shown"
    )


CONFIG = {"name": "ssl.key.password", "value": SECRET}


def misplaced() -> Iterator[Message]:
    """Messages with a credential where another field is, as arguments in the wrong order make."""
    wrong: Any
    for wrong in (SECRET, SECRET.encode(), [SECRET], ("x", SECRET), CONFIG):
        yield CreateTopicsRequest(timeout_ms=wrong)
        yield AlterUserScramCredentialsRequest(
            upsertions=[ScramCredentialUpsertion("al", 1, wrong)]
        )
        if not isinstance(wrong, str):
            config = CreatableTopicConfig(wrong, "x")
            yield CreateTopicsRequest(topics=[CreatableTopic("t", configs=[config])])
            yield CreateDelegationTokenResponse(token_id=wrong)
            yield RequestHeader(client_id=wrong)
        yield AlterUserScramCredentialsRequest(deletions=[wrong])


def test_misplaced_credentials_stay_out_of_errors() -> None:
    for value in misplaced():
        version = 2 if isinstance(value, RequestHeader) else 0
        with pytest.raises(EncodeError) as caught:
            codec(type(value), version).encode(value)
        assert hides(caught.value), caught.value
        assert caught.value.value is None
    c = codec("CreateTopicsRequest", 7)
    good = c.to_json(CreateTopicsRequest(topics=[CreatableTopic()]))
    wrong: Any
    for wrong in (SECRET, [SECRET], CONFIG):
        with pytest.raises(JsonError) as refused:
            c.from_json(good | {"timeoutMs": wrong})
        assert hides(refused.value), refused.value
    # Numbers are shown, and so is any value of messages without credentials.
    with pytest.raises(EncodeError, match="got 4294967296"):
        c.encode(CreateTopicsRequest(timeout_ms=1 << 32))
    text: Any = "soon"
    with pytest.raises(EncodeError, match="got 'soon'"):
        DeleteTopicsRequest(timeout_ms=text).encode(1)
