"""The pipeline: captures, request logs and the metadata log in, tables out.

Captures are decoded once, into files beside the tables. What they tell of topics is gathered from
there, and ``frames`` written with the names, see `staging`; the other tables are made from
``frames``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from kafka_admin_proto.capture.options import DEFAULT_OPTIONS, DecodeOptions
from kafka_admin_proto.spark.ingest.files import SPLIT_SIZE, list_files
from kafka_admin_proto.spark.ingest.flows import by_flow
from kafka_admin_proto.spark.ingest.skewed_flows import skewed_flows
from kafka_admin_proto.spark.paths import to_read, to_write
from kafka_admin_proto.spark.tables import derived as tables
from kafka_admin_proto.spark.tables.decode_flows import decode_flows
from kafka_admin_proto.spark.tables.publish import Output
from kafka_admin_proto.spark.tables.schemas import TABLES
from kafka_admin_proto.spark.tables.staging import Staged, stage_frames, write_frames
from kafka_admin_proto.spark.tables.topic_names import KNOWN, Told, first

#: Nobody reads the files that say a folder is whole: the tables are, always.
_OPTIONS = {"mapreduce.fileoutputcommitter.marksuccessfuljobs": "false"}


def no_progress(name: str) -> None:
    """Progress callback that does nothing."""


def run_batch(
    spark: SparkSession,
    captures: Sequence[str],
    output: Output,
    *,
    segments: Sequence[str] = (),
    reading: DecodeOptions = DEFAULT_OPTIONS,
    split_size: int = SPLIT_SIZE,
    step: Callable[[str], None] = no_progress,
) -> None:
    """Make the tables of captures and request logs, and of ``segments`` of the metadata log.

    All of them replace those in ``output`` at once. ``step`` hears what is being done.
    """
    decoded, made = output.staging / "decoded", output.staging / "tables"
    step("reading captures")
    staged = Staged([], {})
    if captures:
        source = spark.read.format("kafka_capture").option("rows", "chunks")
        chunks = source.option("splitSize", str(split_size)).load(list(captures))
        skewed = skewed_flows(list_files(captures), split_size)
        decode = partial(decode_flows, options=reading)
        staged = stage_frames(by_flow(chunks, skewed), decoded, decode)
    names = first([KNOWN, staged.told])
    step("writing frames")
    write_frames(spark, staged.groups, names, made / "frames")
    frames = read_table(spark, made / "frames", "frames")
    log = None
    if segments:
        step("metadata log")
        write(tables.segment_rows(spark, segments), output.staging / "log")
        log = spark.read.parquet(to_read(output.staging / "log"))
    step("other tables")
    write_all({made / name: table for name, table in derived(frames, log, names).items()})
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
    spark: SparkSession, folder: Path, name: str, parts: Collection[str] = ("",)
) -> DataFrame:
    """A table, or some folders of it (``date=2026-01-31``), with its own types: dates stay text.

    A table or day without rows may have no files.
    """
    schema = from_arrow_schema(TABLES[name])
    folders = [folder / each for each in sorted(parts)]
    there = [to_read(each) for each in folders if each.exists()]
    if not there:
        return spark.createDataFrame([], schema)
    found = spark.read.schema(schema).option("basePath", to_write(folder)).parquet(*there)
    return found.select(*TABLES[name].names)


def count_rows(folder: Path) -> dict[str, int]:
    """The rows of each table below a folder, as the ends of its files say."""
    with ThreadPoolExecutor() as pool:
        return {
            name: sum(pool.map(_rows, (folder / name).glob("date=*/**/[!._]*.parquet")))
            for name in TABLES
        }


def _rows(file: Path) -> int:
    count: int = pq.read_metadata(file).num_rows
    return count


def write_all(tables: Mapping[Path, DataFrame]) -> None:
    """Write tables with a date, each into its folder, all at once: most have few tasks."""
    with ThreadPoolExecutor(len(tables)) as pool:
        written = [
            pool.submit(write, table.repartition("date"), folder, "date")
            for folder, table in tables.items()
        ]
        for each in written:
            each.result()


def write(rows: DataFrame, folder: Path, *by: str) -> None:
    """Parquet, in place of what is there, in folders for the values of the columns ``by``."""
    writer = rows.write.options(**_OPTIONS).partitionBy(*by).mode("overwrite")
    writer.parquet(to_write(folder))
