"""Payloads: a header and a body, read so that nothing is ever dropped.

``read_request`` and ``read_response`` do not raise for what a peer sent. What they could not make
sense of stands in ``error`` and ``problem``, and the bytes of the body are there in any case.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import Any, ClassVar, TypeVar

import msgspec

from kafka_admin_proto.codec import Buffer, Codec, Message, codec
from kafka_admin_proto.errors import (
    DecodeError,
    EncodeError,
    KafkaAdminProtoError,
    TrailingBytesError,
    UnknownMessageError,
)
from kafka_admin_proto.messages.request_header import RequestHeader
from kafka_admin_proto.messages.response_header import ResponseHeader
from kafka_admin_proto.protocol.headers import (
    API_VERSIONS_KEY,
    message_of,
    request_header_version,
    response_header_version,
)
from kafka_admin_proto.schema.catalog import catalog

_H = TypeVar("_H", RequestHeader, ResponseHeader)

_KEY_AND_VERSION = struct.Struct(">hh").unpack_from
#: The error code with which a broker answers an ApiVersions request of a version it lacks.
UNSUPPORTED_VERSION = 35


class _Payload(msgspec.Struct, kw_only=True):
    """What requests and responses share.

    ``api`` is the api's name without "Request" or "Response", None for an unknown key. ``data`` is
    the whole payload and ``body_offset`` where the body starts in it. ``body`` is None when it was
    not asked for or could not be read; ``error`` then says why. A body with bytes left over has
    both a ``body`` and an ``error``. Where the payload was read from an offset, ``data`` is all
    that was given, and offsets count from its start.
    """

    message_type: ClassVar[str]

    api_key: int
    api_version: int
    api: str | None
    data: bytes
    dialect: str = "kafka"
    header_version: int
    body_offset: int
    body: Message | None = None
    error: KafkaAdminProtoError | None = None

    @property
    def raw_body(self) -> bytes:
        """The bytes of the body as they came."""
        return self.data[self.body_offset :]

    @property
    def problem(self) -> str | None:
        """What could not be read, as a sentence; offsets count from the start of the payload."""
        return None if self.error is None else str(self.error)

    def __repr__(self) -> str:
        # Raw bytes stay out: they may hold what the body's own repr masks.
        return (
            f"{type(self).__name__}(api={self.api or self.api_key}, version={self.api_version}, "
            f"size={len(self.data)}, body={self.body!r}, problem={self.problem!r})"
        )

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        names = ("api", "api_version", "body", "problem")
        return [(name, getattr(self, name)) for name in names]

    @property
    def codec(self) -> Codec[Any]:
        """The codec of the body; UnknownMessageError or UnsupportedVersionError without one."""
        return _body_codec(
            catalog().generation, self.message_type, self.api_key, self.api_version, self.dialect
        )

    def read_body(self) -> Message | None:
        """Decode the body if that has not been done; None, and an ``error``, if it fails."""
        if self.body is None and self.error is None:
            try:
                self.body = self.codec.decode_at(self.data, self.body_offset)
            except TrailingBytesError as error:
                self.body, self.error = error.value, error
            except (DecodeError, UnknownMessageError) as error:
                self.error = error
        return self.body


class Request(_Payload, kw_only=True):
    """A request; ``header`` is None when the payload is too short to have one."""

    message_type: ClassVar[str] = "request"

    header: RequestHeader | None


class Response(_Payload, kw_only=True):
    """A response, read as that of ``api_key`` at ``api_version``.

    A broker answers an ApiVersions request of an unknown version in version 0, so that
    ``api_version`` here may be lower than the request's.
    """

    message_type: ClassVar[str] = "response"

    header: ResponseHeader | None


def read_request(
    payload: Buffer, *, body: bool = True, dialect: str = "kafka", offset: int = 0
) -> Request:
    """Read a request's header and, unless ``body`` is False, its body.

    Apis that ``dialect`` does not have are read as Kafka's own. ``offset`` is where the payload
    starts: 4 in a frame with its size in front.
    """
    data = bytes(payload)
    if len(data) - offset < 8:
        too_short = DecodeError(
            f"a request header needs at least 8 bytes, {max(len(data) - offset, 0)} left",
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
            body_offset=offset,
            error=too_short,
        )
    api_key, api_version = _KEY_AND_VERSION(data, offset)
    api, headers = _request_plan(catalog().generation, api_key, api_version, dialect)
    header, header_version, end, error = _read_header(headers, data, offset)
    request = Request(
        header=header,
        api_key=api_key,
        api_version=api_version,
        api=api,
        data=data,
        dialect=dialect,
        header_version=header_version,
        body_offset=end,
        error=error,
    )
    if body:
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
    """Read the response to a request of that api and version; ``offset`` as in read_request."""
    data = bytes(payload)
    api, headers = _response_plan(catalog().generation, api_key, api_version, dialect)
    header, header_version, end, error = _read_header(headers, data, offset)
    if api_key == API_VERSIONS_KEY and _is_fallback(data[end:]):
        api_version = 0
    response = Response(
        header=header,
        api_key=api_key,
        api_version=api_version,
        api=api,
        data=data,
        dialect=dialect,
        header_version=header_version,
        body_offset=end,
        error=error,
    )
    if body:
        response.read_body()
    return response


def write_request(
    body: Message, version: int, correlation_id: int, client_id: str | None = None
) -> bytes:
    """A request's payload: the header that this api and version has, then the body."""
    api_key = _api_key(body, "Request")
    header = RequestHeader(
        request_api_key=api_key,
        request_api_version=version,
        correlation_id=correlation_id,
        client_id=client_id,
    )
    header_version = request_header_version(api_key, version, body.dialect)
    return header.encode(header_version) + body.encode(version)


