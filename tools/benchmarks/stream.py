"""A stream of many small batches into Parquet and Delta tables, which is killed and started again.

    python -m tools.benchmarks.stream [--batches 200] [--kills 3]

Both kinds of tables get each batch of one stream. Prints the seconds of a batch at the beginning
and at the end, the most files that a table had, and whether the tables have each frame once.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from kafka_admin_proto.capture.captures import read_captures
from kafka_admin_proto.capture.record import RECORD_KEYS, frame_record
from kafka_admin_proto.spark.session import spark_session
from kafka_admin_proto.spark.stream.batches import stream_frames
from kafka_admin_proto.spark.stream.tables import StreamTables
from kafka_admin_proto.tables.schemas import REPLACED_BY_DAY, TABLES
from kafka_admin_proto.tables.sinks.data_files import read_data_files
from kafka_admin_proto.tables.sinks.delta import DeltaSink
from kafka_admin_proto.tables.sinks.parquet import ParquetSink
from kafka_admin_proto.tables.sinks.sink import TableSink
from tools.benchmarks.repeated import cut, repeated

_SAMPLES = Path(__file__).parents[2] / "samples"
_CAPTURES = [_SAMPLES / "admin42.pcap.gz", _SAMPLES / "controller39.pcap.gz"]
#: Batches after a start that are slow, because Python's and Java's code is loaded.
_SLOW_BATCHES = 4
#: Batches of which the medians at the beginning and at the end are.
_SHOWN_BATCHES = 25
#: A few rows need one partition, and no generated code.
_FOR_SMALL_BATCHES = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
#: Kinds of work in a batch, as the child process names their seconds.
_WORK = ("decode", "parquet", "delta")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--batches", type=int, default=200)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child is not None:
        _stream(arguments.child)
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        captures = _write_captures(folder, arguments.batches)
        runs = list(_runs(folder, arguments.batches, arguments.kills))
        _print_figures([row for run in runs for row in run[_SLOW_BATCHES:]])
        most = {
            kind: max(max(row[f"{kind} files"].values()) for run in runs for row in run)
            for kind in ("parquet", "delta")
        }
        print(f"most files of a table: {most}")
        return _print_differences(folder, captures)


def _write_captures(folder: Path, batches: int) -> list[Path]:
    (folder / "captures").mkdir()
    repeated(_CAPTURES, folder / "whole", range(4))
    names = cut(folder / "whole", folder / "captures", batches)
    for number, each in enumerate(names):  # a stream reads files in the order of their changes
        os.utime(each, (1e9 + number, 1e9 + number))
    return names


def _runs(folder: Path, batches: int, kills: int) -> Iterator[list[dict[str, Any]]]:
    """Rows of each batch that a run reported; all runs but the last are killed on their way."""
    for run in range(kills + 1):
        process = subprocess.Popen(
            [sys.executable, "-m", "tools.benchmarks.stream", "--child", str(folder)],
            stdout=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        assert process.stdout is not None
        rows: list[dict[str, Any]] = []
        for line in process.stdout:
            rows.append(json.loads(line))
            if run < kills and rows[-1]["batch"] >= batches * (run + 1) // (kills + 1):
                time.sleep(rows[-1]["decode"] / 2)  # in the midst of the next batch
                os.killpg(process.pid, signal.SIGKILL)
                break
        if process.wait() and run == kills:
            raise SystemExit(f"the stream ended with {process.returncode}")
        yield rows


def _sinks(folder: Path) -> dict[str, TableSink]:
    out, inputs = folder / "out", [str(folder / "captures")]
    out.mkdir(exist_ok=True)
    return {
        "parquet": ParquetSink(
            out / "parquet", TABLES, mode="streaming", inputs=inputs,
            replaced_by_day=REPLACED_BY_DAY,
        ),
        "delta": DeltaSink(
            str(out / "delta"), TABLES, work=out / "work", mode="streaming", inputs=inputs,
            replaced_by_day=REPLACED_BY_DAY,
        ),
    }  # fmt: skip


def _stream(folder: Path) -> None:
    """The child process: run the stream, and print a line of JSON for each batch."""
    spark = spark_session("local[2]", settings=_FOR_SMALL_BATCHES)
    sinks = _sinks(folder)
    with sinks["parquet"], sinks["delta"]:
        for sink in sinks.values():
            sink.claim()
        tables = {kind: StreamTables(sink) for kind, sink in sinks.items()}
        since_s = time.monotonic()

        def take(rows: Any, number: int) -> None:
            nonlocal since_s
            line: dict[str, Any] = {"batch": number}
            for kind in _WORK:
                if kind in tables:
                    tables[kind].publish_batch(rows, number)
                    files = {table: len(sinks[kind].file_names(table)) for table in TABLES}
                    line[f"{kind} files"] = files
                now_s = time.monotonic()
                line[kind] = now_s - since_s
                since_s = now_s
            print(json.dumps(line), flush=True)

        query = stream_frames(
            spark, str(folder / "captures"), checkpoint=sinks["parquet"].workspace.checkpoint(),
            sink=take, maxFilesPerTrigger="1", minFileAge="0",
        )  # fmt: skip
        query.awaitTermination()
    spark.stop()


def _print_figures(rows: Sequence[dict[str, Any]]) -> None:
    last = max(row["batch"] for row in rows)
    for title, shown in (
        ("first batches", [row for row in rows if row["batch"] < _SHOWN_BATCHES]),
        ("last batches", [row for row in rows if row["batch"] > last - _SHOWN_BATCHES]),
    ):
        medians = {kind: statistics.median(row[kind] for row in shown) for kind in _WORK}
        print(title, *(f"{kind} {seconds:.2f} s" for kind, seconds in medians.items()))


def _print_differences(folder: Path, captures: Sequence[Path]) -> int:
    """Compare the frames of both tables with those of one process."""
    expected = _texts(frame_record(frame) for frame in read_captures(captures))
    failed = False
    for kind, sink in _sinks(folder).items():
        with sink:
            names = sink.file_names("frames")
            found = read_data_files(sink.tables, "frames", names, TABLES["frames"])
        rows = found.drop(["ts"]).to_pylist()
        for row, ts in zip(rows, found["ts"].cast("int64").to_pylist(), strict=True):
            row["ts"] = ts
            row["topic_names"] = dict(row["topic_names"]) if row["topic_names"] else None
            row["body"] = None if row["body"] is None else json.loads(row["body"])
        texts = _texts(rows)
        missing, more = expected - texts, texts - expected
        failed |= bool(missing or more)
        print(f"{kind}: {len(rows)} frames, {missing.total()} missing, {more.total()} too many")
    return int(failed)


def _texts(rows: Iterable[dict[str, Any]]) -> Counter[str]:
    return Counter(
        json.dumps({name: row[name] for name in RECORD_KEYS}, sort_keys=True) for row in rows
    )


if __name__ == "__main__":
    sys.exit(main())
