"""What the notations cannot say of a message: ``schemas/overlay.json``.

Its keys are message names; those of other dialects than Kafka's own have the dialect in front
(``kip-4:CreateTopicsRequest``).
"""

from __future__ import annotations

import msgspec

from kafka_admin_proto.schema.model import FieldSpec, MessageSpec, StructSpec


class MessageOverlay(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What the definition of one message leaves open.

    ``aliases``: field path → names of it in other releases. ``sensitive``: paths of fields that
    carry credentials. ``sensitive_values``: path of a value field → its neighbour that names it
    (a config's value is secret when its name says so). ``layout_changed``: version → what an
    older release had instead. ``formerly``: names that older releases gave the message.
    ``api_key``: for messages in the proposals' grammar, which has no place for it.

    Paths are definition names with dots: ``Topics.Configs.Value``; fields of a common struct
    start with the struct's name.
    """

    about: str = ""
    formerly: list[str] = []
    api_key: int | None = msgspec.field(name="apiKey", default=None)
    aliases: dict[str, list[str]] = {}
    sensitive: list[str] = []
    sensitive_values: dict[str, str] = msgspec.field(name="sensitiveValues", default_factory=dict)
    layout_changed: dict[str, str] = msgspec.field(name="layoutChanged", default_factory=dict)


def overlay_key(name: str, dialect: str) -> str:
    """The message's key in ``overlay.json``."""
    return name if dialect == "kafka" else f"{dialect}:{name}"


def read_overlay(data: bytes) -> dict[str, MessageOverlay]:
    """``overlay.json``: key → overlay."""
    return msgspec.json.decode(data, type=dict[str, MessageOverlay])


def apply_overlay(spec: MessageSpec, overlay: MessageOverlay) -> MessageSpec:
    """The definition with the overlay's aliases and marks set on its fields."""

    # A definition that was loaded may have moved a credential: then its name alone tells.
    moved = {path.rpartition(".")[2] for path in unknown_paths(spec, overlay)}

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
                    sensitive=path in overlay.sensitive or field.name in moved or lost,
                    named_by="" if lost else named_by,
                    fields=None if field.fields is None else mark(field.fields, f"{path}."),
                )
            )
        return tuple(marked)

    return msgspec.structs.replace(
        spec,
        about=overlay.about or spec.about,
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
        found = set()
        for field in fields:
            found |= {f"{prefix}{field.name}"}
            found |= paths(field.fields or (), f"{prefix}{field.name}.")
        return found

    known = paths(spec.fields, "")
    for struct in spec.common_structs:
        known |= paths(struct.fields, f"{struct.name}.")
    return sorted({*overlay.aliases, *overlay.sensitive, *overlay.sensitive_values} - known)
