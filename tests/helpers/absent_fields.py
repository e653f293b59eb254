"""Fields that a version does not have, wherever structs are in a value."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from kafka_admin_proto.wire.types.arrays import Array
from kafka_admin_proto.wire.types.base import WireType
from kafka_admin_proto.wire.types.containers import StructType
from kafka_admin_proto.wire.types.member import Member
from kafka_admin_proto.wire.types.nullable import NullableStruct


def absent_fields(wire_type: WireType, value: Any) -> Iterator[tuple[Any, Member]]:
    """Each absent field of the structs in a value that is filled, with the struct that owns it."""
    if isinstance(wire_type, StructType):
        yield from ((value, member) for member in wire_type.absent)
        for member in wire_type.members:
            if member.wire_type is not None:
                yield from absent_fields(member.wire_type, getattr(value, member.attribute))
    elif isinstance(wire_type, NullableStruct):
        yield from absent_fields(wire_type.struct, value)
    elif isinstance(wire_type, Array):
        yield from absent_fields(wire_type.element, value[0])


@contextlib.contextmanager
def holding(owner: Any, attribute: str, value: Any) -> Iterator[None]:
    """A field of a struct has that value inside."""
    before = getattr(owner, attribute)
    setattr(owner, attribute, value)
    try:
        yield
    finally:
        setattr(owner, attribute, before)
