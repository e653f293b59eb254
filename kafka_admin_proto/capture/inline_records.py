"""Inline records: decode the record batches in a body's JSON in place of their bytes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import UUID

from kafka_admin_proto.codec import Codec
from kafka_admin_proto.records.batches.batches import DEFAULT_DECOMPRESSED_LIMIT, read_records
from kafka_admin_proto.records.batches.record_format import limit_bytes
from kafka_admin_proto.records.batches.records_json import record_set_json
from kafka_admin_proto.records.metadata.records import METADATA_TOPIC
from kafka_admin_proto.topic_ids import METADATA_TOPIC_ID
from kafka_admin_proto.values import Message
from kafka_admin_proto.wire.secrets import TOPIC_NAMES
from kafka_admin_proto.wire.types.arrays import Array
from kafka_admin_proto.wire.types.base import WireType
from kafka_admin_proto.wire.types.blobs import Records
from kafka_admin_proto.wire.types.containers import StructType
from kafka_admin_proto.wire.types.member import Member
from kafka_admin_proto.wire.types.nullable import NullableStruct
from kafka_admin_proto.wire.visitor import Visitor


def inline_records(
    shown: dict[str, Any],
    body: Message,
    codec: Codec[Any],
    topic_names: Mapping[UUID, str],
    *,
    mask: bool,
) -> None:
    """Replace each ``records`` field in ``shown`` by the result of ``record_set_json``.

    The topic decides how records of Kafka's own topics are decoded. It is the name in a struct
    around the field, or the name that ``topic_names`` has for the topic id there.
    """
    _InlineRecords(topic_names, mask=mask).visit(codec.grammar, _Place(body, shown, None))


@lru_cache(maxsize=4096)
def _with_records(struct: StructType) -> list[tuple[Member, WireType]]:
    """The members that are record batches, or have some inside."""
    there = ((each, each.wire_type) for each in struct.members)
    return [
        (member, wire_type)
        for member, wire_type in there
        if wire_type is not None and wire_type.holds_records
    ]


class _Place(NamedTuple):
    """A value, its JSON, and the topic of the records in it, if it is known."""

    value: Any
    shown: Any
    topic: str | None


class _InlineRecords(Visitor[_Place, None]):
    """``left`` is the limit for decompressed data that the body's records have not used yet."""

    def __init__(self, topic_names: Mapping[UUID, str], *, mask: bool) -> None:
        self.left = DEFAULT_DECOMPRESSED_LIMIT
        self._topic_names = topic_names
        self._mask = mask

    def struct(self, wire_type: StructType, context: _Place) -> None:
        value, shown = context.value, context.shown
        topic = self._topic(value) or context.topic
        for member, inner_type in _with_records(wire_type):
            if member.json not in shown:
                continue
            inner = getattr(value, member.attribute)
            if isinstance(inner_type, Records):
                if inner is not None:
                    shown[member.json] = self._records(inner, topic)
            elif inner is not None:
                self.visit(inner_type, _Place(inner, shown[member.json], topic))

    def _records(self, data: bytes, topic: str | None) -> dict[str, Any]:
        found = read_records(data, limit=self.left)
        taken = sum(limit_bytes(record) for batch in found.batches for record in batch.records)
        self.left = max(self.left - taken, 0)
        return record_set_json(found, topic=topic, mask=self._mask)

    def nullable_struct(self, wire_type: NullableStruct, context: _Place) -> None:
        self.visit(wire_type.struct, context)

    def array(self, wire_type: Array, context: _Place) -> None:
        for value, shown in zip(context.value, context.shown, strict=True):
            self.visit(wire_type.element, _Place(value, shown, context.topic))

    def _topic(self, value: Any) -> str | None:
        for name in TOPIC_NAMES:
            found = getattr(value, name, None)
            if isinstance(found, str) and found:
                return found
        topic_id = getattr(value, "topic_id", None)
        if topic_id == METADATA_TOPIC_ID:
            return METADATA_TOPIC
        return self._topic_names.get(topic_id) if isinstance(topic_id, UUID) else None
