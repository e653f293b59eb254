"""Frames on their way into the table ``frames``: written as they come, then put together by api.

A task writes the frames that it makes to one file of Arrow's, in batches of one date and api each,
and says which there are, and what names of topics the frames tell. With these, the table's files
are written from batches that belong together: frames are neither shuffled nor made rows of Spark's.
All names are known by then, which frames may have in files that were read before.
"""

from __future__ import annotations

import heapq
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from itertools import groupby
from pathlib import Path
from urllib.parse import quote

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from kafka_admin_proto.spark.tables.frame_rows import FRAMES
from kafka_admin_proto.spark.tables.topic_names import (
    TELLING,
    Told,
    first,
    first_told,
    resolved,
)

#: The date of what has no time, and the api of what has none.
NO_DATE, NO_API = "unknown", "none"
_DAY = 86_400_000_000
#: The days since 1970 that have a name: years 1 to 9999.
_EPOCH = date(1970, 1, 1).toordinal()
FIRST_DAY, LAST_DAY = (each.toordinal() - _EPOCH for each in (date.min, date.max))
#: Bytes of frames that a task sorts at a time, and puts in one row group of the table.
_AT_ONCE = 16 * 1024 * 1024
#: Bytes of frames that are one file of the table, and how many files each core has to write at
#: least, so that all are busy.
_FILE_BYTES = 512 * 1024 * 1024
_FILES_OF_A_CORE = 4
_SMALL_FILE = 16 * 1024 * 1024
_STAGED = FRAMES.remove(FRAMES.get_field_index("topic_names"))
_IN_FILES = FRAMES.remove(FRAMES.get_field_index("api"))
_COMPRESSED = pa.ipc.IpcWriteOptions(compression="lz4")


class Group(msgspec.Struct, frozen=True):
    """A batch of a file: frames of one date and api. ``bytes`` are those it takes in memory."""

    file: str
    number: int
    date: str
    api: str
    rows: int
    bytes: int


class Staged(msgspec.Struct, frozen=True):
    """What was staged, and the names of topics that it tells."""

    groups: list[Group]
    told: Told


