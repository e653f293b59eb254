"""The files of the table ``frames`` that tasks write as they decode.

A name that was given before a frame holds for it, wherever else the name is given; so most frames
have the names of their topics at once. What is left waits until all names are known: frames with
an id that nothing has named yet, and the few rows of a small task, which are put together with
those of others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from itertools import chain

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from kafka_admin_proto.tables.days import dates_of
from kafka_admin_proto.tables.schemas import TABLES
from kafka_admin_proto.tables.sinks.data_files import (
    ROW_GROUP_BYTES,
    DataFile,
    DataFileWriter,
    Location,
)
from kafka_admin_proto.tables.topic_names import UNNAMED, NamedTopics, names_in_frames

_SCHEMA = TABLES["frames"]
#: Bytes in memory of frames that are worth a file of their own.
_SMALL_FILE = 8 * 1024 * 1024
#: Bytes in memory of frames of several days that wait for more of the same day.
_WAITING_BYTES = 32 * 1024 * 1024
_REWRITTEN_ROWS = 4096
#: Frames between two that have to wait which wait with them, where they are fewer: so that batches
#: are cut into few slices, each of which takes time.
_SHORT_RUN = 64


class FrameFile(msgspec.Struct, frozen=True):
    """A finished file of ``frames``, and the topic ids with the names that its rows have."""

    file: DataFile
    used: set[tuple[str, str]]

    def agrees(self, names: NamedTopics) -> bool:
        """Whether its names are those that the whole capture gives."""
        return all(names.get(topic_id, UNNAMED)[0] == name for topic_id, name in self.used)


class FrameWriter:
    """Writes the frames of a task to one file; each of its row groups has one date."""

    def __init__(self, location: Location) -> None:
        self._location = location
        self._file: DataFileWriter | None = None
        self._used: set[tuple[str, str]] = set()
        self._waiting: dict[date | None, list[pa.RecordBatch]] = {}
        self._sizes: dict[date | None, int] = {}

    def add(self, frames: pa.RecordBatch, names: NamedTopics) -> pa.RecordBatch | None:
        """Add frames; those that have to wait for names of topics are returned.

        The others are slices, as their bodies are most of what a task has. They are copied where
        the memory of their batch, which a slice keeps, would not be theirs for the most part.
        """
        found = names_in_frames(frames, names)
        named = _with_names(frames, found.column)
        self._used |= found.used
        runs = _runs(found.pending)
        if not runs:
            self._take(named)
            return None
        pending = frames.take(_numbers(runs))
        others = _between(runs, frames.num_rows)
        if 2 * pending.nbytes > frames.nbytes or len(pc.unique(named["date"])) > 1:
            self._take(named.take(_numbers(others)))
        else:
            for run in others:
                self._take(named.slice(run.start, len(run)))
        return pending

    def add_named(self, frames: pa.RecordBatch, names: NamedTopics) -> None:
        """Add frames when all names of the capture are known: none of them has to wait."""
        self._take(_with_names(frames, names_in_frames(frames, names).column))

    def _take(self, frames: pa.RecordBatch) -> None:
        for day, part in by_date(frames, frames["date"]):
            self._waiting.setdefault(day, []).append(part)
            self._sizes[day] = self._sizes.get(day, 0) + part.nbytes
            if self._sizes[day] >= ROW_GROUP_BYTES:
                self._write(day)
        while sum(self._sizes.values()) > _WAITING_BYTES:
            self._write(max(self._sizes, key=self._sizes.__getitem__))

    def finish(self) -> tuple[FrameFile | None, list[pa.RecordBatch]]:
        """The file, or else all frames, where they are too few for one."""
        if self._file is None and sum(self._sizes.values()) < _SMALL_FILE:
            return None, [part for parts in self._waiting.values() for part in parts]
        return FrameFile(self.finish_file(), self._used), []

    def finish_file(self) -> DataFile:
        """The file with all frames, however few they are."""
        for day in list(self._waiting):
            self._write(day)
        file = self._opened()
        file.close()
        return file.result()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def _write(self, day: date | None) -> None:
        del self._sizes[day]
        self._opened().write(pa.Table.from_batches(self._waiting.pop(day), _SCHEMA))

    def _opened(self) -> DataFileWriter:
        if self._file is None:
            self._file = DataFileWriter(self._location, "frames", _SCHEMA)
        return self._file


def _runs(pending: Iterable[int]) -> list[range]:
    """The rows that wait: those of ``pending``, and a few between two of them."""
    runs: list[range] = []
    for number in pending:
        if runs and number - runs[-1].stop < _SHORT_RUN:
            runs[-1] = range(runs[-1].start, number + 1)
        else:
            runs.append(range(number, number + 1))
    return runs


def _between(runs: list[range], rows: int) -> list[range]:
    starts = [0, *(run.stop for run in runs)]
    ends = [*(run.start for run in runs), rows]
    return [range(start, end) for start, end in zip(starts, ends, strict=True)]


def _numbers(runs: Iterable[range]) -> pa.Array:
    return pa.array(chain.from_iterable(runs), pa.int64())


def _with_names(frames: pa.RecordBatch, names: pa.Array) -> pa.RecordBatch:
    made = {"date": dates_of(frames["ts"]), "topic_names": names}
    columns = [made[name] if name in made else frames[name] for name in _SCHEMA.names]
    return pa.RecordBatch.from_arrays(columns, schema=_SCHEMA)


def by_date(
    frames: pa.RecordBatch, dates: pa.Array
) -> Iterator[tuple[date | None, pa.RecordBatch]]:
    found = pc.unique(dates)
    if len(found) < 2:
        if frames.num_rows:
            yield found[0].as_py(), frames
        return
    for day in found:
        here = pc.equal(dates, day) if day.is_valid else pc.is_null(dates)
        yield day.as_py(), frames.filter(here)


def write_frame_file(
    location: Location, frames: Iterable[pa.RecordBatch], names: NamedTopics
) -> DataFile:
    """Write frames that waited to one file, now that all names are known."""
    writer = FrameWriter(location)
    try:
        for batch in frames:
            writer.add_named(batch, names)
        return writer.finish_file()
    finally:
        writer.close()


def rewrite_frame_file(location: Location, name: str, names: NamedTopics) -> DataFile:
    """Write the rows of a file to another one, with these names of topics."""
    system, folder = location.folder("frames")
    with system.open_input_file(f"{folder}/{name}") as source, pq.ParquetFile(source) as file:
        rows = file.iter_batches(_REWRITTEN_ROWS, columns=_SCHEMA.names)
        return write_frame_file(location, (batch.cast(_SCHEMA) for batch in rows), names)
