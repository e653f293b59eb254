"""Headers and bodies: which header version, and nothing ever dropped."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_admin_proto import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    ControlledShutdownRequest,
    CreateTopicsRequest,
    EncodeError,
    RequestHeader,
    SaslAuthenticateRequest,
    TrailingBytesError,
    UnknownMessageError,
    UnsupportedVersionError,
)
from kafka_admin_proto.protocol import (
    read_request,
    read_response,
    request_header_version,
    response_header_version,
    write_request,
    write_response,
)
from kafka_admin_proto.schema.catalog import catalog
from tests.helpers.profile import draws

REQUESTS = [
    (name, version)
    for name in catalog().names()
    if catalog().entry(name).type == "request"
    for version in catalog().entry(name).versions
]


@pytest.mark.parametrize(
    ("api_key", "version", "request_header", "response_header"),
    [
        (19, 1, 1, 0),  # CreateTopics, not flexible
        (19, 5, 2, 1),  # flexible
        (18, 0, 1, 0),
        (18, 3, 2, 0),  # ApiVersions: the response's header is always v0
        (18, 99, 2, 0),
        (7, 0, 0, 0),  # ControlledShutdown v0: no client id
        (7, 1, 1, 0),
        (7, 3, 2, 1),
        (52, 0, 2, 1),  # Vote was born flexible
        (12345, 0, 2, 1),  # unknown: taken to be newer than this package
    ],
)
def test_header_versions(
    api_key: int, version: int, request_header: int, response_header: int
) -> None:
    assert request_header_version(api_key, version) == request_header
    assert response_header_version(api_key, version) == response_header


@pytest.mark.parametrize("size", range(8))
def test_a_body_that_is_too_short_for_a_header_is_said_to_be_one(size: int) -> None:
    read = read_request(bytes(size))
    assert (read.header, read.api) == (None, None)
    assert read.problem == (
        f"RequestHeader at byte 0: a request header needs at least 8 bytes, {size} left; a body "
        "without a header is read by codec(name, version).decode"
    )


@pytest.mark.parametrize(("name", "version"), REQUESTS)
def test_every_request_and_response_in_its_envelope(name: str, version: int) -> None:
    import kafka_admin_proto

    request = getattr(kafka_admin_proto, name)()
    payload = write_request(request, version, correlation_id=7, client_id="ä-client")
    read = read_request(payload)
    assert read.problem is None
    assert read.body == request
    assert read.header is not None
    assert read.header.correlation_id == 7
    if (name, version) != ("ControlledShutdownRequest", 0):
        assert read.header.client_id == "ä-client"
    assert (read.api, read.api_version) == (name.removesuffix("Request"), version)

    response = getattr(kafka_admin_proto, name.replace("Request", "Response"))()
    payload = write_response(response, version, correlation_id=-5)
    answer = read_response(payload, read.api_key, version)
    assert answer.problem is None
    assert answer.body == response
    assert answer.header is not None
    assert answer.header.correlation_id == -5


def test_the_client_id_is_never_compact() -> None:
    header = RequestHeader(19, 7, 1, "me")
    assert header.encode(2) == bytes.fromhex("0013 0007 00000001 0002") + b"me" + b"\0"
    assert RequestHeader.decode(header.encode(2), 2) == header
    assert ControlledShutdownRequest().api_key == 7


def test_an_unknown_api_keeps_header_and_body() -> None:
    flexible = RequestHeader(12000, 3, 77, "proxy").encode(2) + b"\x01\x02"
    read = read_request(flexible)
    assert read.header == RequestHeader(12000, 3, 77, "proxy")
    assert (read.api, read.body, read.raw_body) == (None, None, b"\x01\x02")
    assert read.problem == "unknown api key 12000"
    with pytest.raises(UnknownMessageError):
        _ = read.codec
    plain = RequestHeader(12000, 3, 77, "proxy").encode(1)
    assert read_request(plain).header == RequestHeader(12000, 3, 77, "proxy")


def test_an_unknown_version_keeps_header_and_body() -> None:
    read = read_request(RequestHeader(19, 42, 77, None).encode(2) + b"\x01\x02")
    assert read.api == "CreateTopics"
    assert read.raw_body == b"\x01\x02"
    assert read.problem == "CreateTopicsRequest has versions 0-7, not 42"
    assert isinstance(read.error, UnsupportedVersionError)


def test_a_body_with_bytes_left_over_is_read_all_the_same() -> None:
    request = CreateTopicsRequest(timeout_ms=5)
    payload = write_request(request, 1, 1, "c") + b"\x00"
    read = read_request(payload)
    assert read.body == request
    assert isinstance(read.error, TrailingBytesError)
    assert read.error.rest == b"\x00"
    assert read.error.offset == len(payload) - 1


def test_header_first_body_later() -> None:
    payload = write_request(CreateTopicsRequest(timeout_ms=5), 1, 1, "c")
    read = read_request(payload, body=False)
    assert (read.body, read.problem) == (None, None)
    assert read.read_body() == CreateTopicsRequest(timeout_ms=5)
    assert read.read_body() is read.body


def test_an_api_versions_fallback_is_read_as_version_0() -> None:
    """KIP-511: a broker that lacks the request's version answers in version 0, error 35."""
    answer = ApiVersionsResponse(error_code=35)
    payload = b"\0\0\0\x01" + answer.encode(0)
    for asked in (3, 4, 99):
        read = read_response(payload, 18, asked)
        assert (read.body, read.problem, read.api_version) == (answer, None, 0)
    fine = ApiVersionsResponse(throttle_time_ms=3)
    read = read_response(b"\0\0\0\x01" + fine.encode(3), 18, 3)
    assert (read.body, read.api_version) == (fine, 3)
    assert ApiVersionsRequest().api_key == 18


def test_only_requests_are_written_as_requests() -> None:
    with pytest.raises(EncodeError, match="ApiVersionsResponse is not a request"):
        write_request(ApiVersionsResponse(), 0, 1)
    with pytest.raises(EncodeError, match="ApiVersionsRequest is not a response"):
        write_response(ApiVersionsRequest(), 0, 1)


def test_secrets_stay_out_of_repr() -> None:
    payload = write_request(SaslAuthenticateRequest(auth_bytes=b"\0me\0hunter2"), 1, 1)
    assert "hunter2" not in repr(read_request(payload))
    assert "hunter2" not in repr(read_request(payload + b"x"))


@given(st.binary(max_size=60), st.integers(-2, 95), st.integers(-1, 18))
@settings(max_examples=draws(500))
def test_no_payload_raises(payload: bytes, api_key: int, version: int) -> None:
    request = read_request(payload)
    assert request.body is not None or request.problem
    head = api_key.to_bytes(2, "big", signed=True) + version.to_bytes(2, "big", signed=True)
    request = read_request(head + payload)
    assert request.body is not None or request.problem
    assert request.data[request.body_offset :] == request.raw_body
    response = read_response(payload, api_key, version)
    assert response.body is not None or response.problem


@pytest.mark.parametrize("data", [b"", bytes(3), bytes(4)])
def test_what_is_shorter_than_a_size_prefix_is_a_request_with_a_problem(data: bytes) -> None:
    """Bytes of a peer may end before the offset behind a size prefix: that is no caller's slip."""
    read = read_request(data, offset=4)
    assert read.header is None
    assert read.problem is not None
    assert "needs at least 8 bytes, 0 left" in read.problem
