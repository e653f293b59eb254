"""`DecodedFrame`: one frame with all that decoding found out about it. It is never changed.

`frame_of_payload` makes the frame of a request or response with a header, `frame_of_bytes` that of
bytes without one. `record.py` turns a frame into builtins and into rows of fields.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal
from uuid import UUID

import msgspec

from kafka_admin_proto.codec import Codec
from kafka_admin_proto.errors import (
    DecodeError,
    KafkaAdminProtoError,
    TrailingBytesError,
    UnknownMessageError,
)
from kafka_admin_proto.protocol import api_keys
from kafka_admin_proto.protocol.error_codes import error_name
from kafka_admin_proto.protocol.payload_values import Request, Response
from kafka_admin_proto.render import field_scan
from kafka_admin_proto.topic_ids import topic_id_to_text
from kafka_admin_proto.values import Message
from kafka_admin_proto.wire.types.blobs import replace_invalid_utf8

Direction = Literal["request", "response", "data"]
#: Bytes of the size in front of a frame.
PREFIX_BYTES = 4
#: The first request header whose client id clients send once in a connection (KIP-1313).
CLIENT_ID_ONCE = 3
#: Added to the problem of a payload from a dump that was read as a request and did not decode: it
#: may be a response whose request was not captured, or have no header.
RESPONSE_HINT = (
    "; if this is a response whose request was not captured, say --response with --api and "
    "--version; if it is a body without a header, --unit body with them"
)
#: The same for bytes that are no frame, and too few for a header or none at all.
BODY_HINT = "; if this is a body without a header, say --unit body with --api and --version"
#: The problem of a frame that has decoded and has a text that is not UTF-8.
INVALID_UTF8 = "text that is not UTF-8 is shown with U+FFFD; raw has the bytes"
_MAY_BE_TOKEN = (
    "this does not decode as a request of a known api and version, or as the response to one, and "
    "may be a SASL token: nothing of it is shown"
)
_MAY_BE_CUT_TOKEN = (
    "the capture's snap length cut off packets of this connection, so that this may be a part of a "
    "SASL token: nothing of it is shown; capture packets whole"
)
#: The topic names of a frame where no topic id has a known name.
NO_NAMES: Mapping[UUID, str] = {}


class LoggedBody(msgspec.Struct, frozen=True):
    """The body of a frame from a request log, which has JSON instead of bytes.

    ``body`` is the JSON where it differs from the decoded value: the log has sizes in the place of
    records, or the JSON could not be read as a body. ``may_be_secret``: the request or the response
    may hold a credential.
    """

    body: Any = None
    may_be_secret: bool = False


class DecodedFrame(msgspec.Struct, frozen=True):
    """One frame, payload or bare body, decoded as far as possible.

    ``data`` has all bytes of the frame, the size prefix included; offsets in ``problem`` and in
    field rows count from its start. ``direction`` is "data" for bytes that are no frame, and for
    bytes of an unknown sender. ``codec`` is None for an unknown api or version.

    A frame of a capture has a ``connection``: ``client-server``, with ``#2`` behind it for the
    second connection between these two. ``stream_offset`` counts the bytes of its direction.
    ``ts`` is the time of the packet with its last bytes, in microseconds since 1970. A response has
    the ``client_id`` of its request, the time since the request as ``latency_us``, and, if
    `DecodeOptions.keep_requests` has the api, the frame of the request as ``request``.
    ``principal`` is the client's name at that time (``User:alice``), as SASL gave it.
    ``topic_names`` are the names that earlier frames of the capture gave to topic ids.
    ``client_software`` is the name and version that the client sent in ApiVersions (KIP-511). A
    ``forwarded`` frame was inside the Envelope before it (KIP-590), and has the Envelope's bytes.
    ``cut_off``: the capture's snap length had cut off packets of the connection by then.
    ``skipped`` counts bytes that were not kept.

    A frame of a dump has the ``line`` where its block starts, and its ``stream_offset`` counts from
    the start of the block. A frame of a request log has ``logged`` instead of bytes, and ``data``
    is the line of the log.

    Three fields say what may be a credential. ``is_token``: the frame is a SASL token without a
    header (after SaslHandshake v0), and all of it is masked. ``may_be_token``: the bytes were read
    as a frame and may be a token; ``shown`` removes all of them. ``may_be_secret``: the header is a
    header, and no byte behind it is shown.
    """

    capture: str
    direction: Direction
    data: bytes
    line: int = 0
    connection: str | None = None
    stream_offset: int = 0
    ts: int | None = None
    client: str | None = None
    server: str | None = None
    header_offset: int = 0
    header_version: int = 0
    body_offset: int = 0
    api: str | None = None
    api_key: int | None = None
    api_version: int | None = None
    correlation_id: int | None = None
    client_id: str | None = None
    principal: str | None = None
    latency_us: int | None = None
    forwarded: bool = False
    header: Message | None = None
    codec: Codec[Any] | None = None
    body: Message | None = None
    error: KafkaAdminProtoError | None = None
    may_be_token: bool = False
    may_be_secret: bool = False
    topic_names: Mapping[UUID, str] = NO_NAMES
    client_software: str | None = None
    request: DecodedFrame | None = None
    cut_off: bool = False
    skipped: int = 0
    is_token: bool = False
    logged: LoggedBody | None = None

    def __repr__(self) -> str:
        # Raw bytes stay out: they may hold what the body's own repr masks.
        shown = self.shown()
        return (
            f"DecodedFrame(direction={shown.direction!r}, api={shown.api or shown.api_key}, "
            f"api_version={shown.api_version}, size={shown.size}, body={shown.body!r}, "
            f"problem={shown.problem!r})"
        )

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        names = ("direction", "api", "api_version", "body", "problem")
        found = self.shown()
        return [(name, getattr(found, name)) for name in names]

    def shown(self, *, mask: bool = True) -> DecodedFrame:
        """The frame as outputs may show it: itself, or a copy without possible credentials.

        Every output calls this first. With ``mask``, a frame that may be a token keeps only its
        place, its size and its connection. A body that did not decode to its end is removed if its
        message has credentials, because a wrong length may have moved one into any field. Configs
        that are secret by their names do not count as credentials here.
        """
        if mask and self.may_be_token:
            error = self.error
            if self.direction != "data":
                # The text of the error may quote bytes.
                hint = RESPONSE_HINT if self.connection is None else ""
                reason = _MAY_BE_CUT_TOKEN if self.cut_off else _MAY_BE_TOKEN
                error = DecodeError(f"{reason}{hint}")
            return msgspec.structs.replace(
                self, header_offset=0, header_version=0, body_offset=0, api=None, api_key=None,
                api_version=None, correlation_id=None, client_id=None, latency_us=None,
                header=None, codec=None, body=None, error=error, may_be_token=False,
                may_be_secret=True,
            )  # fmt: skip
        if mask and self.error is not None and self.body is not None and self.hides_fields:
            return msgspec.structs.replace(self, body=None)
        return self

    @property
    def hides_fields(self) -> bool:
        """Whether a credential may have been read into other fields of the body."""
        if self.error is None or self.logged is not None:
            return False
        return self.may_be_secret or (self.codec is not None and self.codec.spec.has_credentials)

    @property
    def size(self) -> int:
        """The number of bytes that were captured of the frame; 0 in a request log."""
        return 0 if self.logged is not None else len(self.data) + self.skipped

    @property
    def problem(self) -> str | None:
        """What could not be decoded, or not shown as it is, as a sentence."""
        has_invalid_utf8 = (
            self.error is None
            and self.logged is None
            and self.codec is not None
            and self.body is not None
            and not self.data.isascii()
            and field_scan.has_invalid_utf8(self.codec, self.body)
        )
        return self.problem_of(has_invalid_utf8=has_invalid_utf8)

    def problem_of(self, *, has_invalid_utf8: bool) -> str | None:
        """The same, where a scan has found whether the body has text that is not UTF-8."""
        if self.error is not None:
            return str(self.error)
        return INVALID_UTF8 if has_invalid_utf8 and self.logged is None else None

    @property
    def dialect(self) -> str:
        """The dialect that defines the body."""
        return "kafka" if self.codec is None else self.codec.spec.dialect

    @property
    def is_unread(self) -> bool:
        """Whether the body could be read and nobody asked for it: its errors are not known."""
        return self.body is None and self.error is None and self.codec is not None

    def error_codes(self) -> list[int]:
        """The distinct error codes in the body that are not 0."""
        if self.codec is None or self.body is None:
            return []
        return field_scan.error_codes(self.codec, self.body)

    def error_names(self) -> list[str]:
        """The names of ``error_codes``; an unknown code is its number."""
        return self.names_of_errors(self.error_codes())

    def names_of_errors(self, codes: Sequence[int]) -> list[str]:
        """The names of error codes in the frame's dialect; an unknown code is its number."""
        if not codes:
            return []
        dialect = self.dialect
        return [error_name(each, dialect=dialect) or str(each) for each in codes]

    def known_topics(self) -> dict[str, str]:
        """The topic ids in the body, as text, and the names that earlier frames gave to them."""
        if self.topic_names is NO_NAMES or self.codec is None or self.body is None:
            return {}
        return self.names_of_topics(field_scan.topic_ids(self.codec, self.body))

    def names_of_topics(self, topic_ids: Sequence[UUID]) -> dict[str, str]:
        """Topic ids, as text, with the names that earlier frames of the capture gave to them.

        An id without a name is left out.
        """
        names: dict[str, str] = {}
        for topic_id in topic_ids:
            name = self.topic_names.get(topic_id)
            if name is not None:
                names[topic_id_to_text(topic_id)] = replace_invalid_utf8(name)
        return names


