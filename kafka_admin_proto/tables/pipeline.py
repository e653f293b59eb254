"""The pipeline: captures, request logs and the metadata log in, tables out.

Tasks that read captures write chunks of packets (`exchange`), and tasks that decode these write
frames, and the rows of the other tables that they complete (`staging`). Names of topics are known
when all is decoded; then the rest of the tables' files is written.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Mapping, Sequence

from kafka_admin_proto.arguments import listed
from kafka_admin_proto.capture.options import DEFAULT_OPTIONS, DecodeOptions
from kafka_admin_proto.tables.files.staging import Staged, stage_chunks, together, write_frames
from kafka_admin_proto.tables.files.write import (
    PLAIN_TABLES,
    changes_of,
    clients_of,
    found_problems,
    log_names,
    without_committed,
    write_plain,
    write_table,
)
from kafka_admin_proto.tables.ingest.exchange import exchange
from kafka_admin_proto.tables.ingest.files import SPLIT_SIZE, list_files, plan
from kafka_admin_proto.tables.ingest.locations import absolute
from kafka_admin_proto.tables.ingest.no_tcp import part_without_tcp
from kafka_admin_proto.tables.ingest.unopened import Unopened, UnopenedError, find_unopened
from kafka_admin_proto.tables.runner import Runner
from kafka_admin_proto.tables.segments import stage_segments
from kafka_admin_proto.tables.sinks.data_files import DataFile
from kafka_admin_proto.tables.sinks.sink import TableSink
from kafka_admin_proto.tables.topic_names import KNOWN_TOPICS, NamedTopics, earliest


def no_progress(name: str) -> None:
    """Progress callback that does nothing."""


def keep_running() -> None:
    """Called behind the last task of a run: does nothing."""


def run_batch(
    runner: Runner,
    captures: Sequence[str],
    sink: TableSink,
    *,
    segments: Sequence[str] = (),
    unreadable: Collection[str] = (),
    decode_options: DecodeOptions = DEFAULT_OPTIONS,
    split_size: int = SPLIT_SIZE,
    input_format: str = "auto",
    step: Callable[[str], None] = no_progress,
    after_jobs: Callable[[], None] = keep_running,
) -> Unopened:
    """Make the tables of captures and request logs, and of ``segments`` of the metadata log.

    All of them replace those in ``sink`` at once. Returns the inputs that tasks could not open,
    whole or in part; the table ``problems`` has them as well. Raises UnopenedError, and leaves the
    tables as they are, where nothing was opened but inputs that are known to be ``unreadable``.
    ``input_format`` is what all captures are, one of `INPUT_FORMATS`. ``step`` is called with the
    name of each step. ``after_jobs`` is called when ``runner`` is needed no more, while the last
    tables are still to be written: to stop Spark takes a second, in which it does nothing.
    """
    captures, segments = listed(captures, "captures"), listed(segments, "segments")
    decoded = sink.workspace.staging / "decoded"
    segments = list(map(absolute, segments))
    step("reading captures")
    parts = plan(list_files(captures), split_size, input_format)
    staged = Staged([], {}, [])
    if captures:
        chunks = sink.workspace.staging / "chunks"
        shares = exchange(runner, parts, chunks)
        step("decoding")
        staged = stage_chunks(runner, shares, decoded, sink.location, decode_options)
        if _has_problems_alone(staged) and (other := part_without_tcp(runner, parts)) is not None:
            shares = exchange(runner, [other], chunks)
            named = stage_chunks(runner, shares, decoded, sink.location, decode_options)
            staged = together([staged, named])
        shutil.rmtree(chunks)
    if segments:
        step("metadata log")
        log = stage_segments(runner, segments, decoded, sink.location)
        staged = Staged(staged.groups + log.groups, staged.topics, staged.files)
    planned = [*(part.file for part in parts), *segments]
    unopened = find_unopened(found_problems(staged.of("problems")), planned)
    if unopened.whole and unopened.whole >= unopened.files - {*unreadable}:
        raise UnopenedError(unopened)
    step("writing tables")
    topics = earliest([KNOWN_TOPICS, staged.topics])
    location = sink.location
    frames = write_frames(runner, staged, topics, location)
    after_jobs()
    clients = clients_of(staged.of("clients")).rows
    sink.replace(
        {
            "frames": frames,
            **write_others(staged, topics, log_names(staged), sink),
            "clients": write_table("clients", iter([clients]), location),
        }
    )
    return unopened


def _has_problems_alone(staged: Staged) -> bool:
    frames = sum(each.rows for each in staged.of("frames"))
    return not staged.files and frames == sum(each.rows for each in staged.of("problems"))


def write_others(
    staged: Staged,
    topics: NamedTopics,
    logged: Mapping[str, str],
    sink: TableSink,
    *,
    appended: bool = False,
) -> dict[str, list[DataFile]]:
    """Write what was staged of all tables but ``frames`` and ``clients``.

    ``logged`` are the names of topics in the metadata log. What is ``appended`` to tables
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
