"""Rows on their way into tables: staged as tasks make them, then put together.

A task writes the frames that it decodes to one file of Arrow's, in batches of one date and api
each, the rows of the other tables to a file for each, and says which there are, and which topics
were named. With these the tables' files are written from batches that belong together: frames are
neither shuffled nor made rows of Spark's. All names are known by then, which frames may have in
files that were read before.
"""

from __future__ import annotations

import heapq
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession

from kafka_admin_proto.spark.sinks.data_files import DataFile, Location, gathered, write_data_file
from kafka_admin_proto.spark.tables.client_uses import USES, ClientUses
from kafka_admin_proto.spark.tables.days import DAY_US, FIRST_DAY, LAST_DAY, dates_of
from kafka_admin_proto.spark.tables.derive import DERIVED
from kafka_admin_proto.spark.tables.schemas import DECODED, FRAMES, PROBLEMS, TABLES, undated
from kafka_admin_proto.spark.tables.topic_names import NamedTopics, earliest, names_in_frames

#: The keys of groups of frames without a time, and without an api.
NO_DATE, NO_API = "unknown", "none"
_EPOCH = date(1970, 1, 1).toordinal()
#: Bytes of frames that a task sorts at a time, and puts in one row group of the table.
_AT_ONCE = 16 * 1024 * 1024
#: Bytes of frames that are one file of the table, and how many files each core has to write at
#: least, so that all are busy.
_FILE_BYTES = 512 * 1024 * 1024
_FILES_OF_A_CORE = 4
_SMALL_FILE = 16 * 1024 * 1024
#: Derived rows that wait to be written together.
_DERIVED_ROWS = 4096
_STAGED = FRAMES.remove(FRAMES.get_field_index("topic_names"))
_COMPRESSED = pa.ipc.IpcWriteOptions(compression="lz4")
#: Name → columns of the rows that are staged beside frames.
STAGED = {
    "problems": undated(PROBLEMS),
    "clients": USES,
    **{name: schema for name, schema in DERIVED.items() if name != "topic_names"},
}


class Group(msgspec.Struct, frozen=True):
    """A batch of a file: rows of one table, of frames those of one date and api.

    ``bytes`` are those it takes in memory.
    """

    file: str
    number: int
    date: str
    api: str
    rows: int
    bytes: int
    table: str = "frames"


class Staged(msgspec.Struct, frozen=True):
    """What was staged, and the topics that it names."""

    groups: list[Group]
    topics: NamedTopics

    def of(self, table: str) -> list[Group]:
        """The groups of one table."""
        return [group for group in self.groups if group.table == table]


_MakeRows = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def stage_rows(rows: DataFrame, folder: Path, decode: _MakeRows = iter) -> Staged:
    """Stage what ``decode`` makes of the rows of each task: batches of `DECODED`.

    ``folder`` is one that all workers share.
    """

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        staged = msgspec.msgpack.encode(stage(decode(batches), str(folder)))
        yield pa.RecordBatch.from_pydict({"staged": [staged]})

    folder.mkdir(parents=True, exist_ok=True)
    return together(row.staged for row in rows.mapInArrow(run, "staged binary").collect())


def together(parts: Iterable[bytes]) -> Staged:
    """What all tasks have staged."""
    found = [_staged.decode(part) for part in parts]
    groups = [group for each in found for group in each.groups]
    return Staged(groups, earliest(each.topics for each in found))


_staged = msgspec.msgpack.Decoder(Staged)


def stage(batches: Iterable[pa.RecordBatch], folder: str) -> Staged:
    """What a task does: write its rows to files.

    Another try of the task has other files; what the one that counts has staged is collected.
    """
    with Stage(folder) as staged:
        for decoded in gathered(batches, _AT_ONCE):
            staged.add(pa.concat_batches(decoded).cast(DECODED))
    return staged.result()


class Stage:
    """The files of one task. Leaving it writes what is left."""

    def __init__(self, folder: str) -> None:
        self._name = f"{folder}/{uuid.uuid4().hex}"
        self._writers: dict[str, pa.RecordBatchFileWriter] = {}
        self._groups: list[Group] = []
        self._counts: dict[str, int] = {}
        self._topics: list[dict[str, tuple[str, int]]] = [{}]
        self._uses = ClientUses()
        self._derived: dict[str, list[dict[str, Any]]] = {name: [] for name in DERIVED}

    def __enter__(self) -> Stage:
        return self

    def __exit__(self, *about_error: object) -> None:
        uses = self._uses.take()
        if about_error[0] is None and uses.num_rows:
            self._write("clients", uses.combine_chunks().to_batches()[0])
        for name in self._derived:
            self._take_derived(name)
        for writer in self._writers.values():
            writer.close()

    def result(self) -> Staged:
        """What was staged, once all is written."""
        return Staged(self._groups, earliest(self._topics))

    def add(self, decoded: pa.RecordBatch) -> None:
        """Stage rows of `DECODED`."""
        for packed in decoded["derived"].drop_null().to_pylist():
            for table, row in _derived.decode(packed):
                self.add_derived(table, row)
        frames = decoded.filter(pc.is_valid(decoded["direction"]))
        if not frames.num_rows:
            return
        self._uses.add(frames)
        problems = frames.filter(pc.is_valid(frames["problem"]))
        if problems.num_rows:
            self._write("problems", problems.select(STAGED["problems"].names))
        for day, api, part in _by_key(frames.select(_STAGED.names)):
            self._write("frames", part, day, api)

    def add_derived(self, table: str, row: dict[str, Any]) -> None:
        """Stage a row of `DERIVED`, or of ``problems``."""
        rows = self._derived.setdefault(table, [])
        rows.append(row)
        if len(rows) >= _DERIVED_ROWS:
            self._take_derived(table)

    def _take_derived(self, table: str) -> None:
        rows, self._derived[table] = self._derived[table], []
        if table == "topic_names":
            named = ({r["topic_id"]: (r["name"], r["packet_ordinal"])} for r in rows)
            self._topics = [dict(earliest([*self._topics, *named]))]
        elif rows:
            schema = STAGED[table]
            columns = [pa.array([row.get(f.name) for row in rows], f.type) for f in schema]
            self._write(table, pa.RecordBatch.from_arrays(columns, schema=schema))

    def _write(self, table: str, rows: pa.RecordBatch, day: str = "", api: str = "") -> None:
        file = f"{self._name}-{table}.arrow"
        writer = self._writers.get(table)
        schema = _STAGED if table == "frames" else STAGED[table]
        if writer is None:
            writer = self._writers[table] = pa.ipc.new_file(file, schema, options=_COMPRESSED)
        number = self._counts.get(table, 0)
        self._counts[table] = number + 1
        writer.write_batch(rows.cast(schema))
        group = Group(file, number, day, api, rows.num_rows, rows.nbytes, table)
        self._groups.append(group)


