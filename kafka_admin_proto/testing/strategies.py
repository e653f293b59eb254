"""Values of a message that a given version can carry."""

from __future__ import annotations

from typing import Any, TypeVar, overload
from uuid import UUID

from kafka_admin_proto.codec import Codec, codec
from kafka_admin_proto.errors import MissingExtraError
from kafka_admin_proto.schema.scalars import Scalar
from kafka_admin_proto.values import Message
from kafka_admin_proto.wire.types.arrays import Array
from kafka_admin_proto.wire.types.base import WireType
from kafka_admin_proto.wire.types.blobs import Blob
from kafka_admin_proto.wire.types.containers import StructType
from kafka_admin_proto.wire.types.member import Member
from kafka_admin_proto.wire.types.nullable import NullableStruct
from kafka_admin_proto.wire.types.scalar import ScalarType
from kafka_admin_proto.wire.types.tagged import TaggedFields
from kafka_admin_proto.wire.visitor import Visitor

try:
    from hypothesis import strategies as st
except ModuleNotFoundError as error:
    raise MissingExtraError(
        "kafka_admin_proto.testing needs hypothesis: pip install 'kafka-admin-proto[test]'"
    ) from error

M = TypeVar("M", bound=Message)

#: Arrays of structs stay shorter than others: structs nest up to five deep, and sizes multiply.
MAX_ITEMS = 3
MAX_STRUCTS = 2

_TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
_BYTES = st.binary(max_size=24)
_UUIDS = st.integers(0, (1 << 128) - 1).map(lambda number: UUID(int=number))
#: Type of a scalar's values → the strategy; integers have their bounds instead.
_OF_PYTHON_TYPE: dict[type, st.SearchStrategy[Any]] = {
    bool: st.booleans(), float: st.floats(), UUID: _UUIDS, str: _TEXT, bytes: _BYTES,
}  # fmt: skip
_NO_TAGS: st.SearchStrategy[tuple[tuple[int, bytes], ...]] = st.just(())


@overload
def messages(
    message: type[M], version: int, *, unknown_tags: bool = ...
) -> st.SearchStrategy[M]: ...


@overload
def messages(
    message: str, version: int, *, dialect: str = ..., unknown_tags: bool = ...
) -> st.SearchStrategy[Any]: ...


def messages(
    message: type[Message] | str, version: int, *, dialect: str = "kafka", unknown_tags: bool = True
) -> st.SearchStrategy[Any]:
    """Values of that message that ``version`` can carry; other fields are at their defaults.

    ``unknown_tags`` also draws tagged fields that no definition knows, in flexible versions.
    """
    found: Codec[Any]
    if isinstance(message, str):
        found = codec(message, version, dialect=dialect)
    else:
        found = codec(message, version)
    return struct_values(found.grammar, unknown_tags=unknown_tags)


def struct_values(struct: StructType, *, unknown_tags: bool = True) -> st.SearchStrategy[Any]:
    """Values of a struct of a codec's grammar."""
    fields = [_member_values(member, unknown_tags) for member in struct.members]
    if struct.tagged is not None:
        fields.append(_unknown(struct.tagged) if unknown_tags else _NO_TAGS)
    value_class = struct.value_class
    return st.tuples(*fields).map(lambda values: value_class(*values))


def wire_values(wire_type: WireType, *, unknown_tags: bool = True) -> st.SearchStrategy[Any]:
    """Values that the wire type can carry."""
    return _VALUES.visit(wire_type, unknown_tags)


class _ValuesOf(Visitor[bool, st.SearchStrategy[Any]]):
    """``wire_values``; the context is whether to draw unknown tags."""

    def struct(self, wire_type: StructType, context: bool) -> st.SearchStrategy[Any]:
        return struct_values(wire_type, unknown_tags=context)

    def nullable_struct(self, wire_type: NullableStruct, context: bool) -> st.SearchStrategy[Any]:
        return st.none() | self.visit(wire_type.struct, context)

    def array(self, wire_type: Array, context: bool) -> st.SearchStrategy[Any]:
        element = self.visit(wire_type.element, context)
        most = MAX_ITEMS if wire_type.element.is_leaf else MAX_STRUCTS
        lists = st.lists(element, max_size=most)
        return st.none() | lists if wire_type.nullable else lists

    def blob(self, wire_type: Blob, context: bool) -> st.SearchStrategy[Any]:
        values = _of_row(wire_type.scalar)
        return st.none() | values if wire_type.nullable else values

    def scalar(self, wire_type: ScalarType, context: bool) -> st.SearchStrategy[Any]:
        return _of_row(wire_type.scalar)


_VALUES = _ValuesOf()


def _of_row(scalar: Scalar) -> st.SearchStrategy[Any]:
    if scalar.bounds is not None:
        return st.integers(*scalar.bounds)
    if scalar.python_type not in _OF_PYTHON_TYPE:
        raise TypeError(f"no strategy for values of {scalar.name}, {scalar.python_type.__name__}")
    return _OF_PYTHON_TYPE[scalar.python_type]


def _member_values(member: Member, unknown_tags: bool) -> st.SearchStrategy[Any]:
    default = st.builds(member.default)
    if member.wire_type is None:
        return default
    values = wire_values(member.wire_type, unknown_tags=unknown_tags)
    # A tagged field is on the wire only when it differs from its default: draw both often.
    return values if member.tag is None else default | values


def _unknown(tagged: TaggedFields) -> st.SearchStrategy[tuple[tuple[int, bytes], ...]]:
    """Mostly none; else some tags that the struct does not define, in rising order."""
    defined = tagged.members.keys() | tagged.foreign
    tags = st.integers(0, (1 << 31) - 1).filter(lambda tag: tag not in defined)
    some = st.dictionaries(tags, _BYTES, min_size=1, max_size=2)
    return _NO_TAGS | _NO_TAGS | some.map(lambda fields: tuple(sorted(fields.items())))
