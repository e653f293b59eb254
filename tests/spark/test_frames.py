"""Frames by Spark beside those of one process: the same, however the work is divided."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from kafka_admin_proto.capture import read_captures, read_request_log
from kafka_admin_proto.capture.record import frame_record
from kafka_admin_proto.spark.frames import read_frames
from kafka_admin_proto.spark.stream.batches import StreamEndedError, end_stream, stream_frames
from tests.capture.test_request_log import entry, log4j
from tests.helpers.profile import sample
from tools.benchmarks.repeated import cut, repeated

pytestmark = [pytest.mark.exhaustive, pytest.mark.xdist_group("spark")]
SAMPLES = Path(__file__).parents[2] / "samples"
ADMIN, CONTROLLER = SAMPLES / "admin42.pcap.gz", SAMPLES / "controller39.pcap.gz"
#: Not in the frames of one flow alone, or not in the frame record.
_APART = ("topic_names", "packet_ordinal", "topic_ids", "derived")


def by_one_process(*names: Path) -> list[str]:
    return as_text(frame_record(frame) for frame in read_captures(list(names)))


def by_spark(found: DataFrame) -> list[str]:
    def shown(row: dict[str, Any]) -> dict[str, Any]:
        row["body"] = json.loads(row["body"]) if row["body"] is not None else None
        return row

    columns = [name for name in found.columns if name != "ts"]
    rows = found.selectExpr(*columns, "unix_micros(ts) AS ts").collect()
    return as_text(shown(row.asDict(recursive=True)) for row in rows)


def as_text(rows: Iterable[dict[str, Any]]) -> list[str]:
    kept = [{name: row[name] for name in sorted(row) if name not in _APART} for row in rows]
    return sorted(json.dumps(row) for row in kept)


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """One capture in four files, cut in the middle of connections."""
    folder = tmp_path_factory.mktemp("rotated")
    repeated([ADMIN, CONTROLLER], folder / "whole", range(3))
    return cut(folder / "whole", folder, 4)


@pytest.mark.parametrize("name", sample([ADMIN, CONTROLLER], 1), ids=lambda path: path.name)
def test_samples(spark: SparkSession, name: Path) -> None:
    assert by_spark(read_frames(spark, str(name))) == by_one_process(name)


@pytest.mark.parametrize(
    "split", [4096, *(pytest.param(each, marks=pytest.mark.explore) for each in (50_000, 1 << 30))]
)
def test_any_split(spark: SparkSession, captures: Sequence[Path], split: int) -> None:
    folder = str(captures[0].parent)
    assert by_spark(read_frames(spark, folder, splitSize=str(split))) == by_one_process(*captures)


def test_what_is_wrong_with_files(spark: SparkSession, tmp_path: Path) -> None:
    data = gzip.decompress(ADMIN.read_bytes())
    (tmp_path / "cut.pcap").write_bytes(data[:-7])
    (tmp_path / "foreign.pcap").write_bytes(data[:20] + (147).to_bytes(4, "little") + data[24:])
    (tmp_path / "text.pcap").write_text("hello\n")
    (tmp_path / "_SUCCESS").write_text("")
    names = [tmp_path / f"{name}.pcap" for name in ("cut", "foreign", "text")]
    assert by_spark(read_frames(spark, str(tmp_path))) == by_one_process(*names)


def test_a_request_log(spark: SparkSession, tmp_path: Path) -> None:
    log = tmp_path / "request.log"
    broken = 'Completed request:{"requestHeader"\n'
    log.write_text(f"[noise]\n{log4j(entry())}{broken}{log4j(entry())}")
    with log.open("rb") as lines:
        expected = as_text(frame_record(frame) for frame in read_request_log(lines, str(log)))
    assert expected
    assert by_spark(read_frames(spark, str(log))) == expected


@pytest.mark.explore
def test_a_stream_has_each_frame_once(
    spark: SparkSession, captures: Sequence[Path], tmp_path: Path
) -> None:
    """Files come one by one, and the stream stops and starts between them."""
    source, state = tmp_path / "captures", tmp_path / "state"
    source.mkdir()
    batches: dict[int, list[str]] = {}

    def sink(found: DataFrame, number: int) -> None:
        batches[number] = by_spark(found.where("direction IS NOT NULL").drop("derived"))

    def run() -> None:
        stream_frames(spark, str(source), checkpoint=state, sink=sink, minFileAge="0",
                      maxFilesPerTrigger="1").awaitTermination()  # fmt: skip

    copies = []
    for name in captures[:2]:
        copies.append(Path(shutil.copy(name, source)))
        run()
    assert sorted(batches) == [0, 1]
    copies += [Path(shutil.copy(name, source)) for name in captures[2:]]
    run()
    run()
    assert sorted(batches) == [0, 1, 2, 3]
    end_stream(spark, state, sink)
    end_stream(spark, state, sink)
    assert sorted(batches) == [0, 1, 2, 3, 4]
    assert sorted(row for rows in batches.values() for row in rows) == by_one_process(*copies)
    with pytest.raises(StreamEndedError, match="has ended"):
        run()
