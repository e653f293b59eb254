"""Payloads that are read, perhaps changed, and written again, as a proxy does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_admin_proto import (
    AlterClientQuotasRequest,
    ControlledShutdownRequest,
    CreateTopicsRequest,
    CreateTopicsResponse,
    EncodeError,
    MetadataRequest,
    ProduceRequest,
    RequestHeader,
    ResponseHeader,
    UnknownMessageError,
)
from kafka_admin_proto.codec import Codec
from kafka_admin_proto.messages.alter_client_quotas_request import EntryData, OpData
from kafka_admin_proto.messages.create_topics_request import CreatableTopic, CreatableTopicConfig
from kafka_admin_proto.protocol import (
    Request,
    Response,
    expects_response,
    read_request,
    read_response,
    write_request,
    write_response,
)
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.testing import messages
from tests.helpers.every_message import SHIPPED, each_layout
from tests.helpers.mistyped import mistyped
from tests.helpers.profile import sample

#: Values of each: what is shown here depends on headers, not on what a field's type does.
few = settings(max_examples=4)

#: Each distinct layout of every request and response. Versions of one layout have one header, but
#: for ControlledShutdownRequest, whose version 0 has a test of its own.
each_payload = each_layout(
    sample(
        [each for each in SHIPPED if catalog().entry(each.name).type in ("request", "response")], 24
    )
)


def written(body: Any, version: int, correlation_id: int) -> bytes:
    if body.message_name.endswith("Request"):
        return write_request(body, version, correlation_id, "me")
    return write_response(body, version, correlation_id)


def read(payload: bytes, name: str, version: int) -> Request | Response:
    if name.endswith("Request"):
        return read_request(payload)
    return read_response(payload, catalog().entry(name).api_key or 0, version)


@each_payload
def test_what_was_read_is_written_as_it_came(codec: Codec[Any]) -> None:
    name, version = codec.name, codec.version

    @few
    @given(messages(name, version), st.integers(-(2**31), 2**31 - 1), st.data())
    def check(body: Any, correlation_id: int, data: st.DataObject) -> None:
        payload = written(body, version, correlation_id)
        assert read(payload, name, version).encode() == payload
        # A changed correlation id is four other bytes.
        found = read(payload, name, version)
        assert found.header is not None
        found.header.correlation_id = 77
        at = 4 if name.endswith("Request") else 0
        assert found.encode() == payload[:at] + b"\0\0\0\x4d" + payload[at + 4 :]
        # Damage of any sort passes.
        end = data.draw(st.integers(0, len(payload)))
        flipped = bytearray(payload)
        for place in data.draw(st.lists(st.integers(0, len(payload) * 8 - 1), max_size=3)):
            flipped[place // 8] ^= 1 << place % 8
        for damaged in (payload[:end], bytes(flipped), payload + b"\0left"):
            assert read(damaged, name, version).encode() == damaged

    check()


@pytest.mark.exhaustive
@each_payload
def test_another_body_is_written_behind_the_same_header(codec: Codec[Any]) -> None:
    name, version = codec.name, codec.version

    @few
    @given(messages(name, version), messages(name, version))
    def check(body: Any, other: Any) -> None:
        found = read(written(body, version, 7), name, version)
        found.body = other
        assert found.encode() == written(other, version, 7)

    check()


@given(st.binary(max_size=60), st.integers(-2, 95), st.integers(-1, 18), st.integers(0, 5))
def test_any_bytes_pass(payload: bytes, api_key: int, version: int, offset: int) -> None:
    head = api_key.to_bytes(2, "big", signed=True) + version.to_bytes(2, "big", signed=True)
    for data in (payload, head + payload):
        assert read_request(bytes(offset) + data, offset=offset).encode() == data
        response = read_response(bytes(offset) + data, api_key, version, offset=offset)
        assert response.encode() == data


APPLES = CreateTopicsRequest(topics=[CreatableTopic("apples", 3)], timeout_ms=9)


def test_a_change_anywhere_in_the_body_counts() -> None:
    changes: list[Callable[[CreateTopicsRequest], object]] = [
        lambda body: setattr(body.topics[0], "name", "pears"),
        lambda body: body.topics[0].configs.append(CreatableTopicConfig("cleanup.policy", None)),
        lambda body: body.topics.clear(),
        lambda body: setattr(body, "unknown_tagged_fields", ((9, b""),)),
    ]
    for change in changes:
        found = read_request(write_request(APPLES, 7, 1, "me"))
        assert isinstance(found.body, CreateTopicsRequest)
        change(found.body)
        again = read_request(found.encode())
        assert again.body == found.body != APPLES
        assert again.header == found.header


def test_values_that_are_equal_may_be_written_otherwise() -> None:
    quotas = AlterClientQuotasRequest(entries=[EntryData(ops=[OpData("rate", 0.0)])])
    found = read_request(write_request(quotas, 1, 1))
    body: Any = found.body
    body.entries[0].ops[0].value = -0.0
    assert read_request(found.encode()).body == body


def test_bytes_that_are_not_canonical_are_kept_until_their_value_changes() -> None:
    canonical = write_request(APPLES, 7, 1, "me")
    odd = canonical[:-2] + b"\x02\x00"  # validate_only: any byte but 0 is true
    found = read_request(odd)
    body: Any = found.body
    assert body.validate_only is True
    assert found.encode() == odd
    assert found.header is not None
    found.header.client_id = "you"  # as long as before
    assert found.encode() == odd.replace(b"me", b"you").replace(b"\0\2you", b"\0\3you")
    body.timeout_ms += 1
    assert found.encode() == write_request(body, 7, 1, "you")
    # In a header: its tags out of order.
    header = RequestHeader(19, 7, 1, "me").encode(2)[:-1] + b"\x02\x09\x01a\x08\x01b"
    found = read_request(header + APPLES.encode(7))
    assert found.encode() == header + APPLES.encode(7)
    found.body = MetadataRequest()
    with pytest.raises(EncodeError):
        found.encode()
    found.body = CreateTopicsRequest()
    assert found.encode() == header + CreateTopicsRequest().encode(7)


def test_unknown_tags_stay() -> None:
    header = RequestHeader(19, 7, 5, "me", unknown_tagged_fields=((3, b"trace"),))
    body = CreateTopicsRequest(unknown_tagged_fields=((9, b"x"),))
    payload = write_request(body, header=header)
    assert payload == header.encode(2) + body.encode(7)
    found = read_request(payload)
    assert (found.header, found.body) == (header, body)
    assert found.header is not None
    found.header.correlation_id = 6
    again = read_request(found.encode())
    assert again.header is not None
    assert (again.header.correlation_id, again.header.unknown_tagged_fields) == (
        6,
        ((3, b"trace"),),
    )
    tagged = ResponseHeader(5, unknown_tagged_fields=((3, b"trace"),))
    answer = read_response(write_response(CreateTopicsResponse(), 7, header=tagged), 19, 7)
    assert (answer.header, answer.problem) == (tagged, None)


def test_the_header_keeps_the_version_that_it_was_read_in() -> None:
    """An unknown api's header is read as version 2, and as 1 where it does not read so."""
    for version, rest in ((1, b"\xff" * 4), (2, b"\x01\x02")):
        found = read_request(RequestHeader(12000, 3, 77, "proxy").encode(version) + rest)
        assert (found.header_version, found.raw_body) == (version, rest)
        assert found.header is not None
        found.header.correlation_id = 78
        expected = RequestHeader(12000, 3, 78, "proxy").encode(version) + rest
        assert found.encode() == expected
    shutdown = read_request(write_request(ControlledShutdownRequest(), 0, 1))
    assert shutdown.header is not None
    shutdown.header.client_id = "me"  # which version 0 of the header does not have
    assert shutdown.encode() == shutdown.data


