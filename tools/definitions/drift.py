"""What a Kafka release has that ``schemas/kafka/`` lacks or has in another form.

Run as ``make drift RELEASE=4.4.0``, for a release on Maven Central, or as ``make drift
DEFINITIONS=FOLDER`` for a checkout of Kafka's sources, or the definitions out of one. It says what
a person has to decide, a line for each kind of difference, and with ``--output text`` names each
message and version; exit code 1 if there is anything. Versions that are only
here are normal: older releases had them, or newer ones have. Layouts that the overlay lists as
changed between releases, and names that it lists as former ones, are known and only counted.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
from msgspec.structs import replace

from kafka_admin_proto.errors import SchemaError
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.diff import NEVER, Difference, diff
from kafka_admin_proto.schema.fields import FieldSpec
from kafka_admin_proto.schema.kafka_json.reader import read_message
from kafka_admin_proto.schema.model import MessageSpec
from kafka_admin_proto.schema.names import python_name
from kafka_admin_proto.schema.overlay import MessageOverlay
from kafka_admin_proto.schema.versions import VersionRange
from tools.definitions.config_definitions import FILE as CONFIGS
from tools.definitions.config_definitions import config_definitions, differences
from tools.definitions.import_schemas import definition_texts, definitions_in
from tools.oracles.jars import FetchError, ToolMissingError


class Drift(msgspec.Struct, frozen=True):
    """One difference: where, what is here and what the release has, "" for nothing."""

    message: str
    versions: str
    what: str
    here: str
    there: str

    @property
    def where(self) -> str:
        return f"{self.message} v{self.versions}" if self.versions else self.message

    def __str__(self) -> str:
        where = self.where
        if not self.here:
            return f"{where}: {self.what}: only there, {self.there}"
        if not self.there:
            return f"{where}: {self.what}: only here, {self.here}"
        return f"{where}: {self.what}: here {self.here}, there {self.there}"


#: Names that a line of decisions has.
_NAMED = 8
UNREAD = "definition"
_FACTS_OF_FIELDS = (" default", " map key", " entity type")
#: What a difference is about → what a person decides of it, in the order of the lines.
DECISIONS = {
    UNREAD: "teach the reader what is new in definitions that it cannot read",
    "message": "import new messages, and say which of their fields are secrets and what they mean",
    "version": "import new versions, and let the cluster serve them or not",
    "(header)": "see which header is right, and whether headerVersions say so",
    "config": "import other configs, and let the cluster read them or not",
    "api key": "see whether a message was renamed, and list its former name in the overlay",
    "unstable": "see whether versions that are still being developed are to be decoded",
    "deprecated": "see what warns of deprecated versions",
    "fact": "see whether the facts that change no byte are to be as there",
    "layout": "say which layout a version has where there are two, and list the other as changed",
}


class Report(msgspec.Struct):
    """All differences, and what needs no review: versions that are only here, known changes."""

    drifts: list[Drift]
    only_here: dict[str, str]
    known: list[str]


def compare(
    ours: dict[str, MessageSpec],
    theirs: dict[str, MessageSpec],
    overlays: dict[str, MessageOverlay],
) -> Report:
    """Our definitions beside a release's; both by name, the overlays by our name."""
    report = Report([], {}, [])
    former = {old: name for name, overlay in overlays.items() for old in overlay.formerly}
    by_our_name = {former.get(name, name): spec for name, spec in theirs.items()}
    report.known += [f"{old} is {new} now" for old, new in former.items() if old in theirs]
    for name in sorted(ours.keys() | by_our_name.keys()):
        here, there = ours.get(name), by_our_name.get(name)
        if there is None or there.valid_versions.empty:
            assert here is not None or there is not None
            if here is not None:
                report.only_here[name] = str(here.valid_versions)
        elif here is None:
            facts = f"{there.type}, versions {there.valid_versions}"
            report.drifts.append(Drift(name, "", "message", "", facts))
        else:
            _compare_message(here, there, overlays.get(name, MessageOverlay()), report)
    return report


