"""Control records: transaction markers, and KRaft's records about its own log.

The key is two int16s, its version and the type (``ControlRecordType`` in Kafka); the value is a
message whose first two bytes are its version.
"""

from __future__ import annotations

import struct

import msgspec

from kafka_admin_proto.arguments import check_kind
from kafka_admin_proto.codec import codec
from kafka_admin_proto.errors import DecodeError, EncodeError, TrailingBytesError
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.values import Message

#: Type → name and the message of its value.
CONTROL_TYPES: dict[int, tuple[str, str]] = {
    0: ("ABORT", "EndTxnMarker"),
    1: ("COMMIT", "EndTxnMarker"),
    2: ("LEADER_CHANGE", "LeaderChangeMessage"),
    3: ("SNAPSHOT_HEADER", "SnapshotHeaderRecord"),
    4: ("SNAPSHOT_FOOTER", "SnapshotFooterRecord"),
    5: ("KRAFT_VERSION", "KRaftVersionRecord"),
    6: ("KRAFT_VOTERS", "VotersRecord"),
}

_KEY = struct.Struct(">hh")
#: Its schema has no version field: the version stands before it (``EndTransactionMarker``).
_PREFIXED = "EndTxnMarker"


class ControlRecord(msgspec.Struct):
    """A decoded control record. An unknown type has an empty ``name`` and no ``message``."""

    type: int
    name: str
    key_version: int = 0
    message: Message | None = None
    version: int = 0


def read_control_record(key: bytes | None, value: bytes | None) -> ControlRecord:
    """The control record with that key and value.

    A version newer than the newest known is read as that, as Kafka does. Raises DecodeError with
    ``path`` "key" or "value"; what it knew by then of the record is lost only if the key is bad.
    """
    record = read_control_key(key)
    if not record.name:
        return record
    name = CONTROL_TYPES[record.type][1]
    if value is None or len(value) < 2:
        state = "null" if value is None else "cut short"
        raise DecodeError(
            f"value of a control record {record.name} is {state}",
            path="value",
            expected=f"a version and {name}",
        )
    version = int.from_bytes(value[:2], "big", signed=True)
    if version < 0:
        raise DecodeError(f"version of {name} is {version}", path="value", expected="0 or above")
    versions = catalog().entry(name).versions
    record.version = min(version, versions.highest)
    try:
        record.message = codec(name, record.version).decode_at(value, 2 if name == _PREFIXED else 0)
    except TrailingBytesError as error:
        if version <= versions.highest:
            error.path = error.path or "value"
            raise
        record.message = error.value
    except DecodeError as error:
        error.path = f"value.{error.path}".rstrip(".")
        raise
    return record


def read_control_key(key: bytes | None) -> ControlRecord:
    """Version and type in a control record's key. Raises DecodeError."""
    if key is None or len(key) < _KEY.size:
        raise DecodeError(
            f"key of a control record is {'null' if key is None else 'cut short'}",
            path="key",
            expected="version and type",
        )
    key_version, number = _KEY.unpack_from(key)
    if key_version < 0:
        raise DecodeError(
            f"version of a control record's key is {key_version}", path="key", expected="0 or above"
        )
    name = CONTROL_TYPES[number][0] if number in CONTROL_TYPES else ""
    return ControlRecord(number, name, key_version)


def write_control_record(name: str, message: Message, version: int = 0) -> tuple[bytes, bytes]:
    """Key and value of a control record: ``name`` is "COMMIT", "LEADER_CHANGE", …

    Where the message has a version of its own it must be that. Raises EncodeError.
    """
    check_kind(message, Message, "write_control_record: message")
    types = {known: (number, value) for number, (known, value) in CONTROL_TYPES.items()}
    if name not in types or types[name][1] != message.message_name:
        raise EncodeError(
            f"there is no control record {name!r} with that value",
            message=message.message_name,
            value=name,
        )
    value = codec(message.message_name, version).encode(message)
    if message.message_name == _PREFIXED:
        value = version.to_bytes(2, "big") + value
    elif value[:2] != version.to_bytes(2, "big"):
        raise EncodeError(
            f"its version says otherwise than version {version} that it is written at",
            path="version",
            message=message.message_name,
            value=getattr(message, "version", None),
        )
    return _KEY.pack(0, types[name][0]), value
