"""Peak memory of decoding stays under 64 times the frame, whatever the frame claims or holds."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest

from kafka_admin_proto import DecodeError, codec
from kafka_admin_proto.codec import Codec
from kafka_admin_proto.wire.arrays import Array
from kafka_admin_proto.wire.base import WireType
from kafka_admin_proto.wire.containers import NullableStruct, StructType
from tests.everything import every_message_of_every_dialect

#: Large enough that what decoding costs at any size does not count.
FRAME = 12_000


@every_message_of_every_dialect
@pytest.mark.parametrize("text", ["", "\udcff"], ids=["empty", "not-utf8"])
def test_frames_full_of_the_smallest_elements(
    dialect: str, name: str, version: int, text: str
) -> None:
    """Each array of the message in turn is filled with elements that take the fewest bytes.

    A string of one byte that is not UTF-8 takes most memory for its size, some 80 bytes.
    """
    found = codec(name, version, dialect=dialect)
    found.source()  # made before memory is traced
    for path, data in full_frames(found, text):
        value, peak = decode_traced(found, data)
        assert found.encode(value) == data
        assert peak < 64 * len(data), (path, peak / len(data))


def decode_traced(found: Codec[Any], data: bytes) -> tuple[Any, int]:
    tracemalloc.start()
    try:
        value = found.decode(data)
        return value, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def full_frames(found: Codec[Any], text: str) -> Iterator[tuple[str, bytes]]:
    """For each array below the message: the frame in which it alone is long."""
    for path, fill in arrays(found.grammar, text):
        value = smallest(found.grammar, text)
        fill(value)
        yield path, found.encode(value)


def arrays(struct: StructType, text: str) -> Iterator[tuple[str, Any]]:
    """Each array's path and what fills it in a smallest value of the struct."""
    for member in struct.members:
        wire_type = member.wire_type
        if wire_type is None:
            continue
        inner = wire_type.struct if isinstance(wire_type, NullableStruct) else wire_type
        if isinstance(inner, StructType):
            for path, fill in arrays(inner, text):
                yield f"{member.attribute}.{path}", _within(member.attribute, inner, fill, text)
        elif isinstance(inner, Array):
            element = inner.element
            count = FRAME // max(element.min_size, 1)
            yield member.attribute, _long(member.attribute, element, count, text)
            if isinstance(element, StructType):
                for path, fill in arrays(element, text):
                    yield (
                        f"{member.attribute}[].{path}",
                        _nested(member.attribute, element, fill, text),
                    )


def _long(attribute: str, element: WireType, count: int, text: str) -> Any:
    return lambda value: setattr(value, attribute, [smallest(element, text) for _ in range(count)])


def _within(attribute: str, struct: StructType, fill: Any, text: str) -> Any:
    def apply(value: Any) -> None:
        inner = smallest(struct, text)
        fill(inner)
        setattr(value, attribute, inner)

    return apply


def _nested(attribute: str, element: StructType, fill: Any, text: str) -> Any:
    def apply(value: Any) -> None:
        inner = smallest(element, text)
        fill(inner)
        setattr(value, attribute, [inner])

    return apply


def smallest(wire_type: WireType, text: str) -> Any:
    """A value of the type that takes its fewest bytes, but for ``text`` in strings."""
    if isinstance(wire_type, StructType):
        value = wire_type.value_class()
        for member in wire_type.members:
            if member.wire_type is not None and member.tag is None:
                setattr(value, member.attribute, smallest(member.wire_type, text))
        return value
    if isinstance(wire_type, Array):
        return []
    if isinstance(wire_type, NullableStruct):
        return None
    empty = {"string": text, "bytes": b"", "records": b""}
    element = getattr(wire_type, "element", None)
    if element in empty:
        return empty[element]
    data = bytes(wire_type.min_size)
    return wire_type.parse(data)


@pytest.mark.parametrize("version", [0, 5])
def test_a_count_that_lies_costs_nothing(version: int) -> None:
    found = codec("CreateTopicsRequest", version)
    count = b"\x7f\xff\xff\xff" if version == 0 else b"\xff\xff\xff\xff\x07"
    data = count + bytes(FRAME)
    found.source()  # made before memory is traced
    tracemalloc.start()
    try:
        with pytest.raises(DecodeError, match="items needs at least"):
            found.decode(data)
        assert tracemalloc.get_traced_memory()[1] < 2 * FRAME
    finally:
        tracemalloc.stop()


def test_many_unknown_tags() -> None:
    found = codec("CreateTopicsRequest", 5)
    count = 16_000
    tags = b"".join(bytes([0x80 | i & 0x7F, i >> 7, 0]) for i in range(128, count))
    empty = found.encode(found.value_class())[:-1]
    number = count - 128
    data = empty + bytes([0x80 | number & 0x7F, number >> 7]) + tags
    value, peak = decode_traced(found, data)
    assert len(value.unknown_tagged_fields) == number
    assert peak < 64 * len(data)
