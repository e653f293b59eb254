"""Bytes beside fields: one row for each piece of a message, in the order of the bytes."""

from __future__ import annotations

import contextlib
from typing import Any

import msgspec

from kafka_admin_proto.codec import Codec
from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import DecodeError
from kafka_admin_proto.wire.options import PLAIN_JSON
from kafka_admin_proto.wire.secrets import MASK
from kafka_admin_proto.wire.types.arrays import Array
from kafka_admin_proto.wire.types.base import WireType
from kafka_admin_proto.wire.types.blobs import Blob
from kafka_admin_proto.wire.types.nullable import NullableStruct
from kafka_admin_proto.wire.types.scalar import ScalarType
from kafka_admin_proto.wire.types.tagged import RawTag, TagHeader
from kafka_admin_proto.wire.visitor import Visitor


class FieldRow(msgspec.Struct, frozen=True, gc=False):
    """Bytes ``start`` to ``end`` (excluded) and the field that they are.

    ``value`` is the field's JSON form; containers have a row for their count or null marker
    alone. ``secret`` rows show the mask as their value and in their bytes.
    """

    path: str
    start: int
    end: int
    type: str
    value: Any
    secret: bool = False


class _ShownValue(Visitor[Any, Any]):
    """The value that a row shows for a span; the context is the value of the span."""

    def array(self, wire_type: Array, context: Any) -> Any:
        return None if context is None else counted(context, "items")

    def nullable_struct(self, wire_type: NullableStruct, context: Any) -> Any:
        return None if context is None else "present"

    def blob(self, wire_type: Blob, context: Any) -> Any:
        return context.hex() if isinstance(context, bytes) else self.scalar(wire_type, context)

    def scalar(self, wire_type: ScalarType, context: Any) -> Any:
        return wire_type.to_json(context, PLAIN_JSON)

    def tag_header(self, wire_type: TagHeader, context: Any) -> Any:
        return f"tag {context[0]}, size {context[1]}" if isinstance(context, tuple) else context

    def raw_tag(self, wire_type: RawTag, context: Any) -> Any:
        return context.hex()


_SHOWN_VALUE = _ShownValue()


class _Collector:
    """An observer that turns spans into rows."""

    def __init__(self) -> None:
        self.rows: list[FieldRow] = []

    def span(
        self, path: str, start: int, end: int, wire_type: WireType, value: Any, secret: bool
    ) -> None:
        shown = _SHOWN_VALUE.visit(wire_type, value)
        self.rows.append(FieldRow(path, start, end, wire_type.describe(), shown, secret))

    def non_canonical(self, path: str, offset: int, fault: str) -> None:
        """Rows do not show this; ``Codec.non_canonical`` does."""


def field_rows(
    codec: Codec[Any], data: bytes, offset: int = 0, *, prefix: str = "", mask: bool = True
) -> tuple[list[FieldRow], str | None]:
    """The rows of a message that starts at ``offset``, and the problem that ended decoding.

    ``prefix`` goes in front of each path. Bytes after a problem make a last row without a type; it
    counts as a secret, because any field may be in it.
    """
    collector = _Collector()
    problem = None
    end = offset
    try:
        _, end = codec.decode_from(data, offset, observer=collector)
    except DecodeError as error:
        problem = str(error)
        end = collector.rows[-1].end if collector.rows else offset
    rows = [_finish(row, prefix, mask) for row in collector.rows]
    if end < len(data) and problem is not None:
        rest: Any = MASK if mask else data[end:].hex()
        rows.append(FieldRow(f"{prefix}(not decoded)", end, len(data), "", rest, mask))
    return rows, problem


def secret_spans(
    codec: Codec[Any], data: bytes, offset: int, *, sizes: bool = True
) -> list[tuple[int, int]]:
    """Where the secrets of a message that starts at ``offset`` stand: (start, end) pairs.

    The bytes after the message, or after the place where decoding failed, count as one. Without
    ``sizes`` those in front of text and bytes are left out.
    """
    collector = _SecretCollector(offset, sizes)
    with contextlib.suppress(DecodeError):
        codec.decode_from(data, offset, observer=collector)
    return [*collector.spans, (collector.end, len(data))]


class _SecretCollector:
    """An observer that keeps only the places of secrets."""

    def __init__(self, offset: int, sizes: bool) -> None:
        self.spans: list[tuple[int, int]] = []
        self.end = offset
        self._sizes = sizes

    def span(
        self, path: str, start: int, end: int, wire_type: WireType, value: Any, secret: bool
    ) -> None:
        self.end = end
        if secret and value is not None:
            if not self._sizes and isinstance(value, str):
                start = end - len(value.encode("utf-8", "surrogateescape"))
            elif not self._sizes and isinstance(value, (bytes, memoryview)):
                start = end - len(value)
            self.spans.append((start, end))

    def non_canonical(self, path: str, offset: int, fault: str) -> None:
        """Whether bytes are canonical does not matter here."""


def masked_hex(data: bytes, secrets: list[tuple[int, int]]) -> str:
    """The bytes in hex, those of secrets as ``**``."""
    text = bytearray(data.hex(), "ascii")
    for start, end in secrets:
        text[2 * start : 2 * end] = b"**" * (end - start)
    return text.decode("ascii")


def _finish(row: FieldRow, prefix: str, mask: bool) -> FieldRow:
    secret = row.secret and mask and row.value is not None
    if not (prefix or row.secret):
        return row
    return msgspec.structs.replace(
        row, path=prefix + row.path, value=MASK if secret else row.value, secret=secret
    )
