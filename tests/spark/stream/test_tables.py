"""The pipeline as a stream: batch by batch, stopped and tried again, the same tables."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from kafka_admin_proto.capture.options import DEFAULT_OPTIONS
from kafka_admin_proto.spark.frames import by_flow
from kafka_admin_proto.spark.runner import SparkRunner
from kafka_admin_proto.spark.stream.batches import StreamEndedError
from kafka_admin_proto.spark.stream.tables import StreamTables, run_stream
from kafka_admin_proto.tables.decode_flows import decode_chunks
from kafka_admin_proto.tables.frame_columns import DECODED
from kafka_admin_proto.tables.ingest import packets
from kafka_admin_proto.tables.ingest.chunks import CHUNKS
from kafka_admin_proto.tables.rows.derive import packed
from kafka_admin_proto.tables.schemas import REPLACED_BY_DAY, TABLES
from kafka_admin_proto.tables.sinks.parquet import ParquetSink
from tests.capture.packets import conversation, pcap
from tests.capture.test_captures import USUAL
from tests.helpers.kap import run_kap
from tests.tables.test_pipeline import by_one_process, frames_in, make, rows_of
from tests.tables.traffic import write_mixed

pytestmark = pytest.mark.xdist_group("spark")


class Killed(Exception):
    """What ends a batch."""


def _decode(chunks: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    return decode_chunks(packets.rows_of(chunks, CHUNKS.names), DEFAULT_OPTIONS, packed)


def stream(spark: SparkSession, folder: Path, out: Path, *, end: bool = False) -> None:
    with open_sink(out, str(folder)) as sink:
        run_stream(spark, [str(folder)], sink, min_file_age_s=0, end=end)


def kap_stream(folder: Path, out: Path, *options: str) -> list[str]:
    """The same by ``kap pipeline``, in the session of the tests; the lines that it ends with."""
    words = ["pipeline", str(folder), "--out", str(out), "--streaming", "--every", "0", *options]
    for each in folder.iterdir():
        os.utime(each, (0, 0))  # younger ones would wait for the next batch
    with patch.object(SparkSession, "stop"):
        result = run_kap(*words)
    assert result.exit_code == 0, result.output
    return result.stdout.splitlines()


def open_sink(out: Path, *inputs: str) -> ParquetSink:
    return ParquetSink(
        out, TABLES, mode="streaming", inputs=inputs, replaced_by_day=REPLACED_BY_DAY
    )


def table(out: Path, name: str) -> list[str]:
    """Rows without what the order of batches decides."""
    rows = rows_of(out, name)
    for row in rows:
        row.pop("packet_ordinal", None)
    return sorted(json.dumps(row, sort_keys=True, default=str) for row in rows)


@pytest.mark.exhaustive
def test_a_stream_makes_the_tables_of_a_batch(spark: SparkSession, tmp_path: Path) -> None:
    """Each file is a batch; one of these is killed before, one after its tables are in place."""
    b, a, samples, controller = write_mixed(tmp_path / "made")
    folder, out = tmp_path / "captures", tmp_path / "out"
    folder.mkdir()
    copies = [Path(shutil.copy(b, folder))]
    *_, said = kap_stream(folder, out)
    frames = frames_in(out)
    assert said.startswith(f"{out}: {len(frames)} frames in ")

    copies.append(Path(shutil.copy(a, folder)))
    append = ParquetSink.append
    for early in (True, False):

        def killed(self: ParquetSink, *arguments: Any, early: bool = early, **named: Any) -> None:
            if not early:
                append(self, *arguments, **named)
            raise Killed

        with patch.object(ParquetSink, "append", killed), pytest.raises(Exception, match="Killed"):
            stream(spark, folder, out)
        assert (frames_in(out) == frames) is early
    stream(spark, folder, out)
    copies += [Path(shutil.copy(each, folder)) for each in (samples, controller)]
    kap_stream(folder, out, "--end")
    assert frames_in(out) == by_one_process(copies)

    whole = tmp_path / "whole"
    make(SparkRunner(spark.sparkContext), whole, copies)
    for name in TABLES:
        assert table(out, name) == table(whole, name), name


@pytest.mark.explore
@pytest.mark.parametrize("early", [True, False])
def test_a_file_goes_before_its_batch_comes_again(
    spark: SparkSession, tmp_path: Path, early: bool
) -> None:
    """A batch is killed before or after its tables are in place, and the file is cleaned up."""
    b, a, _, _ = write_mixed(tmp_path / "made")
    folder, out = tmp_path / "captures", tmp_path / "out"
    folder.mkdir()
    append = ParquetSink.append

    def killed(self: ParquetSink, *arguments: Any, **named: Any) -> None:
        if not early:
            append(self, *arguments, **named)
        raise Killed

    first = Path(shutil.copy(b, folder))
    with patch.object(ParquetSink, "append", killed), pytest.raises(Exception, match="Killed"):
        stream(spark, folder, out)
    kept = tmp_path / "kept"
    first.rename(kept)
    second = Path(shutil.copy(a, folder))
    stream(spark, folder, out, end=True)
    kept.rename(first)
    assert frames_in(out) == by_one_process([first, second])


@pytest.mark.explore
def test_the_end_is_killed(spark: SparkSession, tmp_path: Path) -> None:
    """What open connections have is not lost with the run that was to take it."""
    folder, out = tmp_path / "captures", tmp_path / "out"
    folder.mkdir()
    capture = folder / "cut.pcap"
    capture.write_bytes(pcap(conversation(USUAL[:1], size=10, farewell=False)[:-1]))
    stream(spark, folder, out)
    with (
        patch.object(ParquetSink, "append", side_effect=Killed),
        pytest.raises(Killed),
    ):
        stream(spark, folder, out, end=True)
    expected = by_one_process([capture])
    assert frames_in(out) != expected
    stream(spark, folder, out, end=True)
    assert frames_in(out) == expected
    with pytest.raises(StreamEndedError):
        stream(spark, folder, out, end=True)


@pytest.mark.exhaustive
def test_the_same_batch_again(spark: SparkSession, tmp_path: Path) -> None:
    _, _, _, controller = write_mixed(tmp_path / "made")
    make(SparkRunner(spark.sparkContext), tmp_path / "whole", [controller])
    source = spark.read.format("kafka_capture").option("rows", "chunks")
    chunks = by_flow(source.load(str(controller)))
    rows = chunks.mapInArrow(_decode, from_arrow_schema(DECODED)).cache()
    with open_sink(tmp_path / "out", "x") as sink:
        sink.claim()
        tables = StreamTables(sink)
        half = rows.selectExpr("median(packet_ordinal)").collect()[0][0]
        # Rows without a frame belong to the last batch.
        late = f"int(coalesce(packet_ordinal > {half}, true))"
        for number in (0, 1, 1):
            tables.publish_batch(rows.where(f"{late} = {number}"), number)
    for name in TABLES:
        assert table(tmp_path / "out", name) == table(tmp_path / "whole", name), name
