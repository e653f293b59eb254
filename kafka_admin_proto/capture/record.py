"""Decoded frames as records (builtins for JSON), as hex, and as rows of fields; all are masked."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import msgspec

from kafka_admin_proto.capture.connection.sasl import shown_bytes
from kafka_admin_proto.capture.frames import PREFIX_BYTES, DecodedFrame
from kafka_admin_proto.capture.inline_records import inline_records
from kafka_admin_proto.codec import codec
from kafka_admin_proto.errors import DecodeError
from kafka_admin_proto.protocol import api_keys
from kafka_admin_proto.render import field_scan
from kafka_admin_proto.render.embedded import has_embedded, message_json
from kafka_admin_proto.render.fields import FieldRow, field_rows, masked_hex, secret_spans
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.wire.secrets import MASK, is_metadata_topic
from kafka_admin_proto.wire.types.blobs import replace_invalid_utf8


def frame_record(
    frame: DecodedFrame,
    *,
    mask: bool = True,
    raw: bool = False,
    body: bool = True,
    records: bool = False,
    json_body: bool = False,
) -> dict[str, Any]:
    """The record of a frame: builtins with stable keys, fit for JSON lines.

    The record has ``raw`` (all bytes in hex) if the caller asks for it, and always if the body
    could not be read to its end, so that no byte is lost. Secrets are masked there too.
    ``error_codes`` are names; an unknown code is its number as text. With ``body`` False, ``body``
    is null, and so is everything that is read from the body but the error codes; these are null
    where the body was not read (`DecodedFrame.is_unread`). ``records`` decodes the record batches
    in the body, see ``record_set_json``. Messages in other bytes are always decoded, see
    ``render/embedded.py``. With ``json_body`` the body is its JSON text, as a
    `msgspec.Raw`.
    """
    frame = frame.shown(mask=mask)
    record, topic_ids = record_and_topic_ids(
        frame, mask=mask, raw=raw, body=body, records=records, json_body=json_body
    )
    if topic_ids:
        record["topic_names"] = frame.names_of_topics(topic_ids) or None
    if json_body and record["body"] is not None:
        record["body"] = msgspec.Raw(record["body"])
    return record


def record_and_topic_ids(
    frame: DecodedFrame,
    *,
    mask: bool,
    raw: bool = False,
    body: bool = True,
    records: bool = False,
    json_body: bool = False,
) -> tuple[dict[str, Any], list[UUID] | None]:
    """The record of a frame without names of topics, and the distinct topic ids in its body.

    The frame is one that `DecodedFrame.shown` returned. With ``json_body`` the body is its JSON
    text as bytes. The topic ids are None if the body is not part of the record.
    """
    value: Any = None
    topic_ids: list[UUID] | None = None
    codes: list[int] = []
    if not body or frame.body is None or frame.codec is None:
        problem = frame.problem_of(has_invalid_utf8=False)
        codes = frame.error_codes()
    else:
        scanned = None
        if json_body and not records and not has_embedded(frame.codec.name):
            scanned = frame.codec.scanned_json_text(frame.body, mask=mask)
        if scanned is not None:
            value, codes, ids, has_invalid_utf8 = scanned
            codes, topic_ids = sorted(set(codes)), list(dict.fromkeys(ids))
            problem = frame.problem_of(has_invalid_utf8=has_invalid_utf8)
        else:
            value = message_json(frame.codec, frame.body, mask=mask)
            if records:
                inline_records(value, frame.body, frame.codec, frame.topic_names, mask=mask)
            codes, topic_ids = field_scan.error_codes_and_topic_ids(frame.codec, frame.body)
            problem = frame.problem
    if body and frame.logged is not None:
        value = _logged_body(frame, value, mask)
    if json_body and value is not None and type(value) is not bytes:
        value = msgspec.json.encode(value)
    lost = problem is not None or (body and frame.body is None)
    record = {
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
        "client_id": shown_text(frame.client_id),
        "principal": shown_text(frame.principal),
        "latency_us": frame.latency_us,
        "error_codes": None if frame.is_unread else frame.names_of_errors(codes),
        "body": value,
        "problem": problem,
        "raw": _hex(frame, mask) if raw or lost else None,
        "topic_names": None,
        "client_software": shown_text(frame.client_software),
        "forwarded": frame.forwarded,
        "line": frame.line or None,
    }
    return record, topic_ids


def json_value(frame: DecodedFrame, *, mask: bool) -> Any:
    """The ``body`` of a frame's record; the frame is one that `DecodedFrame.shown` returned."""
    value = None
    if frame.body is not None and frame.codec is not None:
        value = message_json(frame.codec, frame.body, mask=mask)
    return value if frame.logged is None else _logged_body(frame, value, mask)


def _logged_body(frame: DecodedFrame, value: Any, mask: bool) -> Any:
    """The body of a frame from a request log, where it differs from the ``value`` of its bytes."""
    assert frame.logged is not None
    if frame.logged.body is None:
        return value
    hidden = mask and frame.logged.may_be_secret and frame.error is not None
    return MASK if hidden else frame.logged.body


