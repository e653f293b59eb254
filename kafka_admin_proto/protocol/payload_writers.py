"""Write payloads: the bytes of a header and of the body behind it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, overload

from kafka_admin_proto.arguments import version_number
from kafka_admin_proto.codec import Codec, codec
from kafka_admin_proto.errors import EncodeError
from kafka_admin_proto.messages import RequestHeader, ResponseHeader
from kafka_admin_proto.protocol.headers import (
    header_codec,
    header_writer,
    is_header,
    request_header_version,
    response_header_version,
)
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.values import Message
from kafka_admin_proto.wire.types.base import cannot_encode


@overload
def write_request(
    body: Message, version: int, correlation_id: int, client_id: str | None = None
) -> bytes: ...


@overload
def write_request(body: Message, *, header: RequestHeader) -> bytes: ...


def write_request(
    body: Message,
    version: int | None = None,
    correlation_id: int | None = None,
    client_id: str | None = None,
    *,
    header: RequestHeader | None = None,
) -> bytes:
    """A request's payload: the header that this api and version has, then the body.

    ``header`` takes the place of the other three: a whole header, which has the version, the
    correlation id, the client id and unknown tagged fields. Raises EncodeError for a body that is
    not a request, for a header of another api, and for values that cannot be written.
    """
    api_key = api_key_of(body, "Request")
    if header is None:
        if version is None or correlation_id is None:
            raise TypeError("write_request needs a version and a correlation_id, or a header")
        header = RequestHeader(
            request_api_key=api_key,
            request_api_version=version,
            correlation_id=correlation_id,
            client_id=client_id,
        )
    elif (version, correlation_id, client_id) != (None, None, None):
        raise TypeError("write_request takes a header, or version, correlation_id and client_id")
    elif not is_header(header, "RequestHeader"):
        raise cannot_encode("header", header, "a RequestHeader")
    elif header.request_api_key != api_key:
        raise EncodeError(
            f"the header is one of api key {header.request_api_key}, and {body.message_name} has "
            f"api key {api_key}",
            path="request_api_key",
        )
    version = version_number(header.request_api_version)
    front, found = _request_codecs(catalog().generation, type(body), version)
    if type(header) is not front.value_class:
        front, header = header_writer(header, front)
    return found.encode_behind(front, header, body)


@overload
def write_response(body: Message, version: int, correlation_id: int) -> bytes: ...


@overload
def write_response(body: Message, version: int, *, header: ResponseHeader) -> bytes: ...


def write_response(
    body: Message,
    version: int,
    correlation_id: int | None = None,
    *,
    header: ResponseHeader | None = None,
) -> bytes:
    """A response's payload: the header that this api and version has, then the body.

    ``header`` takes the place of ``correlation_id``: a whole header, with unknown tagged fields.
    Raises EncodeError for a body that is not a response, and for values that cannot be written.
    """
    api_key_of(body, "Response")
    if header is None and correlation_id is not None:
        header = ResponseHeader(correlation_id=correlation_id)
    elif header is None or correlation_id is not None:
        raise TypeError("write_response needs a correlation_id or a header")
    elif not is_header(header, "ResponseHeader"):
        raise cannot_encode("header", header, "a ResponseHeader")
    version = version_number(version)
    front, found = _response_codecs(catalog().generation, type(body), version)
    if type(header) is not front.value_class:
        front, header = header_writer(header, front)
    return found.encode_behind(front, header, body)


def write_encoded_response(
    body: bytes, api_key: int, version: int, correlation_id: int, dialect: str = "kafka"
) -> bytes:
    """A response's payload whose body is encoded already, and is not looked at."""
    found = header_codec(
        "ResponseHeader", response_header_version(api_key, version, dialect), dialect
    )
    return found.encode(found.value_class(correlation_id=correlation_id)) + body


@lru_cache(maxsize=1024)
def _request_codecs(
    generation: int, body: type[Message], version: int
) -> tuple[Codec[Any], Codec[Any]]:
    """The codecs of a request's header and body; ``generation`` is the catalog's."""
    header_version = request_header_version(body.api_key or 0, version, body.dialect)
    header = header_codec("RequestHeader", header_version, body.dialect)
    return header, codec(body, version)


@lru_cache(maxsize=1024)
def _response_codecs(
    generation: int, body: type[Message], version: int
) -> tuple[Codec[Any], Codec[Any]]:
    """The same of a response."""
    header_version = response_header_version(body.api_key or 0, version, body.dialect)
    header = header_codec("ResponseHeader", header_version, body.dialect)
    return header, codec(body, version)


def api_key_of(body: Any, kind: str) -> int:
    """The api key of a message; EncodeError unless it is a ``kind``, "Request" or "Response"."""
    if not isinstance(body, Message):
        got = "a class" if isinstance(body, type) else f"an object of type {type(body).__name__}"
        raise EncodeError(
            f"expected a {kind.lower()}, as CreateTopics{kind}() is one, got {got}; "
            "codec(...).from_json makes a value of builtins"
        )
    if body.api_key is None or not body.message_name.endswith(kind):
        raise EncodeError(f"{body.message_name} is not a {kind.lower()}")
    return body.api_key
