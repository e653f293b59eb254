"""The pipeline as a stream: each batch of frames joins the tables, once.

    run_stream(spark, ["captures/"], sink, every="1 minute")

A batch adds files to the tables. Of ``clients``, the rows of the days that a batch has to do with
are replaced: by what was there together with what the batch adds. A request on topics has its rows
when its response comes, or when its connection has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial

import msgspec
from pyspark.sql import DataFrame, SparkSession

from kafka_admin_proto.capture.connection.topic_names import MAX_TOPICS
from kafka_admin_proto.capture.options import DEFAULT_OPTIONS, DecodeOptions
from kafka_admin_proto.spark.ingest.files import SPLIT_SIZE
from kafka_admin_proto.spark.ingest.stream_reader import SETTLED
from kafka_admin_proto.spark.sinks.sink import TableSink
from kafka_admin_proto.spark.sinks.workspace import STAGING, write_whole
from kafka_admin_proto.spark.stream.batches import end_stream, last_batch, stream_frames
from kafka_admin_proto.spark.tables.pipeline import no_progress, write_all
from kafka_admin_proto.spark.tables.staging import stage_rows
from kafka_admin_proto.spark.tables.topic_names import KNOWN_TOPICS, earliest
from kafka_admin_proto.spark.tables.write import clients_of, committed_rows, log_names

#: In the checkpoint: the names of topics that a stream was told.
_TOPICS = "topics.json"


def run_stream(
    spark: SparkSession,
    paths: Sequence[str],
    sink: TableSink,
    *,
    every: str | None = None,
    end: bool = False,
    reading: DecodeOptions = DEFAULT_OPTIONS,
    split_size: int = SPLIT_SIZE,
    settled: int = SETTLED,
    retain: timedelta | None = None,
    step: Callable[[str], None] = no_progress,
) -> None:
    """Take the files that appear below ``paths`` into the tables, until the query is stopped.

    Without ``every``, the time between batches, until all that is there now is read; ``end`` says
    that no more comes, and takes what open connections still have. How far a stream is stays in
    the sink's workspace. ``settled`` are the seconds for which a file that is read has not
    changed. Rows older than ``retain`` go. ``step`` hears what is being done.
    """
    take = StreamTables(sink, retain, step).publish_batch
    sink.claim()
    checkpoint = sink.workspace.checkpoint()
    last = last_batch(checkpoint)
    # What was killed in its last batch has no files to read any more.
    if not (end and last is not None and sink.batch < last):
        query = stream_frames(
            spark, *paths, checkpoint=checkpoint, sink=take, reading=reading,
            every=every, splitSize=str(split_size), minFileAge=str(settled),
        )  # fmt: skip
        try:
            query.awaitTermination()
        finally:
            query.stop()
    if end:
        step("open connections")
        end_stream(spark, checkpoint, take, reading)


class _Topics(msgspec.Struct):
    """What a stream was told of topics so far: by frames, and by the metadata log."""

    told: Mapping[str, tuple[str, int]] = msgspec.field(default_factory=lambda: dict(KNOWN_TOPICS))
    logged: dict[str, str] = {}


class StreamTables:
    """The tables of a stream in ``sink``, which this process holds."""

    def __init__(
        self,
        sink: TableSink,
        retain: timedelta | None = None,
        step: Callable[[str], None] = no_progress,
    ) -> None:
        self._sink = sink
        self._retain = retain
        self._step = step

    def publish_batch(self, rows: DataFrame, number: int) -> None:
        """Put a batch's rows in the tables, unless an earlier try of it did."""
        sink = self._sink
        if number <= sink.batch:
            return
        self._step(f"batch {number}")
        file = sink.workspace.checkpoint() / _TOPICS
        topics = _Topics()
        if file.exists():
            topics = msgspec.json.decode(file.read_bytes(), type=_Topics)
        staged = stage_rows(rows, sink.workspace.staging / "decoded")
        topics.told = earliest([topics.told, staged.topics])
        for topic_id, name in log_names(staged).items():
            if len(topics.logged) < MAX_TOPICS:
                topics.logged.setdefault(topic_id, name)
        # A batch that comes again tells the same names: they may be there before its rows are.
        write_whole(file, msgspec.json.encode(topics), sink.workspace.path / f"{STAGING}{_TOPICS}")
        files = write_all(
            rows.sparkSession, staged, topics.told, topics.logged, sink, appended=True
        )
        clients = clients_of(staged.of("clients"), partial(committed_rows, sink, "clients"))
        sink.append(files, {"clients": clients}, number)
        sink.maintain(number, self._retain)