def _compare_message(
    here: MessageSpec, there: MessageSpec, overlay: MessageOverlay, report: Report
) -> None:
    if here.type.startswith("coordinator-") and there.type == "data":
        report.known.append(f"{here.name} was plain data before 4.0")
        if here.type == "coordinator-key":
            return  # its api key now was its only version then
        there = replace(there, type=here.type, api_key=here.api_key)
    if "zkBroker" in there.listeners and "zkBroker" not in here.listeners:
        report.known.append(f"{here.name} was for ZooKeeper's brokers too before 4.0")
        there = replace(there, listeners=tuple(x for x in there.listeners if x != "zkBroker"))
    new = sorted(set(there.valid_versions) - set(here.valid_versions))
    if new:
        report.drifts.append(Drift(here.name, _ranges(new), "version", "", "valid"))
    dropped = sorted(set(here.valid_versions) - set(there.valid_versions))
    if dropped:
        report.only_here[here.name] = _ranges(dropped)
    found: dict[tuple[str, str, str], list[int]] = {}
    for version in here.valid_versions & there.valid_versions:
        if str(version) in overlay.layout_changed:
            report.known.append(f"{here.name} v{version}: {overlay.layout_changed[str(version)]}")
            continue
        for each in (*_layout(here, there, version), *_facts(here, there, version)):
            found.setdefault(each, []).append(version)
    for (what, one, other), versions in found.items():
        report.drifts.append(Drift(here.name, _ranges(versions), what, one, other))


def _layout(here: MessageSpec, there: MessageSpec, version: int) -> Iterator[tuple[str, str, str]]:
    """Differences on the wire and of names; a name that the overlay knows as an alias is none."""
    aliases = _aliases(here)
    for each in diff(here, version, there, version):
        if each.bytes_differ == NEVER and _is_alias(each, aliases):
            continue
        yield each.path, each.left, each.right


def _aliases(spec: MessageSpec) -> set[tuple[str, str]]:
    """Pairs of a field's name and a former one, at any depth."""
    return {
        (python_name(field.name), python_name(alias))
        for struct in (spec.struct, *spec.structs().values())
        for field in struct.fields
        for alias in field.aliases
    }


def _is_alias(difference: Difference, aliases: set[tuple[str, str]]) -> bool:
    one, _, type_ = difference.left.partition(": ")
    other, _, other_type = difference.right.partition(": ")
    return type_ == other_type and (one, other) in aliases


def _facts(here: MessageSpec, there: MessageSpec, version: int) -> Iterator[tuple[str, str, str]]:
    """The other facts of definitions: of the message, and of each field that both have."""
    pairs: list[tuple[str, object, object]] = [
        ("api key", here.api_key, there.api_key),
        ("type", here.type, there.type),
        ("deprecated", version in here.deprecated_versions, version in there.deprecated_versions),
        ("unstable", _unstable(here, version), _unstable(there, version)),
        ("listeners", sorted(here.listeners), sorted(there.listeners)),
    ]
    mine, others = _fields(here, version), _fields(there, version)
    for path in mine.keys() & others.keys():
        one, other = mine[path], others[path]
        pairs += [
            (f"{path} default", one.default_value, other.default_value),
            (f"{path} map key", one.map_key, other.map_key),
            (f"{path} entity type", one.entity_type, other.entity_type),
        ]
    for what, one_fact, other_fact in pairs:
        if one_fact != other_fact:
            yield what, repr(one_fact), repr(other_fact)


def _unstable(spec: MessageSpec, version: int) -> bool:
    return spec.latest_version_unstable and version == spec.valid_versions.highest


def _fields(spec: MessageSpec, version: int) -> dict[str, FieldSpec]:
    """Each field of that version by its path."""
    structs = spec.structs()

    def walk(fields: tuple[FieldSpec, ...], prefix: str) -> Iterator[tuple[str, FieldSpec]]:
        for field in fields:
            if version in field.versions:
                path = prefix + python_name(field.name)
                yield path, field
                if field.type.is_struct:
                    yield from walk(structs[field.type.element].fields, f"{path}.")

    return dict(walk(spec.fields, ""))


def _ranges(versions: Iterable[int]) -> str:
    """``0-2, 5``: versions as people write them."""
    runs: list[list[int]] = []
    for version in sorted(versions):
        if runs and version == runs[-1][1] + 1:
            runs[-1][1] = version
        else:
            runs.append([version, version])
    return ", ".join(str(VersionRange(low, high)) for low, high in runs)


