"""What emitted code calls; ``emitters`` has the rules."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any
from uuid import UUID, SafeUUID

from kafka_admin_proto.schema.scalars import ZERO_UUID
from kafka_admin_proto.wire.varint import uvarint_at

#: Arrays with at most this many numbers get a precompiled struct each when first needed.
_SHORT = 128
#: The most combinations of counts that are kept for a place in a message.
_MOST_PACKERS = 1024
#: The first few int16, by value.
SHORT_LENGTHS = tuple(value.to_bytes(2, "big") for value in range(256))


class Fallback(Exception):
    """The emitted code met what it does not read or write; the tree reads or writes it instead."""


class ValueChanged(Fallback):
    """A list changed while the compiled engine wrote it; the tree writes a copy."""


def nullable_length(b: bytes, p: int) -> int:
    """The int16 at ``p``: a length, or -1 for null."""
    length = int.from_bytes(b[p : p + 2], "big", signed=True)
    if length < -1:
        raise Fallback
    return length


def long_length(b: bytes, p: int) -> int:
    """The int16 at ``p``: the length of what cannot be null."""
    length = int.from_bytes(b[p : p + 2], "big", signed=True)
    if length < 0:
        raise Fallback
    return length


class Readers(dict[int, Callable[[bytes, int], Any]]):
    """Count → the reader of that many numbers of a ``struct`` code; a limited number is kept."""

    def __init__(self, code: str) -> None:
        super().__init__()
        self.code = code

    def __missing__(self, count: int) -> Callable[[bytes, int], Any]:
        reader = struct.Struct(f">{count}{self.code}").unpack_from
        if count < _SHORT:
            self[count] = reader
        return reader


class Packers(dict[Any, Callable[..., bytes]]):
    """Counts, as they are on the wire → what packs a run with lists of as many numbers.

    ``codes`` are those of the run, "*i" for a list; the key is one count, or a tuple of several.
    Of a list alone it is the number of its items.
    """

    def __init__(self, codes: tuple[str, ...]) -> None:
        super().__init__()
        self.codes = codes

    def __missing__(self, key: Any) -> Callable[..., bytes]:
        counts = iter(key if isinstance(key, tuple) else (key,))
        parts = []
        for before, code in zip(("", *self.codes), self.codes, strict=False):
            if code[0] == "*":
                # A compact count is one more than the items; null is below that.
                parts.append(f"{max(next(counts) - (before == 'B'), 0)}{code[1]}")
            else:
                parts.append(code)
        packer = struct.Struct(f">{''.join(parts)}").pack
        if len(self) < _MOST_PACKERS:
            self[key] = packer
        return packer


def read_many(b: bytes, p: int, readers: Readers, size: int, nullable: bool) -> tuple[Any, int]:
    """An array of numbers in the compact form, of any count; ``p`` is where the count is."""
    count, p = uvarint_at(b, p)
    if not count:
        if nullable:
            return None, p
        raise Fallback
    end = p + (count - 1) * size
    if end > len(b):
        raise Fallback
    return [*readers[count - 1](b, p)], end


def read_uuids(b: bytes, p: int, count: int) -> list[UUID]:
    """The ``count`` uuids from ``p`` on."""
    end = p + 16 * count
    if end > len(b):
        raise Fallback
    return [fast_uuid(b[start : start + 16]) for start in range(p, end, 16)]


def as_bytes(value: Any) -> bytes | memoryview:
    """The bytes of what the tree takes for them; a view of bytes may stay one."""
    if isinstance(value, memoryview) and value.c_contiguous and value.nbytes == len(value):
        return value
    if isinstance(value, (bytes, bytearray, memoryview)):
        return plain_bytes(value)
    raise Fallback


def plain_bytes(value: bytes | bytearray | memoryview) -> bytes:
    """The bytes that are in the object, without the methods that a subclass has of its own.

    Raises ValueError for a released memoryview.
    """
    return value if type(value) is bytes else bytes(memoryview(value))


def as_list(value: Any) -> list[Any]:
    """A list of what the tree takes for an array; raises Fallback for anything else.

    It is a copy, so that count and items agree while an item's own methods, or another thread,
    change the array. A subclass counts for the items in it, whatever its own methods say.
    """
    if isinstance(value, list):
        return [*list.__iter__(value)]
    if isinstance(value, tuple):
        return [*tuple.__iter__(value)]
    raise Fallback


def check_class(value: Any, wanted: type) -> None:
    """A struct may be of a subclass, as in the tree."""
    if not isinstance(value, wanted):
        raise Fallback


def _fast_uuid() -> Callable[[bytes], UUID]:
    """A UUID of 16 bytes without its checks, which cost four times the rest; zero is shared."""
    new = object.__new__
    slots: dict[str, Any] = dict(vars(UUID))
    set_int, set_safe = slots["int"].__set__, slots["is_safe"].__set__
    from_bytes, unknown, zero = int.from_bytes, SafeUUID.unknown, bytes(16)

    def fast_uuid(raw: bytes) -> UUID:
        if raw == zero:
            return ZERO_UUID
        made = new(UUID)
        set_int(made, from_bytes(raw, "big"))
        set_safe(made, unknown)
        return made

    return fast_uuid


fast_uuid: Callable[[bytes], UUID] = _fast_uuid()
