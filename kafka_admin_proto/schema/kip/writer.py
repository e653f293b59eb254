"""A message at one version → its grammar, as the proposals and the protocol guide write it.

`kip.reader` reads it back to the same names and layout. Beyond what the guide of Kafka 3.9 has
there are ``name<tag: 0>`` for tagged fields, which newer guides show, and their ``?`` in front of
arrays and structs that may be null. Defaults have no place in the notation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import SchemaError
from kafka_admin_proto.schema.kip.grammar import LONGEST_NAME
from kafka_admin_proto.schema.layout import LayoutField, layout
from kafka_admin_proto.schema.model import MessageSpec
from kafka_admin_proto.schema.names import python_name
from kafka_admin_proto.schema.scalars import SCALARS

_TAGGED_FIELDS = "_tagged_fields"


def write_grammar(spec: MessageSpec, version: int) -> str:
    """The grammar of one version, a line each for the message and its fields, indented.

    Raises SchemaError for another version, and for a name that is too long for the notation.
    """
    if version not in spec.valid_versions:
        raise SchemaError(
            f"there is no version {version}", f"use {spec.valid_versions}", field=spec.name
        )
    title = re.sub(r"(?<=[a-z])(Request|Response)\Z", r" \1", _checked(spec.name))
    flexible = spec.is_flexible(version)
    fields = layout(spec, version)
    lines = [f"{title} (Version: {version}) => {_right(fields, flexible)}"]
    lines += _definitions(fields, flexible, "  ")
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _right(fields: tuple[LayoutField, ...], flexible: bool) -> str:
    parts = [_reference(field) for field in fields]
    return " ".join([*parts, _TAGGED_FIELDS] if flexible else parts)


def _reference(field: LayoutField) -> str:
    name = _checked(python_name(field.name))
    if field.is_array:
        name = f"[{name}]"
    if field.nullable and (field.is_array or not field.element):
        name = f"?{name}"
    return name if field.tag is None else f"{name}<tag: {field.tag}>"


def _checked(name: str) -> str:
    if len(name) > LONGEST_NAME:
        raise SchemaError(
            f"the notation has no names of {counted(len(name), 'characters')}",
            f"write up to {LONGEST_NAME}",
            field=name[:LONGEST_NAME],
        )
    return name


def _definitions(fields: tuple[LayoutField, ...], flexible: bool, indent: str) -> Iterator[str]:
    for field in fields:
        name = python_name(field.name)
        if field.tag is not None:
            name = f"{name}<tag: {field.tag}>"
        if field.element:
            yield f"{indent}{name} => {_type(field)}"
        else:
            yield f"{indent}{name} => {_right(field.fields, flexible)}"
            yield from _definitions(field.fields, flexible, indent + "  ")


def _type(field: LayoutField) -> str:
    """The guide's name of a scalar type; of an array's elements, which are never null."""
    scalar = SCALARS[field.element]
    if not scalar.has_length:
        return scalar.label
    nullable = field.nullable and not field.is_array
    return "COMPACT_" * field.compact + "NULLABLE_" * nullable + scalar.label
