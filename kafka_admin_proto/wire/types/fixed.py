"""Types of a fixed size: bool, the integers, float64 and uuid."""

from __future__ import annotations

import base64
import math
import re
import struct
from functools import lru_cache
from typing import IO, Any
from uuid import UUID

from construct import Container

from kafka_admin_proto.errors import JsonError
from kafka_admin_proto.wire.emit.emitters import Count, JsonEmitter, ReadEmitter, WriteEmitter
from kafka_admin_proto.wire.emit.runtime import Readers, fast_uuid
from kafka_admin_proto.wire.nodes import FixedNode
from kafka_admin_proto.wire.options import JsonOptions
from kafka_admin_proto.wire.stream import note, read_exactly
from kafka_admin_proto.wire.types.base import cannot_encode, is_misplaced_secret, shown, wrong_json
from kafka_admin_proto.wire.types.scalar import ScalarType

_CANONICAL = re.compile(r"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}")
_BASE64 = re.compile(r"[A-Za-z0-9_-]{22}(?:==)?")


class FixedType(ScalarType):
    """A type of a fixed size; ``code`` is that of ``struct``."""

    def __init__(self, element: str) -> None:
        super().__init__(element)
        self.code: str = self.scalar.code
        self._struct = struct.Struct(f">{self.code}")
        self.fixed_size: int | None = self._struct.size
        self.min_size: int = self._struct.size

    def emit_read(self, e: ReadEmitter, target: str) -> None:
        e.fixed(self.code, target)

    def emit_write(self, e: WriteEmitter, value: str) -> None:
        e.fixed(self.code, value)


class Bool(FixedType, elements=("bool",)):
    """One byte: 0 is false, 1 is true; any other byte is read as true, as Java does."""

    def node(self) -> FixedNode:
        return FixedNode("bool", 1)

    def _parse(self, stream: IO[bytes], context: Container, path: str) -> bool:
        byte = read_exactly(stream, 1, path, "bool")[0]
        if byte > 1:
            note(context, path, stream.tell() - 1, f"a bool of {byte}")
        return byte != 0

    def _build(self, obj: Any, stream: IO[bytes], context: Container, path: str) -> Any:
        if obj is not True and obj is not False:
            raise cannot_encode(path, obj, "a bool")
        stream.write(b"\x01" if obj else b"\x00")
        return obj

    def emit_write(self, e: WriteEmitter, value: str) -> None:
        with e.block(f"if {value} is not True and {value} is not False:"):
            e.line("raise Fallback")
        super().emit_write(e, value)

    def emit_json(self, e: JsonEmitter, value: str) -> str:
        return value

    def from_json(self, obj: Any, path: str) -> bool:
        if obj is not True and obj is not False:
            raise wrong_json(path, obj, "true or false")
        return bool(obj)


class Number(FixedType):
    """What ``struct`` reads and writes by itself: arrays of them are one call."""

    def emit_read_many(self, e: ReadEmitter, target: str, count: Count) -> None:
        local, size = count.local, self.min_size
        readers = e.constant("R", Readers(self.code), self.code)
        if count.compact:
            with e.block(f"if 1 < {local} < 128:"):
                e.line(f"{target} = [*{readers}[{local} - 1](b, p)]")
                e.line(f"p += {local} * {size} - {size}")
            with e.block(f"elif {local} == 1:"):
                e.line(f"{target} = []")
            with e.block("else:"):
                call = f"many(b, p - 1, {readers}, {size}, {count.nullable})"
                e.line(f"{target}, p = {call}")
            return
        with e.block(f"if {local} > 0:"):  # struct itself sees whether all of them are there
            e.line(f"{target} = [*{readers}[{local}](b, p)]")
            e.line(f"p += {local} * {size}")
        with e.block(f"elif {local} == 0:"):
            e.line(f"{target} = []")
        if count.nullable:
            with e.block(f"elif {local} == -1:"):
                e.line(f"{target} = None")
        with e.block("else:"):
            e.line("raise Fallback")

    def emit_write_many(self, e: WriteEmitter, items: str, count: Count) -> None:
        """Note the count and the items: they and the fixed-size fields around them are one call."""
        e.fixed(count.code, count.local)
        e.fixed(f"*{self.code}", items)


class Integer(Number, elements=("int8", "int16", "uint16", "int32", "uint32", "int64")):
    """A big-endian integer; ``element`` is its name in the definitions (``int32``, ``uint16``).

    What is written may be anything that stands for an int in Python (``__index__``).
    """

    def __init__(self, element: str) -> None:
        super().__init__(element)
        assert self.scalar.bounds is not None, element
        self.bounds: tuple[int, int] = self.scalar.bounds

    def node(self) -> FixedNode:
        return FixedNode("integer", self.min_size, signed=self.bounds[0] < 0)

    def _parse(self, stream: IO[bytes], context: Container, path: str) -> int:
        data = read_exactly(stream, self._struct.size, path, self.element)
        value: int = self._struct.unpack(data)[0]
        return value

    def _build(self, obj: Any, stream: IO[bytes], context: Container, path: str) -> Any:
        try:
            stream.write(self._struct.pack(obj))
        except (struct.error, OverflowError, TypeError):
            low, high = self.bounds
            expected = f"an integer from {low} to {high} ({self.element})"
            raise cannot_encode(path, obj, expected) from None
        return obj

    def emit_json(self, e: JsonEmitter, value: str) -> str:
        return value

    def from_json(self, obj: Any, path: str) -> int:
        low, high = self.bounds
        if not isinstance(obj, int) or isinstance(obj, bool) or not low <= obj <= high:
            raise wrong_json(path, obj, f"an integer from {low} to {high}")
        return obj