_derived = msgspec.msgpack.Decoder(list[tuple[str, dict[str, Any]]])


def _by_key(frames: pa.RecordBatch) -> Iterator[tuple[str, str, pa.RecordBatch]]:
    """The frames of each date and api."""
    frames = frames.cast(_STAGED)
    days = np.floor_divide(frames["ts"].cast(pa.int64()).fill_null(_NO_TIME).to_numpy(), DAY_US)
    apis = frames["api"].fill_null(NO_API).dictionary_encode()
    codes = apis.indices.to_numpy()
    order = np.lexsort((codes, days))
    ordered = frames.take(pa.array(order))
    days, codes = days[order], codes[order]
    changes = np.flatnonzero((np.diff(days) != 0) | (np.diff(codes) != 0)) + 1
    for start, end in zip([0, *changes], [*changes, len(order)], strict=True):
        yield (
            day_text(int(days[start])),
            apis.dictionary[int(codes[start])].as_py(),
            ordered.slice(start, end - start),
        )


_NO_TIME = -(1 << 63)


def day_text(day: int) -> str:
    """The date of a day since 1970."""
    if not FIRST_DAY <= day <= LAST_DAY:
        return NO_DATE
    return str(date.fromordinal(day + _EPOCH))


# What is made of them --------------------------------------------------------------------------


def write_frames(
    spark: SparkSession, groups: Sequence[Group], names: NamedTopics, location: Location
) -> list[DataFile]:
    """The table ``frames``: staged frames by date and api, with the names of their topics."""
    shares = _shares(spark, _files(groups, spark.sparkContext.defaultParallelism))
    if not shares:
        return []
    shared = spark.sparkContext.broadcast((shares, names))

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        shares, names = shared.value
        for batch in batches:
            for number in batch["id"].to_pylist():
                for groups in shares[number]:
                    file = msgspec.msgpack.encode(_write_file(groups, names, location))
                    yield pa.RecordBatch.from_pydict({"file": [file]})

    # A DataFrame's tasks, unlike those of an RDD, have the workers that run already.
    tasks = spark.range(len(shares), numPartitions=len(shares))
    return [_file.decode(row.file) for row in tasks.mapInArrow(run, "file binary").collect()]


_file = msgspec.msgpack.Decoder(DataFile)


def _files(groups: Sequence[Group], cores: int) -> list[list[Group]]:
    """The row groups of each file of the table."""
    total = _size(list(groups))
    most = max(min(_FILE_BYTES, total // (cores * _FILES_OF_A_CORE)), _SMALL_FILE)
    files: list[list[Group]] = []
    size = 0
    for each in sorted(groups, key=lambda group: (group.date, group.api, group.file, group.number)):
        if not files or size + each.bytes > most:
            files.append([])
            size = 0
        files[-1].append(each)
        size += each.bytes
    return files


def _shares(spark: SparkSession, files: list[list[Group]]) -> list[list[list[Group]]]:
    """The files of each task: each task has about as many bytes, and the largest come first."""
    count = min(len(files), spark.sparkContext.defaultParallelism * _FILES_OF_A_CORE)
    tasks = [(0, number) for number in range(count)]
    shares: list[list[list[Group]]] = [[] for _ in tasks]
    for file in sorted(files, key=_size, reverse=True):
        taken, number = heapq.heappop(tasks)
        shares[number].append(file)
        heapq.heappush(tasks, (taken + _size(file), number))
    return shares


def _size(file: list[Group]) -> int:
    return sum(each.bytes for each in file)


def _write_file(groups: list[Group], names: NamedTopics, location: Location) -> DataFile:
    """One file of the table."""
    named = (_with_names(batch, names) for batch in read_groups(groups))
    return write_data_file(location, "frames", TABLES["frames"], named)


def _with_names(frames: pa.RecordBatch, names: NamedTopics) -> pa.RecordBatch:
    made = {
        "date": dates_of(frames["ts"]),
        "topic_names": names_in_frames(
            frames["topic_ids"], frames["line"], frames["packet_ordinal"], names
        ),
    }
    schema = TABLES["frames"]
    columns = [made[name] if name in made else frames[name] for name in schema.names]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def read_groups(groups: Iterable[Group]) -> Iterator[pa.RecordBatch]:
    """The batches of groups, which are in the order of their files."""
    for name, of_file in groupby(groups, lambda group: group.file):
        with pa.OSFile(name) as source, pa.ipc.open_file(source) as file:
            for group in of_file:
                yield file.get_batch(group.number)
