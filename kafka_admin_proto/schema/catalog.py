"""Find a definition by name or api key.

A definition file is read when it is first asked for; before that the catalog knows only the
index (``schemas/index.json``: name, type, api key and versions of each message), so that finding
one api costs neither time nor memory for the hundreds of others.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path
from typing import cast

import msgspec

from kafka_admin_proto.errors import SchemaError, UnknownMessageError
from kafka_admin_proto.near_names import did_you_mean, near_names
from kafka_admin_proto.schema.fields import ENTITY_TYPES
from kafka_admin_proto.schema.header_versions import HeaderVersions, header_version
from kafka_admin_proto.schema.kafka_json.reader import read_message
from kafka_admin_proto.schema.model import MessageSpec
from kafka_admin_proto.schema.overlay import (
    MessageOverlay,
    apply_overlay,
    overlay_key,
    read_overlay,
)
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.structs import decodable


def _read_kip(text: str, *, file: str, dialect: str) -> MessageSpec:
    from kafka_admin_proto.schema.kip.reader import read_kip  # for drafts only

    return read_kip(text, file=file, dialect=dialect)


#: The ending of a definition file → the reader of its text.
READERS = {".json": read_message, ".kip": _read_kip}

#: The headers, which are in front of each body and are read before it.
_HEADERS = ("RequestHeader", "ResponseHeader")


@decodable
class Entry(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """What the index knows of a message without reading its file.

    ``unstable_versions`` are those that were never meant for use, ``formerly`` names that older
    releases gave it.
    """

    type: str
    valid_versions: str
    flexible_versions: str = "none"
    api_key: int | None = None
    unstable_versions: str = "none"
    formerly: tuple[str, ...] = ()
    header_versions: HeaderVersions = ()

    @classmethod
    def of(cls, spec: MessageSpec, overlay: MessageOverlay) -> Entry:
        """The entry of a message whose overlay is applied."""
        unstable = VersionRange.parse(overlay.never_stable)
        if spec.latest_version_unstable:
            unstable = VersionRange(spec.valid_versions.highest, spec.valid_versions.highest)
        return cls(
            type=spec.type,
            valid_versions=str(spec.valid_versions),
            flexible_versions=str(spec.flexible_versions),
            api_key=spec.api_key,
            unstable_versions=str(unstable),
            formerly=tuple(overlay.formerly),
            header_versions=spec.header_versions,
        )

    @property
    def versions(self) -> VersionRange:
        return _range(self.valid_versions)

    @property
    def stable_versions(self) -> VersionRange:
        """Those meant for use: all but the newest or the oldest, which may be unstable."""
        versions, unstable = self.versions, _range(self.unstable_versions)
        if unstable.empty:
            return versions
        if unstable.highest == versions.highest:
            return VersionRange(versions.lowest, unstable.lowest - 1)
        return VersionRange(unstable.highest + 1, versions.highest)

    def is_flexible(self, version: int) -> bool:
        return version in _range(self.flexible_versions)

    def header_version(self, name: str, version: int) -> int:
        """The version of the header in front of the request or response of that name."""
        return header_version(
            self.header_versions, self.type, name, version,
            flexible=self.is_flexible(version),
        )  # fmt: skip


#: Cached, because each record of a log asks for it, and there are a few dozen distinct texts.
_range = lru_cache(maxsize=1024)(VersionRange.parse)


class _Dialect:
    """One family of definitions, by name, former name and api key."""

    def __init__(self, entries: dict[str, Entry], *, loaded: bool = False) -> None:
        self.entries = entries
        self.loaded = loaded
        self.specs: dict[str, MessageSpec] = {}
        self.keys = {
            (entry.api_key, entry.type): name
            for name, entry in entries.items()
            if entry.type in ("request", "response") and entry.api_key is not None
        }
        self.former = {former: name for name, entry in entries.items() for former in entry.formerly}
        current = {name: name for name in entries}
        #: Both in lower case → the newest name.
        self.folded = {each.casefold(): name for each, name in (self.former | current).items()}


class Catalog:
    """All definitions of one folder, ``schemas/`` as a rule, and those loaded besides."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        index = msgspec.json.decode(
            (folder / "index.json").read_bytes(), type=dict[str, dict[str, Entry]]
        )
        self._dialects = {name: _Dialect(entries) for name, entries in index.items()}
        self._overlay: dict[str, MessageOverlay] | None = None
        #: Grows with each load: a name found before may stand for another message now.
        self.generation: int = 0

    def dialects(self) -> list[str]:
        """The families of definitions: ``kafka``, the drafts', and what was loaded."""
        return list(self._dialects)

    def names(self, dialect: str = "kafka") -> list[str]:
        """Every message of the dialect, by name."""
        return list(self._dialect(dialect).entries)

    def current_name(self, name: str, dialect: str = "kafka") -> str:
        """The name that the newest release gives the message; raises UnknownMessageError."""
        known = self._dialect(dialect)
        if name not in known.entries:
            name = known.former.get(name, name)
        if name not in known.entries:
            raise UnknownMessageError(_no_such(name, list(known.entries), dialect))
        return name

    def find_name(self, name: str, dialect: str = "kafka") -> str | None:
        """The same for a name in any case; None for one that there is not."""
        return self._dialect(dialect).folded.get(name.casefold())

    def entry(self, name: str, dialect: str = "kafka") -> Entry:
        """What the index says of the message; raises UnknownMessageError."""
        return self._dialect(dialect).entries[self.current_name(name, dialect)]

    def name_of(self, api_key: int, type: str, dialect: str = "kafka") -> str | None:
        """The name of that api's request or response; None when the key is not known."""
        return self._dialect(dialect).keys.get((api_key, type))

    def spec(self, name: str, dialect: str = "kafka") -> MessageSpec:
        """The definition, read at the first call; raises UnknownMessageError or SchemaError."""
        name = self.current_name(name, dialect)
        specs = self._dialect(dialect).specs
        if name not in specs:
            suffix = ".json" if dialect == "kafka" else ".kip"
            spec = read_definition(self.folder / dialect / f"{name}{suffix}", dialect)
            specs[name] = apply_overlay(spec, self.overlay(name, dialect))
        return specs[name]

    def overlay(self, name: str, dialect: str = "kafka") -> MessageOverlay:
        """What ``overlay.json`` says of the message; an empty overlay where it says nothing."""
        if self._overlay is None:
            self._overlay = read_overlay((self.folder / "overlay.json").read_bytes())
        key = overlay_key(name, "kafka" if self.is_loaded(dialect) else dialect)
        return self._overlay.get(key) or MessageOverlay()

    def entity_types(self, dialect: str) -> list[str]:
        """Kafka's, and what else the definitions of a dialect that was loaded have."""
        own: set[str] = set()
        for spec in self._dialect(dialect).specs.values() if self.is_loaded(dialect) else ():
            for struct in (spec.struct, *spec.structs().values()):
                own.update(field.entity_type for field in struct.fields if field.entity_type)
        return [*ENTITY_TYPES, *sorted(own - ENTITY_TYPES.keys())]

    def is_loaded(self, dialect: str) -> bool:
        """Whether the dialect was loaded at run time, and so has no generated classes."""
        return dialect in self._dialects and self._dialects[dialect].loaded

    def load(
        self,
        folder: Path,
        dialect: str,
        check: Callable[[MessageSpec], object],
        on_fault: Callable[[SchemaError], object] | None = None,
    ) -> None:
        """Take in every definition below a folder; a dialect loaded before is replaced.

        Credentials are marked as in the shipped message of the same name, and so is each field
        that looks like one by its name and that the shipped message does not have. ``check`` may
        refuse a definition, too. A file with a fault is left out where ``on_fault`` takes the
        fault. Raises SchemaError otherwise, and then nothing has changed.
        """
        if dialect in self._dialects and not self.is_loaded(dialect):
            raise SchemaError(f"dialect {dialect!r} is the package's own", "choose another name")
        specs: dict[str, MessageSpec] = {}
        keys: dict[tuple[int, str], str] = {}
        for file in sorted(folder.rglob("*")):
            if file.suffix not in READERS or not file.is_file():
                continue
            try:
                spec = read_definition(file, dialect)
                check(spec)
                _check_taken(spec, specs, keys)
                self._check_header(spec)
            except SchemaError as error:
                if on_fault is None:
                    raise
                on_fault(error)
                continue
            overlay = self.overlay(self._shipped_name(spec))
            specs[spec.name] = apply_overlay(spec, overlay, guess=True)
            if spec.type in ("request", "response") and spec.api_key is not None:
                keys[spec.api_key, spec.type] = spec.name
        for lost in self._lost_headers(specs):
            if on_fault is None:
                raise lost
            on_fault(lost)
            del specs[lost.field]
        if not specs:
            wanted = f"name a folder with {' or '.join(READERS)} files"
            raise SchemaError("there are no definitions", wanted, file=str(folder))
        entries = {
            name: Entry.of(spec, self.overlay(self._shipped_name(spec)))
            for name, spec in specs.items()
        }
        self._dialects[dialect] = _Dialect(entries, loaded=True)
        self._dialects[dialect].specs = specs
        self.generation += 1

    def _check_header(self, spec: MessageSpec) -> None:
        """Raise SchemaError for a newer header without a field of Kafka's, as programs read it."""
        if spec.name not in _HEADERS or self.entry(spec.name).versions.covers(spec.valid_versions):
            return
        for wanted in self.spec(spec.name).fields:
            if not any((wanted.name, wanted.type) == (own.name, own.type) for own in spec.fields):
                fault = f"the newer {spec.name} has no field {wanted.name} of type {wanted.type}"
                raise SchemaError(fault, "add it, as Kafka's has it", file=spec.file)

    def _lost_headers(self, specs: dict[str, MessageSpec]) -> list[SchemaError]:
        """Faults of messages with headers that neither the folder nor Kafka's definitions have."""
        faults = []
        for spec in specs.values():
            name = f"{spec.type.capitalize()}Header"
            for _, header in spec.header_versions:
                own = name in specs and header in specs[name].valid_versions
                if not own and header not in self.entry(name).versions:
                    fault = f"there is no version {header} of {name}"
                    remedy = f"add the {name} that has it to the folder"
                    faults.append(SchemaError(fault, remedy, field=spec.name, file=spec.file))
                    break
        return faults

    def _shipped_name(self, spec: MessageSpec) -> str:
        """What Kafka's own definitions call that message: by its api, where it has one."""
        if spec.api_key is None:
            return spec.name
        return self.name_of(spec.api_key, spec.type) or spec.name

    def _dialect(self, name: str) -> _Dialect:
        known = self._dialects.get(name)
        if known is None:
            there = ", ".join(self._dialects)
            raise UnknownMessageError(
                f"unknown dialect {name!r}; there is {there}; load_schemas loads others"
            )
        return known


