"""Bodies to frames and back, in the one dialect of a world."""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import Any, Literal

from kafka_admin_proto.codec import Codec, codec
from kafka_admin_proto.messages import RequestHeader, ResponseHeader
from kafka_admin_proto.protocol.frames import frame
from kafka_admin_proto.protocol.headers import (
    header_codec,
    message_of,
    request_header_version,
    response_header_version,
)
from kafka_admin_proto.protocol.payload_writers import write_request, write_response
from kafka_admin_proto.values import Message

_SIZE_BYTES = 4
_KEY_AND_VERSION = struct.Struct(">hh").unpack_from


def request_frame(
    body: Message, version: int, correlation_id: int, client_id: str, dialect: str
) -> bytes:
    """A request with its header and size; ValueError for a body that the dialect has otherwise."""
    _check(type(body), version, "request", dialect)
    return frame(write_request(body, version, correlation_id, client_id))


def response_frame(body: Message, version: int, correlation_id: int, dialect: str) -> bytes:
    """A response with its header and size; ValueError as for requests."""
    _check(type(body), version, "response", dialect)
    return frame(write_response(body, version, correlation_id))


def read_request_frame(data: bytes, dialect: str) -> tuple[RequestHeader, Message]:
    """Header and body of a whole frame; raises DecodeError."""
    api_key, version = _KEY_AND_VERSION(data, _SIZE_BYTES)
    header_codec, body_codec = _codecs(api_key, version, "request", dialect)
    header, offset = header_codec.decode_from(data, _SIZE_BYTES)
    return header, body_codec.decode_at(data, offset)


def read_response_frame(
    data: bytes, api_key: int, version: int, dialect: str
) -> tuple[ResponseHeader, Message]:
    """The same of the response to a request of that api key and version."""
    header_codec, body_codec = _codecs(api_key, version, "response", dialect)
    header, offset = header_codec.decode_from(data, _SIZE_BYTES)
    return header, body_codec.decode_at(data, offset)


@lru_cache(maxsize=256)
def _check(
    body: type[Message], version: int, kind: Literal["request", "response"], dialect: str
) -> None:
    message = message_of(body.api_key or 0, version, kind, dialect)
    if message != (body.message_name, body.dialect):
        raise ValueError(
            f"version {version} of {body.message_name} is read as {message} in dialect {dialect}, "
            f"but the body is of dialect {body.dialect}: send a body of the dialect's own class"
        )


@lru_cache(maxsize=256)
def _codecs(
    api_key: int, version: int, kind: Literal["request", "response"], dialect: str
) -> tuple[Codec[Any], Codec[Any]]:
    name, message_dialect = message_of(api_key, version, kind, dialect) or ("", "")
    if kind == "request":
        header, version_of = "RequestHeader", request_header_version
    else:
        header, version_of = "ResponseHeader", response_header_version
    front = header_codec(header, version_of(api_key, version, dialect), dialect)
    return front, codec(name, version, dialect=message_dialect)