_Rows = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def stage_frames(rows: DataFrame, folder: Path, made: _Rows = iter) -> Staged:
    """Write frames, ``made`` of the rows of each task, below a folder that all workers share."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        staged = msgspec.msgpack.encode(stage(made(batches), str(folder)))
        yield pa.RecordBatch.from_pydict({"staged": [staged]})

    folder.mkdir(parents=True, exist_ok=True)
    found = [_staged.decode(row.staged) for row in rows.mapInArrow(run, "staged binary").collect()]
    return Staged(
        [group for each in found for group in each.groups], first(each.told for each in found)
    )


_staged = msgspec.msgpack.Decoder(Staged)


def stage(batches: Iterable[pa.RecordBatch], folder: str) -> Staged:
    """What a task does: write its frames to a file.

    Another try of the task has another file; what the one that counts has staged is collected.
    """
    name = f"{folder}/{uuid.uuid4().hex}.arrow"
    writer: pa.RecordBatchFileWriter | None = None
    groups: list[Group] = []
    told: Told = {}
    for together in _together(batch.select(_STAGED.names) for batch in batches):
        if writer is None:
            writer = pa.ipc.new_file(name, _STAGED, options=_COMPRESSED)
        for day, api, part in _by_key(together):
            writer.write_batch(part)
            groups.append(Group(name, len(groups), day, api, part.num_rows, part.nbytes))
            if api in TELLING:
                told = first([told, first_told([part])])
    if writer is not None:
        writer.close()
    return Staged(groups, told)


def _together(batches: Iterable[pa.RecordBatch]) -> Iterator[list[pa.RecordBatch]]:
    """As many batches as are handled at once; none that is empty."""
    waiting: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        if batch.num_rows:
            waiting.append(batch)
            size += batch.nbytes
        if size >= _AT_ONCE:
            yield waiting
            waiting, size = [], 0
    if waiting:
        yield waiting


def _by_key(batches: list[pa.RecordBatch]) -> Iterator[tuple[str, str, pa.RecordBatch]]:
    """The frames of each date and api."""
    frames = pa.concat_batches(batches).cast(_STAGED)
    days = np.floor_divide(frames["ts"].cast(pa.int64()).fill_null(_NO_TIME).to_numpy(), _DAY)
    apis = frames["api"].fill_null(NO_API).dictionary_encode()
    codes = apis.indices.to_numpy()
    order = np.lexsort((codes, days))
    ordered = frames.take(pa.array(order))
    days, codes = days[order], codes[order]
    changes = np.flatnonzero((np.diff(days) != 0) | (np.diff(codes) != 0)) + 1
    for start, end in zip([0, *changes], [*changes, len(order)], strict=True):
        yield (
            _day_text(int(days[start])),
            apis.dictionary[int(codes[start])].as_py(),
            ordered.slice(start, end - start),
        )


_NO_TIME = -(1 << 63)


def _day_text(day: int) -> str:
    if not FIRST_DAY <= day <= LAST_DAY:
        return NO_DATE
    return str(date.fromordinal(day + _EPOCH))


# What is made of them --------------------------------------------------------------------------


def write_frames(spark: SparkSession, groups: Sequence[Group], names: Told, folder: Path) -> None:
    """The table ``frames``: staged frames by date and api, with the names of their topics."""
    folder.mkdir(parents=True, exist_ok=True)
    shares = _shares(spark, _files(groups, spark.sparkContext.defaultParallelism))
    if not shares:
        return
    shared = spark.sparkContext.broadcast((shares, names))

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        shares, names = shared.value
        for batch in batches:
            for number in batch["id"].to_pylist():
                for groups in shares[number]:
                    _write_file(groups, names, folder)
        yield from ()

    # A DataFrame's tasks, unlike those of an RDD, have the workers that run already.
    spark.range(len(shares), numPartitions=len(shares)).mapInArrow(run, "id long").collect()


def _files(groups: Sequence[Group], cores: int) -> list[list[Group]]:
    """The row groups of each file of the table."""
    total = _size(list(groups))
    most = max(min(_FILE_BYTES, total // (cores * _FILES_OF_A_CORE)), _SMALL_FILE)
    files: list[list[Group]] = []
    key, size = ("", ""), 0
    for each in sorted(groups, key=lambda group: (group.date, group.api, group.file, group.number)):
        if (each.date, each.api) != key or size + each.bytes > most:
            files.append([])
            key, size = (each.date, each.api), 0
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


def _write_file(groups: list[Group], names: Told, folder: Path) -> None:
    """One file of the table; it is there when it is whole."""
    to = folder / f"date={groups[0].date}" / f"api={quote(groups[0].api, safe='')}"
    to.mkdir(parents=True, exist_ok=True)
    name = f"part-{groups[0].number:05d}-{Path(groups[0].file).stem}.parquet"
    unfinished = to / f".{uuid.uuid4().hex}"
    with pq.ParquetWriter(unfinished, _IN_FILES, compression="snappy") as writer:
        for together in _together(_read(groups)):
            writer.write_batch(_with_names(together, names))
    unfinished.replace(to / name)


def _with_names(batches: list[pa.RecordBatch], names: Told) -> pa.RecordBatch:
    frames = pa.concat_batches(batches)
    found = resolved(frames["topic_ids"], frames["line"], frames["place"], names)
    columns = [found if each == "topic_names" else frames[each] for each in _IN_FILES.names]
    return pa.RecordBatch.from_arrays(columns, schema=_IN_FILES)


def _read(groups: Sequence[Group]) -> Iterator[pa.RecordBatch]:
    for name, of_file in groupby(groups, lambda group: group.file):
        with pa.OSFile(name) as source, pa.ipc.open_file(source) as file:
            for group in of_file:
                yield file.get_batch(group.number)
