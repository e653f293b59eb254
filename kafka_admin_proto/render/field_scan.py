"""Field scans: the error codes, topic ids and invalid texts of a value, at any depth.

Each frame of a capture is scanned, so that a function is compiled for each message and version; it
looks only at the fields that may hold one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Literal, NamedTuple
from uuid import UUID

from kafka_admin_proto.codec import Codec
from kafka_admin_proto.wire.emit.compiled import compile_function
from kafka_admin_proto.wire.field_names import is_error_field, is_topic_id_field
from kafka_admin_proto.wire.types.arrays import Array
from kafka_admin_proto.wire.types.blobs import Blob, replace_invalid_utf8
from kafka_admin_proto.wire.types.containers import StructType
from kafka_admin_proto.wire.types.nullable import NullableStruct
from kafka_admin_proto.wire.types.scalar import ScalarType
from kafka_admin_proto.wire.visitor import Visitor

Kind = Literal["error codes", "topic ids", "texts"]
#: How many nested loops Python compiles; no message of Kafka's has nearly as many.
_DEEPEST = 18


def error_codes(codec: Codec[Any], value: Any) -> list[int]:
    """The distinct error codes that are not 0, in order, of fields that say what failed."""
    return error_codes_and_topic_ids(codec, value)[0]


def topic_ids(codec: Codec[Any], value: Any) -> list[UUID]:
    """The distinct topic ids that are not zero."""
    return error_codes_and_topic_ids(codec, value)[1]


def error_codes_and_topic_ids(codec: Codec[Any], value: Any) -> tuple[list[int], list[UUID]]:
    """``error_codes`` and ``topic_ids`` in one pass over the value."""
    collect = _collector(codec, ("error codes", "topic ids"))
    if collect is None:
        return [], []
    codes: list[int] = []
    ids: list[UUID] = []
    collect(value, codes.append, ids.append)
    return (
        sorted(set(codes)) if codes else codes,
        list(dict.fromkeys(ids)) if len(ids) > 1 else ids,
    )


def has_invalid_utf8(codec: Codec[Any], value: Any) -> bool:
    """Whether a text was not UTF-8 on the wire: it has surrogates in the place of such bytes."""
    collect = _collector(codec, ("texts",))
    if collect is None:
        return False
    texts: list[str] = []
    collect(value, texts.append)
    return any(replace_invalid_utf8(text) != text for text in texts)


#: Takes a value, and for each kind a function that takes what is found of it.
_Collector = Callable[..., None]
#: Kind → the parameter of a collector that takes what is found of it.
_ADD: dict[Kind, str] = {"error codes": "add_code", "topic ids": "add_id", "texts": "add_text"}


@lru_cache(maxsize=4096)
def _collector(codec: Codec[Any], kinds: tuple[Kind, ...]) -> _Collector | None:
    """The function that collects values of those kinds; None for a message without such fields."""
    lines = _ScanLines(kinds).visit(codec.grammar, _Place("", "x", 1))
    if not lines:
        return None
    parameters = ", ".join(["x", *map(_ADD.__getitem__, kinds)])
    source = "\n".join([f"def collect({parameters}):", *lines, ""])
    title = f"{' and '.join(kinds)} of {codec.grammar.title}"
    collect: _Collector = compile_function("collect", source, title)
    return collect


class _Place(NamedTuple):
    """A field: its attribute, the expression for its value, and the loops around it."""

    attribute: str
    value: str
    depth: int

    @property
    def indent(self) -> str:
        return "    " * self.depth


class _ScanLines(Visitor[_Place, list[str]]):
    """The lines of code that look at a field; none for a field that cannot hold such a value."""

    def __init__(self, kinds: tuple[Kind, ...]) -> None:
        self.kinds = kinds

    def struct(self, wire_type: StructType, context: _Place) -> list[str]:
        lines: list[str] = []
        for member in wire_type.members:
            if member.wire_type is not None and context.depth <= _DEEPEST:
                value = f"{context.value}.{member.attribute}"
                place = _Place(member.attribute, value, context.depth)
                lines += self.visit(member.wire_type, place)
        return lines

    def nullable_struct(self, wire_type: NullableStruct, context: _Place) -> list[str]:
        inner = self.visit(wire_type.struct, context._replace(depth=context.depth + 1))
        return inner and [f"{context.indent}if {context.value} is not None:", *inner]

    def array(self, wire_type: Array, context: _Place) -> list[str]:
        item = f"i{context.depth}"
        place = _Place(context.attribute, item, context.depth + 1)
        inner = self.visit(wire_type.element, place)
        return inner and [f"{context.indent}for {item} in {context.value} or ():", *inner]

    def scalar(self, wire_type: ScalarType, context: _Place) -> list[str]:
        name, value, kind = context.attribute, context.value, wire_type.scalar.python_type
        if "error codes" in self.kinds and kind is int and is_error_field(name):
            return [f"{context.indent}if {value}: add_code({value})"]
        if "topic ids" in self.kinds and kind is UUID and is_topic_id_field(name):
            return [f"{context.indent}if {value}.int: add_id({value})"]
        return []

    def blob(self, wire_type: Blob, context: _Place) -> list[str]:
        value = context.value
        if "texts" in self.kinds and wire_type.scalar.python_type is str:
            is_wanted = f"{value} is not None and not {value}.isascii()"
            return [f"{context.indent}if {is_wanted}: add_text({value})"]
        return []
