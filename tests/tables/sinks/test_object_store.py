"""Captures from an object store, and Delta tables in one; who writes there is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_admin_proto.tables.schemas import TABLES
from kafka_admin_proto.tables.sinks.data_files import Location, read_data_files
from kafka_admin_proto.tables.sinks.delta import DeltaSink, file_names, open_table
from tests.helpers.kap import run_kap
from tests.tables.sinks.object_store import ObjectStore, object_store
from tests.tables.sinks.small_tables import SCHEMAS, rows_of
from tests.tables.test_pipeline import as_text, by_one_process
from tests.tables.traffic import ADMIN

#: The runs of the pipeline are processes with a JVM of their own.
pytestmark = [pytest.mark.xdist_group("spark processes"), pytest.mark.exhaustive]
_TOO_LONG_S = 240

_WRITER = """
import sys
from pathlib import Path
from tests.tables.sinks.small_tables import SCHEMAS, replacement, write_batch
from kafka_admin_proto.tables.sinks.delta import DeltaSink

with DeltaSink(sys.argv[1], SCHEMAS, work=Path(sys.argv[2]), mode="streaming", inputs=["x"],
               replaced_by_day=["clients"]) as sink:
    sink.claim()
    for number in range(sink.batch + 1, int(sys.argv[3])):
        file = write_batch(sink, "frames", [(None, str(number))])
        print(number, flush=True)
        sink.append({"frames": [file]}, {"clients": replacement([(None, str(number))], [None])},
                    number)
        sink.maintain(number)
"""


@pytest.fixture(scope="module")
def store() -> Iterator[ObjectStore]:
    with object_store() as started:
        yield started


def kill_after(process: subprocess.Popen[str], lines: int) -> None:
    """End a process, and what it started, when it has said so many lines."""
    out = process.stdout or process.stderr
    assert out is not None
    for _ in range(lines):
        if not out.readline():
            break
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("batches", "kills"), [(4, [2]), pytest.param(12, [2, 4], marks=pytest.mark.explore)]
)
def test_a_writer_that_is_killed(
    store: ObjectStore, tmp_path: Path, batches: int, kills: list[int]
) -> None:
    """Each batch is there once, whatever of it was committed."""
    out = store.uri(f"small{batches}")
    command = [sys.executable, "-c", _WRITER, out, str(tmp_path), str(batches)]
    for lines in kills:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        kill_after(process, lines)
    subprocess.run(command, check=True, timeout=_TOO_LONG_S, stdout=subprocess.DEVNULL)
    with DeltaSink(out, SCHEMAS, work=tmp_path, mode="streaming", inputs=["x"]) as sink:
        assert sink.batch == batches - 1
        assert rows_of(sink, "frames") == sorted((None, str(n)) for n in range(batches))
        assert rows_of(sink, "clients") == [(None, str(batches - 1))]
        assert len(sink.file_names("frames")) < 8


@pytest.mark.explore
def test_the_pipeline(store: ObjectStore, tmp_path: Path) -> None:
    """From captures in the store to tables in the store, killed once."""
    capture = store.put(ADMIN, "captures/admin.pcap")
    out = store.uri("tables")
    command = [
        str(Path(sys.executable).with_name("kap")), "pipeline", capture, "--out", out,
        "--format", "delta", "--work", str(tmp_path / "work"), "--master", "local[1]",
    ]  # fmt: skip
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    kill_after(process, 3)
    subprocess.run(command, check=True, timeout=_TOO_LONG_S, capture_output=True)
    for name, schema in TABLES.items():
        table = open_table(Location(out), name)
        assert table is not None, name
        found = read_data_files(Location(out), name, file_names(table), schema)
        assert found.schema.equals(schema)
        if name == "frames":
            rows = found.drop(["ts"]).to_pylist()
            micros = found["ts"].cast("int64").to_pylist()
    for row, ts in zip(rows, micros, strict=True):
        row["ts"] = ts
        row["capture"] = str(ADMIN)
        row["topic_names"] = dict(row["topic_names"]) if row["topic_names"] else None
        row["body"] = None if row["body"] is None else json.loads(row["body"])
    assert as_text(rows) == by_one_process([ADMIN])
    asked = run_kap("report", out, "--query", "rates", "--output", "json")
    requests = [row for row in rows if row["direction"] == "request" and row["ts"] is not None]
    assert sum(row["requests"] for row in json.loads(asked.stdout)) == len(requests) > 0
