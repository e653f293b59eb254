"""The data source as a stream: folders in which the files of rotated captures appear.

Each file is read once. What was read is in the stream's offsets, and so in its checkpoint: how many
files there were, and the names of those that changed in the last days (option ``maxFileAge``).
A file that is older than that when it appears was never seen and is not looked at.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
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

from kafka_admin_proto.spark.files import Part, list_changes, plan
from kafka_admin_proto.spark.packets import read_part

#: Files that one batch reads, at most.
MOST_FILES_A_BATCH = 64
#: Seconds for which a file has not changed before it is read: tcpdump still writes to the others.
SETTLED = 10
#: Seconds for which names are remembered.
REMEMBERED = 7 * 86_400


class FileTask(InputPartition):
    """One task's part of a file."""

    def __init__(self, part: Part) -> None:
        super().__init__(part)
        self.part = part


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Offsets are ``files`` read so far, ``clock``, and ``seen``: names and when they changed."""

    def __init__(
        self,
        columns: list[str],
        paths: list[str],
        split_size: int,
        *,
        most_files: int,
        settled: int,
        age: int,
    ) -> None:
        self._columns = columns
        self._paths = paths
        self._split_size = split_size
        self._most_files = most_files
        self._settled = settled
        self._age = age
        self._last: dict[str, int] | None = None

    def initialOffset(self) -> dict[str, Any]:
        return {"files": 0, "clock": 0, "seen": {}}

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadMaxFiles(self._most_files)

    def prepareForTriggerAvailableNow(self) -> None:
        self._last = self._there()

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        there = self._there() if self._last is None else self._last
        seen = start["seen"]
        oldest = max(seen.values(), default=0) - self._age if seen else 0
        fresh = sorted(
            (changed, name)
            for name, changed in there.items()
            if name not in seen and changed >= oldest
        )
        if not isinstance(limit, ReadAllAvailable):
            most = limit.max_files if isinstance(limit, ReadMaxFiles) else self._most_files
            fresh = fresh[:most]
        if not fresh:
            return start
        seen = seen | {name: changed for changed, name in fresh}
        oldest = max(seen.values()) - self._age
        parts = self._parts(start, [name for _, name in fresh])
        return {
            "files": start["files"] + len(fresh),
            "clock": max(part.clock for part in parts),
            "seen": {name: changed for name, changed in seen.items() if changed >= oldest}
            | {name: changed for changed, name in fresh},
        }

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        names = [name for name in end["seen"] if name not in start["seen"]]
        parts = self._parts(start, names)
        # All rows of a batch have its time, whichever file they are from.
        return [FileTask(msgspec.structs.replace(part, clock=end["clock"])) for part in parts]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, FileTask)
        return read_part(partition.part, self._columns)

    def _parts(self, start: dict[str, Any], names: list[str]) -> list[Part]:
        return plan(names, self._split_size, first_rank=start["files"], clock=start["clock"])

    def _there(self) -> dict[str, int]:
        """The files that are there and no longer written to: name → when it changed."""
        latest = time.time() - self._settled
        return {name: changed for name, changed in list_changes(self._paths) if changed <= latest}
