"""The model of a message definition, with the rules that every definition keeps.

The rules are those of Kafka's own generator (``StructRegistry``, ``MessageSpec`` and the checks
inside ``MessageDataGenerator``; `fields` has those of single fields and structs). A definition that
breaks a rule cannot be built: it raises SchemaError, which says field, fault and remedy.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from kafka_admin_proto.errors import SchemaError
from kafka_admin_proto.schema.fields import FieldSpec, StructSpec, struct_faults
from kafka_admin_proto.schema.header_versions import HeaderVersions, header_faults, header_version
from kafka_admin_proto.schema.versions import VersionRange

MESSAGE_TYPES = (
    "request", "response", "header", "data", "metadata", "coordinator-key", "coordinator-value",
)  # fmt: skip
#: The most fields and the most levels of structs of a message in which each struct stands in the
#: place of its name. Kafka's own messages reach 100 fields and five levels.
MAX_FIELDS, MAX_DEPTH = 10_000, 40
LISTENERS = ("zkBroker", "broker", "controller")


class MessageSpec(Struct, frozen=True):
    """One message over all its versions. ``file`` is where it was read, for complaints.

    ``header_versions`` are those that the definition gives, none where they follow from flexible
    versions.
    """

    name: str
    type: str
    valid_versions: VersionRange
    flexible_versions: VersionRange
    fields: tuple[FieldSpec, ...] = ()
    common_structs: tuple[StructSpec, ...] = ()
    api_key: int | None = None
    deprecated_versions: VersionRange = VersionRange.NONE
    listeners: tuple[str, ...] = ()
    latest_version_unstable: bool = False
    header_versions: HeaderVersions = ()
    about: str = ""
    dialect: str = "kafka"
    file: str = ""

    def __post_init__(self) -> None:
        for fault in self.faults():
            fault.file = fault.file or self.file
            raise fault.inside(self.name)

    def is_flexible(self, version: int) -> bool:
        return version in self.flexible_versions

    def header_version(self, version: int) -> int:
        """The version of the header in front of a request or response."""
        return header_version(
            self.header_versions, self.type, self.name, version,
            flexible=self.is_flexible(version),
        )  # fmt: skip

    @property
    def struct(self) -> StructSpec:
        """The message itself, as the outermost struct."""
        return StructSpec(self.name, self.valid_versions, self.fields)

    def structs(self) -> dict[str, StructSpec]:
        """Every struct below the message by name: common ones, then inline ones in wire order."""
        by_name = {struct.name: struct for struct in self.common_structs}
        for field in _all_fields(self):
            if field.fields is not None and field.type.element not in by_name:
                by_name[field.type.element] = StructSpec(
                    field.type.element, field.versions, field.fields
                )
        return by_name

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
        yield from header_faults(
            self.header_versions, self.type, self.name, self.valid_versions,
            self.flexible_versions,
        )  # fmt: skip
        yield from struct_faults(self.name, self.fields)
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