def forgive_padding(request: Request) -> None:
    """Drop the problem of an ApiVersions v0 that four zero bytes follow.

    librdkafka 0.9.1 to 0.11 sends them, and brokers pass over what is left.
    """
    error = request.error
    if (
        isinstance(error, TrailingBytesError)
        and (request.api_key, request.api_version) == (api_keys.API_VERSIONS, 0)
        and error.rest == bytes(4)
    ):
        request.error = None


def codec_of(payload: Request | Response) -> Codec[Any] | None:
    """The codec of a payload's body; None without a header, or for an unknown api or version."""
    if payload.header is None:
        return None
    try:
        return payload.codec
    except UnknownMessageError:
        return None


class FrameOrigin(msgspec.Struct, frozen=True):
    """The fields of a decoded frame that do not come from its bytes."""

    capture: str
    connection: str | None = None
    stream_offset: int = 0
    ts: int | None = None
    client: str | None = None
    server: str | None = None
    principal: str | None = None
    client_software: str | None = None
    topic_names: Mapping[UUID, str] = NO_NAMES
    forwarded: bool = False
    line: int = 0
    cut_off: bool = False


def frame_of_payload(
    payload: Request | Response,
    data: bytes,
    header_offset: int,
    codec: Codec[Any] | None,
    origin: FrameOrigin,
    *,
    client_id: str | None = None,
    latency_us: int | None = None,
    request: DecodedFrame | None = None,
    may_be_token: bool = False,
    may_be_secret: bool = False,
    error: KafkaAdminProtoError | None = None,
) -> DecodedFrame:
    """The frame of a payload that was read from ``header_offset`` on; ``codec`` is its `codec_of`.

    A request has the client id of its header, a response gets ``client_id``, and so does a request
    with a header of KIP-1313 that leaves it out. ``error`` replaces the error of the payload.
    Nearly all frames of a capture are made here. The fields are therefore passed by position: to
    pass them by name takes four times as long.
    """
    header = payload.header
    api_key = api_version = correlation_id = None
    if header is not None:
        correlation_id = header.correlation_id
    if type(payload) is Request:
        own = None if payload.header is None else payload.header.client_id
        if own is not None or header is None or payload.header_version < CLIENT_ID_ONCE:
            client_id = own
    if header is not None or len(data) - header_offset >= PREFIX_BYTES:
        api_key, api_version = payload.api_key, payload.api_version
    return DecodedFrame(
        origin.capture,
        "request" if type(payload) is Request else "response",
        data,
        origin.line,
        origin.connection,
        origin.stream_offset,
        origin.ts,
        origin.client,
        origin.server,
        header_offset,
        payload.header_version,
        payload.body_offset,
        payload.api,
        api_key,
        api_version,
        correlation_id,
        client_id,
        origin.principal,
        latency_us,
        origin.forwarded,
        header,
        codec,
        payload.body,
        payload.error if error is None else error,
        may_be_token,
        may_be_secret,
        origin.topic_names,
        origin.client_software,
        request,
        origin.cut_off,
    )


def frame_of_bytes(
    direction: Direction, data: bytes, origin: FrameOrigin, **known: Any
) -> DecodedFrame:
    """The frame of bytes that have no header, or none that decodes; ``known`` are more fields."""
    return DecodedFrame(direction=direction, data=data, **msgspec.structs.asdict(origin), **known)


def fault_frame(capture: str, error: KafkaAdminProtoError, *, line: int = 0) -> DecodedFrame:
    """A frame without bytes whose error says what is wrong with an input."""
    return DecodedFrame(
        capture=replace_invalid_utf8(capture), line=line, direction="data", data=b"", error=error
    )
