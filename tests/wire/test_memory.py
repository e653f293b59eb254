"""Peak memory of decoding stays under 64 times the frame, whatever the frame claims or holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kafka_admin_proto import DecodeError, codec
from kafka_admin_proto.codec import Codec
from kafka_admin_proto.wire.types.arrays import Array
from kafka_admin_proto.wire.types.base import WireType
from kafka_admin_proto.wire.types.blobs import Blob
from kafka_admin_proto.wire.types.containers import StructType
from kafka_admin_proto.wire.types.nullable import NullableStruct
from kafka_admin_proto.wire.types.scalar import ScalarType
from kafka_admin_proto.wire.visitor import Visitor
from tests.helpers.every_message import DRAFTS, SHIPPED, Message, each_layout, made_ready
from tests.helpers.memory import traced
from tests.helpers.profile import sample

#: Large enough that what decoding costs at any size does not count.
FRAME = 6_000
#: The message that comes closest to the limit is in every sample.
WORST = Message("kafka", "StreamsGroupCurrentMemberAssignmentValue")


@pytest.mark.exhaustive
@each_layout([WORST, *sample([each for each in (*SHIPPED, *DRAFTS) if each != WORST], 12)])
def test_frames_full_of_the_smallest_elements(found: Codec[Any]) -> None:
    """Each array of the message in turn is filled with elements that take the fewest bytes.

    A string of one byte that is not UTF-8 takes most memory for its size, some 80 bytes.
    """
    made_ready(found)
    for text in ("", "\udcff"):
        for path, data in full_frames(found, text):
            value, peak = decode_traced(found, data)
            assert found.encode(value) == data
            assert peak < 64 * len(data), (path, text, peak / len(data))


def decode_traced(found: Codec[Any], data: bytes) -> tuple[Any, int]:
    with traced() as memory:
        value = found.decode(data)
    return value, memory.peak


def full_frames(found: Codec[Any], text: str) -> Iterator[tuple[str, bytes]]:
    """For some arrays below the message: the frame in which one alone is long."""
    for path, fill in sample(list(arrays(found.grammar, text)), 4):
        value = smallest(found.grammar, text)
        fill(value)
        yield path, found.encode(value)


def arrays(struct: StructType, text: str) -> list[tuple[str, Any]]:
    """Each array's path and what fills it in a smallest value of the struct."""
    return _Arrays(text).visit(struct, "")


class _Arrays(Visitor[str, list[tuple[str, Any]]]):
    """Arrays at and below an attribute of a struct, each with what fills it in that struct."""

    def __init__(self, text: str) -> None:
        self.text = text

    def struct(self, wire_type: StructType, context: str) -> list[tuple[str, Any]]:
        """``context`` is the attribute that the struct is; "" for the outermost."""
        found = []
        for member in wire_type.members:
            if member.wire_type is not None:
                found += self.visit(member.wire_type, member.attribute)
        if not context:
            return found
        return [
            (f"{context}.{path}", self._inside(context, wire_type, fill, list_of=False))
            for path, fill in found
        ]

    def nullable_struct(self, wire_type: NullableStruct, context: str) -> list[tuple[str, Any]]:
        return self.visit(wire_type.struct, context)

    def array(self, wire_type: Array, context: str) -> list[tuple[str, Any]]:
        element = wire_type.element
        count = FRAME // max(element.min_size, 1)
        found = [(context, self._long(context, element, count))]
        if element.is_leaf:
            return found
        assert isinstance(element, StructType), f"this test cannot fill {wire_type.describe()}"
        for path, fill in self.visit(element, ""):
            inside = self._inside(context, element, fill, list_of=True)
            found.append((f"{context}[].{path}", inside))
        return found

    def blob(self, wire_type: Blob, context: str) -> list[tuple[str, Any]]:
        return []

    def scalar(self, wire_type: ScalarType, context: str) -> list[tuple[str, Any]]:
        return []

    def _long(self, attribute: str, element: WireType, count: int) -> Any:
        text = self.text
        return lambda value: setattr(
            value, attribute, [smallest(element, text) for _ in range(count)]
        )

    def _inside(self, attribute: str, struct: StructType, fill: Any, *, list_of: bool) -> Any:
        def apply(value: Any) -> None:
            inner = smallest(struct, self.text)
            fill(inner)
            setattr(value, attribute, [inner] if list_of else inner)

        return apply


def smallest(wire_type: WireType, text: str) -> Any:
    """A value of the type that takes its fewest bytes, but for ``text`` in strings."""
    return _SMALLEST.visit(wire_type, text)


class _Smallest(Visitor[str, Any]):
    def struct(self, wire_type: StructType, context: str) -> Any:
        value = wire_type.value_class()
        for member in wire_type.members:
            if member.wire_type is not None and member.tag is None:
                setattr(value, member.attribute, self.visit(member.wire_type, context))
        return value

    def array(self, wire_type: Array, context: str) -> Any:
        return []

    def nullable_struct(self, wire_type: NullableStruct, context: str) -> Any:
        return None

    def blob(self, wire_type: Blob, context: str) -> Any:
        return context if wire_type.scalar.python_type is str else b""

    def scalar(self, wire_type: ScalarType, context: str) -> Any:
        return wire_type.parse(bytes(wire_type.min_size))


_SMALLEST = _Smallest()


@pytest.mark.parametrize("version", [0, 5])
def test_a_count_that_lies_costs_nothing(version: int) -> None:
    found = codec("CreateTopicsRequest", version)
    count = b"\x7f\xff\xff\xff" if version == 0 else b"\xff\xff\xff\xff\x07"
    data = count + bytes(FRAME)
    made_ready(found)
    with traced() as memory, pytest.raises(DecodeError, match="items needs at least"):
        found.decode(data)
    assert memory.peak < 2 * FRAME


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