def test_a_body_that_was_not_read_passes() -> None:
    payload = write_request(APPLES, 7, 1, "me")
    found = read_request(payload, body=False)
    assert found.encode() == payload
    found.body = CreateTopicsRequest()
    assert found.encode() == write_request(CreateTopicsRequest(), 7, 1, "me")
    unreadable = read_request(payload[:-1])
    assert unreadable.problem
    unreadable.body = CreateTopicsRequest()
    assert unreadable.encode() == write_request(CreateTopicsRequest(), 7, 1, "me")


def test_bytes_left_over_stay_behind_the_body() -> None:
    found = read_request(write_request(APPLES, 7, 1, "me") + b"left")
    found.body = CreateTopicsRequest()
    assert found.encode() == write_request(CreateTopicsRequest(), 7, 1, "me") + b"left"
    found.error = None
    assert found.encode() == write_request(CreateTopicsRequest(), 7, 1, "me")


def test_what_cannot_be_written() -> None:
    found = read_request(b"\0\x13")
    found.body = APPLES
    with pytest.raises(EncodeError, match=r"no header that could be read.*write_request makes"):
        found.encode()
    answer = read_response(b"\0", 19, 7)
    answer.header = ResponseHeader(1)
    with pytest.raises(EncodeError, match=r"no header that could be read.*write_response makes"):
        answer.encode()
    found = read_request(write_request(APPLES, 7, 1, "me"))
    header, found.header = found.header, None
    with pytest.raises(EncodeError, match="expected the header"):
        found.encode()
    assert header is not None
    found.header = mistyped({})
    with pytest.raises(EncodeError, match=r"expected the header, a RequestHeader, got \{\}"):
        found.encode()
    found.header = header
    header.request_api_version = 5
    with pytest.raises(EncodeError, match=r"api key 19 at version 5.*as 19 at version 7; write_re"):
        found.encode()
    assert write_request(APPLES, header=header) == write_request(APPLES, 5, 1, "me")
    unknown = read_request(RequestHeader(12000, 3, 77, "proxy").encode(2))
    unknown.body = APPLES
    with pytest.raises(UnknownMessageError, match="unknown api key 12000"):
        unknown.encode()


def test_slips_with_headers() -> None:
    request: Any = write_request
    response: Any = write_response
    slips: list[tuple[Callable[[], bytes], type[Exception], str]] = [
        (lambda: request(MetadataRequest(), header=RequestHeader(19, 1)), EncodeError,
         "the header is one of api key 19, and MetadataRequest has api key 3"),
        (lambda: request(MetadataRequest()), TypeError, "a correlation_id, or a header"),
        (lambda: request(MetadataRequest(), 1, header=RequestHeader(3, 1)), TypeError,
         "takes a header, or"),
        (lambda: response(CreateTopicsResponse(), 1), TypeError, "or a header"),
        (lambda: response(CreateTopicsResponse(), 1, 2, header=ResponseHeader(2)), TypeError,
         "or a header"),
    ]  # fmt: skip
    for call, error, sentence in slips:
        with pytest.raises(error, match=sentence):
            call()


def test_who_answers() -> None:
    for acks, answered in ((0, False), (1, True), (-1, True)):
        payload = write_request(ProduceRequest(acks=acks), 9, 1, "me")
        assert read_request(payload).expects_response is answered
        assert read_request(payload, body=False).expects_response is answered
        assert expects_response(0, ProduceRequest(acks=acks)) is answered
    assert expects_response(0, None)  # its body could not be read
    assert read_request(write_request(ProduceRequest(acks=0), 9, 1)[:-1]).expects_response
    lazily = read_request(write_request(APPLES, 7, 1), body=False)
    assert (lazily.expects_response, lazily.body) == (True, None)
