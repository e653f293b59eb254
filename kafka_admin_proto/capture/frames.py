"""The frame record: what is known of one frame, as a value, as builtins and as field rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal
from uuid import UUID

import msgspec

from kafka_admin_proto.capture.connection.pairing import RESPONSE_HINT
from kafka_admin_proto.capture.inline_records import inline_records
from kafka_admin_proto.codec import Codec, codec
from kafka_admin_proto.errors import DecodeError, KafkaAdminProtoError, UnknownMessageError
from kafka_admin_proto.protocol.error_codes import error_name
from kafka_admin_proto.protocol.headers import PRODUCE_KEY
from kafka_admin_proto.protocol.payloads import Request, Response
from kafka_admin_proto.render import field_scan
from kafka_admin_proto.render.fields import (
    FieldRow,
    field_rows,
    masked_hex,
    secret_spans,
)
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.topic_ids import topic_id_to_text
from kafka_admin_proto.values import Message
from kafka_admin_proto.wire.blobs import replace_invalid_utf8
from kafka_admin_proto.wire.secrets import MASK, is_metadata_topic

Direction = Literal["request", "response", "data"]
PREFIX_BYTES = 4
FETCH_KEY = 1
_MAY_BE_TOKEN = (
    "this does not decode as a request of a known api and version, or as the response to one, and "
    "may be a SASL token: nothing of it is shown"
)
#: No topic id has a known name.
NO_NAMES: Mapping[UUID, str] = {}


class LoggedBody(msgspec.Struct):
    """What a request log has instead of bytes.

    ``body`` is there where the log says more or less than the value: sizes in the place of
    records, or what does not read. ``may_be_secret``: request or response may hold a credential.
    """

    body: Any = None
    may_be_secret: bool = False


class DecodedFrame(msgspec.Struct, kw_only=True):
    """One frame, payload or bare body, as far as it could be understood.

    ``data`` are all its bytes, the size prefix of a frame included; offsets in ``problem`` and in
    field rows count from its start. ``direction`` "data" is for bytes that are no frame, or that
    nobody can tell the side of.

    From a capture: ``connection`` is ``client-server``, with ``#2`` behind it for the second one
    between the same two; ``stream_offset`` counts the bytes of its direction; ``ts`` is when the
    last of its bytes were captured, in microseconds since 1970; a response has the ``client_id`` of
    its request, and as ``latency_us`` the time since that one; ``principal`` is who SASL said the
    client is (``User:alice``) at that time. ``forwarded`` frames stood inside the Envelope before
    them (KIP-590), whose bytes they share. ``skipped`` bytes were counted and not kept.

    From a dump: ``line`` is where its block starts, ``stream_offset`` counts from there.

    ``codec`` is None for an unknown api or version. ``is_token``: a SASL token without a header
    (after SaslHandshake v0), masked whole. ``may_be_token``: bytes that were read as a frame and
    may be a token; ``shown`` leaves nothing of them. ``may_be_secret``: the header is one, and no
    byte behind it is shown. ``topic_names`` are those that the capture named before,
    ``client_software`` the name and version that the client gave in ApiVersions (KIP-511).

    From a request log: ``logged`` is what stands in the place of bytes; ``data`` is the line.
    """

    capture: str
    line: int = 0
    connection: str | None = None
    stream_offset: int
    direction: Direction
    ts: int | None = None
    client: str | None = None
    server: str | None = None
    data: bytes
    skipped: int = 0
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
    is_token: bool = False
    may_be_token: bool = False
    may_be_secret: bool = False
    topic_names: Mapping[UUID, str] = NO_NAMES
    client_software: str | None = None
    logged: LoggedBody | None = None

    def __repr__(self) -> str:
        # Raw bytes stay out: they may hold what the body's own repr masks.
        found = self.shown()
        return (
            f"DecodedFrame(direction={found.direction!r}, api={found.api or found.api_key}, "
            f"api_version={found.api_version}, size={found.size}, body={found.body!r}, "
            f"problem={found.problem!r})"
        )

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        names = ("direction", "api", "api_version", "body", "problem")
        found = self.shown()
        return [(name, getattr(found, name)) for name in names]

    def shown(self, *, mask: bool = True) -> DecodedFrame:
        """The frame as outputs may show it: itself, or a copy without what may be a credential.

        Every output asks for it first. With ``mask`` a frame that may be a token keeps its place,
        its size and its connection alone. A body that did not decode whole is left out where a
        wrong length may have put a credential into any of its fields; configs that are secrets by
        their names are not reason enough.
        """
        if mask and self.may_be_token:
            error = self.error
            if self.direction != "data":
                # The reason itself may quote bytes.
                hint = RESPONSE_HINT if self.connection is None else ""
                error = DecodeError(f"{_MAY_BE_TOKEN}{hint}")
            return msgspec.structs.replace(
                self, header_offset=0, header_version=0, body_offset=0, api=None, api_key=None,
                api_version=None, correlation_id=None, client_id=None, latency_us=None,
                header=None, codec=None, body=None, error=error, may_be_token=False,
                may_be_secret=True,
            )  # fmt: skip
        if mask and self.body is not None and self._hides_fields:
            return msgspec.structs.replace(self, body=None)
        return self

    @property
    def _hides_fields(self) -> bool:
        """Whether fields of the body may hold parts of a credential that was read amiss."""
        if self.error is None or self.logged is not None:
            return False
        return self.may_be_secret or (self.codec is not None and self.codec.spec.has_credentials)

    @property
    def size(self) -> int:
        """How many bytes the frame is, or how much of it was captured; 0 in a request log."""
        return 0 if self.logged is not None else len(self.data) + self.skipped

    @property
    def problem(self) -> str | None:
        """What could not be read, or not shown as it is, as a sentence."""
        if self.error is not None:
            return str(self.error)
        if self.codec is None or self.body is None or self.logged or self.data.isascii():
            return None
        if field_scan.has_invalid_utf8(self.codec, self.body):
            return "text that is not UTF-8 is shown with U+FFFD; raw has the bytes"
        return None

    @property
    def dialect(self) -> str:
        """Where the definition of the body is."""
        return "kafka" if self.codec is None else self.codec.spec.dialect

    def error_codes(self) -> list[int]:
        """The distinct error codes in the body that are not 0."""
        if self.codec is None or self.body is None:
            return []
        return field_scan.error_codes(self.codec, self.body)

    def error_names(self) -> list[str]:
        """The names of those codes; an unknown one is its number."""
        return [error_name(each, dialect=self.dialect) or str(each) for each in self.error_codes()]

    def known_topics(self) -> dict[str, str]:
        """The topic ids in the body that an earlier frame of the capture named."""
        if self.topic_names is NO_NAMES or self.codec is None or self.body is None:
            return {}
        names = self.topic_names
        found = field_scan.topic_ids(self.codec, self.body)
        return {
            topic_id_to_text(each): replace_invalid_utf8(names[each])
            for each in found
            if each in names
        }

    def record(
        self, *, mask: bool = True, raw: bool = False, body: bool = True, records: bool = False
    ) -> dict[str, Any]:
        """The frame record: builtins with stable keys, fit for JSON lines.

        ``raw`` (hex of all bytes) is given when asked for, and always when the body could not be
        read whole: nothing is lost. Secrets are masked there as well. ``error_codes`` are names;
        an unknown code is its number as text. ``body`` False leaves the body null
        and all that is read from it; ``records`` decodes the record batches in it, see
        ``records_json``.
        """
        frame = self.shown(mask=mask)
        if frame is not self:
            return frame.record(mask=mask, raw=raw, body=body, records=records)
        shown: Any = None
        names = None
        codes: list[str] = []
        problem = self.problem
        if body and self.body is not None and self.codec is not None:
            shown = self.codec.to_json(self.body, mask=mask)
            if records:
                inline_records(shown, self.body, self.codec, self.topic_names, mask=mask)
            codes = self.error_names()
            names = self.known_topics() or None
        elif not body and self.error is None:
            problem = None
        if body and self.logged is not None and self.logged.body is not None:
            hidden = mask and self.logged.may_be_secret and self.error is not None
            shown = MASK if hidden else self.logged.body
        software = self.client_software
        lost = problem is not None or (body and self.body is None)
        return {
            "capture": self.capture,
            "connection": self.connection,
            "direction": self.direction,
            "ts": self.ts,
            "client": self.client,
            "server": self.server,
            "stream_offset": self.stream_offset,
            "size": self.size if self.logged is None else None,
            "api_key": self.api_key,
            "api": self.api,
            "api_version": self.api_version,
            "correlation_id": self.correlation_id,
            "client_id": None if self.client_id is None else replace_invalid_utf8(self.client_id),
            "principal": None if self.principal is None else replace_invalid_utf8(self.principal),
            "latency_us": self.latency_us,
            "error_codes": codes,
            "body": shown,
            "problem": problem,
            "raw": self.raw_hex(mask=mask) if raw or lost else None,
            "topic_names": names,
            "client_software": None if software is None else replace_invalid_utf8(software),
            "forwarded": self.forwarded,
            "line": self.line or None,
        }

    def raw_hex(self, *, mask: bool = True) -> str:
        """All bytes in hex, those of secrets as ``**``."""
        if self.logged is not None:
            return MASK if mask and self.logged.may_be_secret else self.data.hex()
        if not mask:
            return self.data.hex()
        spans = [(self._tags_offset(), self.body_offset)]
        if (hidden := self._hidden_from()) is not None:
            spans.append((hidden, len(self.data)))
        elif self.codec is not None and self.codec.spec.has_secrets:
            spans += secret_spans(self.codec, self.data, self.body_offset)
        return masked_hex(self.data, spans)

    def field_rows(self, *, mask: bool = True) -> list[FieldRow]:
        """Each field with its bytes, in order: size, header, body, and whatever is left over."""
        frame = self.shown(mask=mask)
        if frame is not self:
            return frame.field_rows(mask=mask)
        rows: list[FieldRow] = []
        start = 0
        if self.header is not None:
            if self.header_offset:
                size = int.from_bytes(self.data[:PREFIX_BYTES], "big")
                rows.append(FieldRow("size", 0, PREFIX_BYTES, "INT32", size))
            header = codec(type(self.header), self.header_version)
            header_rows, _ = field_rows(
                header, self.data, self.header_offset, prefix="header.", mask=mask
            )
            rows += header_rows
            start = self.body_offset
        doubtful = mask and (self._may_be_a_response() or self._hides_fields)
        if self.codec is not None and not doubtful:
            body_rows, _ = field_rows(self.codec, self.data, start, mask=mask)
            rows += body_rows
            start = body_rows[-1].end if body_rows else start
        if start < len(self.data):
            secret = mask and self._hidden_from() is not None
            rest = MASK if secret else self.data[start:].hex()
            rows.append(FieldRow("(left over)", start, len(self.data), "", rest, secret))
        return rows

    def _hidden_from(self) -> int | None:
        """Where the bytes begin of which nothing is shown; None if the fields say what is secret.

        A frame that did not decode whole may have swallowed others by a wrong size, a token among
        them. Of an unknown api or version nothing is hidden, as its bytes are all there is, unless
        the api has messages with credentials.
        """
        if self.is_token or self.may_be_token or self.may_be_secret or self._may_be_a_response():
            return self.header_offset
        if self.api_key == FETCH_KEY and self.direction != "request" and self._is_metadata():
            return self.header_offset
        if self.codec is not None:
            return None if self._is_whole() else self.body_offset
        if self.api_key is None or self.header is None:
            return self.header_offset
        names = [catalog().name_of(self.api_key, type_) for type_ in ("request", "response")]
        if self.api_key == PRODUCE_KEY or any(
            catalog().spec(name).has_secrets for name in names if name
        ):
            return self.header_offset
        return None

    def _tags_offset(self) -> int:
        """Where unknown tags of the header begin; where the body does if there are none."""
        if not getattr(self.header, "unknown_tagged_fields", ()):
            return self.body_offset
        assert self.header is not None
        bare = msgspec.structs.replace(self.header, unknown_tagged_fields=())
        return self.header_offset + len(bare.encode(self.header_version)) - 1

    def _is_whole(self) -> bool:
        """Whether the body decodes to its end; it is tried where nobody has read it."""
        if self.body is not None or self.error is not None or self.codec is None:
            return self.error is None
        try:
            self.codec.decode_at(self.data, self.body_offset)
        except DecodeError:
            return False
        return True

    def _is_metadata(self) -> bool:
        """Whether a Fetch response has, or may have, records of the metadata topic."""
        return self.body is None or any(map(is_metadata_topic, getattr(self.body, "responses", ())))

    def _may_be_a_response(self) -> bool:
        """A request of api key 0 that does not decode: the start of a small correlation id?"""
        failed = self.error is not None and self.direction == "request"
        return failed and self.api_key == PRODUCE_KEY and self.connection is None


#: The keys of a frame record, in order.
RECORD_KEYS = tuple(
    DecodedFrame(capture="", stream_offset=0, direction="data", data=b"").record(raw=True)
)


def frame_of_payload(read: Request | Response, data: bytes, header_offset: int) -> DecodedFrame:
    """The frame of a payload that was read from ``header_offset`` on."""
    frame = DecodedFrame(
        capture="",
        stream_offset=0,
        direction="request" if type(read) is Request else "response",
        data=data,
        header_offset=header_offset,
        header_version=read.header_version,
        body_offset=read.body_offset,
        api=read.api,
        header=read.header,
        body=read.body,
        error=read.error,
    )
    if read.header is None and len(data) - header_offset < PREFIX_BYTES:
        return frame
    frame.api_key, frame.api_version = read.api_key, read.api_version
    if read.header is None:
        return frame
    frame.correlation_id = read.header.correlation_id
    if isinstance(read, Request) and read.header is not None:
        frame.client_id = read.header.client_id
    try:  # contextlib.suppress would take as long as all of the above
        frame.codec = read.codec
    except UnknownMessageError:
        frame.codec = None
    return frame