def of_release(release: str) -> Report:
    """The report for a release, its definitions read out of its jars."""
    report = _of_texts(definition_texts(release))
    _compare_configs(release, report)
    return report


def of_folder(folder: Path) -> Report:
    """The report for the definitions in a folder.

    Raises ValueError where there are none, or those of two checkouts.
    """
    try:
        texts = list(definitions_in(folder))
    except OSError as error:
        raise ValueError(f"{error.filename} cannot be read: {error.strerror}") from error
    if not texts:
        raise ValueError(f"{folder} has no folder `message` or `metadata` with definitions in JSON")
    report = _of_texts(texts, is_one_release=True)
    report.known.append("configs are not compared: sources have no classes that could be asked")
    return report


def _of_texts(texts: Iterable[tuple[str, str]], is_one_release: bool = False) -> Report:
    """A definition that cannot be read, for something new in it, is a difference too.

    With ``is_one_release`` none may be there twice in different forms.
    """
    theirs: dict[str, MessageSpec] = {}
    unread = []
    for place, text in texts:
        try:
            spec = read_message(text, file=place)
        except SchemaError as error:
            unread.append(Drift(place, "", UNREAD, "", str(error)))
        else:
            other = theirs.setdefault(spec.name, spec)
            if is_one_release and replace(other, file="") != replace(spec, file=""):
                places = f"{other.file} and {place}"
                raise ValueError(f"{spec.name} is in {places}, which differ; name one checkout")
            theirs[spec.name] = spec
    names = catalog().names()
    report = compare(
        {name: catalog().spec(name) for name in names},
        theirs,
        {name: catalog().overlay(name) for name in names},
    )
    report.drifts[:0] = unread
    return report


def _compare_configs(release: str, report: Report) -> None:
    """Configs beside those of the same minor release or, where there are none, of the newest."""
    ours = json.loads(CONFIGS.read_text("utf-8"))
    minor = release.rpartition(".")[0]
    base = minor if minor in ours else list(ours)[-1]
    try:
        theirs = config_definitions(release)
    except FetchError:
        report.known.append(f"the configs of {release} are not compared: its jars do not run")
        return
    report.drifts += [
        Drift(what, "", base, *sides) for what, *sides in differences(ours[base], theirs)
    ]


def decisions(report: Report) -> Iterator[str]:
    """What a person has to decide, a line for each kind of difference that there is."""
    found: dict[str, dict[str, None]] = {kind: {} for kind in DECISIONS}
    for each in report.drifts:
        found[_kind(each)][each.where] = None
    for kind, names in found.items():
        if names:
            more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
            yield f"{DECISIONS[kind]}: {', '.join([*names][:_NAMED])}{more}"


def _kind(drift: Drift) -> str:
    if drift.message.startswith("config "):
        return "config"
    if drift.what in ("type", "listeners") or drift.what.endswith(_FACTS_OF_FIELDS):
        return "fact"
    return drift.what if drift.what in DECISIONS else "layout"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("release", help='such as "4.4.0", or a folder with definitions')
    parser.add_argument("--output", choices=["decisions", "text", "json"], default="decisions")
    arguments = parser.parse_args()
    folder = Path(arguments.release)
    try:
        if not folder.is_dir() and folder.name != arguments.release:
            raise ValueError("there is no such folder")
        report = of_folder(folder) if folder.is_dir() else of_release(arguments.release)
    except (FetchError, ToolMissingError, ValueError) as error:
        print(f"cannot compare with {arguments.release}: {error}", file=sys.stderr)
        return 2
    if arguments.output == "json":
        print(json.dumps(msgspec.to_builtins(report), indent=2))
        return bool(report.drifts)
    if arguments.output == "text":
        for drift in report.drifts:
            print(drift)
        for line in report.known:
            print(f"known: {line}")
        for name, versions in report.only_here.items():
            print(f"only here: {name} v{versions}")
    for line in decisions(report):
        print(line)
    print(
        f"{len(report.drifts)} differences from {arguments.release} to look at, "
        f"{len(report.known)} known, {len(report.only_here)} messages with versions only here"
    )
    return bool(report.drifts)


if __name__ == "__main__":
    sys.exit(main())
