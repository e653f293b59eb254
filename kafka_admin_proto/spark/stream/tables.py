"""The pipeline as a stream: each batch of frames joins the tables, once.

    run_stream(spark, ["captures/"], output, every="1 minute")

A batch adds files to the tables, which are named after it and stay. Of ``clients``, the folders of
the days that a batch has to do with are replaced: by what was there together with what the batch
adds. A request on topics has its rows when its response comes, or when its connection has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec
from pyspark.sql import DataFrame, SparkSession

from kafka_admin_proto.capture.connection.topic_names import MAX_TOPICS
from kafka_admin_proto.capture.options import DEFAULT_OPTIONS, DecodeOptions
from kafka_admin_proto.spark.ingest.files import SPLIT_SIZE
from kafka_admin_proto.spark.ingest.stream_reader import SETTLED
from kafka_admin_proto.spark.stream.batches import end_stream, last_batch, stream_frames
from kafka_admin_proto.spark.tables.pipeline import no_progress, write_others
from kafka_admin_proto.spark.tables.publish import TOPICS, Output
from kafka_admin_proto.spark.tables.schemas import TABLES
from kafka_admin_proto.spark.tables.staging import stage_rows, write_frames
from kafka_admin_proto.spark.tables.topic_names import KNOWN_TOPICS, earliest
from kafka_admin_proto.spark.tables.write import log_names


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

    told: Mapping[str, tuple[str, int]] = msgspec.field(default_factory=lambda: dict(KNOWN_TOPICS))
    logged: dict[str, str] = {}

    @property
    def names(self) -> dict[str, str]:
        return {each: name for each, (name, _) in self.told.items()} | self.logged


class StreamTables:
    """The tables of a stream in ``output``, which this process holds."""

    def __init__(self, output: Output, step: Callable[[str], None] = no_progress) -> None:
        self._output = output
        self._step = step

    def publish_batch(self, rows: DataFrame, number: int) -> None:
        """Put a batch's rows in the tables, unless an earlier try of it did."""
        if number <= self._output.batch:
            return
        self._step(f"batch {number}")
        _Batch(self._output, rows, number).publish()


class _Batch:
    def __init__(self, output: Output, rows: DataFrame, number: int) -> None:
        self._output = output
        self._spark: SparkSession = rows.sparkSession
        self._rows = rows
        self._number = number
        self._made = output.staging / "tables"
        topics = output.path / TOPICS
        self._topics = _Topics()
        if topics.exists():
            self._topics = msgspec.json.decode(topics.read_bytes(), type=_Topics)

    def publish(self) -> None:
        output, made, topics = self._output, self._made, self._topics
        staged = stage_rows(self._rows, output.staging / "decoded")
        topics.told = earliest([topics.told, staged.topics])
        for topic_id, name in log_names(staged).items():
            if len(topics.logged) < MAX_TOPICS:
                topics.logged.setdefault(topic_id, name)
        write_frames(self._spark, staged.of("frames"), topics.told, made / "frames")
        write_others(staged, topics.told, made, logged=topics.logged, committed=output.path)
        moves = [
            (each, output.path / each.relative_to(made))
            for each in sorted((made / "clients").glob("date=*"))
        ]
        tag = f"batch-{self._number:010d}-{output.staging.name[-12:]}"
        for name in TABLES:
            files = [] if name == "clients" else (made / name).glob("date=*/**/[!._]*.parquet")
            for count, each in enumerate(sorted(files)):
                folder = output.path / each.parent.relative_to(made)
                moves.append((each, folder / f"{tag}-{count}.parquet"))
        file = output.staging / TOPICS
        file.write_bytes(msgspec.json.encode(topics))
        moves.append((file, output.path / TOPICS))
        output.publish(moves, batch=self._number)
