"""The pipeline: captures, request logs and the metadata log in, tables out.

Captures are decoded once, into files beside the tables: frames, and the rows of the other tables
that they complete, see `staging`. Names of topics are known when all are decoded; then the tables'
files are written.
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
from kafka_admin_proto.spark.tables.decode_flows import decode_all
from kafka_admin_proto.spark.tables.publish import Output
from kafka_admin_proto.spark.tables.schemas import TABLES
from kafka_admin_proto.spark.tables.segments import stage_segments
from kafka_admin_proto.spark.tables.staging import Staged, stage_rows, write_frames
from kafka_admin_proto.spark.tables.topic_names import KNOWN_TOPICS, NamedTopics, earliest
from kafka_admin_proto.spark.tables.write import (
    PLAIN_TABLES,
    log_names,
    write_changes,
    write_clients,
    write_plain,
)


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
        staged = stage_rows(by_flow(chunks, skewed), decoded, partial(decode_all, options=reading))
    if segments:
        step("metadata log")
        log = stage_segments(spark, segments, decoded)
        staged = Staged(staged.groups + log.groups, staged.topics)
    step("writing tables")
    topics = earliest([KNOWN_TOPICS, staged.topics])
    write_frames(spark, staged.of("frames"), topics, made / "frames")
    write_others(staged, topics, made, logged=log_names(staged))
    output.publish([(made / name, output.path / name) for name in TABLES])


def write_others(
    staged: Staged,
    topics: NamedTopics,
    folder: Path,
    *,
    logged: Mapping[str, str],
    committed: Path | None = None,
) -> None:
    """Write the tables beside ``frames``, or what a batch adds to those that are ``committed``.

    Of ``clients`` that is all there is of the days of the batch. ``logged`` are the names of
    topics that the metadata log tells.
    """
    for name in PLAIN_TABLES:
        write_plain(name, staged.of(name), topics, folder / name)
    names = {topic_id: name for topic_id, (name, _) in topics.items()}
    write_changes(
        staged.of("metadata_changes"),
        {**names, **logged},
        folder / "metadata_changes",
        committed and committed / "metadata_changes",
    )
    write_clients(staged.of("clients"), folder / "clients", committed and committed / "clients")


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
