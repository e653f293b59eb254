"""The data source as a stream, which reads the files of rotated captures as they appear.

Each file is read once, however old it is when it appears. A file that takes the name of an earlier
one is a new file. Bytes appended to a file after it was read are not read; they are reported as a
problem. A file that no task of its batch could open is read by a later one (`FileLog.put_back`).
Offsets stay small, because the files are kept in a log beside the checkpoint (the option
``fileLog`` names its folder, see `file_log`).
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

from kafka_admin_proto.counts import counted
from kafka_admin_proto.spark.ingest.file_log import FileLog, SeenFile
from kafka_admin_proto.tables.ingest.chunks import pack
from kafka_admin_proto.tables.ingest.files import (
    FileProbe,
    ListedFile,
    Part,
    listed_files,
    parts_of,
    probe_files,
    starts_as,
)
from kafka_admin_proto.tables.ingest.packets import read_part
from kafka_admin_proto.tables.ingest.plain_chunks import part_chunks

#: Files that one batch reads at most.
MAX_FILES_PER_BATCH = 64
#: Seconds for which a file must be unchanged before it is read: tcpdump may still write to it.
MIN_FILE_AGE_S = 10
_DAY_US = 86_400_000_000


class FileTask(InputPartition):
    """The part of a file that one task reads."""

    def __init__(self, part: Part) -> None:
        super().__init__(part)
        self.part = part


class Listing(msgspec.Struct, frozen=True):
    """All files that exist at ``now``, in microseconds since 1970."""

    now: int
    files: Mapping[str, ListedFile]


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads new files batch by batch.

    An offset has the number of the last ``batch`` in the log, the next free ``rank``, and the
    ``watermark``, the latest time at which any file so far starts.
    """

    def __init__(
        self,
        columns: list[str],
        paths: list[str],
        split_size: int,
        *,
        input_format: str = "auto",
        max_files: int,
        min_file_age_s: int,
        log: FileLog,
        as_chunks: bool = False,
    ) -> None:
        self._as_chunks = as_chunks
        self._columns = columns
        self._paths = paths
        self._split_size = split_size
        self._input_format = input_format
        self._max_files = max_files
        self._min_file_age_us = min_file_age_s * 1_000_000
        self._log = log
        self._last_listing: Listing | None = None

    def initialOffset(self) -> dict[str, Any]:
        return {"batch": 0, "rank": 0, "watermark": 0}

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadMaxFiles(self._max_files)

    def prepareForTriggerAvailableNow(self) -> None:
        self._last_listing = self._list()

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        listing = self._list() if self._last_listing is None else self._last_listing
        seen = self._log.seen(start["batch"])
        # What could not be opened comes last: it would keep new files waiting again and again.
        fresh = sorted(
            (each.name in seen and seen[each.name].unopened > 0, each.changed, each)
            for each in listing.files.values()
            if self._is_old_enough(each, listing.now) and _is_to_read(each, seen, listing.now)
        )
        max_files = len(fresh)
        if not isinstance(limit, ReadAllAvailable):
            max_files = limit.max_files if isinstance(limit, ReadMaxFiles) else self._max_files
        # If all files of a group are being written to just now, take the next group.
        for first in range(0, len(fresh), max(max_files, 1)):
            group = [each for _, _, each in fresh[first : first + max_files]]
            probes, files = self._probe(group, seen)
            if files:
                break
        else:
            return start
        number, rank = start["batch"] + 1, start["rank"]
        times = (_start_time(probe, files[probe.name], listing.now) for probe in probes)
        watermark = max(start["watermark"], *times, 0)
        # All rows of a batch have the batch's watermark, whichever file they are from.
        parts = [
            msgspec.structs.replace(part, watermark=watermark) for part in parts_of(probes, rank)
        ]
        self._log.add(number, parts, files, listing.files, listing.now)
        rank += sum(each.ranks for each in probes)
        return {"batch": number, "rank": rank, "watermark": watermark}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        numbers = range(start["batch"] + 1, end["batch"] + 1)
        return [FileTask(part) for number in numbers for part in self._log.parts(number)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, FileTask)
        if self._as_chunks:
            return pack(part_chunks(partition.part))
        return read_part(partition.part, self._columns)

    def _is_old_enough(self, file: ListedFile, now: int) -> bool:
        """Whether a file was not written to lately.

        A change time more than a day ahead comes from a wrong clock, and the file is read at once.
        """
        return not now - self._min_file_age_us < file.changed < now + _DAY_US

    def _probe(
        self, group: Sequence[ListedFile], seen: Mapping[str, SeenFile]
    ) -> tuple[list[FileProbe], dict[str, SeenFile]]:
        """The probes of the files that have rows, and the entries of all files for the log.

        Files that have changed since they were listed are left out of both.
        """
        listed = {each.name: each for each in group}
        probes, files = [], {}
        for probe in probe_files(list(listed), self._split_size, self._input_format):
            each, name = listed[probe.name], probe.name
            if probe.fingerprint is not None and probe.fingerprint.size != each.size:
                continue
            files[name] = SeenFile(each.changed, each.size, probe.fingerprint, probe.empty)
            before = seen.get(name)
            if before is None or _is_replaced(name, before):
                probes.append(probe)
            elif before.size != each.size:
                probes.append(_changed_after_read(probe, before.size, each.size))
        return probes, files

    def _list(self) -> Listing:
        files = {each.name: each for each in listed_files(self._paths, more_to_come=True)}
        return Listing(time.time_ns() // 1000, files)


def _is_to_read(file: ListedFile, seen: Mapping[str, SeenFile], listed: int) -> bool:
    """Whether a file is new or has changed, or could not be opened before it was listed now.

    A stream that ends when all is read has one listing, and so opens a file once in each run.
    """
    before = seen.get(file.name)
    if before is None:
        return True
    if before.unopened:
        return before.unopened < listed
    return (before.changed, before.size) != (file.changed, file.size)


def _start_time(probe: FileProbe, file: SeenFile, now: int) -> int:
    """The time of a file's first packet, bounded by the file's last change and by ``now``.

    No packet was captured after either, so a later time comes from a wrong clock.
    """
    return min(probe.first, file.changed or now, now)


def _is_replaced(name: str, before: SeenFile) -> bool:
    """Whether a changed file is a new one under an old name, of which nothing was read."""
    if before.empty or before.fingerprint is None:
        return True
    return not starts_as(name, before.fingerprint)


def _changed_after_read(probe: FileProbe, before: int, now: int) -> FileProbe:
    """A probe that has no packets, and reports that the file's size changed after it was read."""
    problem = (
        f"changed after it was read, from {before} to {counted(now, 'bytes')}: what was added "
        "is not read. "
        "Move files here when they are finished"
    )
    return msgspec.structs.replace(
        probe, parts=((0, 0),), numbered=True, fingerprint=None, problem=problem
    )
