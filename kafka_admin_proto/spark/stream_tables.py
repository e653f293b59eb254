"""The pipeline as a stream: each batch of frames joins the tables, once.

    run_stream(spark, ["captures/"], output, every="1 minute")

The files of ``frames`` are named after the batch that they are from. The other tables are made anew
for the days that a batch has to do with, and these days' folders replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date, timedelta
from functools import reduce
from pathlib import Path

import msgspec
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from kafka_admin_proto.capture.topics import MAX_TOPICS
from kafka_admin_proto.spark import tables
from kafka_admin_proto.spark.files import SPLIT_SIZE
from kafka_admin_proto.spark.pipeline import no_step, read_table, write, write_all
from kafka_admin_proto.spark.publish import CHECKPOINT, TOPICS, Output
from kafka_admin_proto.spark.staging import stage_frames, write_frames
from kafka_admin_proto.spark.stream import end_stream, last_batch, stream_frames
from kafka_admin_proto.spark.stream_source import SETTLED
from kafka_admin_proto.spark.topic_names import KNOWN, first
from kafka_admin_proto.spark.walk import AS_USUAL, Reading

_DAY = timedelta(days=1)


def run_stream(
    spark: SparkSession,
    paths: Sequence[str],
    output: Output,
    *,
    every: str | None = None,
    end: bool = False,
    reading: Reading = AS_USUAL,
    split_size: int = SPLIT_SIZE,
    settled: int = SETTLED,
    step: Callable[[str], None] = no_step,
) -> None:
    """Take the files that appear below ``paths`` into the tables, until the query is stopped.

    Without ``every``, the time between batches, until all that is there now is read; ``end`` says
    that no more comes, and takes what open connections still have. How far a stream is stays in
    the folder of the tables. ``settled`` are the seconds for which a file that is read has not
    changed. ``step`` hears what is being done.
    """
    sink = StreamTables(output, step).publish_batch
    checkpoint = output.path / CHECKPOINT
    output.claim()
    checkpoint.mkdir(exist_ok=True)
    last = last_batch(checkpoint)
    # What was killed in its last batch has no files to read any more.
    if not (end and last is not None and output.batch < last):
        query = stream_frames(
            spark, *paths, checkpoint=checkpoint, sink=sink, reading=reading,
            every=every, splitSize=str(split_size), minFileAge=str(settled),
        )  # fmt: skip
        try:
            query.awaitTermination()
        finally:
            query.stop()
    if end:
        step("open connections")
        end_stream(spark, checkpoint, sink, reading)


class _Topics(msgspec.Struct):
    """What a stream was told of topics so far: by frames, and by the metadata log."""

    told: Mapping[str, tuple[str, int]] = msgspec.field(default_factory=lambda: dict(KNOWN))
    logged: dict[str, str] = {}

    @property
    def names(self) -> dict[str, str]:
        return {each: name for each, (name, _) in self.told.items()} | self.logged


class StreamTables:
    """The tables of a stream in ``output``, which this process holds."""

    def __init__(self, output: Output, step: Callable[[str], None] = no_step) -> None:
        self._output = output
        self._step = step

    def publish_batch(self, frames: DataFrame, number: int) -> None:
        """Put a batch's frames in the tables, unless an earlier try of it did."""
        if number <= self._output.batch:
            return
        self._step(f"batch {number}")
        _Batch(self._output, frames, number).publish()


