"""The pipeline as a stream: each batch of frames joins the tables, once.

    run_stream(spark, ["captures/"], output, every="1 minute")

The files of ``frames`` and ``problems`` are named after the batch that they are from, and stay. Of
the other tables, the folders of the days that a batch has to do with are replaced: by what was
there together with what the batch adds. Calls, whose responses may be in a later batch than their
requests, are put together anew from the day's frames of their apis.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date, timedelta
from functools import reduce
from pathlib import Path

import msgspec
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from kafka_admin_proto.capture.connection.topic_names import MAX_TOPICS
from kafka_admin_proto.capture.options import DEFAULT_OPTIONS, DecodeOptions
from kafka_admin_proto.spark.ingest.files import SPLIT_SIZE
from kafka_admin_proto.spark.ingest.stream_reader import SETTLED
from kafka_admin_proto.spark.paths import to_read
from kafka_admin_proto.spark.stream.batches import end_stream, last_batch, stream_frames
from kafka_admin_proto.spark.tables import derived as tables
from kafka_admin_proto.spark.tables.audit_rows import OPERATIONS
from kafka_admin_proto.spark.tables.pipeline import no_progress, read_table, write, write_all
from kafka_admin_proto.spark.tables.publish import TOPICS, Output
from kafka_admin_proto.spark.tables.quorum_rows import QUORUM_APIS
from kafka_admin_proto.spark.tables.staging import stage_frames, write_frames
from kafka_admin_proto.spark.tables.topic_names import KNOWN, first

_DAY = timedelta(days=1)


def run_stream(
    spark: SparkSession,
    paths: Sequence[str],
    output: Output,
    *,
    every: str | None = None,
    end: bool = False,
    reading: DecodeOptions = DEFAULT_OPTIONS,
    split_size: int = SPLIT_SIZE,
    settled: int = SETTLED,
    step: Callable[[str], None] = no_progress,
) -> None:
    """Take the files that appear below ``paths`` into the tables, until the query is stopped.

    Without ``every``, the time between batches, until all that is there now is read; ``end`` says
    that no more comes, and takes what open connections still have. How far a stream is stays in
    the folder of the tables. ``settled`` are the seconds for which a file that is read has not
    changed. ``step`` hears what is being done.
    """
    sink = StreamTables(output, step).publish_batch
    output.claim()
    checkpoint = output.checkpoint()
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

    def __init__(self, output: Output, step: Callable[[str], None] = no_progress) -> None:
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
        topics = output.path / TOPICS
        self._topics = _Topics()
        if topics.exists():
            self._topics = msgspec.json.decode(topics.read_bytes(), type=_Topics)

    def publish(self) -> None:
        output, made = self._output, self._made
        staged = stage_frames(self._frames, output.staging / "decoded")
        self._topics.told = first([self._topics.told, staged.told])
        write_frames(self._spark, staged.groups, self._topics.told, made / "frames")
        dates = {each.name.partition("=")[2] for each in (made / "frames").glob("date=*")}
        moves, removes = self._derive(dates)
        tag = f"batch-{self._number:010d}-{output.staging.name[-12:]}"
        for name in ("frames", "problems"):
            for count, each in enumerate(sorted((made / name).glob("date=*/**/[!._]*.parquet"))):
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
        """Make the other tables: which folders go where, and which are to go."""
        batch = self._batch()
        asked = dates | self._answered()
        here = F.col("date").isin(*asked)
        # Responses may come on the next day.
        calls = self._calls(asked | {_next(each) for each in asked})
        made: dict[str, tuple[DataFrame, set[str]]] = {
            "admin_audit": (tables.admin_audit(calls).where(here), asked),
            "clients": (tables.clients(batch, self._before("clients", dates)), dates),
            "metadata_changes": self._metadata_changes(dates),
            "quorum_events": (tables.quorum_events(calls).where(here), asked),
        }
        written = {self._made / name: table for name, (table, _) in made.items()}
        write_all(written | {self._made / "problems": tables.problems(batch)})
        moves, removes = [], []
        for name, (_, of_days) in made.items():
            for each in sorted(of_days):
                folder = f"{name}/date={each}"
                if (self._made / folder).exists():
                    moves.append((self._made / folder, self._output.path / folder))
                else:
                    removes.append(self._output.path / folder)
        return moves, removes

    def _calls(self, dates: Collection[str]) -> DataFrame:
        """The frames of the calls on these days, with the batch's own as they are about to be."""
        folders = [
            f"date={each}/api={api}" for each in dates for api in (*OPERATIONS, *QUORUM_APIS)
        ]
        found = [
            read_table(self._spark, path / "frames", "frames", folders)
            for path in (self._output.path, self._made)
        ]
        return reduce(DataFrame.unionByName, found)

    def _before(self, name: str, dates: Collection[str]) -> DataFrame:
        """The rows of a table as it is."""
        folders = [f"date={each}" for each in dates]
        return read_table(self._spark, self._output.path / name, name, folders)

    def _metadata_changes(self, dates: set[str]) -> tuple[DataFrame, set[str]]:
        """What there is of the days that the batch tells of, and of what records of the log do."""
        staged = self._output.staging / "records"
        write(tables.log_records(self._batch()), staged)
        records = self._spark.read.parquet(to_read(staged))
        self._learn(records)
        changes = tables.log_changes(records, self._topics.names)
        of_days = dates | {row.date for row in changes.select("date").distinct().collect()}
        before = self._before("metadata_changes", of_days)
        logged = F.col("log_offset").isNotNull()
        parts = (
            tables.controller_changes(self._batch()),
            before.where(~logged),
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


def _next(day: str) -> str:
    try:
        return str(date.fromisoformat(day) + _DAY)
    except (ValueError, OverflowError):
        return day
