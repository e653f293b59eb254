"""Segments and snapshots of the metadata log → staged rows of ``metadata_changes``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from kafka_admin_proto.tables.files.staging import Stage, Staged, together
from kafka_admin_proto.tables.ingest.files import open_stream
from kafka_admin_proto.tables.rows.calls import Json
from kafka_admin_proto.tables.rows.derived.metadata import record_rows, segment_records
from kafka_admin_proto.tables.runner import Runner
from kafka_admin_proto.tables.sinks.data_files import Location
from kafka_admin_proto.wire.types.blobs import replace_invalid_utf8


def stage_segments(
    runner: Runner, names: Sequence[str], folder: Path, location: Location
) -> Staged:
    """Stage the rows of these files, and what is wrong with them as ``problems``."""
    folder.mkdir(parents=True, exist_ok=True)
    return together(runner.run(partial(_stage, folder=str(folder), location=location), names))


def _stage(name: str, folder: str, location: Location) -> Staged:
    capture = replace_invalid_utf8(name)
    with Stage(folder, location) as stage:
        for table, row in _segment(name):
            stage.add_derived(table, {"capture": capture, **row})
    return stage.result()


def _segment(name: str) -> Iterator[tuple[str, Json]]:
    try:
        with open_stream(name) as stream:
            for record in segment_records(stream, name):
                if "problem" in record:
                    yield (
                        "problems",
                        {
                            "direction": "data",
                            "stream_offset": record["position"],
                            "size": record["size"],
                            "problem": record["problem"],
                        },
                    )
                else:
                    for row in record_rows([record]):
                        yield "metadata_changes", row
    except OSError as error:
        yield "problems", {"direction": "data", "problem": str(error)}
