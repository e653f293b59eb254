"""Arrays: a count and that many elements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

from construct import Container

from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import DecodeError, EncodeError
from kafka_admin_proto.wire.emit.emitters import Count, JsonEmitter, ReadEmitter, WriteEmitter
from kafka_admin_proto.wire.emit.runtime import as_list
from kafka_admin_proto.wire.nodes import ArrayNode
from kafka_admin_proto.wire.options import OBSERVER, JsonOptions
from kafka_admin_proto.wire.stream import read_exactly, remaining
from kafka_admin_proto.wire.types.base import WireType, cannot_encode, with_article, wrong_json
from kafka_admin_proto.wire.types.fixed import Number
from kafka_admin_proto.wire.varint import MAX_UVARINT, encode_uvarint, read_uvarint


class Array(WireType):
    """A count and that many elements: int32, or a varint of the count plus one when ``compact``."""

    is_leaf = False

    def __init__(self, element: WireType, *, compact: bool, nullable: bool) -> None:
        super().__init__()
        self.element = element
        self.compact = compact
        self.nullable = nullable
        self.min_size = 1 if compact else 4
        self.holds_secrets: bool = element.holds_secrets
        self.holds_records: bool = element.holds_records

    def describe(self) -> str:
        prefix = "COMPACT_" * self.compact + "NULLABLE_" * self.nullable
        return f"{prefix}ARRAY of {self.element.describe()}"

    def children(self) -> tuple[WireType, ...]:
        return (self.element,)

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
                f"array of {counted(count, 'items')} needs at least {counted(least, 'bytes')}, "
                f"{left} left",
                path=path,
                offset=start,
                expected=self.describe(),
            )
        return count

    def _build(self, obj: Any, stream: IO[bytes], context: Container, path: str) -> Any:
        items: list[Any] = []
        if obj is None and self.nullable:
            count = -1
        elif not isinstance(obj, (list, tuple)):
            expected = "a list" + (" or None" if self.nullable else "")
            if isinstance(obj, Iterator):
                fault = f"expected {expected}, got {with_article(type(obj).__name__)}, which "
                raise EncodeError(f"{fault}can be read once only; make a list of it", path=path)
            raise cannot_encode(path, obj, expected, secret=self.holds_secrets)
        else:
            items = as_list(obj)
            count = len(items)
        if count >= MAX_UVARINT:
            raise EncodeError(
                f"{counted(count, 'items')} are too many for an array", path=path, value=count
            )
        if self.compact:
            stream.write(encode_uvarint(count + 1))
        else:
            stream.write(count.to_bytes(4, "big", signed=True))
        for index, value in enumerate(items):
            self.element._build(value, stream, context, f"{path}[{index}]")
        return obj

    def node(self) -> ArrayNode | None:
        element = self.element.node()
        if element is None:
            return None
        least = max(self.element.min_size, 1)
        return ArrayNode(element, least, self.compact, self.nullable)

    def emit_read(self, e: ReadEmitter, target: str) -> None:
        count = Count(e.fresh("n"), self.compact, self.nullable)
        e.fixed(count.code, count.local)
        e.sync_position()
        self.element.emit_read_many(e, target, count)

    def emit_write(self, e: WriteEmitter, value: str) -> None:
        items, count = e.fresh("a"), Count(e.fresh("n"), self.compact, self.nullable)
        e.line(f"{items} = {value}")
        if self.nullable:
            with e.block(f"if {items} is None:"):
                e.line(f"{items}, {count.local} = (), {0 if self.compact else -1}")
            with e.block("else:"):
                self._emit_count(e, items, count)
        else:
            self._emit_count(e, items, count)
        self.element.emit_write_many(e, items, count)

    def _emit_count(self, e: WriteEmitter, items: str, count: Count) -> None:
        with e.block(f"if type({items}) is not list:"):
            e.line(f"{items} = as_list({items})")
        if not isinstance(self.element, Number):  # those are written in one call
            # An item's own methods, or another thread, may change the list meanwhile.
            with e.block("else:"):
                e.line(f"{items} = {items}.copy()")
        e.line(f"{count.local} = len({items}){' + 1' * self.compact}")

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
            expected = "an array" + (" or null" if self.nullable else "")
            raise wrong_json(path, obj, expected, secret=self.holds_secrets)
        return [self.element.from_json(item, f"{path}[{i}]") for i, item in enumerate(obj)]
