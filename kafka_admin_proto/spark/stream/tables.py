"""The pipeline as a stream: each batch of frames is added to the tables exactly once.

    run_stream(spark, ["captures/"], sink, every="1 minute")

A batch adds files to the tables. In ``clients``, which has daily totals, the rows of the days of a
batch are replaced by the earlier rows merged with the batch's own. The rows of a request on topics
are written when its response comes, or when its connection has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from threading import Event

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from kafka_admin_proto.arguments import listed
from kafka_admin_proto.capture.connection.topic_names import MAX_TOPICS
from kafka_admin_proto.capture.options import DEFAULT_OPTIONS, DecodeOptions
from kafka_admin_proto.kept_files import read_kept_json, write_whole
from kafka_admin_proto.spark.ingest.stream_reader import MIN_FILE_AGE_S
from kafka_admin_proto.spark.runner import SparkRunner
from kafka_admin_proto.spark.stream.batches import (
    end_stream,
    last_batch,
    stream_frames,
    warn_unopened,
)
from kafka_admin_proto.structs import decodable
from kafka_admin_proto.tables.files.staging import Staged, stage, together, write_frames
from kafka_admin_proto.tables.files.write import clients_of, committed_rows, log_names
from kafka_admin_proto.tables.ingest.files import SPLIT_SIZE
from kafka_admin_proto.tables.ingest.unopened import Unopened
from kafka_admin_proto.tables.pipeline import no_progress, write_others
from kafka_admin_proto.tables.sinks.data_files import Location
from kafka_admin_proto.tables.sinks.sink import TableSink
from kafka_admin_proto.tables.sinks.workspace import STAGING
from kafka_admin_proto.tables.topic_names import KNOWN_TOPICS, earliest

#: The file in the checkpoint that keeps the topic names that a stream has learned.
_TOPICS = "topics.json"
#: Twice `MAX_TOPICS` names of 249 bytes, with their ids, are 60 MB.
_MOST_TOPICS_BYTES = 256 << 20
#: Seconds between two looks whether a stream is to stop.
_PAUSE_S = 1


def run_stream(
    spark: SparkSession,
    paths: Sequence[str],
    sink: TableSink,
    *,
    every: str | None = None,
    end: bool = False,
    decode_options: DecodeOptions = DEFAULT_OPTIONS,
    split_size: int = SPLIT_SIZE,
    input_format: str = "auto",
    min_file_age_s: int = MIN_FILE_AGE_S,
    retain: timedelta | None = None,
    step: Callable[[str], None] = no_progress,
    unopened: Callable[[Unopened], None] = warn_unopened,
    stop: Event | None = None,
) -> bool:
    """Take the files that appear below ``paths`` into the tables, until the query is stopped.

    ``every`` is the time between batches; without it, the stream stops when all files that exist
    now are read. ``input_format`` is what all files are, one of `INPUT_FORMATS`. ``end`` says that
    no more files will come, and takes the last frames of open connections. The stream's progress is
    kept in the sink's workspace. A file is read when it has not changed for ``min_file_age_s``
    seconds. Rows older than ``retain`` are deleted. ``step`` is called with the name of each step,
    and with "" when the stream begins to wait. ``unopened`` is that of `stream_frames`. When
    ``stop`` is set, the query is stopped when the batch that is being made is whole, and the result
    is False.
    """
    paths = listed(paths, "paths")
    tables = StreamTables(sink, retain, step)
    take = tables.publish_batch
    sink.claim()
    checkpoint = sink.workspace.checkpoint()
    last = last_batch(checkpoint)
    # A stream that was killed while it ended has read all files; only its last batch is missing.
    if not (end and last is not None and sink.batch < last):
        query = stream_frames(
            spark, *paths, checkpoint=checkpoint, sink=take, begin=tables.begin_batch,
            decode_options=decode_options, every=every, splitSize=str(split_size),
            inputFormat=input_format, minFileAge=str(min_file_age_s), unopened=unopened,
        )  # fmt: skip
        try:
            while not query.awaitTermination(_PAUSE_S):
                # A batch that is broken off is none the worse, but Spark prints its stacks.
                if stop is not None and stop.is_set() and not tables.in_batch:
                    return False
        finally:
            query.stop()
    if end:
        step("open connections")
        end_stream(spark, checkpoint, take, decode_options)
    return True


@decodable
class _Topics(msgspec.Struct):
    """The topic names that a stream has learned so far: from frames, and from the metadata log."""

    of_frames: Mapping[str, tuple[str, int]] = msgspec.field(
        default_factory=lambda: dict(KNOWN_TOPICS)
    )
    of_log: dict[str, str] = {}


class StreamTables:
    """The tables of a stream in ``sink``, which this process has locked."""

    def __init__(
        self,
        sink: TableSink,
        retain: timedelta | None = None,
        step: Callable[[str], None] = no_progress,
    ) -> None:
        self._sink = sink
        self._retain = retain
        self._step = step
        self.in_batch: bool = False

    def begin_batch(self, number: int) -> None:
        """Called before a batch is decoded, so that the time of its step has all of it."""
        self.in_batch = True
        if number > self._sink.batch:
            self._step(f"batch {number}")

    def publish_batch(self, rows: DataFrame, number: int) -> None:
        """Add a batch's rows to the tables, unless an earlier try has done so."""
        sink = self._sink
        if number <= sink.batch:
            self.in_batch = False
            return
        file = sink.workspace.checkpoint() / _TOPICS
        try:
            topics = read_kept_json(file, _Topics, _MOST_TOPICS_BYTES)
        except FileNotFoundError:
            topics = _Topics()
        staged = _stage_rows(rows, sink.workspace.staging / "decoded", sink.location)
        topics.of_frames = earliest([topics.of_frames, staged.topics])
        for topic_id, name in log_names(staged).items():
            if len(topics.of_log) < MAX_TOPICS:
                topics.of_log.setdefault(topic_id, name)
        # A batch that is tried again gives the same names, so they may be written before its rows.
        write_whole(file, msgspec.json.encode(topics), sink.workspace.path / f"{STAGING}{_TOPICS}")
        runner = SparkRunner(rows.sparkSession.sparkContext)
        frames = write_frames(runner, staged, topics.of_frames, sink.location)
        others = write_others(staged, topics.of_frames, topics.of_log, sink, appended=True)
        clients = clients_of(staged.of("clients"), partial(committed_rows, sink, "clients"))
        sink.append({"frames": frames, **others}, {"clients": clients}, number)
        sink.maintain(number, self._retain)
        self._step("")
        self.in_batch = False


def _stage_rows(rows: DataFrame, folder: Path, location: Location) -> Staged:
    """Stage the rows of each task, in the columns of `DECODED`, in a folder that workers share."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        staged = msgspec.msgpack.encode(stage(batches, str(folder), location))
        yield pa.RecordBatch.from_pydict({"staged": [staged]})

    folder.mkdir(parents=True, exist_ok=True)
    tasks = rows.mapInArrow(run, "staged binary").collect()
    return together([msgspec.msgpack.decode(task.staged, type=Staged) for task in tasks])
