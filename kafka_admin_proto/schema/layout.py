"""What one version of a message looks like on the wire: its fields, and nothing about values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from kafka_admin_proto.schema.fields import FieldSpec, StructSpec
from kafka_admin_proto.schema.model import MessageSpec
from kafka_admin_proto.schema.scalars import SCALARS


class LayoutField(msgspec.Struct, frozen=True):
    """A field in one version. ``element`` is a scalar's type, "" for structs.

    ``compact``: the length of the array, or of the string, bytes or records, is a varint.
    ``struct`` is a struct's name where there is one; layouts of definitions leave it out, as it
    is not on the wire.
    """

    name: str = ""
    element: str = ""
    is_array: bool = False
    nullable: bool = False
    compact: bool = False
    tag: int | None = None
    fields: tuple[LayoutField, ...] = ()
    struct: str = ""

    @property
    def size(self) -> int:
        """How many fields this is, nested ones included."""
        return 1 + sum(field.size for field in self.fields)

    @property
    def type(self) -> str:
        """The type as definitions write it, ``struct`` for any struct."""
        return "[]" * self.is_array + (self.element or "struct")

    def below(self) -> Iterator[LayoutField]:
        """The fields under this one, at any depth."""
        for field in self.fields:
            yield field
            yield from field.below()


def layout(spec: MessageSpec, version: int) -> tuple[LayoutField, ...]:
    """The message's fields at that version in the order of the wire, tagged ones last by tag."""
    return struct_layout(spec.fields, version, spec.structs(), flexible=spec.is_flexible(version))


def struct_layout(
    fields: tuple[FieldSpec, ...],
    version: int,
    structs: Mapping[str, StructSpec],
    *,
    flexible: bool,
) -> tuple[LayoutField, ...]:
    """The same of a struct's fields; ``structs`` are those that they may name."""

    def of_field(field: FieldSpec) -> LayoutField:
        type_ = field.type
        compact = flexible
        if field.flexible_versions is not None:
            compact = version in field.flexible_versions
        nested = structs[type_.element].fields if type_.is_struct else ()
        has_length = not type_.is_struct and SCALARS[type_.element].has_length
        return LayoutField(
            field.name,
            "" if type_.is_struct else type_.element,
            type_.is_array,
            version in field.nullable_versions,
            compact and (type_.is_array or has_length),
            field.tag if version in field.tagged_versions else None,
            struct_layout(nested, version, structs, flexible=flexible),
        )

    present = [of_field(field) for field in fields if version in field.versions]
    return tuple(sorted(present, key=lambda field: -1 if field.tag is None else field.tag))