def read_definition(file: Path, dialect: str) -> MessageSpec:
    """Read one definition file by its ending; raises SchemaError, for text that is no UTF-8 too."""
    try:
        text = file.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SchemaError(str(error), "save the file as UTF-8", file=file.name) from None
    return READERS[file.suffix](text, file=file.name, dialect=dialect)


def _check_taken(
    spec: MessageSpec, specs: dict[str, MessageSpec], keys: dict[tuple[int, str], str]
) -> None:
    """Raise SchemaError for a name or an api key that another definition of the folder has."""
    if spec.name in specs:
        other = specs[spec.name].file
        raise SchemaError(f"{spec.name} is in {other} too", "remove one", file=spec.file)
    other = keys.get((spec.api_key, spec.type), "") if spec.api_key is not None else ""
    if other:
        fault = f"{spec.name} and {other} both have api key {spec.api_key}"
        raise SchemaError(fault, "change one", file=spec.file)


@cache
def catalog() -> Catalog:
    """The package's own catalog: its data folder or, in a checkout, ``schemas/`` beside it."""
    package = Path(__file__).parents[1]
    for folder in (package / "schemas", package.parent / "schemas"):
        if folder.is_dir():
            return Catalog(folder)
    # The package is inside a zip file, as Spark ships packages to its workers. What `files` returns
    # is no Path, but has the methods of a Path that a Catalog calls.
    from importlib import resources  # loads 30 modules, which only this case needs

    return Catalog(cast(Path, resources.files("kafka_admin_proto") / "schemas"))


def _no_such(name: str, names: list[str], dialect: str) -> str:
    pair = [n for n in names if n.lower() in (f"{name}Request".lower(), f"{name}Response".lower())]
    hint = did_you_mean(pair or near_names(name, names))
    return f"no message {name!r} in dialect {dialect!r}{hint}"
