"""A definition as rows: one for each field, nested fields indented below their struct."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from kafka_admin_proto.schema.fields import FieldSpec
from kafka_admin_proto.schema.model import MessageSpec
from kafka_admin_proto.schema.names import python_name
from kafka_admin_proto.schema.versions import VersionRange


class SchemaRow(msgspec.Struct, frozen=True):
    """One field; ``depth`` is 0 for the message's own fields, and texts may be empty.

    ``name`` is the definition's, ``attribute`` the Python one.
    """

    depth: int
    name: str
    attribute: str
    type: str
    versions: str
    nullable: str
    tag: str
    default: str
    notes: str


def schema_rows(spec: MessageSpec, version: int | None = None) -> list[SchemaRow]:
    """The rows of a message, of one version or of all."""
    structs = spec.structs()

    def walk(fields: tuple[FieldSpec, ...], depth: int) -> Iterator[SchemaRow]:
        for field in fields:
            if version is not None and version not in field.versions:
                continue
            yield _row(field, depth, version)
            if field.type.is_struct:
                yield from walk(structs[field.type.element].fields, depth + 1)

    return list(walk(spec.fields, 0))


def field_notes(field: FieldSpec) -> list[str]:
    """The other properties of a field, a few words each: entity, map key, secret, ..."""
    notes = [field.entity_type] if field.entity_type else []
    if field.map_key:
        notes.append("map key")
    if field.ignorable:
        notes.append("ignorable")
    if field.sensitive:
        notes.append("secret")
    if field.named_by:
        notes.append(f"secret by {python_name(field.named_by)}")
    if field.aliases:
        notes.append(f"formerly {', '.join(field.aliases)}")
    return notes


def _row(field: FieldSpec, depth: int, version: int | None) -> SchemaRow:
    tag = ""
    if field.tag is not None and (version is None or version in field.tagged_versions):
        tag = str(field.tag)
    return SchemaRow(
        depth=depth,
        name=field.name,
        attribute=python_name(field.name),
        type=str(field.type),
        versions=str(field.versions),
        nullable=_nullable(field.nullable_versions & field.versions, version),
        tag=tag,
        default=field.default,
        notes=", ".join(field_notes(field)),
    )


def _nullable(versions: VersionRange, version: int | None) -> str:
    if version is not None:
        return "yes" if version in versions else ""
    return "" if versions.empty else str(versions)
