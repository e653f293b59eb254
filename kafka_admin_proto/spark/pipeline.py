"""The pipeline: captures, request logs and the metadata log in, tables out.

Captures are walked once, into files beside the tables. What they tell of topics is gathered from
there, and ``frames`` written with the names, see `staging`; the other tables are made from
``frames``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from kafka_admin_proto.spark import tables
from kafka_admin_proto.spark.files import SPLIT_SIZE
from kafka_admin_proto.spark.frames import by_flow
from kafka_admin_proto.spark.packets import PACKETS
from kafka_admin_proto.spark.publish import Output
from kafka_admin_proto.spark.schemas import TABLES
from kafka_admin_proto.spark.staging import (
    GROUPS,
    Group,
    collected,
    stage,
    told_by,
    write_frames,
)
from kafka_admin_proto.spark.topic_names import Told
from kafka_admin_proto.spark.walk import AS_USUAL, Reading, walk

#: Nobody reads the files that say a folder is whole: the tables are, always.
_OPTIONS = {"mapreduce.fileoutputcommitter.marksuccessfuljobs": "false"}


def no_step(name: str) -> None:
    """Nobody wants to hear what is being done."""


def run_batch(
    spark: SparkSession,
    captures: Sequence[str],
    output: Output,
    *,
    segments: Sequence[str] = (),
    reading: Reading = AS_USUAL,
    split_size: int = SPLIT_SIZE,
    step: Callable[[str], None] = no_step,
) -> None:
    """Make the tables of captures and request logs, and of ``segments`` of the metadata log.

    All of them replace those in ``output`` at once. ``step`` hears what is being done.
    """
    walked, made = output.staging / "walked", output.staging / "tables"
    step("reading captures")
    groups = _walk(spark, captures, reading, split_size, walked) if captures else []
    step("topic names")
    names = told_by(spark, groups)
    step("frames")
    write_frames(spark, groups, names, made / "frames")
    frames = read_table(spark, made / "frames", "frames")
    log = None
    if segments:
        step("metadata log")
        write(tables.segment_rows(spark, segments), output.staging / "log")
        log = spark.read.parquet(str(output.staging / "log"))
    for name, table in derived(frames, log, names).items():
        step(name)
        write(table.repartition("date"), made / name, "date")
    output.publish([(made / name, output.path / name) for name in TABLES])


def _walk(
    spark: SparkSession, captures: Sequence[str], reading: Reading, split_size: int, folder: Path
) -> list[Group]:
    """Stage the frames of captures in the tasks that make them."""
    packets = spark.read.format("kafka_capture").option("splitSize", str(split_size))
    folder.mkdir(parents=True)

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return stage(walk(batches, reading), str(folder))

    ordered = by_flow(packets.load(list(captures)).select(*PACKETS.names))
    return collected(ordered.mapInArrow(run, GROUPS))


def derived(frames: DataFrame, segments: DataFrame | None, names: Told) -> dict[str, DataFrame]:
    """The tables that are made from ``frames``, by name."""
    return {
        "admin_audit": tables.admin_audit(frames),
        "clients": tables.clients(frames),
        "metadata_changes": tables.metadata_changes(frames, segments, names),
        "quorum_events": tables.quorum_events(frames),
        "problems": tables.problems(frames, segments),
    }


def read_table(
    spark: SparkSession, folder: Path, name: str, dates: Collection[str] | None = None
) -> DataFrame:
    """A table, or some days of it, with its own types: dates stay text.

    A table or day without rows may have no files.
    """
    schema = from_arrow_schema(TABLES[name])
    folders = [folder] if dates is None else [folder / f"date={each}" for each in sorted(dates)]
    there = [str(each) for each in folders if each.exists()]
    if not there:
        return spark.createDataFrame([], schema)
    found = spark.read.schema(schema).option("basePath", str(folder)).parquet(*there)
    return found.select(*TABLES[name].names)


def count_rows(spark: SparkSession, folder: Path) -> dict[str, int]:
    """The rows of each table below a folder."""
    return {name: read_table(spark, folder / name, name).count() for name in TABLES}


def write(rows: DataFrame, folder: Path, *by: str) -> None:
    """Parquet, in place of what is there, in folders for the values of the columns ``by``."""
    rows.write.options(**_OPTIONS).partitionBy(*by).mode("overwrite").parquet(str(folder))
