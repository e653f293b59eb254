"""Requests and responses as values: header, body, the bytes they were read from, and any error.

``encode`` writes the bytes that were read, except for what was changed since.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar, Generic, TypeVar

import msgspec

from kafka_admin_proto.codec import Codec, codec
from kafka_admin_proto.errors import (
    DecodeError,
    EncodeError,
    KafkaAdminProtoError,
    TrailingBytesError,
    UnknownMessageError,
)
from kafka_admin_proto.messages import RequestHeader, ResponseHeader
from kafka_admin_proto.protocol import api_keys
from kafka_admin_proto.protocol.headers import header_codec, header_writer, is_header, message_of
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.values import Message
from kafka_admin_proto.wire.types.base import cannot_encode

Header = TypeVar("Header", RequestHeader, ResponseHeader)


class _Payload(msgspec.Struct, Generic[Header]):
    """What requests and responses share. Fields by position are quicker to give than by name.

    ``header`` is None when the payload is too short to have one, or has none that reads. ``api`` is
    the api's name without "Request" or "Response", None for an unknown key. ``data`` is the whole
    payload and ``body_offset`` where the body starts in it. ``body`` is None when it was not asked
    for or could not be read; ``error`` then says why. A body with bytes left over has both a
    ``body`` and an ``error``. Where the payload was read from an offset, ``data`` is all that was
    given, ``offset`` is where the payload starts in it, and offsets count from its start.
    """

    message_type: ClassVar[str]
    header_class: ClassVar[type[Message]]

    header: Header | None
    api_key: int
    api_version: int
    api: str | None
    data: bytes
    header_version: int
    body_offset: int
    dialect: str = "kafka"
    offset: int = 0
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
        return body_codec(
            catalog().generation, self.message_type, self.api_key, self.api_version, self.dialect
        )

    def read_body(self) -> Message | None:
        """Decode the body if that has not been done; None, and an ``error``, if it fails."""
        if self.body is None and self.error is None:
            try:
                self.body = self.codec.decode_at(self.data, self.body_offset)
            except TrailingBytesError as error:
                self.body, self.error = error.value, error.without_frames()
            except (DecodeError, UnknownMessageError) as error:
                self.error = error.without_frames()
        return self.body

    def encode(self) -> bytes:
        """The payload as it is now: the bytes that were read, but for what was changed since.

        Header and body are compared one by one. Each keeps its bytes, canonical or not, unless its
        value has changed, at whatever depth. A changed header is written in the version that it
        was read in. A body that was not read, or could not be, keeps its bytes. Bytes left over
        behind a body stay there, also when the body is replaced; ``error = None`` drops them.

        Raises EncodeError for a header or body that cannot be written, and UnknownMessageError
        for a new body of an api or a version that is not known.
        """
        if self.body_offset == self.offset:
            if self.header is None and self.body is None:
                return self.data[self.offset :]
            raise EncodeError(
                "the payload has no header that could be read, so that nothing in it can be "
                f"replaced; write_{self.message_type} makes one of a header and a body"
            )
        head, body = self._written_header(), self._written_body()
        if head is None and body is None:
            return self.data[self.offset :]
        if head is None:
            head = self.data[self.offset : self.body_offset]
        return head + (self.raw_body if body is None else body)

    def _written_header(self) -> bytes | None:
        """The header's bytes; None where they are those that were read."""
        name = self.header_class.message_name
        header: Any = self.header
        codec = header_codec(name, self.header_version, self.dialect)
        if type(header) is not codec.value_class:
            if not is_header(header, name):
                raise cannot_encode("header", header, f"the header, a {name}")
            codec, header = header_writer(header, codec)
        self._check_header()
        return _written(codec, header, self.data[self.offset : self.body_offset])

    def _written_body(self) -> bytes | None:
        """The same of the body, with the bytes left over behind it."""
        if self.body is None:
            return None
        rest = self.error.rest if isinstance(self.error, TrailingBytesError) else b""
        read = self.data[self.body_offset : len(self.data) - len(rest)]
        written = _written(self.codec, self.body, read)
        return None if written is None else written + rest

    def _check_header(self) -> None:
        """Raise EncodeError for a header that the body's bytes cannot stand behind."""


class Request(_Payload[RequestHeader]):
    """A request, of the api and version that its header names."""

    message_type: ClassVar[str] = "request"
    header_class: ClassVar[type[Message]] = RequestHeader

    @property
    def expects_response(self) -> bool:
        """Whether the broker answers: see ``expects_response``; reads the body of a Produce."""
        if self.api_key != api_keys.PRODUCE:
            return True
        return expects_response(self.api_key, self.read_body())

    def _check_header(self) -> None:
        header = self.header
        asked = (self.api_key, self.api_version)
        if header and (header.request_api_key, header.request_api_version) != asked:
            raise EncodeError(
                f"the header names api key {header.request_api_key} at version "
                f"{header.request_api_version}, and the body was read as {asked[0]} at version "
                f"{asked[1]}; write_request(body, header=...) writes it at another version"
            )


class Response(_Payload[ResponseHeader]):
    """A response, read as that of ``api_key`` at ``api_version``.

    A broker answers an ApiVersions request of an unknown version in version 0, so that
    ``api_version`` here may be lower than the request's.
    """

    message_type: ClassVar[str] = "response"
    header_class: ClassVar[type[Message]] = ResponseHeader


def _written(codec: Codec[Any], value: Message, read: bytes) -> bytes | None:
    """The bytes of ``value``; None where they would say the same as ``read``, which can be kept.

    ``read`` is decoded and encoded again, and these bytes are compared. Values that are equal may
    have different bytes (0.0 and -0.0), and values that differ the same ones (a list, a tuple).
    """
    written = codec.encode(value)
    if written == read:
        return None
    try:
        before = codec.decode(read)
    except DecodeError:  # the value is new: those bytes could not be read
        return written
    return None if codec.encode(before) == written else written


def expects_response(api_key: int, body: object) -> bool:
    """Whether a broker answers a request with that body; False for a Produce with ``acks`` 0.

    True for a Produce whose body is None, be it not read or not readable: its acks are unknown.
    """
    return not (api_key == api_keys.PRODUCE and getattr(body, "acks", None) == 0)


@lru_cache(maxsize=4096)
def body_codec(
    generation: int, type: str, api_key: int, api_version: int, dialect: str
) -> Codec[Any]:
    found = message_of(api_key, api_version, type, dialect)
    if found is None:
        raise UnknownMessageError(f"unknown api key {api_key}")
    name, dialect = found
    return codec(name, api_version, dialect=dialect)