def frame_field_rows(frame: DecodedFrame, *, mask: bool = True) -> list[FieldRow]:
    """The fields of a frame with their bytes, in order: size, header, body, bytes left over."""
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
        body_rows, _ = field_rows(frame.codec, frame.data + _padding(frame), start, mask=mask)
        body_rows = [row for row in body_rows if row.end <= len(frame.data)]
        rows += body_rows
        start = body_rows[-1].end if body_rows else start
    if start < len(frame.data):
        secret = mask and _hidden_from(frame) is not None
        rest = MASK if secret else frame.data[start:].hex()
        rows.append(FieldRow("(left over)", start, len(frame.data), "", rest, secret))
    return rows


def _padding(frame: DecodedFrame) -> bytes:
    """Zeros for the bytes that are missing of a frame, as far as its fields can be read with them.

    Without them an array is refused whose items have no room in the bytes that are there.
    """
    if frame.header_offset != PREFIX_BYTES:
        return b""
    size = PREFIX_BYTES + int.from_bytes(frame.data[:PREFIX_BYTES], "big")
    return bytes(min(max(size - len(frame.data), 0), _MOST_PADDING))


def shown_text(text: str | None) -> str | None:
    """A text as records have it: in UTF-8."""
    return text if text is None or text.isascii() else replace_invalid_utf8(text)


def masked_bytes(frame: DecodedFrame, mechanism: str = "", *, from_client: bool = False) -> bytes:
    """All bytes of a frame, with ``*`` for each byte of a secret: its fields are read as before.

    The size in front stays, but for bytes that are no frame. A token of that SASL ``mechanism``
    keeps the name of the user.
    """
    frame = frame.shown()
    token = _sasl_token(frame)
    shown = shown_bytes(mechanism, token, from_client=from_client) if token else 0
    data = bytearray(frame.data)
    kept = 0 if frame.direction == "data" and not frame.is_token else PREFIX_BYTES
    for start, end in _secret_spans(frame, sizes=False):
        first = max(start, kept)
        if shown and frame.data[first:end] == token:
            first += shown
        data[first:end] = b"*" * (end - first)
    return bytes(data)


def _sasl_token(frame: DecodedFrame) -> bytes:
    """The token of a frame that is one, or that has one in a whole SaslAuthenticate; else none."""
    if frame.is_token:
        return frame.data[PREFIX_BYTES:]
    if frame.api_key != api_keys.SASL_AUTHENTICATE or frame.body is None or frame.error is not None:
        return b""
    return bytes(getattr(frame.body, "auth_bytes", b""))


def _hex(frame: DecodedFrame, mask: bool) -> str:
    if frame.logged is not None:
        return MASK if mask and frame.logged.may_be_secret else frame.data.hex()
    return masked_hex(frame.data, _secret_spans(frame)) if mask else frame.data.hex()


def _secret_spans(frame: DecodedFrame, *, sizes: bool = True) -> list[tuple[int, int]]:
    """The bytes of a frame that no output shows, as offsets."""
    spans = [(_header_tags_offset(frame), frame.body_offset)]
    if (hidden := _hidden_from(frame)) is not None:
        spans.append((hidden, len(frame.data)))
    elif frame.codec is not None and frame.codec.spec.has_secrets:
        spans += secret_spans(frame.codec, frame.data, frame.body_offset, sizes=sizes)
    return spans


def _hidden_from(frame: DecodedFrame) -> int | None:
    """The offset from which no byte is shown; None if the fields say which bytes are secret.

    A frame that did not decode to its end may have a wrong size, and so the bytes of other frames
    in it, a token among them. The bytes of an unknown api or version are all that a reader gets, so
    they are shown, unless a message of the api has credentials.
    """
    if frame.is_token or frame.may_be_token or frame.may_be_secret or _may_be_a_response(frame):
        return frame.header_offset
    if (
        frame.api_key == api_keys.FETCH
        and frame.direction != "request"
        and _may_have_metadata(frame)
    ):
        return frame.header_offset
    if frame.codec is not None:
        return None if _is_whole(frame) else frame.body_offset
    if frame.api_key is None or frame.header is None:
        return frame.header_offset
    names = [catalog().name_of(frame.api_key, type_) for type_ in ("request", "response")]
    if frame.api_key == api_keys.PRODUCE or any(
        catalog().spec(name).has_secrets for name in names if name
    ):
        return frame.header_offset
    return None


def _header_tags_offset(frame: DecodedFrame) -> int:
    if not getattr(frame.header, "unknown_tagged_fields", ()):
        return frame.body_offset
    assert frame.header is not None
    bare = msgspec.structs.replace(frame.header, unknown_tagged_fields=())
    return frame.header_offset + len(bare.encode(frame.header_version)) - 1


def _is_whole(frame: DecodedFrame) -> bool:
    """Whether the body decodes to its end. A body that was not decoded before is decoded here."""
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
    """Whether a frame of a dump may be a response that was read as a request of api key 0.

    The api key of a request is where a response has the two upper bytes of its correlation id, and
    these are 0 in a small one. Such a frame does not decode as a request.
    """
    failed = frame.error is not None and frame.direction == "request"
    return failed and frame.api_key == api_keys.PRODUCE and frame.connection is None


#: Zeros in the place of missing bytes: a hostile size must not make millions of fields of them.
_MOST_PADDING = 64 * 1024

RECORD_KEYS = tuple(frame_record(DecodedFrame(capture="", direction="data", data=b"")))
