"""A definition at one version → the tree of wire types that reads and writes it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from kafka_admin_proto.schema.fields import FieldSpec, StructSpec
from kafka_admin_proto.schema.model import MessageSpec
from kafka_admin_proto.schema.names import json_name, python_name
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.wire.types import blobs, fixed  # noqa: F401  # their classes are found by name
from kafka_admin_proto.wire.types.arrays import Array
from kafka_admin_proto.wire.types.base import WireType
from kafka_admin_proto.wire.types.containers import MessageType, StructType
from kafka_admin_proto.wire.types.member import Member
from kafka_admin_proto.wire.types.nullable import NullableStruct
from kafka_admin_proto.wire.types.scalar import scalar_type


def message_type(
    spec: MessageSpec, version: int, value_classes: Callable[[str], type[Any]]
) -> MessageType:
    """The tree of ``spec`` at ``version``; ``value_classes`` finds a struct's class by its name."""
    builder = _Builder(spec, version, value_classes)
    return MessageType(f"{spec.name} v{version}", **builder.parts(spec.struct))


class _Builder:
    """The types of a message at one version.

    Without a version they take what any version takes, and have all fields and no tags: what is
    not written is held against these.
    """

    def __init__(
        self, spec: MessageSpec, version: int | None, value_classes: Callable[[str], type[Any]]
    ) -> None:
        self.spec = spec
        self.version = version
        self.flexible = self._is_in(spec.flexible_versions)
        self.structs = spec.structs()
        self.secret_tags = spec.hides_unknown_tags
        self.value_classes = value_classes
        self._built: dict[str, StructType] = {}

    @cached_property
    def _any_version(self) -> _Builder:
        return _Builder(self.spec, None, self.value_classes)

    def _is_in(self, versions: VersionRange) -> bool:
        return not versions.empty if self.version is None else self.version in versions

    def struct(self, struct: StructSpec) -> StructType:
        built = self._built.get(struct.name)
        if built is None:
            built = self._built[struct.name] = StructType(**self.parts(struct))
        return built

    def parts(self, struct: StructSpec) -> dict[str, Any]:
        tags = {
            field.tag: field.tagged_versions for field in struct.fields if field.tag is not None
        }
        return {
            "struct_name": struct.name,
            "value_class": self.value_classes(struct.name),
            "members": tuple(self._member(slot, field) for slot, field in enumerate(struct.fields)),
            "flexible": self.flexible,
            "foreign_tags": frozenset(
                tag
                for tag, versions in tags.items()
                if self.version is None or self.version not in versions
            ),
            "secret_tags": self.secret_tags,
        }

    def _member(self, slot: int, field: FieldSpec) -> Member:
        tagged = self.version is not None and self.version in field.tagged_versions
        has_field = self.version is None or self.version in field.versions
        return Member(
            slot=slot,
            attribute=python_name(field.name),
            json=json_name(field.name),
            aliases=tuple(json_name(alias) for alias in field.aliases),
            wire_type=self._wire_type(field, tagged) if has_field else None,
            absent_type=None if has_field else self._any_version._wire_type(field, tagged=False),
            default=self._default(field),
            ignorable=field.ignorable,
            tag=field.tag if tagged else None,
            sensitive=field.sensitive,
            named_by=python_name(field.named_by) if field.named_by else "",
            holds_secrets=self._holds_secrets(field),
            entity_type=field.entity_type,
        )

    def _holds_secrets(self, field: FieldSpec) -> bool:
        if field.sensitive or field.named_by:
            return True
        inner = self.structs[field.type.element].fields if field.type.is_struct else ()
        return any(map(self._holds_secrets, inner))

    def _wire_type(self, field: FieldSpec, tagged: bool) -> WireType:
        nullable = self._is_in(field.nullable_versions)
        compact = self.flexible
        if self.version is not None and field.flexible_versions is not None:
            compact = self.version in field.flexible_versions
        if field.type.is_array:
            element = self._element(field, compact, nullable=False)
            return Array(element, compact=compact, nullable=nullable)
        if field.type.is_struct and nullable:
            return NullableStruct(self.struct(self.structs[field.type.element]), tagged=tagged)
        return self._element(field, compact, nullable)

    def _element(self, field: FieldSpec, compact: bool, nullable: bool) -> WireType:
        element = field.type.element
        if field.type.is_struct:
            return self.struct(self.structs[element])
        return scalar_type(element, compact=compact, nullable=nullable)

    def _default(self, field: FieldSpec) -> Callable[[], Any]:
        value = field.default_value
        if isinstance(value, list):
            return list
        if isinstance(value, dict):
            # Made by the class itself, so that defaults of nested fields have one home.
            return self.value_classes(field.type.element)
        return lambda: value
