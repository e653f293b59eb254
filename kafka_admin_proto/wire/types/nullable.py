"""The wire type of structs that may be null."""

from __future__ import annotations

from typing import IO, Any

from construct import Container

from kafka_admin_proto.wire.emit.emitters import JsonEmitter, ReadEmitter, WriteEmitter
from kafka_admin_proto.wire.nodes import NullableNode
from kafka_admin_proto.wire.options import OBSERVER, JsonOptions
from kafka_admin_proto.wire.stream import note, read_exactly
from kafka_admin_proto.wire.types.base import WireType
from kafka_admin_proto.wire.types.containers import StructType
from kafka_admin_proto.wire.varint import read_uvarint


class NullableStruct(WireType):
    """A struct with a marker in front: an int8 (-1 null, 1 present), or when ``tagged`` a varint.

    As in ``MessageDataGenerator.generateStructReader``: any negative byte is null, any other
    present; inside a tagged field 0 is null.
    """

    is_leaf = False
    min_size = 1

    def __init__(self, struct: StructType, *, tagged: bool) -> None:
        super().__init__()
        self.struct = struct
        self.tagged = tagged
        self.holds_secrets: bool = struct.holds_secrets
        self.holds_records: bool = struct.holds_records

    def describe(self) -> str:
        return f"NULLABLE {self.struct.describe()}"

    def children(self) -> tuple[WireType, ...]:
        return (self.struct,)

    def _parse(self, stream: IO[bytes], context: Container, path: str) -> Any:
        start = stream.tell()
        if self.tagged:
            marker = read_uvarint(stream, context, path, "null marker")
            is_null, canonical = marker == 0, marker in (0, 1)
        else:
            byte = read_exactly(stream, 1, path, "null marker")
            marker = int.from_bytes(byte, "big", signed=True)
            is_null, canonical = marker < 0, marker in (-1, 1)
        if not canonical:
            note(context, path, start, f"a null marker of {marker}")
        observer = context.get(OBSERVER)
        if observer is not None:
            observer.span(path, start, stream.tell(), self, None if is_null else marker, False)
        return None if is_null else self.struct._parse(stream, context, path)

    def _build(self, obj: Any, stream: IO[bytes], context: Container, path: str) -> Any:
        if obj is None:
            stream.write(b"\x00" if self.tagged else b"\xff")
            return obj
        stream.write(b"\x01")
        return self.struct._build(obj, stream, context, path)

    def node(self) -> NullableNode | None:
        struct = self.struct.node()
        return None if struct is None else NullableNode(struct, self.tagged)

    def emit_read(self, e: ReadEmitter, target: str) -> None:
        marker = e.fresh("m")
        if self.tagged:
            e.sync_position()
            e.line(f"{marker}, p = uvarint(b, p)")
        else:
            e.fixed("b", marker)
            e.sync_position()
        with e.block(f"if {marker} {'== 0' if self.tagged else '< 0'}:"):
            e.line(f"{target} = None")
        with e.block("else:"):
            self.struct.emit_read(e, target)

    def emit_write(self, e: WriteEmitter, value: str) -> None:
        e.flush()
        local = e.fresh("x")
        e.line(f"{local} = {value}")
        with e.block(f"if {local} is None:"):
            e.line(f"w({(0 if self.tagged else 255).to_bytes(1, 'big')!r})")
        with e.block("else:"):
            e.fixed("B", "1")
            self.struct.emit_write(e, local)
            e.flush()

    def to_json(self, value: Any, options: JsonOptions) -> Any:
        return None if value is None else self.struct.to_json(value, options)

    def emit_json(self, e: JsonEmitter, value: str) -> str:
        return f"None if {value} is None else {self.struct.emit_json(e, value)}"

    def from_json(self, obj: Any, path: str) -> Any:
        return None if obj is None else self.struct.from_json(obj, path)
