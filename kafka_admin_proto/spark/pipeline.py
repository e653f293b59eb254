"""The pipeline: captures, request logs and the metadata log in, tables out.

Captures are walked once, into files beside the tables. What they tell of topics is gathered from
there, and ``frames`` written with the names; the other tables are made from ``frames``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from kafka_admin_proto.spark import tables
from kafka_admin_proto.spark.files import SPLIT_SIZE
from kafka_admin_proto.spark.frames import read_frames
from kafka_admin_proto.spark.publish import Output
from kafka_admin_proto.spark.schemas import TABLES
from kafka_admin_proto.spark.topic_names import TELLING, Told, told, with_topic_names
from kafka_admin_proto.spark.walk import AS_USUAL, FRAMES, Reading

#: Bytes of captured frames that are one file of the table, and how many files each core writes
#: at least where one date and api is nearly all there is.
_FILE_BYTES = 128 * 1024 * 1024
_FILES_OF_A_CORE = 2
#: What a request or response takes in a file beside its bytes.
_OF_A_FRAME = 200
#: Nobody reads the files that say a folder is whole: the tables are, always.
_OPTIONS = {"mapreduce.fileoutputcommitter.marksuccessfuljobs": "false"}


class Summary(msgspec.Struct, frozen=True):
    """What a run has made: rows of each table, and how long it took."""

    rows: dict[str, int]
    seconds: float


def _no_step(name: str) -> None:
    pass


def run_batch(
    spark: SparkSession,
    captures: Sequence[str],
    output: Output,
    *,
    segments: Sequence[str] = (),
    reading: Reading = AS_USUAL,
    split_size: int = SPLIT_SIZE,
    step: Callable[[str], None] = _no_step,
) -> Summary:
    """Make the tables of captures and request logs, and of ``segments`` of the metadata log.

    All of them replace those in ``output`` at once. ``step`` hears what is being done.
    """
    start = time.monotonic()
    walked, made = output.staging / "walked", output.staging / "tables"
    step("reading captures")
    if captures:
        found = read_frames(spark, *captures, reading=reading, splitSize=str(split_size))
    else:
        found = spark.createDataFrame([], from_arrow_schema(FRAMES))
    _write(_keyed(found), walked, "tells")
    staged = spark.read.schema(_keyed(found).schema).parquet(str(walked))
    step("topic names")
    names = told(staged.where("tells"))
    step("frames")
    groups = _groups(staged)
    write_frames(with_topic_names(staged, names), made / "frames", groups)
    frames = read_table(spark, made / "frames", "frames")
    log = None
    if segments:
        step("metadata log")
        _write(tables.segment_rows(spark, segments), output.staging / "log")
        log = spark.read.parquet(str(output.staging / "log"))
    for name, table in derived(frames, log, names).items():
        step(name)
        _write(table.repartition("date"), made / name, "date")
    rows = {name: read_table(spark, made / name, name).count() for name in TABLES}
    output.publish([(made / name, output.path / name) for name in TABLES])
    return Summary(rows, time.monotonic() - start)


def derived(frames: DataFrame, segments: DataFrame | None, names: Told) -> dict[str, DataFrame]:
    """The tables that are made from ``frames``, by name."""
    return {
        "admin_audit": tables.admin_audit(frames),
        "clients": tables.clients(frames),
        "metadata_changes": tables.metadata_changes(frames, segments, names),
        "quorum_events": tables.quorum_events(frames),
        "problems": tables.problems(frames, segments),
    }


def read_table(spark: SparkSession, folder: Path, name: str) -> DataFrame:
    """A table with its own types: dates stay text. One without rows may have no files."""
    if not folder.exists():
        return spark.createDataFrame([], from_arrow_schema(TABLES[name]))
    schema = from_arrow_schema(TABLES[name])
    return spark.read.schema(schema).parquet(str(folder)).select(*TABLES[name].names)


def _keyed(frames: DataFrame) -> DataFrame:
    """Frames with their date, and whether they are of the apis that tell the names of topics."""
    return (
        frames.withColumn("date", tables.date_of(F.col("ts")))
        .withColumn("api", F.coalesce("api", F.lit(tables.NO_API)))
        .withColumn("tells", F.col("api").isin(*TELLING) & (F.col("direction") == "response"))
    )


_Groups = dict[tuple[str, str], int]


def _groups(frames: DataFrame) -> _Groups:
    """In how many files the frames of a date and api go, where it is more than one."""
    size = F.sum(F.coalesce("size", F.lit(0)) + F.lit(_OF_A_FRAME)).alias("bytes")
    found = frames.groupBy("date", "api").agg(size).collect()
    total = sum(row.bytes for row in found)
    cores = frames.sparkSession.sparkContext.defaultParallelism
    most = max(min(_FILE_BYTES, total // (cores * _FILES_OF_A_CORE)), 1024 * 1024)
    return {(row.date, row.api): -(-row.bytes // most) for row in found if row.bytes > most}


def write_frames(frames: DataFrame, folder: Path, groups: _Groups) -> None:
    """The table ``frames``: a file, or so many as ``groups`` says, for each date and api."""
    salt: Column = F.lit(0)
    for (date, api), count in groups.items():
        here = (F.col("date") == date) & (F.col("api") == api)
        salt = F.when(here, F.pmod(F.hash("place"), F.lit(count))).otherwise(salt)
    shuffled = frames.select(*TABLES["frames"].names).repartition("date", "api", salt)
    _write(shuffled, folder, "date", "api")


def _write(frames: DataFrame, folder: Path, *by: str) -> None:
    frames.write.options(**_OPTIONS).partitionBy(*by).mode("overwrite").parquet(str(folder))
