"""Damaged bytes of messages: each kind of damage that a peer or a network may do."""

from __future__ import annotations

import random
from typing import Any

from kafka_admin_proto.codec import Codec
from kafka_admin_proto.wire.types.arrays import Array
from kafka_admin_proto.wire.types.base import WireType
from kafka_admin_proto.wire.types.blobs import Blob
from kafka_admin_proto.wire.types.nullable import NullableStruct
from kafka_admin_proto.wire.types.scalar import ScalarType
from kafka_admin_proto.wire.types.tagged import RawTag, TagHeader
from kafka_admin_proto.wire.varint import varint_end
from kafka_admin_proto.wire.visitor import Visitor


class _LengthOf(Visitor[Any, tuple[bool, int] | None]):
    """Whether the length or count of a span is a varint, and its size if not; None for none.

    The context is the span's value.
    """

    def array(self, wire_type: Array, context: Any) -> tuple[bool, int] | None:
        return wire_type.compact, 4

    def blob(self, wire_type: Blob, context: Any) -> tuple[bool, int] | None:
        return wire_type.compact, wire_type.prefix_size

    def tag_header(self, wire_type: TagHeader, context: Any) -> tuple[bool, int] | None:
        return None if isinstance(context, tuple) else (True, 1)

    def nullable_struct(self, wire_type: NullableStruct, context: Any) -> None:
        return None

    def scalar(self, wire_type: ScalarType, context: Any) -> None:
        return None

    def raw_tag(self, wire_type: RawTag, context: Any) -> None:
        return None


_LENGTH_OF = _LengthOf()


class Lengths:
    """An observer that keeps the place of every length on the wire.

    ``places`` are (path, start, whether it is a varint, size where it is not); ``tag_counts``
    are the places of the numbers of tagged fields, with those numbers.
    """

    def __init__(self) -> None:
        self.places: list[tuple[str, int, bool, int]] = []
        self.tag_counts: list[tuple[int, int]] = []

    def span(
        self, path: str, start: int, end: int, wire_type: WireType, value: Any, secret: bool
    ) -> None:
        length = _LENGTH_OF.visit(wire_type, value)
        if length is not None:
            self.places.append((path, start, *length))
        if isinstance(wire_type, TagHeader) and not isinstance(value, tuple):
            self.tag_counts.append((start, value))

    def non_canonical(self, path: str, offset: int, fault: str) -> None:
        raise AssertionError(f"{path} at byte {offset}: {fault}")


def lengths_of(found: Codec[Any], data: bytes) -> Lengths:
    """Where the lengths are in bytes that the codec wrote."""
    observer = Lengths()
    found.decode_from(data, observer=observer)
    return observer


def with_wrong_lengths(
    found: Codec[Any], data: bytes, *, huge_only: bool = False
) -> list[tuple[str, int, bytes]]:
    """The data with each of its lengths made huge or negative, one at a time."""
    damaged = []
    for path, start, compact, size in lengths_of(found, data).places:
        if compact:
            end = varint_end(data, start)
            lies = [b"\xff\xff\xff\xff\x07", b"\xff\xff\xff\xff\x0f", b"\x80\x80\x80\x80\x80\x01"]
        else:
            end = start + size
            lies = [b"\x7f" + b"\xff" * (size - 1), (-2).to_bytes(size, "big", signed=True)]
        for lie in lies[:1] if huge_only else lies:
            damaged.append((path, start, data[:start] + lie + data[end:]))
    return damaged


def damage(found: Codec[Any], data: bytes, dice: random.Random) -> bytes:
    """The data damaged in one of the ways below, or with bytes put behind it."""
    kind = dice.choice([_cut, _flip, _flip, _wrong_length, _foreign_tag, _extend])
    return kind(found, data, dice)


def _cut(found: Codec[Any], data: bytes, dice: random.Random) -> bytes:
    return data[: dice.randint(0, max(0, len(data) - 1))]


def _flip(found: Codec[Any], data: bytes, dice: random.Random) -> bytes:
    flipped = bytearray(data)
    for _ in range(dice.randint(1, 3) if flipped else 0):
        flipped[dice.randrange(len(flipped))] ^= 1 << dice.randrange(8)
    return bytes(flipped)


def _wrong_length(found: Codec[Any], data: bytes, dice: random.Random) -> bytes:
    lies = with_wrong_lengths(found, data)
    return dice.choice(lies)[2] if lies else _flip(found, data, dice)


def _foreign_tag(found: Codec[Any], data: bytes, dice: random.Random) -> bytes:
    """A tagged field of one byte where a struct has none: known, unknown, or another version's."""
    places = [start for start, count in lengths_of(found, data).tag_counts if count == 0]
    if not places:
        return _extend(found, data, dice)
    start = dice.choice(places)
    tag = bytes([1, dice.randrange(6), 1, dice.randrange(3)])
    return data[:start] + tag + data[start + 1 :]


def _extend(found: Codec[Any], data: bytes, dice: random.Random) -> bytes:
    return data + dice.randbytes(dice.randint(1, 4))
