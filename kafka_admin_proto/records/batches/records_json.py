"""Records as builtins for JSON: batches with the fields of their headers, and their records.

A key, value or header value is null or an object: ``{"text": …}`` if the bytes are printable UTF-8,
otherwise ``{"base64": …}``. In Kafka's own topics it is ``{"message": name, "version": …, "data":
…}`` with the fields in the shape of Kafka's JsonConverters. It is ``{"masked": "********", "size":
…}`` in a record of the metadata log that could not be read, since it may be a credential, and in a
record with secrets of the metadata log whose topic is not known.
"""

from __future__ import annotations

import base64
from typing import Any

from kafka_admin_proto.codec import codec
from kafka_admin_proto.errors import DecodeError
from kafka_admin_proto.records.batches.batches import Batch, Record
from kafka_admin_proto.records.batches.control import (
    CONTROL_TYPES,
    read_control_key,
    read_control_record,
)
from kafka_admin_proto.records.batches.model import RecordSet
from kafka_admin_proto.records.metadata.records import METADATA_TOPIC, read_metadata_value
from kafka_admin_proto.records.segments.known_topics import KNOWN_TOPICS, read_known_record
from kafka_admin_proto.render.embedded import message_json
from kafka_admin_proto.values import Message
from kafka_admin_proto.wire.secrets import MASK
from kafka_admin_proto.wire.types.blobs import replace_invalid_utf8

_BATCH_FIELDS = (
    "offset_in_data", "size", "magic", "base_offset", "last_offset", "partition_leader_epoch",
    "compression", "timestamp_type", "base_timestamp", "max_timestamp", "producer_id",
    "producer_epoch", "base_sequence", "is_transactional", "is_control", "has_delete_horizon",
)  # fmt: skip
_INVALID_UTF8 = "text that is not UTF-8 is shown with U+FFFD"


def record_set_json(
    record_set: RecordSet, *, topic: str | None = None, mask: bool = True
) -> dict[str, Any]:
    """A ``records`` field, or a piece of a log: ``batches``, ``partial_bytes``, ``problem``.

    ``topic`` makes the payload of Kafka's own topics readable. ``mask`` hides their secrets. It
    never raises for what the bytes say: whatever could not be read is a ``problem`` of the set, of
    a batch or of a record.
    """
    return {
        "batches": [batch_json(batch, topic=topic, mask=mask) for batch in record_set.batches],
        "partial_bytes": record_set.partial_bytes,
        "problem": None if record_set.error is None else str(record_set.error),
    }


def batch_json(batch: Batch, *, topic: str | None = None, mask: bool = True) -> dict[str, Any]:
    """A batch; timestamps are milliseconds since 1970, and -1 where there are none."""
    return {
        **{name: getattr(batch, name) for name in _BATCH_FIELDS},
        "records": [
            record_json(record, topic=topic, is_control=batch.is_control, mask=mask)
            for record in batch.records
        ],
        "problem": None if batch.error is None else str(batch.error),
    }


def record_json(
    record: Record, *, topic: str | None = None, is_control: bool = False, mask: bool = True
) -> dict[str, Any]:
    """A record. ``control``, the type's name or its number if unknown, is in control records."""
    result: dict[str, Any] = {"offset": record.offset, "timestamp": record.timestamp}
    if is_control:
        result |= _control(record, mask)
    elif topic in KNOWN_TOPICS:
        result |= _known(topic, record, mask)
    else:
        result |= {"key": _blob(record.key), "value": _blob(record.value), "problem": None}
    hidden = None
    if mask and (result["value"] is None or "message" not in result["value"]):
        hidden = why_hidden(record, topic)
    show = _blob if hidden is None else _masked
    if hidden is not None:
        result |= {"key": _masked(record.key), "value": _masked(record.value)}
    result["headers"] = [
        [replace_invalid_utf8(name), show(value)] for name, value in record.headers
    ]
    invalid = any(replace_invalid_utf8(name) != name for name, _ in record.headers)
    problems = (result["problem"], hidden, f"headers: {_INVALID_UTF8}" if invalid else None)
    result["problem"] = "; ".join(filter(None, problems)) or None
    return result


def why_hidden(record: Record, topic: str | None) -> str | None:
    """Why a record that was not read may be a credential, "" where that is plain; None if not."""
    if topic == METADATA_TOPIC:
        return ""
    if topic is not None or record.value is None:
        return None
    try:
        message, version = read_metadata_value(record.value)
    except DecodeError:
        return None
    known = codec(type(message), version)
    if known.to_json(message, mask=True) == known.to_json(message, mask=False):
        return None
    return (
        f"masked: it reads as {message.message_name} of {METADATA_TOPIC}, which has secrets; "
        "name the topic it is from (--topic)"
    )


def _masked(data: bytes | None) -> dict[str, Any] | None:
    return None if data is None else {"masked": MASK, "size": len(data)}


def _control(record: Record, mask: bool) -> dict[str, Any]:
    control: str | int | None = None
    value = _blob(record.value)
    problem = None
    try:
        found = read_control_key(record.key)
        control = found.name or found.type
        found = read_control_record(record.key, record.value)
    except DecodeError as error:
        problem = str(error)
    else:
        if found.message is not None:
            value = _message(found.message, found.version, mask)
        else:
            problem = (
                f"no control record has type {control}; the last known is {max(CONTROL_TYPES)}"
            )
    return {"control": control, "key": _blob(record.key), "value": value, "problem": problem}


def _known(topic: str, record: Record, mask: bool) -> dict[str, Any]:
    known = read_known_record(topic, record.key, record.value)
    problems = [known.problem] if known.problem else []
    key, value = _blob(record.key), _blob(record.value)
    if known.key is not None:
        key = _message(known.key, 0, mask)
    if known.value is not None:
        value = _message(known.value, known.value_version, mask)
    if any(_has_replacement(part["data"]) for part in (key, value) if part and "data" in part):
        problems.append(_INVALID_UTF8)
    return {"key": key, "value": value, "problem": "; ".join(problems) or None}


def _message(message: Message, version: int, mask: bool) -> dict[str, Any]:
    data = message_json(codec(type(message), version), message, mask=mask)
    return {"message": message.message_name, "version": version, "data": data}


def _blob(data: bytes | None) -> dict[str, Any] | None:
    if data is None:
        return None
    try:
        text = data.decode()
    except UnicodeDecodeError:
        pass
    else:
        if text.isprintable() or text.translate(_LINES).isprintable():
            return {"text": text}
    return {"base64": base64.b64encode(data).decode()}


#: Line ends and tabs are no reason for base64.
_LINES = str.maketrans("", "", "\n\r\t")


def _has_replacement(value: Any) -> bool:
    """Whether a text in the builtins has U+FFFD in it."""
    if isinstance(value, str):
        return "\ufffd" in value
    if isinstance(value, dict):
        return any(_has_replacement(each) for each in value.values())
    return isinstance(value, list) and any(map(_has_replacement, value))
