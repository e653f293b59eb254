"""Find a definition by name or api key.

A definition file is read when it is first asked for; before that the catalog knows only the
index (``schemas/index.json``: name, type, api key and versions of each message), so that finding
one api costs neither time nor memory for the hundreds of others.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import msgspec

from kafka_admin_proto.errors import SchemaError, UnknownMessageError
from kafka_admin_proto.schema.kafka_json import read_message
from kafka_admin_proto.schema.model import FieldSpec, MessageSpec, StructSpec
from kafka_admin_proto.schema.versions import VersionRange


class Entry(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """What the index knows of a message without reading its file.

    ``formerly`` are names that older releases gave it.
    """

    type: str
    valid_versions: str
    flexible_versions: str = "none"
    api_key: int | None = None
    formerly: tuple[str, ...] = ()

    @property
    def versions(self) -> VersionRange:
        return VersionRange.parse(self.valid_versions)

    def is_flexible(self, version: int) -> bool:
        return version in VersionRange.parse(self.flexible_versions)


class MessageOverlay(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What the definitions' notation cannot say of one message.

    ``aliases``: field path → names of it in other releases. ``sensitive``: paths of fields that
    carry credentials. ``sensitive_values``: path of a value field → its neighbour that names it
    (a config's value is secret when its name says so). ``layout_changed``: version → what an
    older release had instead. ``formerly``: names that older releases gave the message.
    """

    about: str = ""
    formerly: list[str] = []
    aliases: dict[str, list[str]] = {}
    sensitive: list[str] = []
    sensitive_values: dict[str, str] = msgspec.field(name="sensitiveValues", default_factory=dict)
    layout_changed: dict[str, str] = msgspec.field(name="layoutChanged", default_factory=dict)


class Catalog:
    """All definitions of one folder, ``schemas/`` as a rule."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._index = msgspec.json.decode(
            (folder / "index.json").read_bytes(), type=dict[str, dict[str, Entry]]
        )
        self._specs: dict[tuple[str, str], MessageSpec] = {}
        self._overlay: dict[str, MessageOverlay] | None = None
        self._keys = {
            (dialect, entry.api_key, entry.type): name
            for dialect, entries in self._index.items()
            for name, entry in entries.items()
            if entry.type in ("request", "response")
        }
        self._former = {
            (dialect, former): name
            for dialect, entries in self._index.items()
            for name, entry in entries.items()
            for former in entry.formerly
        }

    def names(self, dialect: str = "kafka") -> list[str]:
        """Every message of the dialect, by name."""
        return list(self._entries(dialect))

    def current_name(self, name: str, dialect: str = "kafka") -> str:
        """The name that the newest release gives the message; raises UnknownMessageError."""
        entries = self._entries(dialect)
        name = self._former.get((dialect, name), name)
        if name not in entries:
            raise UnknownMessageError(_no_such(name, list(entries), dialect))
        return name

    def entry(self, name: str, dialect: str = "kafka") -> Entry:
        """What the index says of the message; raises UnknownMessageError."""
        return self._entries(dialect)[self.current_name(name, dialect)]

    def name_of(self, api_key: int, type: str, dialect: str = "kafka") -> str | None:
        """The name of that api's request or response; None when the key is not known."""
        return self._keys.get((dialect, api_key, type))

    def spec(self, name: str, dialect: str = "kafka") -> MessageSpec:
        """The definition, read at the first call; raises UnknownMessageError or SchemaError."""
        name = self.current_name(name, dialect)
        spec = self._specs.get((dialect, name))
        if spec is None:
            file = self.folder / dialect / f"{name}.json"
            spec = read_message(file.read_text("utf-8"), file=file.name, dialect=dialect)
            spec = apply_overlay(spec, self.overlay(name))
            self._specs[dialect, name] = spec
        return spec

    def overlay(self, name: str) -> MessageOverlay:
        """What ``overlay.json`` says of the message; an empty overlay where it says nothing."""
        if self._overlay is None:
            self._overlay = read_overlay((self.folder / "overlay.json").read_bytes())
        return self._overlay.get(name) or MessageOverlay()

    def _entries(self, dialect: str) -> dict[str, Entry]:
        entries = self._index.get(dialect)
        if entries is None:
            raise UnknownMessageError(
                f"unknown dialect {dialect!r}; there is {', '.join(self._index)}"
            )
        return entries


def read_overlay(data: bytes) -> dict[str, MessageOverlay]:
    """``overlay.json``: message name → overlay."""
    return msgspec.json.decode(data, type=dict[str, MessageOverlay])


def apply_overlay(spec: MessageSpec, overlay: MessageOverlay) -> MessageSpec:
    """The definition with the overlay's aliases and marks set on its fields.

    Paths in the overlay are definition names with dots: ``Topics.Configs.Value``; fields of a
    common struct start with the struct's name.
    """

    unused = {*overlay.aliases, *overlay.sensitive, *overlay.sensitive_values}

    def mark(fields: tuple[FieldSpec, ...], prefix: str) -> tuple[FieldSpec, ...]:
        marked = []
        for field in fields:
            path = f"{prefix}{field.name}"
            unused.discard(path)
            marked.append(
                msgspec.structs.replace(
                    field,
                    aliases=tuple(overlay.aliases.get(path, ())),
                    sensitive=path in overlay.sensitive,
                    named_by=overlay.sensitive_values.get(path, ""),
                    fields=None if field.fields is None else mark(field.fields, f"{path}."),
                )
            )
        return tuple(marked)

    marked_spec = msgspec.structs.replace(
        spec,
        about=overlay.about or spec.about,
        fields=mark(spec.fields, ""),
        common_structs=tuple(
            StructSpec(struct.name, struct.versions, mark(struct.fields, f"{struct.name}."))
            for struct in spec.common_structs
        ),
    )
    if unused:  # a mark that meets no field might leave a credential unmasked
        raise SchemaError(
            "the overlay names a field that the message does not have",
            "correct the path, or remove it",
            field=f"{spec.name}.{min(unused)}",
            file="overlay.json",
        )
    return marked_spec


@cache
def catalog() -> Catalog:
    """The package's own catalog: its data folder or, in a checkout, ``schemas/`` beside it."""
    package = Path(__file__).parents[1]
    shipped = package / "schemas"
    return Catalog(shipped if shipped.is_dir() else package.parent / "schemas")


def python_name(name: str) -> str:
    """A definition's name as a Python attribute: ``NumPartitions`` → ``num_partitions``.

    A run of capitals is one word, and so is ``KRaft``.
    """
    name = name.replace("KRaft", "Kraft")
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return spaced.lower()


def json_name(name: str) -> str:
    """A definition's name in JSON: its first letter small, as Kafka's JsonConverters do."""
    return name[0].lower() + name[1:]


def _no_such(name: str, names: list[str], dialect: str) -> str:
    import difflib  # only for the complaint

    close = difflib.get_close_matches(name, names, n=3, cutoff=0.6)
    pair = [n for n in names if n.lower() in (f"{name}Request".lower(), f"{name}Response".lower())]
    hint = f"; did you mean {', '.join(pair or close)}?" if pair or close else ""
    return f"no message {name!r} in dialect {dialect!r}{hint}"
