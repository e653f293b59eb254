"""Rows on their way into tables: staged as tasks make them, then put together.

A task writes most of the frames that it decodes to a file of the table, see `frame_files`. The
others wait in a file of Arrow's, in batches of one date each; the rows of the other tables
are in a file for each. The task says what there is, and which packets name topics. When all tasks
are done, all names are known, and the tables' files are written of what waited.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from kafka_admin_proto.capture.options import DecodeOptions
from kafka_admin_proto.structs import decodable
from kafka_admin_proto.tables.days import dates_of
from kafka_admin_proto.tables.decode_flows import decode_chunks
from kafka_admin_proto.tables.files.frame_files import (
    FrameFile,
    FrameWriter,
    by_date,
    rewrite_frame_file,
    write_frame_file,
)
from kafka_admin_proto.tables.frame_columns import DECODED, FRAMES
from kafka_admin_proto.tables.ingest.exchange import Shares, Slice, balanced, read_chunks
from kafka_admin_proto.tables.rows.derive import DerivedRow
from kafka_admin_proto.tables.rows.derived.client_uses import ClientUses
from kafka_admin_proto.tables.runner import Runner
from kafka_admin_proto.tables.schemas import STAGED
from kafka_admin_proto.tables.sinks.data_files import DataFile, Location
from kafka_admin_proto.tables.topic_names import KNOWN_TOPICS, NamedTopics, add_name, earliest

#: The date of groups of frames that have none.
NO_DATE = "unknown"
#: Bytes of frames that wait in memory, to be staged together.
_WAITING_BYTES = 16 * 1024 * 1024
#: Bytes of frames that waited which are one file of the table, and how many files each core has to
#: write at least, so that all are busy.
_FILE_BYTES = 512 * 1024 * 1024
_FILES_OF_A_CORE = 4
_SMALL_FILE = 16 * 1024 * 1024
#: Derived rows that wait to be written together.
_DERIVED_ROWS = 4096
_STAGED = FRAMES.remove(FRAMES.get_field_index("topic_names"))
_COMPRESSED = pa.ipc.IpcWriteOptions(compression="lz4")


class Group(msgspec.Struct, frozen=True):
    """A batch of a file: rows of one table, of frames those of one date.

    ``bytes`` are those it takes in memory.
    """

    file: str
    number: int
    date: str
    rows: int
    bytes: int
    table: str = "frames"


@decodable
class Staged(msgspec.Struct, frozen=True):
    """What was staged, the names of topics in it, and files of ``frames`` that are finished."""

    groups: list[Group]
    topics: NamedTopics
    files: list[FrameFile]

    def of(self, table: str) -> list[Group]:
        return [group for group in self.groups if group.table == table]


def stage_chunks(
    runner: Runner, shares: Shares, folder: Path, location: Location, options: DecodeOptions
) -> Staged:
    """Stage what the chunks of each share have, which a task decodes.

    ``folder`` is one that all workers share.
    """
    folder.mkdir(parents=True, exist_ok=True)
    task = partial(_stage_share, folder=str(folder), location=location, options=options)
    return together(runner.run(task, shares))


def _stage_share(
    share: Sequence[Slice], folder: str, location: Location, options: DecodeOptions
) -> Staged:
    with Stage(folder, location) as staged:
        for decoded in decode_chunks(read_chunks(share), options, staged.take_derived):
            staged.add(decoded)
    return staged.result()


def together(parts: Sequence[Staged]) -> Staged:
    groups = [group for each in parts for group in each.groups]
    files = [file for each in parts for file in each.files]
    return Staged(groups, earliest(each.topics for each in parts), files)


def stage(batches: Iterable[pa.RecordBatch], folder: str, location: Location) -> Staged:
    """What a task does with rows of Spark's: write them to files.

    Another try of the task has other files; what the one that counts has staged is collected.
    """
    with Stage(folder, location) as staged:
        for decoded in batches:
            for packed in decoded["derived"].drop_null().to_pylist():
                staged.take_derived(_derived.decode(packed))
            staged.add(decoded.cast(DECODED))
    return staged.result()


class Stage:
    """The files of one task. Leaving it writes what is left."""

    def __init__(self, folder: str, location: Location) -> None:
        self._frames = FrameWriter(location)
        self._file: FrameFile | None = None
        self._waiting: list[pa.RecordBatch] = []
        self._waiting_bytes = 0
        self._name = f"{folder}/{uuid.uuid4().hex}"
        self._writers: dict[str, pa.RecordBatchFileWriter] = {}
        self._groups: list[Group] = []
        self._counts: dict[str, int] = {}
        self._topics: dict[str, tuple[str, int]] = dict(KNOWN_TOPICS)
        self._uses = ClientUses()
        self._derived: dict[str, list[dict[str, Any]]] = {name: [] for name in STAGED}

    def __enter__(self) -> Stage:
        return self

    def __exit__(self, kind: type[BaseException] | None, *about_error: object) -> None:
        if kind is None:
            self._finish()
        self._frames.close()
        for writer in self._writers.values():
            writer.close()

    def _finish(self) -> None:
        self._file, few = self._frames.finish()
        for frames in few:
            self._wait(frames)
        self._keep()
        uses = self._uses.take()
        if uses.num_rows:
            self._write("clients", uses.combine_chunks().to_batches()[0])
        for name in self._derived:
            self._take_derived(name)

    def result(self) -> Staged:
        """What was staged, once all is written."""
        files = [] if self._file is None else [self._file]
        return Staged(self._groups, earliest([self._topics]), files)

    def add(self, decoded: pa.RecordBatch) -> None:
        """Stage the frames among rows of `DECODED`."""
        frames = decoded
        if decoded["direction"].null_count:
            frames = decoded.filter(pc.is_valid(decoded["direction"]))
        if not frames.num_rows:
            return
        self._uses.add(frames)
        if frames["problem"].null_count < frames.num_rows:
            problems = frames.filter(pc.is_valid(frames["problem"]))
            self._write("problems", problems.select(STAGED["problems"].names))
        pending = self._frames.add(frames, self._topics)
        if pending is not None:
            self._wait(pending)

    def _wait(self, frames: pa.RecordBatch) -> None:
        """Take frames that wait until all names of topics are known."""
        self._waiting.append(frames.select(_STAGED.names).cast(_STAGED))
        self._waiting_bytes += frames.nbytes
        if self._waiting_bytes >= _WAITING_BYTES:
            self._keep()

    def _keep(self) -> None:
        if self._waiting:
            frames = pa.concat_batches(self._waiting)
            for day, part in by_date(frames, dates_of(frames["ts"])):
                self._write("frames", part, NO_DATE if day is None else str(day))
        self._waiting, self._waiting_bytes = [], 0

    def take_derived(self, rows: Iterable[DerivedRow]) -> None:
        """Stage the rows of other tables that a frame completes."""
        for table, row in rows:
            self.add_derived(table, row)

    def add_derived(self, table: str, row: dict[str, Any]) -> None:
        if table == "topic_names":
            add_name(self._topics, row["topic_id"], row["name"], row["packet_ordinal"])
            return
        rows = self._derived[table]
        rows.append(row)
        if len(rows) >= _DERIVED_ROWS:
            self._take_derived(table)

    def _take_derived(self, table: str) -> None:
        rows, self._derived[table] = self._derived[table], []
        if rows:
            structs = pa.array(rows, pa.struct(list(STAGED[table])))
            self._write(table, pa.RecordBatch.from_struct_array(structs))

    def _write(self, table: str, rows: pa.RecordBatch, day: str = "") -> None:
        file = f"{self._name}-{table}.arrow"
        writer = self._writers.get(table)
        schema = _STAGED if table == "frames" else STAGED[table]
        if writer is None:
            writer = self._writers[table] = pa.ipc.new_file(file, schema, options=_COMPRESSED)
        number = self._counts.get(table, 0)
        self._counts[table] = number + 1
        writer.write_batch(rows.cast(schema))
        group = Group(file, number, day, rows.num_rows, rows.nbytes, table)
        self._groups.append(group)


_derived = msgspec.msgpack.Decoder(list[DerivedRow])


# What is made of them --------------------------------------------------------------------------


def write_frames(
    runner: Runner, staged: Staged, names: NamedTopics, location: Location
) -> list[DataFile]:
    """The table ``frames``: the files that are finished, and those of frames that waited.

    Tasks that took different names for one topic id wrote files that have to be written again.
    """
    cores = runner.cores
    groups = _files(staged.of("frames"), cores)
    write = partial(_write_files, names=names, location=location)
    good = [each.file for each in staged.files if each.agrees(names)]
    wrong = [each.file.name for each in staged.files if not each.agrees(names)]
    if len(groups) == 1:
        # A job takes longer than to write one file here, as the other tables are.
        done = [write(groups)]
    else:
        done = runner.run(write, balanced(groups, _size, 1, cores * _FILES_OF_A_CORE))
    again = runner.run(partial(rewrite_frame_file, location, names=names), wrong)
    return good + [file for each in done for file in each] + again


def _write_files(
    files: Iterable[Sequence[Group]], names: NamedTopics, location: Location
) -> list[DataFile]:
    return [write_frame_file(location, read_groups(each), names) for each in files]


def _files(groups: Sequence[Group], cores: int) -> list[list[Group]]:
    most = max(min(_FILE_BYTES, _size(groups) // (cores * _FILES_OF_A_CORE)), _SMALL_FILE)
    files: list[list[Group]] = []
    size = 0
    for each in sorted(groups, key=lambda group: (group.date, group.file, group.number)):
        if not files or size + each.bytes > most:
            files.append([])
            size = 0
        files[-1].append(each)
        size += each.bytes
    return files


def _size(groups: Sequence[Group]) -> int:
    return sum(each.bytes for each in groups)


def read_groups(groups: Iterable[Group]) -> Iterator[pa.RecordBatch]:
    for name, of_file in groupby(groups, lambda group: group.file):
        with pa.OSFile(name) as source, pa.ipc.open_file(source) as file:
            for group in of_file:
                yield file.get_batch(group.number)