class Float64(Number, elements=("float64",)):
    """An IEEE 754 double. JSON has no NaN or infinity: they are strings there, as in Java."""

    def node(self) -> FixedNode:
        return FixedNode("float64", 8)

    def _parse(self, stream: IO[bytes], context: Container, path: str) -> float:
        value: float = struct.unpack(">d", read_exactly(stream, 8, path, "float64"))[0]
        return value

    def _build(self, obj: Any, stream: IO[bytes], context: Container, path: str) -> Any:
        try:
            stream.write(struct.pack(">d", obj))
        except (struct.error, OverflowError, TypeError):
            raise cannot_encode(path, obj, "a number that fits a float64") from None
        return obj

    def to_json(self, value: Any, options: JsonOptions) -> Any:
        if math.isnan(value):
            return "NaN"
        if math.isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
        return float(value)

    def from_json(self, obj: Any, path: str) -> float:
        if obj in ("NaN", "Infinity", "-Infinity"):
            return float(obj)
        if isinstance(obj, bool) or not isinstance(obj, (float, int)):
            raise wrong_json(path, obj, 'a number, "NaN", "Infinity" or "-Infinity"')
        try:
            return float(obj)
        except OverflowError:
            raise wrong_json(path, obj, "a number that fits a float64") from None


class Uuid(FixedType, elements=("uuid",)):
    """Sixteen bytes. In JSON Kafka's form: 22 characters of base64url, no padding."""

    def node(self) -> FixedNode:
        return FixedNode("uuid", 16)

    def _parse(self, stream: IO[bytes], context: Container, path: str) -> UUID:
        return UUID(bytes=read_exactly(stream, 16, path, "uuid"))

    def _build(self, obj: Any, stream: IO[bytes], context: Container, path: str) -> Any:
        if not isinstance(obj, UUID):
            raise cannot_encode(path, obj, "a uuid.UUID")
        try:
            stream.write(obj.int.to_bytes(16, "big"))
        except (AttributeError, OverflowError, TypeError):  # a subclass, or one without its number
            raise cannot_encode(path, obj, "a uuid.UUID of 128 bits") from None
        return obj

    def emit_read(self, e: ReadEmitter, target: str) -> None:
        e.fixed(self.code, target, f"{target} = {e.named('uuid', fast_uuid)}({target})")

    def emit_read_items(self, e: ReadEmitter, target: str, items: str) -> None:
        e.line(f"{target} = uuids(b, p, {items})")
        e.line(f"p += 16 * ({items})")

    def emit_write(self, e: WriteEmitter, value: str) -> None:
        e.fixed(self.code, f"{value}.int.to_bytes(16, 'big')")

    def to_json(self, value: Any, options: JsonOptions) -> Any:
        return uuid_to_text(value)

    def emit_json(self, e: JsonEmitter, value: str) -> str:
        return f"{e.named('uuid_text', _text_of_uuid)}({value}.int)"

    def from_json(self, obj: Any, path: str) -> UUID:
        if not isinstance(obj, str):
            raise wrong_json(path, obj, "a uuid as a string")
        try:
            return uuid_from_text(obj)
        except ValueError:
            wrong = shown(obj, secret=is_misplaced_secret(obj))
            raise JsonError(
                f"{wrong} is not a uuid: expected 22 characters of base64url, "
                "or the form 00000000-0000-0000-0000-000000000000",
                path=path,
            ) from None


def uuid_to_text(value: UUID) -> str:
    """Kafka's text form of a uuid: base64url without padding, as ``Uuid.toString`` in Java."""
    return _text_of_uuid(value.int)


@lru_cache(maxsize=4096)
def _text_of_uuid(value: int) -> str:
    """The text of the uuid of that number; the same few topics come again and again."""
    return base64.urlsafe_b64encode(value.to_bytes(16, "big"))[:22].decode("ascii")


def uuid_from_text(text: str) -> UUID:
    """Read Kafka's form or the canonical one with hyphens; ValueError for anything else."""
    if _CANONICAL.fullmatch(text):
        return UUID(text)
    if _BASE64.fullmatch(text):
        return UUID(bytes=base64.urlsafe_b64decode(f"{text[:22]}=="))
    raise ValueError(f"{text!r} is not a uuid")
