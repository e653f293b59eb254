"""The record batches in a body's JSON, decoded in the place of their bytes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from uuid import UUID

from kafka_admin_proto.codec import Codec, Message
from kafka_admin_proto.records.batches import DEFAULT_DECOMPRESSED_LIMIT, read_records
from kafka_admin_proto.records.metadata_records import METADATA_TOPIC
from kafka_admin_proto.records.records_json import record_set_json
from kafka_admin_proto.topic_ids import METADATA_TOPIC_ID
from kafka_admin_proto.wire.arrays import Array
from kafka_admin_proto.wire.base import WireType
from kafka_admin_proto.wire.blobs import Records
from kafka_admin_proto.wire.containers import Member, NullableStruct, StructType
from kafka_admin_proto.wire.secrets import MASK

#: What a record takes beside its key and value.
_OF_A_RECORD = 64
#: Attributes that name the topic of the records below them.
_NAMES = ("topic", "name", "topic_name")


def open_records(
    shown: dict[str, Any],
    body: Message,
    codec: Codec[Any],
    topic_names: Mapping[UUID, str],
    *,
    mask: bool,
) -> None:
    """Put what ``record_set_json`` makes of each ``records`` field into ``shown``, in its place.

    The topic, by which Kafka's own records are known, is the name in a struct around them, or its
    topic id's in ``topic_names``.
    """
    _Opener(topic_names, mask=mask).struct(codec.grammar, body, shown, None)


def mask_metadata(
    shown: dict[str, Any], body: Message, codec: Codec[Any], topic_names: Mapping[UUID, str]
) -> None:
    """Hide the records of the metadata topic in ``shown``: credentials of users and brokers."""
    _Opener(topic_names, mask=True, opens=False).struct(codec.grammar, body, shown, None)


@lru_cache(maxsize=4096)
def _with_records(struct: StructType) -> list[tuple[Member, WireType]]:
    """The members that are record batches, or have some inside."""
    there = ((each, each.wire_type) for each in struct.members)
    return [
        (member, wire_type)
        for member, wire_type in there
        if wire_type is not None and _has_records(wire_type)
    ]


def _has_records(wire_type: WireType) -> bool:
    if isinstance(wire_type, NullableStruct):
        wire_type = wire_type.struct
    if isinstance(wire_type, Array):
        wire_type = wire_type.element
    if isinstance(wire_type, StructType):
        return bool(_with_records(wire_type))
    return isinstance(wire_type, Records)


class _Opener:
    """``left`` is what all of a body's records may still take, decompressed."""

    def __init__(self, topic_names: Mapping[UUID, str], mask: bool, *, opens: bool = True) -> None:
        self.left = DEFAULT_DECOMPRESSED_LIMIT
        self._topic_names = topic_names
        self._mask = mask
        self._opens = opens

    def struct(self, struct: StructType, value: Any, shown: Any, topic: str | None) -> None:
        topic = self._topic(value) or topic
        for member, wire_type in _with_records(struct):
            if member.json not in shown:
                continue
            inner = getattr(value, member.attribute)
            if isinstance(wire_type, Records):
                if inner is None:
                    continue
                if self._opens:
                    shown[member.json] = self._records(inner, topic)
                elif topic == METADATA_TOPIC:
                    shown[member.json] = MASK
            elif inner is not None:
                self._inside(wire_type, inner, shown[member.json], topic)

    def _records(self, data: bytes, topic: str | None) -> dict[str, Any]:
        found = read_records(data, limit=self.left)
        taken = sum(
            len(record.key or b"") + len(record.value or b"") + _OF_A_RECORD
            for batch in found.batches
            for record in batch.records
        )
        self.left = max(self.left - taken, 0)
        return record_set_json(found, topic=topic, mask=self._mask)

    def _inside(self, wire_type: WireType, value: Any, shown: Any, topic: str | None) -> None:
        if isinstance(wire_type, NullableStruct):
            wire_type = wire_type.struct
        if isinstance(wire_type, StructType):
            self.struct(wire_type, value, shown, topic)
        elif isinstance(wire_type, Array) and isinstance(wire_type.element, StructType):
            for item, of_item in zip(value, shown, strict=True):
                self.struct(wire_type.element, item, of_item, topic)

    def _topic(self, value: Any) -> str | None:
        for name in _NAMES:
            found = getattr(value, name, None)
            if isinstance(found, str) and found:
                return found
        topic_id = getattr(value, "topic_id", None)
        if topic_id == METADATA_TOPIC_ID:
            return METADATA_TOPIC
        return self._topic_names.get(topic_id) if isinstance(topic_id, UUID) else None
