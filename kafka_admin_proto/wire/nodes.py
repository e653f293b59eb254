"""What wire types are to the compiled engine: plain data, from which it makes nodes of its own.

The package is complete without that engine (``wire/engine.py`` finds it). Each ``WireType`` has a
method ``node`` that describes it by one of these classes. A type that the engine does not know
has None, and messages with it stay with the fused code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

from msgspec import Struct


class FixedNode(Struct, frozen=True):
    """A value of ``size`` bytes."""

    kind: Literal["bool", "integer", "float64", "uuid"]
    size: int
    signed: bool = False


class BlobNode(Struct, frozen=True):
    """A length and bytes; ``prefix_size`` is that of a length that is not ``compact``.

    The engine knows the kinds "string", "bytes" and "records".
    """

    kind: str
    prefix_size: int
    max_length: int
    compact: bool
    nullable: bool


class ArrayNode(Struct, frozen=True):
    """A count and elements; ``least`` bytes are in each."""

    element: Node
    least: int
    compact: bool
    nullable: bool


class NullableNode(Struct, frozen=True):
    """A null marker and a struct; the marker is a varint inside a tagged field."""

    struct: StructNode
    tagged: bool


class FieldNode(Struct, frozen=True):
    """A field of a struct: ``Member`` without what only the tree needs.

    ``node`` is None where the version does not have the field; ``absent`` then is what a value has
    to fit, although it is not written.
    """

    attribute: str
    json: str
    node: Node | None
    absent: Node | None
    default: Callable[[], Any]
    ignorable: bool
    tag: int | None
    sensitive: bool
    named_by: str


class StructNode(Struct, frozen=True):
    """A struct: its fields in the order of its value class.

    ``foreign_tags`` are those of other versions. ``secret_tags``: tags that are not defined may be
    credentials. ``holds_records``: ``records`` are among its fields, at any depth.
    """

    value_class: type[Any]
    fields: tuple[FieldNode, ...]
    flexible: bool
    foreign_tags: frozenset[int]
    secret_tags: bool
    holds_records: bool


Node: TypeAlias = FixedNode | BlobNode | ArrayNode | NullableNode | StructNode
