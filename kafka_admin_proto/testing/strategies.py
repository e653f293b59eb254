"""Values of a message that a given version can carry."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import partial
from struct import calcsize
from typing import Any, NamedTuple, TypeVar, cast, overload
from uuid import UUID

from kafka_admin_proto.arguments import check_kind, checked_arguments, integer_check
from kafka_admin_proto.codec import codec
from kafka_admin_proto.errors import MissingExtraError
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

#: The most bytes of a text or of bytes, and the most items of an array, that are drawn by default.
MAX_SIZE, MAX_ITEMS = 16_384, 128
#: What most texts (characters), bytes and arrays have at most. Arrays of structs are shorter than
#: others: structs nest up to five deep, and sizes multiply.
_SHORT_TEXT, _SHORT_BYTES, _SHORT_LIST, _SHORT_STRUCTS = 8, 24, 3, 2
#: Lengths and counts, plus one a varint, on both sides of those at which a varint takes another
#: byte; and of 256, at which an int16 does.
_LONG_SIZES = (126, 127, 128, 255, 256, 16_382, 16_383, 16_384)
_LONG_COUNTS = (3, 4, 126, 127, 128, 16_382, 16_383, 16_384)
#: Items of a long array that differ; the others are copies of them, which are cheap.
_DRAWN_ITEMS = 4
#: One value in so many has one long text, bytes or array: each takes time in what is tested.
_LONG_ONE_IN = 8

_CHARACTERS = st.characters(codec="utf-8")
_UUIDS = st.integers(0, (1 << 128) - 1).map(lambda number: UUID(int=number))
#: Type of a scalar's values → the strategy, where the scalar's row does not steer it: integers have
#: bounds, floats the width of a code, blobs a length.
_OF_PYTHON_TYPE: dict[type, st.SearchStrategy[Any]] = {bool: st.booleans(), UUID: _UUIDS}
_NO_TAGS: st.SearchStrategy[tuple[tuple[int, bytes], ...]] = st.just(())
_IS_LONG = st.sampled_from([False] * (_LONG_ONE_IN - 1) + [True])


class _Limits(NamedTuple):
    """What the values of a message are drawn by."""

    unknown_tags: bool = True
    max_size: int = MAX_SIZE
    max_items: int = MAX_ITEMS


@overload
def messages(
    message: type[M],
    version: int,
    *,
    dialect: str | None = ...,
    unknown_tags: bool = ...,
    max_size: int = ...,
    max_items: int = ...,
) -> st.SearchStrategy[M]: ...


@overload
def messages(
    message: str,
    version: int,
    *,
    dialect: str | None = ...,
    unknown_tags: bool = ...,
    max_size: int = ...,
    max_items: int = ...,
) -> st.SearchStrategy[Any]: ...


def messages(
    message: type[Message] | str,
    version: int,
    *,
    dialect: str | None = None,
    unknown_tags: bool = True,
    max_size: int = MAX_SIZE,
    max_items: int = MAX_ITEMS,
) -> st.SearchStrategy[Any]:
    """Values of that message that ``version`` can carry; other fields are at their defaults.

    ``unknown_tags`` also draws tagged fields that no definition knows, in flexible versions. One
    value in eight has a text, bytes or an array as long as where the wire changes its form (127
    and 128, 16,383 and 16,384), within ``max_size`` bytes and ``max_items`` items. Raises
    ValueError for a limit below 0, TypeError for one that is no integer and for other arguments of
    a wrong type, and what ``codec`` does.
    """
    given = {"message": message, "dialect": dialect, "unknown_tags": unknown_tags}
    checked_arguments(messages, given)
    message_codec = codec(cast(Any, message), version, dialect=dialect)
    return struct_values(
        message_codec.grammar, unknown_tags=unknown_tags, max_size=max_size, max_items=max_items
    )


def struct_values(
    struct: StructType,
    *,
    unknown_tags: bool = True,
    max_size: int = MAX_SIZE,
    max_items: int = MAX_ITEMS,
) -> st.SearchStrategy[Any]:
    """Values of a struct of a codec's grammar, within the limits of ``messages``."""
    check_kind(struct, StructType, "struct_values: struct")
    limits = _Limits(unknown_tags, _limit("max_size", max_size), _limit("max_items", max_items))
    short = wire_values(struct, limits)
    if max_size <= _SHORT_TEXT and max_items <= _SHORT_STRUCTS:
        return short
    return _some_long(short, struct, limits)


def wire_values(wire_type: WireType, limits: _Limits | None = None) -> st.SearchStrategy[Any]:
    """Values that the wire type can carry, all of them short."""
    return _VALUES.visit(wire_type, limits or _Limits())


def _limit(name: str, limit: int) -> int:
    limit = integer_check(f"{name} is an integer from 0 on")(limit)
    if limit < 0:
        raise ValueError(f"{name} is an integer from 0 on, not {limit}")
    return limit


