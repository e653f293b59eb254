"""Values of a message that a given version can carry."""

from __future__ import annotations

from typing import Any, TypeVar, overload
from uuid import UUID

from kafka_admin_proto.codec import Codec, Message, codec
from kafka_admin_proto.errors import MissingExtraError
from kafka_admin_proto.wire.arrays import Array
from kafka_admin_proto.wire.base import WireType
from kafka_admin_proto.wire.blobs import Blob, String
from kafka_admin_proto.wire.containers import Member, NullableStruct, StructType
from kafka_admin_proto.wire.fixed import Bool, Float64, Integer, Uuid
from kafka_admin_proto.wire.tagged import TaggedFields

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
    """Values of that message that ``version`` can carry; what it lacks is at its default.

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
    if isinstance(wire_type, Integer):
        return st.integers(*wire_type.bounds)
    if isinstance(wire_type, Bool):
        return st.booleans()
    if isinstance(wire_type, Float64):
        return st.floats()
    if isinstance(wire_type, Uuid):
        return _UUIDS
    if isinstance(wire_type, Blob):
        values = _TEXT if isinstance(wire_type, String) else _BYTES
        return st.none() | values if wire_type.nullable else values
    if isinstance(wire_type, Array):
        element = wire_values(wire_type.element, unknown_tags=unknown_tags)
        most = MAX_ITEMS if wire_type.element.is_leaf else MAX_STRUCTS
        lists = st.lists(element, max_size=most)
        return st.none() | lists if wire_type.nullable else lists
    if isinstance(wire_type, NullableStruct):
        return st.none() | struct_values(wire_type.struct, unknown_tags=unknown_tags)
    assert isinstance(wire_type, StructType), wire_type
    return struct_values(wire_type, unknown_tags=unknown_tags)


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
