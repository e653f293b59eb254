"""Payloads: a header and a body, read so that nothing is ever dropped.

``read_request`` and ``read_response`` do not raise for what a peer sent. What they could not make
sense of stands in ``error`` and ``problem``, and the bytes of the body are there in any case.
`payload_values` has the classes of what they return.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import Any, Generic, NamedTuple

from kafka_admin_proto.arguments import (
    Buffer,
    as_bytes,
    check_offset,
    integer_check,
    version_number,
)
from kafka_admin_proto.codec import Codec, codec
from kafka_admin_proto.errors import DecodeError, UnknownMessageError
from kafka_admin_proto.messages import RequestHeader, ResponseHeader
from kafka_admin_proto.protocol import api_keys, codes
from kafka_admin_proto.protocol.headers import (
    header_codec,
    message_of,
    request_header_version,
    response_header_version,
)
from kafka_admin_proto.protocol.payload_values import Header, Request, Response, body_codec
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.wire.engine import compiled

_key_number = integer_check("an api key is an integer, as 18 is ApiVersions'")
_KEY_AND_VERSION = struct.Struct(">hh").unpack_from


def read_request(
    payload: Buffer, *, body: bool = True, dialect: str = "kafka", offset: int = 0
) -> Request:
    """Read a request's header and, unless ``body`` is False, its body.

    A body without a header is for ``codec(name, version).decode``; here its first bytes would be
    taken for the header, which ``error`` says where they cannot be one.
    Apis that ``dialect`` does not have are read as Kafka's own. ``offset`` is where the payload
    starts: 4 in a frame with its size in front; ValueError where it is outside the data.
    """
    data = as_bytes(payload)
    if not 0 <= offset <= len(data) - 8:
        if offset < 0:
            check_offset(data, offset)
        too_short = DecodeError(
            f"a request header needs at least 8 bytes, {max(len(data) - offset, 0)} left; a body "
            "without a header is read by codec(name, version).decode",
            message="RequestHeader",
            offset=offset,
            expected="a request header",
        )
        return Request(
            header=None,
            api_key=-1,
            api_version=-1,
            api=None,
            data=data,
            header_version=1,
            offset=offset,
            body_offset=offset,
            error=too_short,
        )
    api_key, api_version = _KEY_AND_VERSION(data, offset)
    plan = _request_plan(catalog().generation, api_key, api_version, dialect)
    header, header_version, end, error, value = _read_front(plan, data, offset, body)
    request = Request(
        header, api_key, api_version, plan.api, data, header_version, end, dialect, offset, value,
        error,
    )  # fmt: skip
    if body and value is None:
        request.read_body()
    return request


def read_response(
    payload: Buffer,
    api_key: int,
    api_version: int,
    *,
    body: bool = True,
    dialect: str = "kafka",
    offset: int = 0,
) -> Response:
    """Read the response to a request of that api and version; ``offset`` as in read_request.

    Raises TypeError for an api key or version that is no integer.
    """
    data = as_bytes(payload)
    plan = _response_plan(catalog().generation, api_key, api_version, dialect)
    wants_body = body and api_key != api_keys.API_VERSIONS  # whose body may be of another version
    header, header_version, end, error, value = _read_front(plan, data, offset, wants_body)
    if api_key == api_keys.API_VERSIONS and _is_fallback(data[end:]):
        api_version = 0
    response = Response(
        header, api_key, api_version, plan.api, data, header_version, end, dialect, offset, value,
        error,
    )  # fmt: skip
    if body and value is None:
        response.read_body()
    return response


def api_name(api_key: int, dialect: str = "kafka") -> str | None:
    """The api's name without "Request": "CreateTopics" for 19; None for an unknown key."""
    found = message_of(api_key, -1, "request", dialect)
    return None if found is None else found[0].removesuffix("Request")


# What an api and version mean is asked for each payload and found once; a hostile peer may ask for
# every number there is, so that the answers kept are bounded. ``generation`` is the catalog's.


class _Plan(NamedTuple, Generic[Header]):
    """What is known of a payload before it is read.

    ``api`` is the api's name, ``headers`` are those that may stand in front of its body. ``body``
    is the codec of the body where the engine reads header and body in one call, otherwise None.
    """

    api: str | None
    headers: tuple[Codec[Header], ...]
    body: Codec[Any] | None


@lru_cache(maxsize=4096)
def _request_plan(
    generation: int, api_key: int, api_version: int, dialect: str
) -> _Plan[RequestHeader]:
    newest = request_header_version(api_key, api_version, dialect)
    versions = [newest]
    if message_of(api_key, api_version, "request", dialect) is None:
        # An unknown api likely has the newest header; if it does not read so, it has not.
        versions = [*range(newest, 0, -1)]
    headers = tuple(header_codec("RequestHeader", version, dialect) for version in versions)
    body = _compiled_body(generation, "request", api_key, api_version, dialect)
    return _Plan(api_name(api_key, dialect), headers, body)


@lru_cache(maxsize=4096)
def _response_plan(
    generation: int, api_key: int, api_version: int, dialect: str
) -> _Plan[ResponseHeader]:
    api_key, api_version = _key_number(api_key), version_number(api_version)
    newest = response_header_version(api_key, api_version, dialect)
    versions = [newest]
    if message_of(api_key, api_version, "response", dialect) is None:
        versions = [*range(newest, -1, -1)]
    headers = tuple(header_codec("ResponseHeader", version, dialect) for version in versions)
    body = _compiled_body(generation, "response", api_key, api_version, dialect)
    return _Plan(api_name(api_key, dialect), headers, body)


def _compiled_body(
    generation: int, type: str, api_key: int, api_version: int, dialect: str
) -> Codec[Any] | None:
    """The codec of a body; None where there is none, or no engine for it."""
    if compiled is None:
        return None
    try:
        found = body_codec(generation, type, api_key, api_version, dialect)
    except UnknownMessageError:
        return None
    return found if found.backend == "compiled" else None


def _read_front(
    plan: _Plan[Header], data: bytes, offset: int, wants_body: bool
) -> tuple[Header | None, int, int, DecodeError | None, Any]:
    """As ``_read_header``, and the body where the engine has read the two in one call."""
    if wants_body and plan.body is not None:
        first = plan.headers[0]
        whole = plan.body.decode_behind(first, data, offset)
        if whole is not None:
            header, end, body = whole
            return header, first.version, end, None, body
    front, version, end, error = _read_header(plan.headers, data, offset)
    return front, version, end, error, None


def _read_header(
    headers: tuple[Codec[Header], ...], data: bytes, offset: int
) -> tuple[Header | None, int, int, DecodeError | None]:
    """The header, its version, the offset of its end, and the first error if no version reads."""
    first_error = None
    for each in headers:
        try:
            header, end = each.decode_from(data, offset)
        except DecodeError as error:
            first_error = first_error or error.without_frames()
        else:
            return header, each.version, end, None
    return None, headers[0].version, offset, first_error


def _is_fallback(raw_body: bytes) -> bool:
    """Whether this ApiVersions body is the version 0 that says "I don't have your version"."""
    if int.from_bytes(raw_body[:2], "big", signed=True) != codes.UNSUPPORTED_VERSION:
        return False
    try:
        codec("ApiVersionsResponse", 0).decode(raw_body)
    except DecodeError:
        return False
    return True
