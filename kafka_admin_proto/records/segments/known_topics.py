"""Decode the records of Kafka's own topics into messages.

``__consumer_offsets``, ``__transaction_state`` and ``__share_group_state``: the key is an int16,
the type of the record, and a message; the value an int16, its version, and a message, or null
where the key is no more (a tombstone). ``CoordinatorRecordSerde`` in Kafka. The two topics of
``metadata_records`` have values alone.
"""

from __future__ import annotations

from functools import cache

import msgspec

from kafka_admin_proto.arguments import check_kind
from kafka_admin_proto.codec import codec
from kafka_admin_proto.errors import DecodeError, EncodeError, TrailingBytesError
from kafka_admin_proto.records.metadata.records import (
    METADATA_TOPIC,
    REMOTE_LOG_METADATA_TOPIC,
    read_metadata_value,
)
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.values import Message

CONSUMER_OFFSETS = "__consumer_offsets"
TRANSACTION_STATE = "__transaction_state"
SHARE_GROUP_STATE = "__share_group_state"

_METADATA_TOPICS = (METADATA_TOPIC, REMOTE_LOG_METADATA_TOPIC)
KNOWN_TOPICS = (CONSUMER_OFFSETS, TRANSACTION_STATE, SHARE_GROUP_STATE, *_METADATA_TOPICS)

#: Each topic numbers its types from 0; the prefix of a message's name identifies its topic.
_ELSEWHERE = {
    "TransactionLogKey": TRANSACTION_STATE,
    "ShareSnapshotKey": SHARE_GROUP_STATE,
    "ShareUpdateKey": SHARE_GROUP_STATE,
}


class KnownRecord(msgspec.Struct):
    """The decoded parts of a record of a known topic.

    ``type`` is the type of the record, None if the key is too short to have one. A tombstone has
    neither value nor problem. ``problem`` says why a key or value was not decoded, or that bytes
    are left behind it.
    """

    type: int | None = None
    key: Message | None = None
    value: Message | None = None
    value_version: int = 0
    problem: str | None = None


def read_known_record(topic: str, key: bytes | None, value: bytes | None) -> KnownRecord:
    """Decode a record of one of KNOWN_TOPICS; damaged bytes become a ``problem``, not an error."""
    if topic in _METADATA_TOPICS:
        return _read_metadata(topic, value)
    record = KnownRecord()
    problems: list[str] = []
    types = _types(topic)
    if key is None or len(key) < 2:
        record.problem = f"key is {'null' if key is None else 'cut short'}; expected its type"
        return record
    record.type = int.from_bytes(key[:2], "big", signed=True)
    name = types.get(record.type)
    if name is None:
        record.problem = f"no record of {topic} has type {record.type}"
        return record
    record.key = _decode(name, 0, key, "key", problems)
    if value is not None:
        name = f"{name.removesuffix('Key')}Value"
        record.value, record.value_version = _read_value(name, value, problems)
    record.problem = "; ".join(problems) or None
    return record


def write_known_record(
    key: Message, value: Message | None, version: int = 0
) -> tuple[bytes, bytes | None]:
    """Key and value of a record, the value at ``version`` or null for a tombstone.

    Raises EncodeError for a message that is not a key, or a value that does not belong to the key.
    """
    check_kind(key, Message, "write_known_record: key")
    if value is not None:
        check_kind(value, Message, "write_known_record: value")
    name = key.message_name
    encoded = _type_of_key(type(key)) + codec(name, 0).encode(key)
    if value is None:
        return encoded, None
    if value.message_name != f"{name.removesuffix('Key')}Value":
        raise EncodeError(
            f"its value cannot be {value.message_name}", message=name, value=value.message_name
        )
    return encoded, version.to_bytes(2, "big") + codec(value.message_name, version).encode(value)


@cache
def _type_of_key(key: type[Message]) -> bytes:
    """The type that stands in front of a key. Raises EncodeError for another message."""
    name = key.message_name
    if key.api_key is None or catalog().entry(name).type != "coordinator-key":
        raise EncodeError("it is no key of a record", message=name, value=name)
    return key.api_key.to_bytes(2, "big")


def _read_metadata(topic: str, value: bytes | None) -> KnownRecord:
    record = KnownRecord()
    if value is None:
        record.problem = "value is null; expected a metadata record"
        return record
    try:
        record.value, record.value_version = read_metadata_value(value, topic=topic)
    except DecodeError as error:
        record.problem = f"value: {error}"
    if record.value is not None:
        record.type = record.value.api_key
    return record


def _read_value(name: str, value: bytes, problems: list[str]) -> tuple[Message | None, int]:
    if len(value) < 2:
        problems.append("value is cut short; expected its version")
        return None, 0
    version = int.from_bytes(value[:2], "big", signed=True)
    known = catalog().entry(name).versions
    if version not in known:
        problems.append(f"value: {name} has versions {known}, not {version}")
        return None, version
    return _decode(name, version, value, "value", problems), version


def _decode(name: str, version: int, data: bytes, what: str, problems: list[str]) -> Message | None:
    """Decode the message behind the int16; faults are appended to ``problems``."""
    try:
        message: Message = codec(name, version).decode_at(data, 2)
    except TrailingBytesError as error:
        problems.append(f"{what}: {error}")
        message = error.value
    except DecodeError as error:
        problems.append(f"{what}: {error}")
        return None
    return message


@cache
def _types(topic: str) -> dict[int, str]:
    """Type of each record in that topic → the name of its key."""
    entries = ((name, catalog().entry(name)) for name in catalog().names())
    return {
        entry.api_key: name
        for name, entry in entries
        if entry.type == "coordinator-key" and entry.api_key is not None
        if _ELSEWHERE.get(name, CONSUMER_OFFSETS) == topic
    }