class _ValuesOf(Visitor[_Limits, st.SearchStrategy[Any]]):
    """``wire_values``; the context is what they are drawn by."""

    def struct(self, wire_type: StructType, context: _Limits) -> st.SearchStrategy[Any]:
        fields = [_member_values(member, context) for member in wire_type.members]
        if wire_type.tagged is not None:
            tagged = wire_type.tagged
            fields.append(_unknown(tagged, context) if context.unknown_tags else _NO_TAGS)
        value_class = wire_type.value_class
        return st.tuples(*fields).map(lambda values: value_class(*values))

    def nullable_struct(
        self, wire_type: NullableStruct, context: _Limits
    ) -> st.SearchStrategy[Any]:
        return st.none() | self.visit(wire_type.struct, context)

    def array(self, wire_type: Array, context: _Limits) -> st.SearchStrategy[Any]:
        element = self.visit(wire_type.element, context)
        most = _SHORT_LIST if wire_type.element.is_leaf else _SHORT_STRUCTS
        lists = st.lists(element, max_size=min(most, context.max_items))
        return st.none() | lists if wire_type.nullable else lists

    def blob(self, wire_type: Blob, context: _Limits) -> st.SearchStrategy[Any]:
        most = context.max_size
        values: st.SearchStrategy[Any]
        if wire_type.scalar.python_type is bytes:
            values = st.binary(max_size=min(_SHORT_BYTES, most))
        else:
            values = st.text(_CHARACTERS, max_size=min(_SHORT_TEXT, most))
            if most < 4 * _SHORT_TEXT:  # bytes of the longest characters
                values = values.map(lambda text: text.encode()[:most].decode(errors="ignore"))
        return st.none() | values if wire_type.nullable else values

    def scalar(self, wire_type: ScalarType, context: _Limits) -> st.SearchStrategy[Any]:
        scalar = wire_type.scalar
        if scalar.bounds is not None:
            return st.integers(*scalar.bounds)
        if scalar.python_type is float:
            return st.floats(width=cast(Any, 8 * calcsize(scalar.code)))
        if scalar.python_type not in _OF_PYTHON_TYPE:
            name = scalar.python_type.__name__
            raise TypeError(f"no strategy for values of {scalar.name}, {name}")
        return _OF_PYTHON_TYPE[scalar.python_type]


_VALUES = _ValuesOf()


def _member_values(member: Member, limits: _Limits) -> st.SearchStrategy[Any]:
    default = st.builds(member.default)
    if member.wire_type is None:
        return default
    values = wire_values(member.wire_type, limits)
    # A tagged field is on the wire only when it differs from its default: draw both often.
    return values if member.tag is None else default | values


def _unknown(
    tagged: TaggedFields, limits: _Limits
) -> st.SearchStrategy[tuple[tuple[int, bytes], ...]]:
    """Mostly none; else some tags that the struct does not define, in rising order."""
    defined = tagged.members.keys() | tagged.foreign
    tags = st.sampled_from(_LONG_SIZES) | st.integers(0, (1 << 31) - 1)
    contents = st.binary(max_size=min(_SHORT_BYTES, limits.max_size))
    if limits.max_size >= 128:  # where the varint of their size takes another byte
        contents = contents | st.sampled_from((b"x" * 127, b"x" * 128))
    some = st.dictionaries(
        tags.filter(lambda tag: tag not in defined), contents, min_size=1, max_size=2
    )
    return _NO_TAGS | _NO_TAGS | some.map(lambda fields: tuple(sorted(fields.items())))


class _Place(NamedTuple):
    """Where a value has a text, bytes or an array: what is there, and what puts another there."""

    value: Any
    wire_type: Blob | Array
    replace: Callable[[Any], None]


@st.composite
def _some_long(
    draw: st.DrawFn, values: st.SearchStrategy[Any], struct: StructType, limits: _Limits
) -> Any:
    """The values; now and then a text, bytes or an array anywhere in one is made long."""
    value = draw(values)
    if draw(_IS_LONG):
        places = [place for place in _places(struct, value) if _longer(place.wire_type, limits)]
        if places:
            place = draw(st.sampled_from(places))
            length = draw(st.sampled_from(_longer(place.wire_type, limits)))
            if isinstance(place.wire_type, Array):
                few = min(length, _DRAWN_ITEMS)
                elements = wire_values(place.wire_type.element, limits)
                items = draw(st.lists(elements, min_size=few, max_size=few))
                copies = (copy.deepcopy(items[i % few]) for i in range(few, length))
                place.replace([*items, *copies])
            else:
                place.replace(_padded(place.value, length))
    return value


def _places(struct: StructType, value: Any) -> Iterator[_Place]:
    for member in struct.members:
        if member.wire_type is not None:
            member_value = getattr(value, member.attribute)
            replace = partial(setattr, value, member.attribute)
            yield from _places_at(member_value, member.wire_type, replace)


def _places_at(value: Any, wire_type: WireType, replace: Callable[[Any], None]) -> Iterator[_Place]:
    """The place itself, and those inside; null has none."""
    if isinstance(wire_type, NullableStruct):
        wire_type = wire_type.struct
    if value is None:
        return
    if isinstance(wire_type, StructType):
        yield from _places(wire_type, value)
    elif isinstance(wire_type, Blob):
        yield _Place(value, wire_type, replace)
    elif isinstance(wire_type, Array):
        yield _Place(value, wire_type, replace)
        for index, item in enumerate(value):
            yield from _places_at(item, wire_type.element, partial(value.__setitem__, index))


def _longer(wire_type: Blob | Array, limits: _Limits) -> list[int]:
    """The lengths that are long, within the limits: those of the wire's forms, and the limit."""
    if isinstance(wire_type, Array):
        lengths, short, most = _LONG_COUNTS, _SHORT_STRUCTS, limits.max_items
    else:
        lengths, short = _LONG_SIZES, _SHORT_TEXT
        most = min(limits.max_size, wire_type.max_length)
    return [each for each in lengths if each < most] + [most] * (most > short)


def _padded(value: str | bytes, size: int) -> str | bytes:
    """The value with letters behind it, up to that many bytes on the wire."""
    if isinstance(value, str):
        return value + "x" * (size - len(value.encode()))
    return value + b"x" * (size - len(value))
