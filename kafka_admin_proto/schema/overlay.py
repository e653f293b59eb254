"""What the notations cannot say of a message: ``schemas/overlay.json``.

Its keys are message names; those of other dialects than Kafka's own have the dialect in front
(``kip-4:CreateTopicsRequest``).
"""

from __future__ import annotations

import msgspec

from kafka_admin_proto.schema.credentials import credential_paths
from kafka_admin_proto.schema.fields import FieldSpec, StructSpec
from kafka_admin_proto.schema.model import MessageSpec
from kafka_admin_proto.structs import decodable


@decodable
class MessageOverlay(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What the definition of one message leaves open.

    ``aliases``: field path → names of it in other releases. ``sensitive``: paths of fields that
    carry credentials. ``not_sensitive``: paths of those that look so by their names and are none;
    of a struct it says nothing about the fields inside. ``sensitive_values``: path of a value
    field → its neighbour that names it
    (a config's value is secret when its name says so). ``layout_changed``: version → what an
    older release had instead. ``formerly``: names that older releases gave the message.
    ``never_stable``: versions that no release has any more, and that were still being developed
    (``latestVersionUnstable``) in those that had them.
    ``api_key``: for messages in the proposals' grammar, which has no place for it.

    Paths are definition names with dots: ``Topics.Configs.Value``; fields of a common struct
    start with the struct's name.
    """

    formerly: list[str] = []
    api_key: int | None = msgspec.field(name="apiKey", default=None)
    aliases: dict[str, list[str]] = {}
    sensitive: list[str] = []
    not_sensitive: list[str] = msgspec.field(name="notSensitive", default_factory=list)
    sensitive_values: dict[str, str] = msgspec.field(name="sensitiveValues", default_factory=dict)
    layout_changed: dict[str, str] = msgspec.field(name="layoutChanged", default_factory=dict)
    never_stable: str = msgspec.field(name="neverStable", default="none")


def overlay_key(name: str, dialect: str) -> str:
    """The message's key in ``overlay.json``."""
    return name if dialect == "kafka" else f"{dialect}:{name}"


def read_overlay(data: bytes) -> dict[str, MessageOverlay]:
    """``overlay.json``: key → overlay."""
    return msgspec.json.decode(data, type=dict[str, MessageOverlay])


def apply_overlay(
    spec: MessageSpec, overlay: MessageOverlay, *, guess: bool = False
) -> MessageSpec:
    """The definition with the overlay's aliases and marks set on its fields.

    ``guess``: a field that looks like a credential, and of which the overlay says nothing, is one.
    """
    if not guess and overlay == MessageOverlay():
        return spec
    # A definition that was loaded may have moved a credential: then only its name is known.
    lost_paths = set(unknown_paths(spec, overlay)) - set(overlay.not_sensitive)
    moved = {path.rpartition(".")[2] for path in lost_paths}
    sensitive = {*overlay.sensitive, *(undecided(spec, overlay) if guess else ())}

    def mark(fields: tuple[FieldSpec, ...], prefix: str) -> tuple[FieldSpec, ...]:
        marked = []
        names = {field.name for field in fields}
        for field in fields:
            path = f"{prefix}{field.name}"
            named_by = overlay.sensitive_values.get(path, "")
            lost = bool(named_by) and named_by not in names
            marked.append(
                msgspec.structs.replace(
                    field,
                    aliases=tuple(overlay.aliases.get(path, ())),
                    sensitive=path in sensitive or field.name in moved or lost,
                    named_by="" if lost else named_by,
                    fields=None if field.fields is None else mark(field.fields, f"{path}."),
                )
            )
        return tuple(marked)

    return msgspec.structs.replace(
        spec,
        api_key=spec.api_key if overlay.api_key is None else overlay.api_key,
        fields=mark(spec.fields, ""),
        common_structs=tuple(
            StructSpec(struct.name, struct.versions, mark(struct.fields, f"{struct.name}."))
            for struct in spec.common_structs
        ),
    )


def unknown_paths(spec: MessageSpec, overlay: MessageOverlay) -> list[str]:
    """Paths in the overlay that meet no field: a credential there might stay unmasked."""

    def paths(fields: tuple[FieldSpec, ...], prefix: str) -> set[str]:
        all_paths = set()
        for field in fields:
            all_paths |= {f"{prefix}{field.name}"}
            all_paths |= paths(field.fields or (), f"{prefix}{field.name}.")
        return all_paths

    known = paths(spec.fields, "")
    for struct in spec.common_structs:
        known |= paths(struct.fields, f"{struct.name}.")
    named = (overlay.aliases, overlay.sensitive, overlay.not_sensitive, overlay.sensitive_values)
    return sorted({path for paths in named for path in paths} - known)


def undecided(spec: MessageSpec, overlay: MessageOverlay) -> list[str]:
    """Paths of fields that look like credentials and of which the overlay says nothing."""
    decided = {*overlay.sensitive, *overlay.not_sensitive, *overlay.sensitive_values}
    return [path for path in credential_paths(spec) if path not in decided]
