"""Merge a message's definitions of two releases into one that has the versions of both.

Per version the newer release wins; a version that the newer one dropped stays as the older had
it. Facts that the notation cannot hold (names that changed, versions whose layout changed) are
returned beside the definition, and go to the overlay.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from kafka_admin_proto.schema.fields import FieldSpec, StructSpec
from kafka_admin_proto.schema.layout import LayoutField, layout
from kafka_admin_proto.schema.model import MessageSpec
from kafka_admin_proto.schema.versions import MAX_VERSION, VersionRange

#: The layout of one version on the wire.
Layout = tuple[LayoutField, ...]


class Merged(Struct, frozen=True):
    """The merged definition, and what its notation cannot say (see ``MessageOverlay``)."""

    spec: MessageSpec
    aliases: dict[str, list[str]] = {}
    layout_changed: dict[str, str] = {}
    formerly: list[str] = []
    never_stable: str = "none"


class MergeError(Exception):
    """The two releases cannot be put into one definition; a person has to decide."""


def merge(older: MessageSpec, newer: MessageSpec, older_release: str) -> Merged:
    """One definition with the versions of both releases; checked version by version."""
    both = older.valid_versions & newer.valid_versions
    aliases = _renames(older, newer, both)
    merger = _Merger(older, newer, aliases)
    spec = merger.message()
    changed: dict[str, str] = {}
    for version in spec.valid_versions:
        wanted = layout(newer if version in newer.valid_versions else older, version)
        if version not in newer.valid_versions:
            wanted = _rename(wanted, aliases)
        if layout(spec, version) != wanted:
            raise MergeError(
                f"{spec.name} v{version}: the merged layout differs from its release's"
            )
        if version in both:
            before = _rename(layout(older, version), aliases)
            if before != wanted:
                changed[str(version)] = _describe(before, wanted, older_release)
    unstable = older.latest_version_unstable and merger.old_versions == {
        older.valid_versions.highest
    }
    return Merged(
        spec,
        {path: [name] for path, name in aliases.items()},
        changed,
        never_stable=str(older.valid_versions.highest) if unstable else "none",
    )


class _Merger:
    def __init__(self, older: MessageSpec, newer: MessageSpec, aliases: dict[str, str]) -> None:
        self.older, self.newer = older, newer
        self.aliases = aliases
        self.new_versions = set(newer.valid_versions)
        self.old_versions = set(older.valid_versions) - self.new_versions
        valid = VersionRange.spanning(self.new_versions | self.old_versions)
        if valid is None:
            raise MergeError(f"{newer.name}: the releases' versions leave a gap")
        self.valid = valid
        self.old_structs, self.new_structs = older.structs(), newer.structs()

    def message(self) -> MessageSpec:
        older, newer = self.older, self.newer
        common = tuple(
            StructSpec(s.name, self.range(s.versions, s.versions), self.struct(s.name, s.name))
            for s in newer.common_structs
        )
        names = {s.name for s in newer.common_structs}
        common += tuple(
            s for s in older.common_structs if s.name not in names and not self.new_versions
        )
        return replace(
            newer,
            valid_versions=self.valid,
            flexible_versions=self.range(older.flexible_versions, newer.flexible_versions),
            deprecated_versions=self.range(older.deprecated_versions, newer.deprecated_versions),
            listeners=newer.listeners or older.listeners,
            fields=self.fields(older.fields, newer.fields, ""),
            common_structs=common,
        )

    def struct(self, name: str, path: str) -> tuple[FieldSpec, ...]:
        old = self.old_structs.get(name)
        return self.fields(old.fields if old else (), self.new_structs[name].fields, f"{path}.")

    def fields(
        self, old: tuple[FieldSpec, ...], new: tuple[FieldSpec, ...], prefix: str
    ) -> tuple[FieldSpec, ...]:
        """The newer fields in their order, the dropped ones where the older release had them."""
        by_name = {field.name: field for field in old}
        result: list[FieldSpec] = []
        matched: dict[str, str] = {}
        for field in new:
            path = prefix + field.name
            before = by_name.get(self.aliases.get(path, field.name))
            if before is not None:
                matched[before.name] = field.name
            result.append(self.field(before, field, path))
        for index, field in enumerate(old):
            if field.name in matched or not self.old_versions & set(field.versions & self.valid):
                continue
            after = next((f.name for f in reversed(old[:index]) if f.name in matched), None)
            place = 0
            if after is not None:
                place = 1 + [f.name for f in result].index(matched[after])
            while place < len(result) and result[place].name in by_name.keys() - matched.keys():
                place += 1
            result.insert(place, self.dropped(field))
        return tuple(result)

    def field(self, old: FieldSpec | None, new: FieldSpec, path: str) -> FieldSpec:
        fields = new.fields
        if fields is not None:
            name = old.type.element if old else new.type.element
            before = self.old_structs.get(name) if old else None
            fields = self.fields(before.fields if before else (), fields, f"{path}.")
        if old is None or not self.old_versions:
            return replace(new, fields=fields)
        return replace(
            new,
            versions=self.range(old.versions, new.versions),
            nullable_versions=self.range(old.nullable_versions, new.nullable_versions),
            tagged_versions=self.range(old.tagged_versions, new.tagged_versions),
            # Only versions without the field use this, and the older release has more such
            # versions.
            ignorable=new.ignorable or old.ignorable,
            fields=fields,
        )

    def dropped(self, field: FieldSpec) -> FieldSpec:
        """A field of the older release alone: limited to the versions that stay as it had them."""
        if not self.new_versions:
            return field
        fields = field.fields
        if fields is not None:
            fields = tuple(self.dropped(nested) for nested in fields)
        empty = VersionRange.NONE
        return replace(
            field,
            versions=self.range(field.versions, empty),
            nullable_versions=self.range(field.nullable_versions, empty),
            fields=fields,
        )

    def range(self, old: VersionRange, new: VersionRange) -> VersionRange:
        """Old range for the versions only the older release has, new range for all others."""
        if not self.old_versions:
            return new
        if not self.new_versions:
            return old
        versions = (set(old & self.valid) & self.old_versions) | (
            set(new & self.valid) & self.new_versions
        )
        merged = VersionRange.spanning(versions)
        if merged is None:
            raise MergeError(f"{self.newer.name}: {old} and {new} do not make one range")
        if merged.highest == self.valid.highest and new.open_ended:
            merged = VersionRange(merged.lowest, MAX_VERSION)
        return merged


def _renames(older: MessageSpec, newer: MessageSpec, both: VersionRange) -> dict[str, str]:
    """New field path → its older name: same place and shape in a version that both have."""
    found: dict[str, str] = {}

    def compare(old: Layout, new: Layout, prefix: str) -> None:
        names = {field.name for field in old} & {field.name for field in new}
        if len(old) != len(new):
            return
        for before, after in zip(old, new, strict=True):
            path = prefix + after.name
            renamed = before.name != after.name and not {before.name, after.name} & names
            if renamed and replace(before, name="", fields=()) == replace(
                after, name="", fields=()
            ):
                found[path] = before.name
            compare(before.fields, after.fields, f"{path}.")

    for version in both:
        compare(layout(older, version), layout(newer, version), "")
    return found


def _rename(fields: Layout, aliases: dict[str, str], prefix: str = "") -> Layout:
    """The layout with the older names of ``aliases`` (new path → old name) replaced."""
    newer = {old: path for path, old in aliases.items() if path.rpartition(".")[0] == prefix}
    result = []
    for field in fields:
        path = newer.get(field.name, f"{prefix}.{field.name}" if prefix else field.name)
        inner = _rename(field.fields, aliases, path)
        result.append(replace(field, name=path.rpartition(".")[2], fields=inner))
    return tuple(result)


def _describe(before: Layout, now: Layout, release: str) -> str:
    """What an older release had, in a line: fields without, with, or of another kind."""
    gone: list[str] = []
    added: list[str] = []

    def compare(old: Layout, new: Layout, prefix: str) -> None:
        by_old = {field.name: field for field in old}
        by_new = {field.name: field for field in new}
        gone.extend(prefix + name for name in by_old if name not in by_new)
        added.extend(prefix + name for name in by_new if name not in by_old)
        for name in by_old.keys() & by_new.keys():
            compare(by_old[name].fields, by_new[name].fields, f"{prefix}{name}.")

    compare(before, now, "")
    parts = []
    if added:
        parts.append(f"without {', '.join(sorted(added))}")
    if gone:
        parts.append(f"with {', '.join(sorted(gone))}")
    return f"{release}: {' and '.join(parts) or 'other types'}"
