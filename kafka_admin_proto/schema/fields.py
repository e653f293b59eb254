"""The model of the fields and structs of a message definition, with their rules.

The rules are those of ``FieldSpec`` and ``StructSpec`` in Kafka's generator. An object that breaks
a rule cannot be built: it raises SchemaError, which says field, fault and remedy.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from kafka_admin_proto.errors import SchemaError
from kafka_admin_proto.schema.defaults import parse_default
from kafka_admin_proto.schema.names import python_name
from kafka_admin_proto.schema.scalars import SCALARS
from kafka_admin_proto.schema.versions import VersionRange

#: What an ``entityType`` promises about the field's type. Forks of Kafka have others as well.
ENTITY_TYPES = {
    "transactionalId": "string",
    "producerId": "int64",
    "groupId": "string",
    "topicName": "string",
    "brokerId": "int32",
}
_ENTITY_TYPES_FOLDED = {name.casefold(): name for name in ENTITY_TYPES}

_FIELD_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*\Z")

_NONE = VersionRange.NONE


class FieldType(Struct, frozen=True):
    """``int32``, ``[]string``, ``CreatableTopic`` or ``[]CreatableTopic``."""

    element: str
    is_array: bool = False

    @classmethod
    def parse(cls, text: str) -> FieldType:
        text = text.strip()
        is_array = text.startswith("[]")
        element = text[2:].strip() if is_array else text
        if element.startswith("[]"):
            raise SchemaError(
                f"type {text!r} is an array of arrays",
                "use an array of structs that contain an array",
            )
        if not element:
            raise SchemaError(f"type {text!r} names no element type", 'write "[]int32" or the like')
        if element not in SCALARS and not element[0].isupper():
            raise SchemaError(
                f"unknown type {text!r}",
                f"use one of {', '.join(SCALARS)}, or a struct name with a capital letter",
            )
        if is_array and element == "records":
            raise SchemaError("an array of records cannot be encoded", "put them into a struct")
        return cls(element, is_array)

    def __str__(self) -> str:
        return f"[]{self.element}" if self.is_array else self.element

    @property
    def is_struct(self) -> bool:
        """Whether the field, or each of its elements, is a struct."""
        return self.element not in SCALARS

    @property
    def can_be_null(self) -> bool:
        return self.is_array or self.is_struct or SCALARS[self.element].has_length


class FieldSpec(Struct, frozen=True):
    """One field of a struct, over all versions of its message.

    ``default`` is the definition's text ("" when it has none); ``default_value`` is what it
    means. ``fields`` are those of a struct defined in place. ``aliases`` are names that other
    releases gave the field, ``sensitive`` says that it carries a credential; both come from the
    overlay, as the notation has no place for them; so does ``named_by``, the neighbour whose text
    decides whether this value is a secret (a config's name).
    """

    name: str
    type: FieldType
    versions: VersionRange
    nullable_versions: VersionRange = _NONE
    tagged_versions: VersionRange = _NONE
    tag: int | None = None
    flexible_versions: VersionRange | None = None
    default: str = ""
    ignorable: bool = False
    map_key: bool = False
    entity_type: str = ""
    zero_copy: bool = False
    about: str = ""
    fields: tuple[FieldSpec, ...] | None = None
    aliases: tuple[str, ...] = ()
    sensitive: bool = False
    named_by: str = ""

    def __post_init__(self) -> None:
        for fault in self.faults():
            raise fault.inside(self.name)

    @property
    def default_value(self) -> Any:
        """The value of an absent field: a scalar, ``[]`` for arrays, ``{}`` for structs, None.

        Java's records are null by default even where null is not allowed; here they are empty.
        """
        value = parse_default(self.type.element, self.type.is_array, self.default)
        if value is None and self.type.element == "records" and self.nullable_versions.empty:
            return b""
        return value

    def faults(self) -> Iterator[SchemaError]:
        """All rules that the field breaks; without its name in front."""
        if not _FIELD_NAME.match(self.name):
            yield SchemaError(
                f"invalid field name {self.name!r}", "use letters and digits, a letter first"
            )
        if not self.nullable_versions.empty and not self.type.can_be_null:
            yield SchemaError(
                f"type {self.type} cannot be null", "remove nullableVersions or change the type"
            )
        entity = _ENTITY_TYPES_FOLDED.get(self.entity_type.casefold())
        if entity is not None and entity != self.entity_type:
            yield SchemaError(f"unknown entityType {self.entity_type!r}", f"write {entity!r}")
        elif self.entity_type and not _FIELD_NAME.match(self.entity_type):
            yield SchemaError(
                f"invalid entityType {self.entity_type!r}", "use letters and digits, a letter first"
            )
        elif entity is not None and self.type.element != ENTITY_TYPES[entity]:
            yield SchemaError(
                f"entityType {entity} is for fields of {ENTITY_TYPES[entity]}, this is {self.type}",
                "change one of the two",
            )
        if self.fields is not None:
            if not self.type.is_struct:
                yield SchemaError(
                    f"a field of type {self.type} cannot have fields of its own",
                    "remove them, or name a struct as the type",
                )
            else:
                yield from struct_faults(self.type.element, self.fields)
        if self.flexible_versions is not None and self.type.element not in ("string", "bytes"):
            yield SchemaError(
                f"a field of type {self.type} cannot override flexibleVersions",
                "only string and bytes fields can; remove it",
            )
        if self.zero_copy and (self.type.is_array or self.type.element != "bytes"):
            yield SchemaError("zeroCopy is for bytes fields only", "remove zeroCopy")
        yield from self._tag_faults()
        try:
            default = self.default_value
        except SchemaError as error:
            yield error
            return
        if default is None and self.default and not self.nullable_versions.covers(self.versions):
            yield SchemaError(
                "null cannot be the default, because not all versions of this field are nullable",
                f'set nullableVersions to "{self.versions}" or choose another default',
            )

    def _tag_faults(self) -> Iterator[SchemaError]:
        tagged = self.tagged_versions
        if self.tag is None:
            if not tagged.empty:
                yield SchemaError(
                    f"it has tagged versions {tagged}, but no tag",
                    "give it a tag, or remove taggedVersions",
                )
            return
        if self.tag < 0:
            yield SchemaError(f"tag {self.tag} is negative", "count tags from 0")
        if tagged.empty:
            yield SchemaError(
                f"it has tag {self.tag}, but no tagged versions",
                "give it taggedVersions, or remove the tag",
            )
            return
        if not tagged.open_ended:
            yield SchemaError(
                f"taggedVersions {tagged} are not open-ended", f'write "{tagged.lowest}+"'
            )
        if not self.versions.covers(tagged):
            yield SchemaError(
                f"taggedVersions {tagged} are not a subset of versions {self.versions}",
                "widen versions or narrow taggedVersions",
            )
        nullable_tagged = self.nullable_versions & tagged
        if not nullable_tagged.empty and nullable_tagged != tagged:
            yield SchemaError(
                f"of the tagged versions {tagged} only {nullable_tagged} are nullable",
                "make all tagged versions nullable, or none",
            )
        if self.map_key:
            yield SchemaError("a tagged field cannot be a map key", "remove mapKey or the tag")
        if self.type.element == "records":
            yield SchemaError("a records field cannot be tagged", "remove the tag")


class StructSpec(Struct, frozen=True):
    """A struct: its name, the versions that have it and its fields in wire order."""

    name: str
    versions: VersionRange
    fields: tuple[FieldSpec, ...]

    def __post_init__(self) -> None:
        for fault in self.faults():
            raise fault

    def faults(self) -> Iterator[SchemaError]:
        """All rules that the struct breaks, but for those of each field."""
        return struct_faults(self.name, self.fields)


def struct_faults(name: str, fields: tuple[FieldSpec, ...]) -> Iterator[SchemaError]:
    """All rules that a struct of these fields breaks, but for those of each field."""
    if not _FIELD_NAME.match(name):
        yield SchemaError(f"invalid struct name {name!r}", "use letters and digits, a letter first")
    tags: set[int] = set()
    names: set[str] = set()
    for field in fields:
        # Not one in JSON ("Name" and "name"), nor in Python ("TopicID" and "TopicId").
        key = python_name(field.name)
        if key in names:
            yield SchemaError(
                "another field of this struct has that name", "rename one", field=field.name
            )
        names.add(key)
        if field.tag is not None:
            if field.tag in tags:
                yield SchemaError(
                    f"another field of this struct has tag {field.tag}",
                    "give each its own tag",
                    field=field.name,
                )
            tags.add(field.tag)
