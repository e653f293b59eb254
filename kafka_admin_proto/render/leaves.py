"""Particular fields of a value, wherever in it they are: error codes, topic ids, odd text.

Asked for each frame of a capture, so that a function is made for each message and version, which
looks at nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Literal
from uuid import UUID

from kafka_admin_proto.codec import Codec
from kafka_admin_proto.protocol.error_codes import is_error_field
from kafka_admin_proto.wire.arrays import Array
from kafka_admin_proto.wire.base import WireType
from kafka_admin_proto.wire.blobs import String, readable
from kafka_admin_proto.wire.containers import NullableStruct, StructType
from kafka_admin_proto.wire.fixed import Integer, Uuid

Kind = Literal["error codes", "topic ids", "texts"]
#: Loops inside each other that Python compiles; no message of Kafka's comes near.
_DEEPEST = 18


def error_codes(codec: Codec[Any], value: Any) -> list[int]:
    """The distinct error codes that are not 0, in order."""
    found: set[int] = set()
    _collector(codec, "error codes")(value, found.add)
    return sorted(found)


def topic_ids(codec: Codec[Any], value: Any) -> list[UUID]:
    """The distinct topic ids that are not zero."""
    found: dict[UUID, None] = {}
    _collector(codec, "topic ids")(value, lambda each: found.setdefault(each))
    return list(found)


def has_odd_text(codec: Codec[Any], value: Any) -> bool:
    """Whether some text was not UTF-8 on the wire: it has surrogates in the place of bytes."""
    found: list[str] = []
    _collector(codec, "texts")(value, found.append)
    return any(readable(text) != text for text in found)


_Collector = Callable[[Any, Callable[[Any], object]], None]


@lru_cache(maxsize=4096)
def _collector(codec: Codec[Any], kind: Kind) -> _Collector:
    lines = list(_struct(codec.grammar, "x", kind, 1))
    source = "\n".join(["def collect(x, add):", *(lines or ["    pass"]), ""])
    namespace: dict[str, Any] = {}
    exec(compile(source, f"<kafka_admin_proto {kind} of {codec.grammar.title}>", "exec"), namespace)
    collect: _Collector = namespace["collect"]
    return collect


def _struct(struct: StructType, value: str, kind: Kind, depth: int) -> Iterator[str]:
    for member in struct.members:
        if member.wire_type is not None and depth <= _DEEPEST:
            attribute = member.attribute
            yield from _field(member.wire_type, attribute, f"{value}.{attribute}", kind, depth)


def _field(wire_type: WireType, name: str, value: str, kind: Kind, depth: int) -> Iterator[str]:
    """Lines for a field, none where nothing in it is wanted."""
    indent = "    " * depth
    if isinstance(wire_type, StructType):
        yield from _struct(wire_type, value, kind, depth)
    elif isinstance(wire_type, NullableStruct):
        inner = list(_struct(wire_type.struct, value, kind, depth + 1))
        if inner:
            yield f"{indent}if {value} is not None:"
            yield from inner
    elif isinstance(wire_type, Array):
        item = f"i{depth}"
        inner = list(_field(wire_type.element, name, item, kind, depth + 1))
        if inner:
            yield f"{indent}for {item} in {value} or ():"
            yield from inner
    elif kind == "error codes":
        if isinstance(wire_type, Integer) and is_error_field(name):
            yield f"{indent}if {value}: add({value})"
    elif kind == "topic ids":
        if isinstance(wire_type, Uuid) and name.rstrip("s").endswith("topic_id"):
            yield f"{indent}if {value}.int: add({value})"
    elif isinstance(wire_type, String):
        yield f"{indent}if {value} is not None and not {value}.isascii(): add({value})"
