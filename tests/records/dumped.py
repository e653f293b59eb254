"""What Kafka's own DumpLogSegments says of a metadata log."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from kafka_admin_proto.records.segments.files_beside import rows_beside
from kafka_admin_proto.records.segments.rows import segment_rows
from tests.helpers.requirements import require_oracle
from tools.kafka_releases import NEWEST
from tools.oracles.jars import fetch_runtime
from tools.oracles.java import run

_DUMP = "org.apache.kafka.tools.DumpLogSegments"
_DUMPED = re.compile(r"\| offset: (\d+) CreateTime: (-?\d+) .*headerKeys: \[\] (\w+):? ({.*})")
_VALUE = re.compile(r"(\w+): (\S+)")
_FILE = re.compile(r"Dumping (.*)")
_BATCH = re.compile(r"baseOffset: .* partitionLeaderEpoch: (-?\d+) .* position: (\d+) ")


def dump(files: Iterable[Path], *options: str) -> str:
    """What it prints of these files."""
    require_oracle()
    return run(fetch_runtime(NEWEST), _DUMP, *options, "--files", ",".join(map(str, files)))


@cache
def dumped(folder: Path) -> dict[str, list[tuple[Any, ...]]]:
    """By file: (position, epoch, offset, timestamp, type, version, data) of each record."""
    said = dump([folder / name for name in names_in(folder)], "--cluster-metadata-decoder")
    found: dict[str, list[tuple[Any, ...]]] = {}
    rows: list[tuple[Any, ...]] = []
    place: tuple[int, ...] = ()
    for line in said.splitlines():
        if match := _FILE.fullmatch(line):
            rows = found[Path(match[1]).name] = []
        elif match := _BATCH.match(line):
            place = (int(match[2]), int(match[1]))
        elif match := _DUMPED.match(line):
            shown = json.loads(match[4])
            if match[3] == "payload":
                name, version = camel(shown["type"]), shown["version"]
                data = shown["data"]
            else:
                name, version, data = camel(match[3]), 0, shown
            rows.append((*place, int(match[1]), int(match[2]), name, version, data))
    return found


def check_beside(paths: Iterable[Path]) -> None:
    """Kafka finds in indexes and snapshots of producers what we do, and neither finds damage."""
    paths = list(paths)
    theirs: dict[Path, list[dict[str, str]]] = {}
    found: list[dict[str, str]] = []
    for line in dump(paths).splitlines():
        if match := _FILE.fullmatch(line):
            found = theirs[Path(match[1])] = []
        elif line:
            found.append(dict(_VALUE.findall(line)))
    assert theirs == {path: [*map(_as_dumped, rows_beside(str(path)))] for path in paths}


def _as_dumped(row: dict[str, Any]) -> dict[str, str]:
    """An entry with Kafka's names and texts."""
    assert row["problem"] is None
    fields = dict(row["fields"])
    if row["type"] == "AbortedTxn":
        fields["version"] = row["version"]
    elif row["type"] == "ProducerEntry":
        fields["producerEpoch"] = fields.pop("epoch")
        fields["lastTimestamp"] = fields["timestamp"]
        fields["firstSequence"] = fields["lastSequence"] - fields["offsetDelta"]
        start = fields["currentTxnFirstOffset"]
        fields["currentTxnFirstOffset"] = "OptionalLong" + (
            f"[{start}]" if start >= 0 else ".empty"
        )
    return {name: str(value) for name, value in fields.items()}


def names_in(folder: Path) -> list[str]:
    """Of segments and snapshots."""
    return sorted(path.name for path in folder.iterdir() if path.suffix in (".log", ".checkpoint"))


def camel(name: str) -> str:
    """FEATURE_LEVEL_RECORD, LEADER_CHANGE, LeaderChange → one form for all."""
    return name.replace("_", "").lower()


def check_with_kafka(folder: Path) -> None:
    """Kafka reads every file of the folder, and in each what we read."""
    found = dumped(folder)
    assert sorted(found) == names_in(folder)
    for name, theirs in found.items():
        rows = list(segment_rows(folder / name, mask=False))
        assert not any(row["problem"] or row["note"] for row in rows)
        assert [
            (row["position"], row["epoch"], row["offset"], row["timestamp"], camel(row["type"]),
             row["version"], row["fields"])
            for row in rows
        ] == theirs  # fmt: skip
