"""The fields of a message that name entities: topics, groups, brokers, producers, transactions.

Definitions mark them (``"entityType": "topicName"``), but not all: what a config resource names
depends on its type, and what a consumer put into its group's metadata is bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.fields import ENTITY_TYPES
from kafka_admin_proto.wire.types.arrays import Array
from kafka_admin_proto.wire.types.base import WireType, shown
from kafka_admin_proto.wire.types.containers import StructType
from kafka_admin_proto.wire.types.nullable import NullableStruct


class EntityField(NamedTuple):
    """A field that names entities, or with ``inner`` a field with such fields inside."""

    attribute: str
    is_array: bool
    inner: tuple[EntityField, ...]

    def paths(self) -> Iterator[str]:
        """The attributes that lead to each field with entities: "topics.name"."""
        yield from (f"{self.attribute}.{path}" for each in self.inner for path in each.paths())
        if not self.inner:
            yield self.attribute

    def replace(self, owner: Any, change: Callable[[Any], Any]) -> None:
        """Put what ``change`` makes of each entity in its place; a null field is left as it is."""
        found = getattr(owner, self.attribute)
        if found is None:
            return
        if self.inner:
            for struct in found if self.is_array else (found,):
                replace_all(self.inner, struct, change)
        elif self.is_array:
            setattr(owner, self.attribute, [change(each) for each in found])
        else:
            setattr(owner, self.attribute, change(found))


def replace_all(fields: Iterable[EntityField], owner: Any, change: Callable[[Any], Any]) -> None:
    """Put what ``change`` makes of each entity in its place, in all these fields of a struct."""
    for each in fields:
        each.replace(owner, change)


def entity_fields(struct: StructType, entity_type: str, dialect: str) -> tuple[EntityField, ...]:
    """The entity fields of a struct at its version.

    Raises ValueError for a type that is not Kafka's and that no definition of the dialect has.
    """
    if entity_type not in ENTITY_TYPES:
        known = catalog().entity_types(dialect)
        if entity_type not in known:
            named = ", ".join(known)
            raise ValueError(f"{shown(entity_type)} is not an entity type: expected one of {named}")
    return tuple(_fields(struct, entity_type))


def _fields(struct: StructType, entity_type: str) -> Iterator[EntityField]:
    for member in struct.members:
        if member.wire_type is None:
            continue
        is_array = isinstance(member.wire_type, Array)
        inside = struct_in(member.wire_type)
        inner = () if inside is None else tuple(_fields(inside, entity_type))
        if inner or member.entity_type == entity_type:
            yield EntityField(member.attribute, is_array, inner)


def struct_in(wire_type: WireType) -> StructType | None:
    """The struct that a field is, or has as its elements."""
    if isinstance(wire_type, Array):
        wire_type = wire_type.element
    if isinstance(wire_type, NullableStruct):
        wire_type = wire_type.struct
    return wire_type if isinstance(wire_type, StructType) else None
