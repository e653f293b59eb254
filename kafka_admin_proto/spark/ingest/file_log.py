"""The log of a stream: the files that it has read, and the parts of files that make each batch.

The log's folder has one JSON file for each batch. A batch that is tried again therefore has the
same parts, and Spark's offsets only have to hold the batch number. Every hundred batches all files
that were seen so far are written as one snapshot, and the older batches are removed. The log
remembers a file as long as it exists, and a week longer.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Container, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from kafka_admin_proto.kept_files import read_kept_json, write_whole
from kafka_admin_proto.structs import decodable
from kafka_admin_proto.tables.ingest.files import Fingerprint, Part
from kafka_admin_proto.tables.ingest.unopened import Unopened, find_unopened

#: Batches after which a snapshot of all seen files replaces the batches before it.
_BATCHES_PER_SNAPSHOT = 100
#: Microseconds for which a file that has vanished is remembered: its disk may be mounted again.
SEEN_FILE_RETENTION_US = 7 * 86_400_000_000
#: Bytes of a file of the log: a snapshot has some 150 for each file that was seen.
_MOST_BYTES = 1 << 30
_NAME = re.compile(r"(\d{10})(\.seen)?\.json")


@decodable
class SeenFile(msgspec.Struct, array_like=True):
    """A file that a batch has taken: its change time and size when it was listed, and its
    fingerprint. A file without packets is ``empty``.

    Times are microseconds since 1970. ``gone`` is when the file was first found missing, or 0;
    ``unopened`` is when the tasks of the batch could not open it, or 0. A later batch takes it.
    """

    changed: int
    size: int
    fingerprint: Fingerprint | None = None
    empty: bool = False
    gone: int = 0
    unopened: int = 0


@decodable
class _Batch(msgspec.Struct, omit_defaults=True):
    parts: Sequence[Part]
    files: Mapping[str, SeenFile]


class FileLog:
    """The log in ``folder``, which the first batch creates. Batches are numbered from 1 on."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._number = -1
        self._seen: dict[str, SeenFile] = {}

    def seen(self, number: int) -> Mapping[str, SeenFile]:
        """The files that batches 1 to ``number`` have taken, by name; empty for batch 0."""
        if not 0 <= self._number <= number:
            snapshots = (n for n, is_snapshot in self._log_files() if is_snapshot and n <= number)
            self._number = max(snapshots, default=0)
            self._seen = {}
            if self._number:
                file = self._file(self._number, ".seen")
                self._seen = read_kept_json(file, dict[str, SeenFile], _MOST_BYTES)
        for each in range(self._number + 1, number + 1):
            self._seen.update(self._batch(each).files)
        self._number = number
        return self._seen

    def parts(self, number: int) -> Sequence[Part]:
        """The parts of files that make up batch ``number``."""
        return self._batch(number).parts

    def add(
        self,
        number: int,
        parts: Sequence[Part],
        files: Mapping[str, SeenFile],
        existing: Container[str],
        now: int,
    ) -> None:
        """Write batch ``number``: its parts, and the files that it takes.

        All batches before it are complete. ``existing`` has the names of all files that exist at
        ``now``, in microseconds since 1970.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        seen = self.seen(number - 1)
        if number % _BATCHES_PER_SNAPSHOT == 0:
            self._seen = _retained(seen, existing, now)
            self._write(self._file(number - 1, ".seen"), self._seen)
            for older, _ in self._log_files():
                if older < number - 1:
                    self._file(older).unlink(missing_ok=True)
                    self._file(older, ".seen").unlink(missing_ok=True)
        self._write(self._file(number), _Batch(parts, files))

    def put_back(self, problems: Iterable[tuple[str, str]]) -> Unopened:
        """What the problems of the last batch say of files that its tasks could not open.

        Those of which nothing was opened are no longer taken: a later batch tries them again. A
        file of which some parts were read is not, as its packets would be there twice.
        """
        number = max(n for n, is_snapshot in self._log_files() if not is_snapshot)
        batch = self._batch(number)
        unopened = find_unopened(problems, [part.file for part in batch.parts])
        if unopened.whole:
            now, seen = time.time_ns() // 1000, self.seen(number - 1)
            files = dict(batch.files)
            for name in unopened.whole:
                # What was read of an earlier file of this name is not read again.
                before = seen.get(name) or SeenFile(files[name].changed, files[name].size)
                files[name] = msgspec.structs.replace(before, unopened=now)
            self._write(self._file(number), _Batch(batch.parts, files))
        return unopened

    def _batch(self, number: int) -> _Batch:
        return read_kept_json(self._file(number), _Batch, _MOST_BYTES)

    def _file(self, number: int, kind: str = "") -> Path:
        return self._folder / f"{number:010d}{kind}.json"

    def _log_files(self) -> list[tuple[int, bool]]:
        """The batch number of each file in the folder, and whether the file is a snapshot."""
        if not self._folder.exists():
            return []
        matches = map(_NAME.fullmatch, os.listdir(self._folder))
        return [(int(each[1]), each[2] is not None) for each in matches if each]

    def _write(self, file: Path, value: object) -> None:
        write_whole(file, msgspec.json.encode(value), file.with_name(f".{file.name}"))


def _retained(
    seen: Mapping[str, SeenFile], existing: Container[str], now: int
) -> dict[str, SeenFile]:
    """The files that exist, and those that vanished less than `SEEN_FILE_RETENTION_US` ago."""
    kept = {}
    for name, file in seen.items():
        gone = 0 if name in existing else file.gone or now
        if not gone or now - gone <= SEEN_FILE_RETENTION_US:
            kept[name] = msgspec.structs.replace(file, gone=gone)
    return kept
