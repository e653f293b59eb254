"""A decoded frame → its record (builtins for JSON), its bytes in hex, its field rows; masked."""

from __future__ import annotations

from typing import Any

import msgspec

from kafka_admin_proto.capture.frames import INVALID_UTF8, PREFIX_BYTES, DecodedFrame
from kafka_admin_proto.capture.inline_records import inline_records
from kafka_admin_proto.codec import codec
from kafka_admin_proto.errors import DecodeError
from kafka_admin_proto.protocol.headers import PRODUCE_KEY
from kafka_admin_proto.render.fields import FieldRow, field_rows, masked_hex, secret_spans
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.wire.secrets import MASK, is_metadata_topic
from kafka_admin_proto.wire.types.blobs import replace_invalid_utf8

FETCH_KEY = 1


def frame_record(
    frame: DecodedFrame,
    *,
    mask: bool = True,
    raw: bool = False,
    body: bool = True,
    records: bool = False,
    json_body: bool = False,
    topic_names: bool = True,
) -> dict[str, Any]:
    """The record of a frame: builtins with stable keys, fit for JSON lines.

    ``raw`` (hex of all bytes) is given when asked for, and always when the body could not be read
    whole: nothing is lost. Secrets are masked there as well. ``error_codes`` are names; an unknown
    code is its number as text. ``body`` False leaves the body null and all that is read from it;
    ``records`` decodes the record batches in it, see ``records_json``. With ``json_body`` the body
    is its JSON text, as a `msgspec.Raw`: the same text, and no builtins are made on the way to it.
    ``topic_names`` False leaves the names of topic ids out.
    """
    frame = frame.shown(mask=mask)
    value: Any = None
    names: dict[str, str] | None = None
    codes: list[str] = []
    problem: str | None = None
    if not body:
        problem = None if frame.error is None else str(frame.error)
    elif frame.body is None or frame.codec is None:
        problem = frame.problem
    else:
        scanned = None
        if json_body and not records:
            scanned = frame.codec.scanned_json_text(frame.body, mask=mask)
        if scanned is not None:
            text, numbers, ids, invalid = scanned
            value = msgspec.Raw(text)
            if numbers:
                codes = frame.names_of_errors(sorted(set(numbers)))
            if ids and topic_names:
                names = frame.names_of_topics(list(dict.fromkeys(ids))) or None
            if frame.error is not None:
                problem = str(frame.error)
            elif invalid and frame.logged is None:
                problem = INVALID_UTF8
        else:
            value = frame.codec.to_json(frame.body, mask=mask)
            if records:
                inline_records(value, frame.body, frame.codec, frame.topic_names, mask=mask)
            codes = frame.error_names()
            names = (frame.known_topics() if topic_names else None) or None
            problem = frame.problem
    if body and frame.logged is not None and frame.logged.body is not None:
        hidden = mask and frame.logged.may_be_secret and frame.error is not None
        value = MASK if hidden else frame.logged.body
    if json_body and value is not None and type(value) is not msgspec.Raw:
        value = msgspec.Raw(msgspec.json.encode(value))
    lost = problem is not None or (body and frame.body is None)
    return {
        "capture": frame.capture,
        "connection": frame.connection,
        "direction": frame.direction,
        "ts": frame.ts,
        "client": frame.client,
        "server": frame.server,
        "stream_offset": frame.stream_offset,
        "size": frame.size if frame.logged is None else None,
        "api_key": frame.api_key,
        "api": frame.api,
        "api_version": frame.api_version,
        "correlation_id": frame.correlation_id,
        "client_id": _text(frame.client_id),
        "principal": _text(frame.principal),
        "latency_us": frame.latency_us,
        "error_codes": codes,
        "body": value,
        "problem": problem,
        "raw": _hex(frame, mask) if raw or lost else None,
        "topic_names": names,
        "client_software": _text(frame.client_software),
        "forwarded": frame.forwarded,
        "line": frame.line or None,
    }


def raw_hex(frame: DecodedFrame, *, mask: bool = True) -> str:
    """All bytes of a frame in hex, those of secrets as ``**``."""
    return _hex(frame.shown(mask=mask), mask)


