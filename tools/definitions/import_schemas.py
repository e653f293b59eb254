"""Bring Kafka's own message definitions into ``schemas/kafka/``.

Run as ``python -m tools.definitions.import_schemas [OLDER NEWER]``. Reads the definitions out of
the published jars of two releases (Maven Central, by coordinates), merges them and writes one file
a message: structure only; no sentence of Kafka's is copied. ``schemas/overlay.json`` keeps what
people wrote into it (sensitivity, texts of our own) and gets the aliases and changed layouts that
the merge found.
"""

from __future__ import annotations

import argparse
import zipfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec.structs import replace

from kafka_admin_proto.schema.fields import FieldSpec, StructSpec
from kafka_admin_proto.schema.kafka_json.reader import read_message
from kafka_admin_proto.schema.kafka_json.writer import write_message
from kafka_admin_proto.schema.model import MessageSpec
from kafka_admin_proto.schema.overlay import MessageOverlay, read_overlay
from tools.definitions.merge import Merged, merge
from tools.kafka_releases import LAST_WITH_ZOOKEEPER, NEWEST
from tools.oracles import jars

ROOT = Path(__file__).parents[2]
SCHEMAS = ROOT / "schemas"
#: Last release with ZooKeeper (and so with all old versions), and the newest one.
RELEASES = (LAST_WITH_ZOOKEEPER, NEWEST)
_WITH_KEYS = ("request", "response")
#: Folders of definitions, in jars and in Kafka's sources (`src/main/resources/common/…`).
_FOLDERS = ("message", "metadata")


def definition_texts(release: str) -> Iterator[tuple[str, str]]:
    """(place, text) of every message definition of a release, out of its jars."""
    for jar in jars.fetch(release, jars.definition_artifacts(release)):
        with zipfile.ZipFile(jar) as archive:
            for entry in sorted(archive.namelist()):
                if entry.endswith(".json") and entry.split("/")[-2] in _FOLDERS:
                    yield f"{jar.name}:{entry}", archive.read(entry).decode()


def definitions_in(folder: Path) -> Iterator[tuple[str, str]]:
    """The same of a checkout of Kafka, or of a part of it; those of Kafka's tests are left out.

    Raises OSError, and ValueError for a file that is no text.
    """
    for file in sorted(folder.resolve().rglob("*.json")):
        place = file.relative_to(folder.resolve())
        if file.parent.name in _FOLDERS and not {"test", "build"} & {*place.parts}:
            try:
                yield str(place), file.read_text("utf-8")
            except UnicodeDecodeError as error:
                raise ValueError(f"{place} is no text in UTF-8") from error


def definitions(release: str) -> dict[str, MessageSpec]:
    """Every message definition of a release, by name."""
    found: dict[str, MessageSpec] = {}
    for place, text in definition_texts(release):
        spec = read_message(text, file=place)
        if spec.name in found:
            raise SystemExit(f"{spec.name} is defined twice: {found[spec.name].file}, {place}")
        found[spec.name] = spec
    return found


def merged_definitions(older: str, newer: str) -> dict[str, Merged]:
    """Every message of either release, with the versions of both, without Kafka's texts."""
    old, new = definitions(older), definitions(newer)
    renamed = _take_new_names(old, new)
    result = {}
    for name in sorted(old.keys() | new.keys()):
        # Releases before 4.0 had no api keys for the keys of internal topics' records: their one
        # version had the number that is the api key now, so that the older file adds nothing.
        if name in old and name in new and new[name].type != "coordinator-key":
            merged = merge(old[name], new[name], older)
        else:
            merged = Merged(new.get(name) or old[name])
        if not merged.spec.valid_versions.empty:
            formerly = [renamed[name]] if name in renamed else []
            result[name] = replace(merged, spec=facts_only(merged.spec), formerly=formerly)
    return result


def _take_new_names(old: dict[str, MessageSpec], new: dict[str, MessageSpec]) -> dict[str, str]:
    """Rename in ``old`` the apis that kept their key under a new name; new name → old name."""
    names = {(s.api_key, s.type): name for name, s in new.items() if s.type in _WITH_KEYS}
    renamed = {}
    for name, spec in list(old.items()):
        now = names.get((spec.api_key, spec.type))
        if name not in new and now is not None:
            old[now] = replace(old.pop(name), name=now)
            renamed[now] = name
    return renamed


def facts_only(spec: MessageSpec) -> MessageSpec:
    """The definition without its prose."""

    def strip(fields: tuple[FieldSpec, ...]) -> tuple[FieldSpec, ...]:
        return tuple(
            replace(f, about="", fields=None if f.fields is None else strip(f.fields))
            for f in fields
        )

    common = tuple(StructSpec(s.name, s.versions, strip(s.fields)) for s in spec.common_structs)
    return replace(spec, about="", file="", fields=strip(spec.fields), common_structs=common)


def write_overlay(overlays: dict[str, MessageOverlay]) -> str:
    """The overlay file's text, messages in order, those without content left out."""
    kept = {name: o for name, o in sorted(overlays.items()) if o != MessageOverlay()}
    return msgspec.json.format(msgspec.json.encode(kept), indent=2).decode() + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("older", nargs="?", default=RELEASES[0])
    parser.add_argument("newer", nargs="?", default=RELEASES[1])
    arguments = parser.parse_args()
    merged = merged_definitions(arguments.older, arguments.newer)
    overlay_file = SCHEMAS / "overlay.json"
    overlays = read_overlay(overlay_file.read_bytes()) if overlay_file.exists() else {}
    folder = SCHEMAS / "kafka"
    folder.mkdir(parents=True, exist_ok=True)
    for stale in folder.glob("*.json"):
        stale.unlink()
    for name, item in merged.items():
        (folder / f"{name}.json").write_text(write_message(item.spec), "utf-8")
        overlays[name] = replace(
            overlays.get(name, MessageOverlay()),
            aliases=item.aliases,
            layout_changed=item.layout_changed,
            formerly=item.formerly,
            never_stable=item.never_stable,
        )
    overlay_file.write_text(write_overlay(overlays), "utf-8")
    print(f"{len(merged)} messages written to {folder.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
