"""The data source as a stream: folders in which the files of rotated captures appear.

Each file is read once, however old it is when it appears, and a file of a name that was used before
is another one. What is added to a file that was read is not read but told as a problem. Offsets are
small: the files are in a log beside the checkpoint (option ``fileLog``, a folder), see `file_log`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxFiles,
    SupportsTriggerAvailableNow,
)

from kafka_admin_proto.spark.ingest.chunks import pack
from kafka_admin_proto.spark.ingest.file_log import FileLog, Known
from kafka_admin_proto.spark.ingest.files import (
    Found,
    Look,
    Part,
    find_files,
    look_at,
    parts_of,
    starts_as,
)
from kafka_admin_proto.spark.ingest.packets import packet_rows, read_part

#: Files that one batch reads, at most.
MOST_FILES_A_BATCH = 64
#: Seconds for which a file has not changed before it is read: tcpdump still writes to the others.
SETTLED = 10
_A_DAY = 86_400_000_000


class FileTask(InputPartition):
    """One task's part of a file."""

    def __init__(self, part: Part) -> None:
        super().__init__(part)
        self.part = part


class _There(msgspec.Struct, frozen=True):
    """All files that are there at a time, in microseconds since 1970."""

    now: int
    files: Mapping[str, Found]


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Offsets are the ``batch`` in the log, the ``rank`` that is free, and the ``clock``."""

    def __init__(
        self,
        columns: list[str],
        paths: list[str],
        split_size: int,
        *,
        most_files: int,
        settled: int,
        log: FileLog,
        as_chunks: bool = False,
    ) -> None:
        self._as_chunks = as_chunks
        self._columns = columns
        self._paths = paths
        self._split_size = split_size
        self._most_files = most_files
        self._settled = settled * 1_000_000
        self._log = log
        self._last: _There | None = None

    def initialOffset(self) -> dict[str, Any]:
        return {"batch": 0, "rank": 0, "clock": 0}

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadMaxFiles(self._most_files)

    def prepareForTriggerAvailableNow(self) -> None:
        self._last = self._there()

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        there = self._there() if self._last is None else self._last
        known = self._log.known(start["batch"])
        fresh = sorted(
            (each.changed, each)
            for each in there.files.values()
            if self._is_settled(each, there.now) and _is_news(each, known)
        )
        most = len(fresh)
        if not isinstance(limit, ReadAllAvailable):
            most = limit.max_files if isinstance(limit, ReadMaxFiles) else self._most_files
        # Those of the first that are just being written to are passed over until they are not.
        for first in range(0, len(fresh), max(most, 1)):
            looks, files = self._taken([each for _, each in fresh[first : first + most]], known)
            if files:
                break
        else:
            return start
        number, rank = start["batch"] + 1, start["rank"]
        times = (_start(look, files[look.name], there.now) for look in looks)
        clock = max(start["clock"], *times, 0)
        # All rows of a batch have its time, whichever file they are from.
        parts = [msgspec.structs.replace(part, clock=clock) for part in parts_of(looks, rank)]
        self._log.add(number, parts, files, there.files, there.now)
        return {"batch": number, "rank": rank + sum(each.ranks for each in looks), "clock": clock}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        numbers = range(start["batch"] + 1, end["batch"] + 1)
        return [FileTask(part) for number in numbers for part in self._log.parts(number)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, FileTask)
        if self._as_chunks:
            return pack(packet_rows(partition.part))
        return read_part(partition.part, self._columns)

    def _is_settled(self, file: Found, now: int) -> bool:
        """A file of next year, by a clock that is wrong, is not waited for."""
        return not now - self._settled < file.changed < now + _A_DAY

    def _taken(
        self, found: Sequence[Found], known: Mapping[str, Known]
    ) -> tuple[list[Look], dict[str, Known]]:
        """What is to be read or told of these files, and what is known of them then."""
        of_name = {each.name: each for each in found}
        looks, files = [], {}
        for look in look_at(list(of_name), self._split_size):
            each, name = of_name[look.name], look.name
            if look.fingerprint is not None and look.fingerprint.size != each.size:
                continue
            files[name] = Known(each.changed, each.size, look.fingerprint, look.empty)
            before = known.get(name)
            if before is None or _is_another(name, before):
                looks.append(look)
            elif before.size != each.size:
                looks.append(_grown(look, before.size, each.size))
        return looks, files

    def _there(self) -> _There:
        files = {each.name: each for each in find_files(self._paths, more_to_come=True)}
        return _There(time.time_ns() // 1000, files)


def _is_news(file: Found, known: Mapping[str, Known]) -> bool:
    before = known.get(file.name)
    return before is None or (before.changed, before.size) != (file.changed, file.size)


def _start(look: Look, file: Known, now: int) -> int:
    """The time at which a file starts, of which packets by a wrong clock may tell anything.

    None was captured after the file's last change, nor after it was found.
    """
    return min(look.first, file.changed or now, now)


def _is_another(name: str, before: Known) -> bool:
    """Whether nothing of a file was read under that name, which has changed since."""
    if before.empty or before.fingerprint is None:
        return True
    return not starts_as(name, before.fingerprint)


def _grown(look: Look, before: int, now: int) -> Look:
    """The problem that a file has other bytes than were read, in the place of its packets."""
    problem = (
        f"changed after it was read, from {before} to {now} bytes: what was added is not read. "
        "Move files here when they are finished"
    )
    return msgspec.structs.replace(
        look, parts=((0, 0),), numbered=True, fingerprint=None, problem=problem
    )
