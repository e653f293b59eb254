"""Arrays: a count and that many elements."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from construct import Container

from kafka_admin_proto.errors import DecodeError, EncodeError
from kafka_admin_proto.wire.base import (
    OBSERVER,
    JsonOptions,
    WireType,
    cannot_encode,
    read_exactly,
    remaining,
    wrong_json,
)
from kafka_admin_proto.wire.containers import StructType
from kafka_admin_proto.wire.emit import Readers
from kafka_admin_proto.wire.fixed import Float64, Integer, Uuid
from kafka_admin_proto.wire.varint import MAX_UVARINT, encode_uvarint, read_uvarint

if TYPE_CHECKING:
    from kafka_admin_proto.wire.emit import JsonEmitter, ReadEmitter, WriteEmitter


class Array(WireType):
    """A count and that many elements: int32, or a varint of the count plus one when ``compact``."""

    is_leaf = False

    def __init__(self, element: WireType, *, compact: bool, nullable: bool) -> None:
        super().__init__()
        self.element = element
        self.compact = compact
        self.nullable = nullable
        self.min_size = 1 if compact else 4

    def describe(self) -> str:
        prefix = "COMPACT_" * self.compact + "NULLABLE_" * self.nullable
        return f"{prefix}ARRAY of {self.element.describe()}"

    def _parse(self, stream: IO[bytes], context: Container, path: str) -> Any:
        start = stream.tell()
        count = self._parse_count(stream, context, path, start)
        observer = context.get(OBSERVER)
        if observer is not None:
            observer.span(path, start, stream.tell(), self, count, False)
        if count is None:
            return None
        element = self.element
        values: list[Any] = []
        for index in range(count):
            here = f"{path}[{index}]"
            begin = stream.tell()
            values.append(value := element._parse(stream, context, here))
            if observer is not None and element.is_leaf:
                observer.span(here, begin, stream.tell(), element, value, False)
        return values

    def _parse_count(
        self, stream: IO[bytes], context: Container, path: str, start: int
    ) -> int | None:
        if self.compact:
            count = read_uvarint(stream, context, path, "array count") - 1
        else:
            prefix = read_exactly(stream, 4, path, "array count")
            count = int.from_bytes(prefix, "big", signed=True)
        if count < 0:
            if count == -1 and self.nullable:
                return None
            fault = "is null where null is not allowed" if count == -1 else f"has count {count}"
            raise DecodeError(f"array {fault}", path=path, offset=start, expected=self.describe())
        # Java refuses a count over the bytes left; an element's least size makes it sharper.
        least = count * max(self.element.min_size, 1)
        if least > (left := remaining(stream)):
            raise DecodeError(
                f"array of {count} items needs at least {least} bytes, {left} left",
                path=path,
                offset=start,
                expected=self.describe(),
            )
        return count

    def _build(self, obj: Any, stream: IO[bytes], context: Container, path: str) -> Any:
        if obj is None and self.nullable:
            count = -1
        elif not isinstance(obj, (list, tuple)):
            raise cannot_encode(path, obj, "a list" + (" or None" if self.nullable else ""))
        else:
            count = len(obj)
        if count >= MAX_UVARINT:
            raise EncodeError(f"{count} items are too many for an array", path=path, value=count)
        if self.compact:
            stream.write(encode_uvarint(count + 1))
        else:
            stream.write(count.to_bytes(4, "big", signed=True))
        for index, value in enumerate(obj or ()):
            self.element._build(value, stream, context, f"{path}[{index}]")
        return obj

    def emit_read(self, e: ReadEmitter, target: str) -> None:
        count = e.fresh("n")
        e.fixed("B" if self.compact else "i", count)
        e.settle()
        if isinstance(self.element, (Integer, Float64)):
            self._emit_numbers(e, target, count, self.element)
            return
        if self.compact:
            with e.block(f"if {count} > 127:"):
                e.line(f"{count}, p = uvarint(b, p - 1)")
        with e.block(f"if {count} {'== 0' if self.compact else '< 0'}:"):
            if self.nullable and not self.compact:
                with e.block(f"if {count} != -1:"):
                    e.line("raise Mismatch")
            e.line(f"{target} = None" if self.nullable else "raise Mismatch")
        with e.block("else:"):
            items = f"{count} - 1" if self.compact else count
            if isinstance(self.element, Uuid):
                e.line(f"{target} = uuids(b, p, {items})")
                e.line(f"p += 16 * ({items})")
                return
            # As in the tree: without it a count that lies costs what the data can be made to hold.
            least = f" * {self.element.min_size}" if self.element.min_size > 1 else ""
            with e.block(f"if ({items}){least} > {e.data_size()} - p:"):
                e.line("raise Mismatch")
            e.line(f"{target} = []")
            with e.block(f"for _ in range({items}):"):
                if isinstance(self.element, StructType):
                    self.element.emit_construct(e, f"{target}.append({{}})")
                else:
                    item = e.fresh("x")
                    self.element.emit_read(e, item)
                    e.settle()
                    e.line(f"{target}.append({item})")

    def _emit_numbers(
        self, e: ReadEmitter, target: str, count: str, element: Integer | Float64
    ) -> None:
        """All items in one call."""
        size = element.min_size
        readers = e.constant("R", Readers(element.code), element.code)
        if self.compact:
            with e.block(f"if 1 < {count} < 128:"):
                e.line(f"{target} = [*{readers}[{count} - 1](b, p)]")
                e.line(f"p += {count} * {size} - {size}")
            with e.block(f"elif {count} == 1:"):
                e.line(f"{target} = []")
            with e.block("else:"):
                call = f"many(b, p - 1, {readers}, {size}, {self.nullable})"
                e.line(f"{target}, p = {call}")
            return
        with e.block(f"if {count} > 0:"):  # struct itself sees whether so many are there
            e.line(f"{target} = [*{readers}[{count}](b, p)]")
            e.line(f"p += {count} * {size}")
        with e.block(f"elif {count} == 0:"):
            e.line(f"{target} = []")
        if self.nullable:
            with e.block(f"elif {count} == -1:"):
                e.line(f"{target} = None")
        with e.block("else:"):
            e.line("raise Mismatch")

    def emit_write(self, e: WriteEmitter, value: str) -> None:
        items, count = e.fresh("a"), e.fresh("n")
        e.line(f"{items} = {value}")
        if self.nullable:
            with e.block(f"if {items} is None:"):
                e.line(f"{items}, {count} = (), {0 if self.compact else -1}")
            with e.block("else:"):
                self._emit_count(e, items, count)
        else:
            self._emit_count(e, items, count)
        if isinstance(self.element, (Integer, Float64)):
            self._emit_pack(e, items, count, self.element)
            return
        if self.compact:
            e.compact_length(count, limit=MAX_UVARINT)
        else:
            e.fixed("i", count)
            e.flush()
        item = e.fresh("x")
        with e.block(f"for {item} in {items}:"):
            self.element.emit_write(e, item)
            e.flush()

    def _emit_count(self, e: WriteEmitter, items: str, count: str) -> None:
        with e.block(f"if type({items}) is not list:"):
            e.line(f"{items} = as_list({items})")
        e.line(f"{count} = len({items}){' + 1' * self.compact}")

    def _emit_pack(
        self, e: WriteEmitter, items: str, count: str, element: Integer | Float64
    ) -> None:
        """Note the count and the items: with what stands around them they are one call."""
        e.fixed("B" if self.compact else "i", count)
        e.fixed(f"*{element.code}", items)

    def to_json(self, value: Any, options: JsonOptions) -> Any:
        if value is None:
            return None
        return [self.element.to_json(item, options) for item in value]

    def emit_json(self, e: JsonEmitter, value: str) -> str:
        item = e.fresh("i")
        element = self.element.emit_json(e, item)
        items = f"list({value})" if element == item else f"[{element} for {item} in {value}]"
        return f"None if {value} is None else {items}"

    def from_json(self, obj: Any, path: str) -> Any:
        if obj is None and self.nullable:
            return None
        if not isinstance(obj, list):
            raise wrong_json(path, obj, "an array" + (" or null" if self.nullable else ""))
        return [self.element.from_json(item, f"{path}[{i}]") for i, item in enumerate(obj)]
