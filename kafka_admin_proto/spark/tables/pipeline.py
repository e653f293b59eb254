"""The pipeline: captures, request logs and the metadata log in, tables out.

Tasks that read captures write chunks of packets (`exchange`), and tasks that decode these write
frames, and the rows of the other tables that they complete (`staging`). Names of topics are known
when all is decoded; then the rest of the tables' files is written.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence

from pyspark import SparkContext

from kafka_admin_proto.capture.options import DEFAULT_OPTIONS, DecodeOptions
from kafka_admin_proto.spark.ingest.exchange import exchange
from kafka_admin_proto.spark.ingest.files import SPLIT_SIZE
from kafka_admin_proto.spark.sinks.data_files import DataFile
from kafka_admin_proto.spark.sinks.sink import TableSink
from kafka_admin_proto.spark.tables.files.staging import Staged, stage_chunks, write_frames
from kafka_admin_proto.spark.tables.files.write import (
    PLAIN_TABLES,
    changes_of,
    clients_of,
    log_names,
    without_committed,
    write_plain,
    write_table,
)
from kafka_admin_proto.spark.tables.segments import stage_segments
from kafka_admin_proto.spark.tables.topic_names import KNOWN_TOPICS, NamedTopics, earliest


def no_progress(name: str) -> None:
    """Progress callback that does nothing."""


def keep_running() -> None:
    """Called behind the last job of a run: what does nothing."""


def run_batch(
    context: SparkContext,
    captures: Sequence[str],
    sink: TableSink,
    *,
    segments: Sequence[str] = (),
    decode_options: DecodeOptions = DEFAULT_OPTIONS,
    split_size: int = SPLIT_SIZE,
    step: Callable[[str], None] = no_progress,
    after_jobs: Callable[[], None] = keep_running,
) -> None:
    """Make the tables of captures and request logs, and of ``segments`` of the metadata log.

    All of them replace those in ``sink`` at once. ``step`` hears what is being done. ``after_jobs``
    is called when Spark is needed no more, while the last tables are still to be written: to stop
    Spark takes a second, in which it does nothing.
    """
    decoded = sink.workspace.staging / "decoded"
    step("reading captures")
    staged = Staged([], {}, [])
    if captures:
        chunks = sink.workspace.staging / "chunks"
        shares = exchange(context, captures, split_size, chunks)
        step("decoding")
        staged = stage_chunks(context, shares, decoded, sink.location, decode_options)
        shutil.rmtree(chunks)
    if segments:
        step("metadata log")
        log = stage_segments(context, segments, decoded, sink.location)
        staged = Staged(staged.groups + log.groups, staged.topics, staged.files)
    step("writing tables")
    topics = earliest([KNOWN_TOPICS, staged.topics])
    location = sink.location
    frames = write_frames(context, staged, topics, location)
    after_jobs()
    clients = clients_of(staged.of("clients")).rows
    sink.replace(
        {
            "frames": frames,
            **write_others(staged, topics, log_names(staged), sink),
            "clients": write_table("clients", iter([clients]), location),
        }
    )


def write_others(
    staged: Staged,
    topics: NamedTopics,
    logged: Mapping[str, str],
    sink: TableSink,
    *,
    appended: bool = False,
) -> dict[str, list[DataFile]]:
    """Write what was staged of all tables but ``frames`` and ``clients``.

    ``logged`` are the names of topics that the metadata log tells. What is ``appended`` to tables
    leaves out records of the metadata log that have a row there.
    """
    location = sink.location
    files = {name: write_plain(name, staged.of(name), topics, location) for name in PLAIN_TABLES}
    names = {topic_id: name for topic_id, (name, _) in topics.items()}
    changes = changes_of(staged.of("metadata_changes"), {**names, **logged})
    if appended:
        changes = without_committed(changes, sink)
    if changes.num_rows:
        files["metadata_changes"] = write_table("metadata_changes", iter([changes]), location)
    return files
