"""The model of a message definition, and the rules that every definition keeps.

The rules are those of Kafka's own generator (``FieldSpec``, ``StructSpec``, ``StructRegistry``,
``MessageSpec`` and the checks inside ``MessageDataGenerator``). An object of this module cannot
be built against them: it raises SchemaError, which says field, fault and remedy.
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

#: What an ``entityType`` promises about the field's type.
ENTITY_TYPES = {
    "transactionalId": "string",
    "producerId": "int64",
    "groupId": "string",
    "topicName": "string",
    "brokerId": "int32",
}
MESSAGE_TYPES = (
    "request", "response", "header", "data", "metadata", "coordinator-key", "coordinator-value",
)  # fmt: skip
#: A message has at most so many fields, and so many levels of structs, once its structs are put in
#: the place of their names; Kafka's own reach 100 and five.
MAX_FIELDS, MAX_DEPTH = 10_000, 40
LISTENERS = ("zkBroker", "broker", "controller")

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
        if self.entity_type:
            wanted = ENTITY_TYPES.get(self.entity_type)
            if wanted is None:
                yield SchemaError(
                    f"unknown entityType {self.entity_type!r}",
                    f"use one of {', '.join(ENTITY_TYPES)}",
                )
            elif self.type.element != wanted:
                yield SchemaError(
                    f"entityType {self.entity_type} is for {wanted} fields, this is {self.type}",
                    "change one of the two",
                )
        if self.fields is not None:
            if not self.type.is_struct:
                yield SchemaError(
                    f"a field of type {self.type} cannot have fields of its own",
                    "remove them, or name a struct as the type",
                )
            else:
                yield from _struct_faults(self.type.element, self.fields)
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
        return _struct_faults(self.name, self.fields)


def _struct_faults(name: str, fields: tuple[FieldSpec, ...]) -> Iterator[SchemaError]:
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


class MessageSpec(Struct, frozen=True):
    """One message over all its versions. ``file`` is where it was read, for complaints."""

    name: str
    type: str
    valid_versions: VersionRange
    flexible_versions: VersionRange
    fields: tuple[FieldSpec, ...] = ()
    common_structs: tuple[StructSpec, ...] = ()
    api_key: int | None = None
    deprecated_versions: VersionRange = _NONE
    listeners: tuple[str, ...] = ()
    latest_version_unstable: bool = False
    about: str = ""
    dialect: str = "kafka"
    file: str = ""

    def __post_init__(self) -> None:
        for fault in self.faults():
            fault.file = fault.file or self.file
            raise fault.inside(self.name)

    def is_flexible(self, version: int) -> bool:
        return version in self.flexible_versions

    @property
    def struct(self) -> StructSpec:
        """The message itself, as the outermost struct."""
        return StructSpec(self.name, self.valid_versions, self.fields)

    def structs(self) -> dict[str, StructSpec]:
        """Every struct below the message by name: common ones, then inline ones in wire order."""
        found = {struct.name: struct for struct in self.common_structs}
        for field in _all_fields(self):
            if field.fields is not None and field.type.element not in found:
                found[field.type.element] = StructSpec(
                    field.type.element, field.versions, field.fields
                )
        return found

    @property
    def has_secrets(self) -> bool:
        """Whether any field may carry a credential, so that raw bytes may too."""
        return any(field.sensitive or field.named_by for field in _all_fields(self))

    @property
    def hides_unknown_tags(self) -> bool:
        """Whether unknown tags may be a credential: a newer release's.

        In a header they may be the body's, if their count was damaged.
        """
        return self.has_secrets or self.type == "header"

    @property
    def has_credentials(self) -> bool:
        """Whether a field is one in any case, and not by the text of its neighbour."""
        return any(field.sensitive for field in _all_fields(self))

    def faults(self) -> Iterator[SchemaError]:
        """All rules that the message breaks, but for those of each field; without its name."""
        if self.type not in MESSAGE_TYPES:
            yield SchemaError(
                f"unknown message type {self.type!r}", f"use one of {', '.join(MESSAGE_TYPES)}"
            )
        if self.valid_versions.open_ended:
            yield SchemaError(
                f"validVersions {self.valid_versions} names no highest version",
                f'write "{self.valid_versions.lowest}-N"',
            )
        if not self.flexible_versions.empty and not self.flexible_versions.open_ended:
            yield SchemaError(
                f"flexibleVersions {self.flexible_versions} are not open-ended",
                'write "none" or a range with a plus, such as "2+"',
            )
        if not self.valid_versions.covers(self.deprecated_versions):
            yield SchemaError(
                f"deprecatedVersions {self.deprecated_versions} go beyond validVersions "
                f"{self.valid_versions}",
                "narrow them",
            )
        if self.api_key is not None and not -32768 <= self.api_key <= 32767:
            yield SchemaError(f"api key {self.api_key} does not fit an int16", "use 0 to 32767")
        if self.type == "coordinator-key" and (
            str(self.valid_versions) != "0" or not self.flexible_versions.empty
        ):
            yield SchemaError(
                "a coordinator-key has version 0 alone, and no flexible versions",
                'write "validVersions": "0" and "flexibleVersions": "none"',
            )
        if self.type != "request" and (self.listeners or self.latest_version_unstable):
            yield SchemaError(
                "listeners and latestVersionUnstable are for requests only", "remove them"
            )
        for listener in self.listeners:
            if listener not in LISTENERS:
                yield SchemaError(
                    f"unknown listener {listener!r}", f"use one of {', '.join(LISTENERS)}"
                )
        yield from _struct_faults(self.name, self.fields)
        yield from self._structs_faults()
        for field in self.fields:
            if field.map_key:
                yield SchemaError(
                    "a top-level field cannot be a map key", "remove mapKey", field=field.name
                )
        for field in _all_fields(self):
            yield from self._flexible_faults(field)

    def _structs_faults(self) -> Iterator[SchemaError]:
        inline = {field.type.element for field in _all_fields(self) if field.fields is not None}
        if self.name in inline | {struct.name for struct in self.common_structs}:
            yield SchemaError(f"a struct is called {self.name}, too", "rename the struct")
        common: set[str] = set()
        for struct in self.common_structs:
            if not struct.name[0].isupper():
                yield SchemaError(
                    f"common struct {struct.name!r} has a small first letter", "capitalise it"
                )
            if struct.name in common:
                yield SchemaError(f"common struct {struct.name} is defined twice", "remove one")
            common.add(struct.name)
        inline = set()
        for field in _all_fields(self):
            name = field.type.element
            if not field.type.is_struct:
                continue
            if name in common:
                if field.fields:
                    yield SchemaError(
                        f"it defines the common struct {name} again",
                        "remove its fields, or give the struct another name",
                        field=field.name,
                    )
            elif field.fields is None:
                yield SchemaError(
                    f"struct {name} is defined nowhere",
                    "give the field its fields, or add the struct to commonStructs",
                    field=field.name,
                )
            elif name in inline:
                yield SchemaError(
                    f"struct {name} is defined twice",
                    "rename one, or move it to commonStructs",
                    field=field.name,
                )
            else:
                inline.add(name)
        try:
            self._check_size()
        except SchemaError as error:
            yield error

    def _check_size(self) -> None:
        """No struct contains itself, and common structs do not multiply beyond all use.

        Each of them may stand in several places, so that a short definition can mean a value of
        any size.
        """
        common = {struct.name: struct.fields for struct in self.common_structs}
        measured: dict[str, tuple[int, int]] = {}

        def measure(fields: tuple[FieldSpec, ...], outer: tuple[str, ...]) -> tuple[int, int]:
            """How many fields there are in all, and how deep they nest."""
            count, depth = len(fields), 0
            for field in fields:
                name = field.type.element
                if not field.type.is_struct:
                    continue
                if name in outer:
                    raise SchemaError(
                        f"struct {name} contains itself",
                        "break the circle",
                        field=f"{outer[-1]}.{field.name}",
                    )
                if len(outer) == MAX_DEPTH:
                    raise SchemaError("nested too deeply", "flatten the definition")
                if name not in measured:
                    measured[name] = measure(common.get(name, field.fields or ()), (*outer, name))
                count += measured[name][0]
                depth = max(depth, 1 + measured[name][1])
            if depth > MAX_DEPTH:
                raise SchemaError("nested too deeply", "flatten the definition")
            if count > MAX_FIELDS:
                raise SchemaError(f"over {MAX_FIELDS} fields", "split the message")
            return count, depth

        for name, fields in common.items():
            if name not in measured:
                measured[name] = measure(fields, (name,))
        measure(self.fields, ())

    def _flexible_faults(self, field: FieldSpec) -> Iterator[SchemaError]:
        flexible = self.flexible_versions
        if field.flexible_versions is not None:
            if not flexible.covers(field.flexible_versions):
                yield SchemaError(
                    f"its flexibleVersions {field.flexible_versions} are not a subset of the "
                    f"message's, {flexible}",
                    "narrow them",
                    field=field.name,
                )
            flexible = field.flexible_versions
        if not flexible.covers(field.tagged_versions):
            yield SchemaError(
                f"taggedVersions {field.tagged_versions} are not a subset of the flexible "
                f"versions {flexible}",
                "tag it in flexible versions only",
                field=field.name,
            )


def _walk(fields: tuple[FieldSpec, ...]) -> Iterator[FieldSpec]:
    for field in fields:
        yield field
        yield from _walk(field.fields or ())


def _all_fields(spec: MessageSpec) -> Iterator[FieldSpec]:
    """Each field at any depth, in the order of the definition; common structs come last."""
    yield from _walk(spec.fields)
    for struct in spec.common_structs:
        yield from _walk(struct.fields)
