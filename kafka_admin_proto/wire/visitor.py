"""Walks over trees of wire types: a method for each kind, and none that is left out by accident."""

from __future__ import annotations

from typing import Generic, TypeVar

from kafka_admin_proto.wire.types.arrays import Array
from kafka_admin_proto.wire.types.base import WireType
from kafka_admin_proto.wire.types.blobs import Blob
from kafka_admin_proto.wire.types.containers import StructType
from kafka_admin_proto.wire.types.nullable import NullableStruct
from kafka_admin_proto.wire.types.scalar import ScalarType
from kafka_admin_proto.wire.types.tagged import RawTag, TagHeader

C = TypeVar("C")
R = TypeVar("R")


class Visitor(Generic[C, R]):
    """What is done with a wire type, by its kind.

    ``visit`` calls the method of the type's kind with the type and a context that is the walk's
    own (a path, a value, a pair). A kind that a walk does not define raises a TypeError that
    names the walk and the type. ``scalar`` are the types without parts and without a length.
    ``tag_header`` and ``raw_tag`` are in no tree: observers of a reading see them.
    """

    def visit(self, wire_type: WireType, context: C) -> R:
        found: R = getattr(self, _kind(type(wire_type)))(wire_type, context)
        return found

    def struct(self, wire_type: StructType, context: C) -> R:
        raise self._unknown(wire_type)

    def nullable_struct(self, wire_type: NullableStruct, context: C) -> R:
        raise self._unknown(wire_type)

    def array(self, wire_type: Array, context: C) -> R:
        raise self._unknown(wire_type)

    def blob(self, wire_type: Blob, context: C) -> R:
        raise self._unknown(wire_type)

    def scalar(self, wire_type: ScalarType, context: C) -> R:
        raise self._unknown(wire_type)

    def tag_header(self, wire_type: TagHeader, context: C) -> R:
        raise self._unknown(wire_type)

    def raw_tag(self, wire_type: RawTag, context: C) -> R:
        raise self._unknown(wire_type)

    def other(self, wire_type: WireType, context: C) -> R:
        """A wire type of none of these kinds."""
        raise self._unknown(wire_type)

    def _unknown(self, wire_type: WireType) -> TypeError:
        name = type(self).__name__.lstrip("_")
        return TypeError(f"{name} has no rule for {wire_type.describe()}: define one for its kind")


#: Kind of type → the visitor's method; a blob is a scalar type as well, so that it comes first.
_KINDS: dict[type[WireType], str] = {
    StructType: "struct",
    NullableStruct: "nullable_struct",
    Array: "array",
    Blob: "blob",
    ScalarType: "scalar",
    TagHeader: "tag_header",
    RawTag: "raw_tag",
}

#: Class → the method of its kind, as far as it was looked up.
_found: dict[type[WireType], str] = {}


def _kind(cls: type[WireType]) -> str:
    found = _found.get(cls)
    if found is None:
        kinds = (name for kind, name in _KINDS.items() if issubclass(cls, kind))
        found = _found[cls] = next(kinds, "other")
    return found