class _Batch:
    def __init__(self, output: Output, frames: DataFrame, number: int) -> None:
        self._output = output
        self._spark: SparkSession = frames.sparkSession
        self._frames = frames
        self._number = number
        self._made = output.staging / "tables"
        self._prefix = f"batch-{number:010d}-"
        topics = output.path / TOPICS
        self._topics = _Topics()
        if topics.exists():
            self._topics = msgspec.json.decode(topics.read_bytes(), type=_Topics)

    def publish(self) -> None:
        output, made = self._output, self._made
        staged = stage_frames(self._frames, output.staging / "walked")
        self._topics.told = first([self._topics.told, staged.told])
        write_frames(self._spark, staged.groups, self._topics.told, made / "frames")
        new = sorted((made / "frames").glob("date=*/api=*/*.parquet"))
        dates = {_date(each) for each in new} | self._answered()
        moves, removes = self._derive(dates)
        tag = f"{self._prefix}{output.staging.name[-12:]}"
        for count, each in enumerate(new):
            folder = output.path / each.parent.relative_to(made)
            moves.append((each, folder / f"{tag}-{count}.parquet"))
        topics = output.staging / TOPICS
        topics.write_bytes(msgspec.json.encode(self._topics))
        moves.append((topics, output.path / TOPICS))
        output.publish(moves, removes, batch=self._number)

    def _answered(self) -> set[str]:
        """The days of the requests to which the batch has responses."""
        since = F.timestamp_micros(F.unix_micros("ts") - F.col("latency_us"))
        found = self._batch().where("latency_us IS NOT NULL AND ts IS NOT NULL")
        return {row[0] for row in found.select(tables.date_of(since)).distinct().collect()}

    def _derive(self, dates: set[str]) -> tuple[list[tuple[Path, Path]], list[Path]]:
        """Make the other tables of these days: which folders go where, and which are to go."""
        here = F.col("date").isin(*dates)
        # Responses may come on the next day.
        calls = self._frames_of(dates | {_next(each) for each in dates})
        frames = calls.where(here)
        made: dict[str, tuple[DataFrame, set[str]]] = {
            "admin_audit": (tables.admin_audit(calls).where(here), dates),
            "clients": (tables.clients(frames), dates),
            "metadata_changes": self._metadata_changes(frames, dates),
            "quorum_events": (tables.quorum_events(calls).where(here), dates),
            "problems": (tables.problems(frames), dates),
        }
        write_all({self._made / name: table for name, (table, _) in made.items()})
        moves, removes = [], []
        for name, (_, of_days) in made.items():
            for each in sorted(of_days):
                folder = f"{name}/date={each}"
                if (self._made / folder).exists():
                    moves.append((self._made / folder, self._output.path / folder))
                else:
                    removes.append(self._output.path / folder)
        return moves, removes

    def _frames_of(self, dates: Collection[str]) -> DataFrame:
        """All frames of these days, with the batch's own as they are about to be."""
        folder = self._output.path / "frames"
        before = read_table(self._spark, folder, "frames", dates)
        return before.unionByName(read_table(self._spark, self._made / "frames", "frames", dates))

    def _metadata_changes(self, frames: DataFrame, dates: set[str]) -> tuple[DataFrame, set[str]]:
        """What controllers told on these days; the batch's records of the log, of any day."""
        staged = self._output.staging / "records"
        write(tables.log_records(self._batch()), staged)
        records = self._spark.read.parquet(str(staged))
        self._learn(records)
        changes = tables.log_changes(records, self._topics.names)
        of_days = dates | {row.date for row in changes.select("date").distinct().collect()}
        before = read_table(
            self._spark, self._output.path / "metadata_changes", "metadata_changes", of_days
        )
        logged = F.col("log_offset").isNotNull()
        parts = (
            tables.controller_changes(frames),
            before.where(~logged & ~F.col("date").isin(*dates)),
            tables.once(before.where(logged).unionByName(changes)),
        )
        return reduce(DataFrame.unionByName, parts), of_days

    def _batch(self) -> DataFrame:
        return read_table(self._spark, self._made / "frames", "frames")

    def _learn(self, records: DataFrame) -> None:
        """Remember what topics are called of which later batches tell."""
        of_topics = records.where(F.col("source") == tables.TOPIC_RECORD)
        for row in of_topics.orderBy("log_offset").limit(MAX_TOPICS).collect():
            if row.topic is not None and len(self._topics.logged) < MAX_TOPICS:
                self._topics.logged.setdefault(row.topic_id, row.topic)


def _date(file: Path) -> str:
    return file.parent.parent.name.partition("=")[2]


def _next(day: str) -> str:
    try:
        return str(date.fromisoformat(day) + _DAY)
    except (ValueError, OverflowError):
        return day