def frame_field_rows(frame: DecodedFrame, *, mask: bool = True) -> list[FieldRow]:
    """Each field of a frame with its bytes, in order: size, header, body, and bytes left over."""
    frame = frame.shown(mask=mask)
    rows: list[FieldRow] = []
    start = 0
    if frame.header is not None:
        if frame.header_offset:
            size = int.from_bytes(frame.data[:PREFIX_BYTES], "big")
            rows.append(FieldRow("size", 0, PREFIX_BYTES, "INT32", size))
        header = codec(type(frame.header), frame.header_version)
        header_rows, _ = field_rows(
            header, frame.data, frame.header_offset, prefix="header.", mask=mask
        )
        rows += header_rows
        start = frame.body_offset
    doubtful = mask and (_may_be_a_response(frame) or frame.hides_fields)
    if frame.codec is not None and not doubtful:
        body_rows, _ = field_rows(frame.codec, frame.data, start, mask=mask)
        rows += body_rows
        start = body_rows[-1].end if body_rows else start
    if start < len(frame.data):
        secret = mask and _hidden_from(frame) is not None
        rest = MASK if secret else frame.data[start:].hex()
        rows.append(FieldRow("(left over)", start, len(frame.data), "", rest, secret))
    return rows


def _text(text: str | None) -> str | None:
    return text if text is None or text.isascii() else replace_invalid_utf8(text)


def _hex(frame: DecodedFrame, mask: bool) -> str:
    if frame.logged is not None:
        return MASK if mask and frame.logged.may_be_secret else frame.data.hex()
    if not mask:
        return frame.data.hex()
    spans = [(_header_tags_offset(frame), frame.body_offset)]
    if (hidden := _hidden_from(frame)) is not None:
        spans.append((hidden, len(frame.data)))
    elif frame.codec is not None and frame.codec.spec.has_secrets:
        spans += secret_spans(frame.codec, frame.data, frame.body_offset)
    return masked_hex(frame.data, spans)


def _hidden_from(frame: DecodedFrame) -> int | None:
    """The offset from which no byte is shown; None if the fields say what is secret.

    A frame that did not decode whole may have swallowed others by a wrong size, a token among
    them. Of an unknown api or version nothing is hidden, as its bytes are all there is, unless
    the api has messages with credentials.
    """
    if frame.is_token or frame.may_be_token or frame.may_be_secret or _may_be_a_response(frame):
        return frame.header_offset
    if frame.api_key == FETCH_KEY and frame.direction != "request" and _may_have_metadata(frame):
        return frame.header_offset
    if frame.codec is not None:
        return None if _is_whole(frame) else frame.body_offset
    if frame.api_key is None or frame.header is None:
        return frame.header_offset
    names = [catalog().name_of(frame.api_key, type_) for type_ in ("request", "response")]
    if frame.api_key == PRODUCE_KEY or any(
        catalog().spec(name).has_secrets for name in names if name
    ):
        return frame.header_offset
    return None


def _header_tags_offset(frame: DecodedFrame) -> int:
    """Where unknown tags of the header begin; where the body begins if there are none."""
    if not getattr(frame.header, "unknown_tagged_fields", ()):
        return frame.body_offset
    assert frame.header is not None
    bare = msgspec.structs.replace(frame.header, unknown_tagged_fields=())
    return frame.header_offset + len(bare.encode(frame.header_version)) - 1


def _is_whole(frame: DecodedFrame) -> bool:
    """Whether the body decodes to its end; a body that was not read is decoded to find out."""
    if frame.body is not None or frame.error is not None or frame.codec is None:
        return frame.error is None
    try:
        frame.codec.decode_at(frame.data, frame.body_offset)
    except DecodeError:
        return False
    return True


def _may_have_metadata(frame: DecodedFrame) -> bool:
    """Whether a Fetch response has, or may have, records of the metadata topic."""
    return frame.body is None or any(map(is_metadata_topic, getattr(frame.body, "responses", ())))


def _may_be_a_response(frame: DecodedFrame) -> bool:
    """Whether a frame was read as a request of api key 0 and does not decode.

    It may be a response: the two upper bytes of a small correlation id are 0.
    """
    failed = frame.error is not None and frame.direction == "request"
    return failed and frame.api_key == PRODUCE_KEY and frame.connection is None


#: The keys of a record, in order.
RECORD_KEYS = tuple(frame_record(DecodedFrame(capture="", direction="data", data=b"")))
