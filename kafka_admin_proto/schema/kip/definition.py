"""One definition over all versions, made of the fields that each version's grammar gives."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import chain, pairwise

import msgspec

from kafka_admin_proto.errors import SchemaError
from kafka_admin_proto.schema.fields import FieldSpec, FieldType, StructSpec
from kafka_admin_proto.schema.layout import LayoutField
from kafka_admin_proto.schema.model import MessageSpec
from kafka_admin_proto.schema.versions import MAX_VERSION, VersionRange

#: Of one message: version → whether it is flexible, and its fields.
Versions = Mapping[int, tuple[bool, tuple[LayoutField, ...]]]


def message_spec(name: str, versions: Versions, *, file: str, dialect: str) -> MessageSpec:
    """The message over all its versions; raises SchemaError where they do not fit together."""
    valid = _spanning(versions, name, "versions")
    flexible = _spanning((v for v, (flag, _) in versions.items() if flag), name, "flexible")
    builder = _Builder(name, valid, {v for v, (flag, _) in versions.items() if flag})
    fields = builder.fields({v: layout for v, (_, layout) in versions.items()}, "")
    kind = re.search(r"(Request|Response|Header)\Z", name)
    return MessageSpec(
        name=name,
        type=kind.group().lower() if kind else "data",
        valid_versions=valid,
        flexible_versions=builder.open(flexible),
        fields=builder.sharing(fields),
        common_structs=builder.common(),
        dialect=dialect,
        file=file,
    )


def _spanning(versions: Iterable[int], name: str, what: str) -> VersionRange:
    used = set(versions)
    spanning = VersionRange.spanning(used)
    if spanning is None:
        raise SchemaError(f"{what} {sorted(used)} leave a gap", "fill it", field=name)
    return spanning


class _Builder:
    """Merges fields of the same name over the versions, and names the structs."""

    def __init__(self, message: str, valid: VersionRange, flexible: set[int]) -> None:
        self.valid = valid
        self.flexible = flexible
        self.structs: dict[str, tuple[FieldSpec, ...]] = {message: ()}
        self.shared: set[str] = set()

    def open(self, versions: VersionRange) -> VersionRange:
        """The range with its end open where it reaches the newest version, as Kafka writes it."""
        if versions.highest != self.valid.highest:
            return versions
        return VersionRange(versions.lowest, MAX_VERSION)

    def fields(
        self, versions: Mapping[int, tuple[LayoutField, ...]], parent: str
    ) -> tuple[FieldSpec, ...]:
        """The newest version's order; a field of older ones alone comes after its neighbour."""
        following: dict[str | None, str | None] = {None: None}  # None is both ends
        for version in sorted(versions, reverse=True):
            last = None
            for field in versions[version]:
                if field.name not in following:
                    following[field.name], following[last] = following[last], field.name
                last = field.name
        by_name: dict[str, dict[int, LayoutField]] = {}
        name = following[None]
        while name is not None:
            by_name[name] = {}
            name = following[name]
        for version, layout in versions.items():
            for field in layout:
                by_name[field.name][version] = field
        places = {name: place for place, name in enumerate(by_name)}
        for version, layout in versions.items():
            order = [places[field.name] for field in layout if field.tag is None]
            if any(one >= other for one, other in pairwise(order)):
                raise SchemaError(
                    f"the fields of version {version} stand in another order than later ones",
                    "give fields that moved names of their own",
                    field=parent,
                )
        return tuple(self._field(name, by_version, parent) for name, by_version in by_name.items())

    def _field(self, name: str, versions: dict[int, LayoutField], parent: str) -> FieldSpec:
        newest = versions[max(versions)]
        for version, field in versions.items():
            if (field.element, field.is_array) != (newest.element, newest.is_array):
                raise SchemaError(
                    f"its type in version {version} is not that of version {max(versions)}",
                    "give the two fields names of their own",
                    field=name,
                )
        element, nested = newest.element, None
        if not element:
            wanted = newest.struct or (_singular(name) if newest.is_array else name)
            inner = self.fields({v: field.fields for v, field in versions.items()}, wanted)
            element, nested = self._struct(wanted, parent, inner), inner
        tags = {field.tag for field in versions.values()} - {None}
        if len(tags) > 1:
            raise SchemaError(f"it has tags {sorted(map(str, tags))}", "keep one", field=name)
        return FieldSpec(
            name,
            FieldType(element, newest.is_array),
            self._range(versions, name),
            nullable_versions=self._range((v for v, f in versions.items() if f.nullable), name),
            tagged_versions=self._range(
                (v for v, f in versions.items() if f.tag is not None), name
            ),
            tag=next(iter(tags), None),
            flexible_versions=self._own_flexible(versions, name),
            fields=nested,
        )

    def _range(self, versions: Iterable[int], name: str) -> VersionRange:
        return self.open(_spanning(versions, name, "versions"))

    def _own_flexible(self, versions: dict[int, LayoutField], name: str) -> VersionRange | None:
        """The versions with a compact length, where they are not those of the message."""
        newest = versions[max(versions)]
        if newest.element not in ("string", "bytes"):
            return None
        compact = {v for v, field in versions.items() if field.compact}
        if compact == {v for v in versions if v in self.flexible}:
            return None
        return self._range(compact, name)

    def _struct(self, wanted: str, parent: str, fields: tuple[FieldSpec, ...]) -> str:
        """A name for the struct: that of one with the same fields, or one that is free."""
        for name in chain((wanted, parent + wanted), (f"{wanted}{n}" for n in range(2, 1000))):
            if name not in self.structs:
                self.structs[name] = fields
                return name
            if self.structs[name] == fields:
                self.shared.add(name)
                return name
        raise SchemaError(f"too many structs called {wanted}", "rename some", field=parent)

    def sharing(self, fields: tuple[FieldSpec, ...]) -> tuple[FieldSpec, ...]:
        """The fields, with structs that stand in several places left to ``common``."""
        return tuple(
            msgspec.structs.replace(
                field,
                fields=None
                if field.fields is None or field.type.element in self.shared
                else self.sharing(field.fields),
            )
            for field in fields
        )

    def common(self) -> tuple[StructSpec, ...]:
        return tuple(
            StructSpec(name, self.open(self.valid), self.sharing(self.structs[name]))
            for name in sorted(self.shared)
        )


def _singular(name: str) -> str:
    """``Topics`` → ``Topic``: the name of an array's elements."""
    if name.endswith("ies"):
        return f"{name[:-3]}y"
    if name.endswith(("sses", "xes", "ches", "shes", "uses")):
        return name[:-2]
    if name.endswith("s") and not name.endswith(("ss", "us", "is")):
        return name[:-1]
    return name
