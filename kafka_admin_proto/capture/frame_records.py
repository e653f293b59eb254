"""Blocks of captured bytes → frames with their requests and responses, nothing dropped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from kafka_admin_proto.capture.blocks import Block
from kafka_admin_proto.capture.pairing import PRODUCE_KEY, Pairing
from kafka_admin_proto.codec import Codec, Message, codec
from kafka_admin_proto.errors import (
    DecodeError,
    FrameError,
    KafkaAdminProtoError,
    TrailingBytesError,
    UnknownMessageError,
)
from kafka_admin_proto.protocol.error_codes import error_name, is_error_field
from kafka_admin_proto.protocol.frames import DEFAULT_FRAME_LIMIT, check_frame_size
from kafka_admin_proto.protocol.payloads import Request, Response, read_request, read_response
from kafka_admin_proto.render.fields import (
    FieldRow,
    field_rows,
    has_secrets,
    masked_hex,
    secret_spans,
)
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.wire.blobs import readable
from kafka_admin_proto.wire.secrets import MASK

Direction = Literal["request", "response", "data"]
_PREFIX_SIZE = 4


class DecodedFrame(msgspec.Struct, kw_only=True):
    """One frame, payload or bare body, as far as it could be understood.

    ``data`` are all its bytes, the size prefix of a frame included; offsets in ``problem`` and in
    field rows count from its start. ``stream_offset`` is where it starts in its block, ``line``
    the line of the dump where the block does. ``codec`` is None for an unknown api or version.
    ``is_token``: a SASL token without a header (after SaslHandshake v0), masked whole.
    """

    capture: str
    line: int
    stream_offset: int
    direction: Direction
    data: bytes
    header_offset: int = 0
    header_version: int = 0
    body_offset: int = 0
    api: str | None = None
    api_key: int | None = None
    api_version: int | None = None
    correlation_id: int | None = None
    client_id: str | None = None
    header: Message | None = None
    codec: Codec[Any] | None = None
    body: Message | None = None
    error: KafkaAdminProtoError | None = None
    is_token: bool = False

    def __repr__(self) -> str:
        # Raw bytes stay out: they may hold what the body's own repr masks.
        return (
            f"DecodedFrame(direction={self.direction!r}, api={self.api or self.api_key}, "
            f"api_version={self.api_version}, size={len(self.data)}, body={self.body!r}, "
            f"problem={self.problem!r})"
        )

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        names = ("direction", "api", "api_version", "body", "problem")
        return [(name, getattr(self, name)) for name in names]

    @property
    def problem(self) -> str | None:
        """What could not be read, or not shown as it is, as a sentence."""
        if self.error is not None:
            return str(self.error)
        if _has_odd_text(self.body):
            return "text that is not UTF-8 is shown with U+FFFD; raw has the bytes"
        return None

    def record(self, *, mask: bool = True, raw: bool = False) -> dict[str, Any]:
        """The frame record: builtins with stable keys, fit for JSON lines.

        ``raw`` (hex of all bytes) is given when asked for, and always when the body could not be
        read whole: nothing is lost. Secrets are masked there as well. ``error_names`` has None
        for a code that Kafka does not have.
        """
        body = None
        if self.body is not None and self.codec is not None:
            body = self.codec.to_json(self.body, mask=mask)
        problem = self.problem
        error_codes = _error_codes(self.body)
        return {
            "capture": self.capture,
            "line": self.line,
            "stream_offset": self.stream_offset,
            "direction": self.direction,
            "size": len(self.data),
            "api_key": self.api_key,
            "api": self.api,
            "api_version": self.api_version,
            "correlation_id": self.correlation_id,
            "client_id": None if self.client_id is None else readable(self.client_id),
            "error_codes": error_codes,
            "error_names": [error_name(code) for code in error_codes],
            "body": body,
            "problem": problem,
            "raw": self.raw_hex(mask=mask) if raw or self.body is None or problem else None,
        }

    def raw_hex(self, *, mask: bool = True) -> str:
        """All bytes in hex, those of secrets as ``**``."""
        if not (mask and self._may_hold_secrets()):
            return self.data.hex()
        if self.codec is None or self._may_be_a_response():
            return masked_hex(self.data, [(self.header_offset, len(self.data))])
        return masked_hex(self.data, secret_spans(self.codec, self.data, self.body_offset))

    def field_rows(self, *, mask: bool = True) -> list[FieldRow]:
        """Each field with its bytes, in order: size, header, body, and whatever is left over."""
        rows: list[FieldRow] = []
        start = 0
        if self.header is not None:
            if self.header_offset:
                size = int.from_bytes(self.data[:_PREFIX_SIZE], "big")
                rows.append(FieldRow("size", 0, _PREFIX_SIZE, "INT32", size))
            header = codec(type(self.header), self.header_version)
            header_rows, _ = field_rows(header, self.data, self.header_offset, prefix="header.")
            rows += header_rows
            start = self.body_offset
        doubtful = mask and self._may_be_a_response()
        if self.codec is not None and not doubtful:
            body_rows, _ = field_rows(self.codec, self.data, start, mask=mask)
            rows += body_rows
            start = body_rows[-1].end if body_rows else start
        if start < len(self.data):
            secret = mask and self._may_hold_secrets()
            rest = MASK if secret else self.data[start:].hex()
            rows.append(FieldRow("(left over)", start, len(self.data), "", rest, secret))
        return rows

    def _may_hold_secrets(self) -> bool:
        """Whether bytes that are not decoded may be a credential.

        Where only the api key can be read it decides; an unknown one hides nothing, as its bytes
        are all there is.
        """
        if self.is_token or self._may_be_a_response():
            return True
        if self.codec is not None:
            return has_secrets(self.codec.spec)
        key = self.data[self.header_offset : self.header_offset + 2]
        if self.error is None or len(key) < 2:
            return False
        api_key = int.from_bytes(key, "big", signed=True)
        names = [catalog().name_of(api_key, type_) for type_ in ("request", "response")]
        return api_key == PRODUCE_KEY or any(
            has_secrets(catalog().spec(name)) for name in names if name
        )

    def _may_be_a_response(self) -> bool:
        """A request of api key 0 that does not decode: the start of a small correlation id?"""
        failed = self.error is not None and self.direction == "request"
        return failed and self.api_key == PRODUCE_KEY


class FrameDecoder:
    """Decodes block after block; remembers requests, so that their responses are understood.

    ``direction`` "auto" pairs by correlation id. ``api`` and ``version`` say what all responses
    are when no request came before, or what a bare body is. ``dialect`` is where their
    definitions are; what it does not have is read by Kafka's own.
    """

    def __init__(
        self,
        *,
        unit: Literal["frames", "payload", "body"] = "frames",
        direction: Literal["auto", "request", "response"] = "auto",
        api: str | None = None,
        version: int | None = None,
        limit: int = DEFAULT_FRAME_LIMIT,
        dialect: str = "kafka",
    ) -> None:
        self.unit = unit
        self.direction = direction
        self.version = version
        self.dialect = dialect
        self.limit = limit
        if (unit == "body" or direction == "response") and (api is None or version is None):
            raise ValueError("bare bodies and responses alone need api and version")
        self._pairing = Pairing(dialect)
        self._capture = ""
        self._message = None if api is None else message_name(api, direction, dialect)
        if self._message is None or version is None:
            return
        spec = codec(self._message, version, dialect=dialect).spec
        if direction == "response" and unit != "body":
            if spec.type != "response" or spec.api_key is None:
                raise UnknownMessageError(f"{spec.name} is no response but a {spec.type}")
            self._asked = (spec.api_key, version)

    def decode(self, block: Block, capture: str = "") -> Iterator[DecodedFrame]:
        """Every frame of the block; bytes that make no frame come as one with a problem."""
        if capture != self._capture:
            self._pairing.raw_tokens = False
            self._capture = capture
        if self.unit == "body":
            yield self._body(block, capture)
        elif self.unit == "payload":
            yield self._payload(block, capture, 0, block.data)
        else:
            yield from self._frames(block, capture)

    def _frames(self, block: Block, capture: str) -> Iterator[DecodedFrame]:
        data, offset = memoryview(block.data), 0
        while offset < len(data):
            try:
                size = _frame_size(data[offset:], self.limit)
            except FrameError as error:
                yield DecodedFrame(
                    capture=capture,
                    line=block.line,
                    stream_offset=offset,
                    direction="data",
                    data=bytes(data[offset:]),
                    header_offset=_PREFIX_SIZE,
                    error=error,
                    is_token=self._pairing.raw_tokens,
                )
                return
            yield self._payload(block, capture, offset, bytes(data[offset : offset + size]))
            offset += size

    def _payload(self, block: Block, capture: str, offset: int, data: bytes) -> DecodedFrame:
        shift = _PREFIX_SIZE if self.unit == "frames" else 0
        payload = data[shift:]
        read = self._read(payload)
        if read is None:
            return DecodedFrame(
                capture=capture,
                line=block.line,
                stream_offset=offset,
                direction="data",
                data=data,
                header_offset=shift,
                is_token=True,
            )
        direction: Direction = "request" if isinstance(read, Request) else "response"
        if isinstance(read.error, DecodeError):
            read.error.offset += shift
        frame = DecodedFrame(
            capture=capture,
            line=block.line,
            stream_offset=offset,
            direction=direction,
            data=data,
            header_offset=shift,
            header_version=read.header_version,
            body_offset=read.body_offset + shift,
            api=read.api,
            api_key=None if len(payload) < 4 and read.header is None else read.api_key,
            api_version=None if len(payload) < 4 and read.header is None else read.api_version,
            header=read.header,
            body=read.body,
            error=read.error,
        )
        if read.header is not None:
            frame.correlation_id = read.header.correlation_id
            frame.client_id = getattr(read.header, "client_id", None)
            frame.codec = None if isinstance(read.error, UnknownMessageError) else read.codec
        return frame

    def _read(self, payload: bytes) -> Request | Response | None:
        if self.direction == "request":
            return read_request(payload, dialect=self.dialect)
        if self.direction == "response":
            return read_response(payload, *self._asked, dialect=self.dialect)
        return self._pairing.read(payload)

    def _body(self, block: Block, capture: str) -> DecodedFrame:
        assert self._message is not None
        assert self.version is not None
        found = codec(self._message, self.version, dialect=self.dialect)
        frame = DecodedFrame(
            capture=capture,
            line=block.line,
            stream_offset=0,
            direction="data",
            data=block.data,
            api=found.name,
            api_key=found.spec.api_key,
            api_version=self.version,
            codec=found,
        )
        try:
            frame.body = found.decode(block.data)
        except TrailingBytesError as error:
            frame.body, frame.error = error.value, error
        except DecodeError as error:
            frame.error = error
        return frame


def message_name(api: str, direction: str = "auto", dialect: str = "kafka") -> str:
    """The message that a user means: "CreateTopics" with a direction, or a whole message name."""
    suffix = "Response" if direction == "response" else "Request"
    for name in (api, f"{api}{suffix}"):
        try:
            return catalog().current_name(name, dialect)
        except UnknownMessageError as error:
            unknown = error
    raise unknown


def _frame_size(data: memoryview, limit: int) -> int:
    """Size of the frame at the start of ``data``, its prefix included; FrameError without one."""
    wanted = _PREFIX_SIZE
    if len(data) >= _PREFIX_SIZE:
        wanted += check_frame_size(bytes(data[:_PREFIX_SIZE]), limit, 0)
    if len(data) < wanted:
        raise FrameError(
            f"the data ends {len(data)} bytes into a frame of {wanted}",
            expected="a whole frame",
        )
    return wanted


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Every value in a body that holds no other, with the name of its field, at any depth."""
    if isinstance(value, list):
        for item in value:
            yield from _leaves(item, name)
    elif isinstance(value, msgspec.Struct):
        for field in value.__struct_fields__:
            yield from _leaves(getattr(value, field), field)
    else:
        yield name, value


def _error_codes(body: Message | None) -> list[int]:
    """The distinct error codes in a body that are not 0."""
    found = {
        value
        for name, value in _leaves(body)
        if is_error_field(name) and isinstance(value, int) and value
    }
    return sorted(found)


def _has_odd_text(body: Message | None) -> bool:
    """Whether some text in the body was not UTF-8: it has surrogates in the place of bytes."""
    return any(
        isinstance(v, str) and not v.isascii() and readable(v) != v for _, v in _leaves(body)
    )