def write_response(body: Message, version: int, correlation_id: int) -> bytes:
    """A response's payload: the header that this api and version has, then the body."""
    api_key = _api_key(body, "Response")
    header = ResponseHeader(correlation_id=correlation_id)
    header_version = response_header_version(api_key, version, body.dialect)
    return header.encode(header_version) + body.encode(version)


def api_name(api_key: int, dialect: str = "kafka") -> str | None:
    """The api's name without "Request": "CreateTopics" for 19; None for an unknown key."""
    found = message_of(api_key, -1, "request", dialect)
    return None if found is None else found[0].removesuffix("Request")


def _api_key(body: Message, kind: str) -> int:
    if body.api_key is None or not body.message_name.endswith(kind):
        raise EncodeError(f"{body.message_name} is not a {kind.lower()}", value=body)
    return body.api_key


# What an api and version mean is asked for each payload and found once; a hostile peer may ask for
# every number there is, so that the answers kept are bounded. ``generation`` is the catalog's.


@lru_cache(maxsize=4096)
def _request_plan(
    generation: int, api_key: int, api_version: int, dialect: str
) -> tuple[str | None, tuple[Codec[RequestHeader], ...]]:
    """The api's name, and the headers that may stand in front of its request."""
    versions = [request_header_version(api_key, api_version, dialect)]
    if message_of(api_key, api_version, "request", dialect) is None:
        versions.append(1)  # an unknown api is likely flexible; if it does not read so, it is not
    headers = tuple(codec(RequestHeader, version) for version in versions)
    return api_name(api_key, dialect), headers


@lru_cache(maxsize=4096)
def _response_plan(
    generation: int, api_key: int, api_version: int, dialect: str
) -> tuple[str | None, tuple[Codec[ResponseHeader], ...]]:
    """The same of its response."""
    versions = [response_header_version(api_key, api_version, dialect)]
    if message_of(api_key, api_version, "response", dialect) is None:
        versions.append(0)
    headers = tuple(codec(ResponseHeader, version) for version in versions)
    return api_name(api_key, dialect), headers


@lru_cache(maxsize=4096)
def _body_codec(
    generation: int, type: str, api_key: int, api_version: int, dialect: str
) -> Codec[Any]:
    found = message_of(api_key, api_version, type, dialect)
    if found is None:
        raise UnknownMessageError(f"unknown api key {api_key}")
    name, dialect = found
    return codec(name, api_version, dialect=dialect)


def _read_header(
    headers: tuple[Codec[_H], ...], data: bytes, offset: int
) -> tuple[_H | None, int, int, DecodeError | None]:
    """The header, its version, the offset of its end, and the first error if no version reads."""
    first_error = None
    for each in headers:
        try:
            header, end = each.decode_from(data, offset)
        except DecodeError as error:
            first_error = first_error or error
        else:
            return header, each.version, end, None
    return None, headers[0].version, offset, first_error


def _is_fallback(raw_body: bytes) -> bool:
    """Whether this ApiVersions body is the version 0 that says "I don't have your version"."""
    if int.from_bytes(raw_body[:2], "big", signed=True) != UNSUPPORTED_VERSION:
        return False
    try:
        codec("ApiVersionsResponse", 0).decode(raw_body)
    except DecodeError:
        return False
    return True
