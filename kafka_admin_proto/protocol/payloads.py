"""Payloads: a header and a body, read so that nothing is ever dropped.

``read_request`` and ``read_response`` do not raise for what a peer sent. What they could not make
sense of stands in ``error`` and ``problem``, and the bytes of the body are there in any case.
"""

from __future__ import annotations

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

_H = TypeVar("_H", RequestHeader, ResponseHeader)

#: The error code with which a broker answers an ApiVersions request of a version it lacks.
UNSUPPORTED_VERSION = 35


class _Payload(msgspec.Struct, kw_only=True):
    """What requests and responses share.

    ``api`` is the api's name without "Request" or "Response", None for an unknown key. ``data`` is
    the whole payload and ``body_offset`` where the body starts in it. ``body`` is None when it was
    not asked for or could not be read; ``error`` then says why. A body with bytes left over has
    both a ``body`` and an ``error``.
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
        found = message_of(self.api_key, self.api_version, self.message_type, self.dialect)
        if found is None:
            raise UnknownMessageError(f"unknown api key {self.api_key}")
        name, dialect = found
        return codec(name, self.api_version, dialect=dialect)

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


def read_request(payload: Buffer, *, body: bool = True, dialect: str = "kafka") -> Request:
    """Read a request's header and, unless ``body`` is False, its body.

    Apis that ``dialect`` does not have are read as Kafka's own.
    """
    data = bytes(payload)
    if len(data) < 8:
        too_short = DecodeError(
            f"a request header needs at least 8 bytes, {len(data)} left",
            message="RequestHeader",
            expected="a request header",
        )
        return Request(
            header=None,
            api_key=-1,
            api_version=-1,
            api=None,
            data=data,
            header_version=1,
            body_offset=0,
            error=too_short,
        )
    api_key = int.from_bytes(data[:2], "big", signed=True)
    api_version = int.from_bytes(data[2:4], "big", signed=True)
    versions = [request_header_version(api_key, api_version, dialect)]
    if message_of(api_key, api_version, "request", dialect) is None:
        versions.append(1)  # an unknown api is likely flexible; if it does not read so, it is not
    header, header_version, end, error = _read_header(RequestHeader, data, versions)
    request = Request(
        header=header,
        api_key=api_key,
        api_version=api_version,
        api=api_name(api_key, dialect),
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
) -> Response:
    """Read the response to a request of that api and version."""
    data = bytes(payload)
    versions = [response_header_version(api_key, api_version, dialect)]
    if message_of(api_key, api_version, "response", dialect) is None:
        versions.append(0)
    header, header_version, end, error = _read_header(ResponseHeader, data, versions)
    if api_key == API_VERSIONS_KEY and _is_fallback(data[end:]):
        api_version = 0
    response = Response(
        header=header,
        api_key=api_key,
        api_version=api_version,
        api=api_name(api_key, dialect),
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


def _read_header(
    header_class: type[_H], data: bytes, versions: list[int]
) -> tuple[_H | None, int, int, DecodeError | None]:
    """The header, its version, the offset of its end, and the first error if no version reads."""
    first_error = None
    for version in versions:
        try:
            header, end = codec(header_class, version).decode_from(data)
        except DecodeError as error:
            first_error = first_error or error
        else:
            return header, version, end, None
    return None, versions[0], 0, first_error


def _is_fallback(raw_body: bytes) -> bool:
    """Whether this ApiVersions body is the version 0 that says "I don't have your version"."""
    if int.from_bytes(raw_body[:2], "big", signed=True) != UNSUPPORTED_VERSION:
        return False
    try:
        codec("ApiVersionsResponse", 0).decode(raw_body)
    except DecodeError:
        return False
    return True
