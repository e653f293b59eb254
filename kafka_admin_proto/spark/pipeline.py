"""The pipeline: captures, request logs and the metadata log in, tables out.

Captures are walked once, into files beside the tables. What they tell of topics is gathered from
there, and ``frames`` written with the names; the other tables are made from ``frames``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path

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
_SMALL_FILE = 1024 * 1024
#: What a request or response takes in a file beside its bytes.
_OF_A_FRAME = 200
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
    if captures:
        found = read_frames(spark, *captures, reading=reading, splitSize=str(split_size))
    else:
        found = spark.createDataFrame([], from_arrow_schema(FRAMES))
    write(keyed(found), walked, "tells")
    staged = spark.read.schema(keyed(found).schema).parquet(str(walked))
    step("topic names")
    names = told(staged.where("tells"))
    step("frames")
    write_frames(staged, names, made / "frames")
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


def keyed(frames: DataFrame) -> DataFrame:
    """Frames with their date, and whether they are of the apis that tell the names of topics."""
    return (
        frames.withColumn("date", tables.date_of(F.col("ts")))
        .withColumn("api", F.coalesce("api", F.lit(tables.NO_API)))
        .withColumn("tells", F.col("api").isin(*TELLING) & (F.col("direction") == "response"))
    )


def write_frames(frames: DataFrame, names: Told, folder: Path) -> None:
    """The table ``frames``, with the names of topics, of ``keyed`` frames."""
    salt: Column = F.lit(0)
    for (date, api), count in _files(frames).items():
        here = (F.col("date") == date) & (F.col("api") == api)
        salt = F.when(here, F.pmod(F.hash("place"), F.lit(count))).otherwise(salt)
    named = with_topic_names(frames, names).select(*TABLES["frames"].names)
    write(named.repartition("date", "api", salt), folder, "date", "api")


def _files(frames: DataFrame) -> dict[tuple[str, str], int]:
    """In how many files the frames of a date and api go, where it is more than one."""
    size = F.sum(F.coalesce("size", F.lit(0)) + F.lit(_OF_A_FRAME)).alias("bytes")
    found = frames.groupBy("date", "api").agg(size).collect()
    total = sum(row.bytes for row in found)
    cores = frames.sparkSession.sparkContext.defaultParallelism
    most = max(min(_FILE_BYTES, total // (cores * _FILES_OF_A_CORE)), _SMALL_FILE)
    return {(row.date, row.api): -(-row.bytes // most) for row in found if row.bytes > most}


def write(rows: DataFrame, folder: Path, *by: str) -> None:
    """Parquet, in place of what is there, in folders for the values of the columns ``by``."""
    rows.write.options(**_OPTIONS).partitionBy(*by).mode("overwrite").parquet(str(folder))
