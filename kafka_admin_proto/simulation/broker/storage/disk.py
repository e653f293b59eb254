"""A disk, which outlives its broker: log directories with a folder for each partition.

A live folder is called ``apples-0``. Kafka renames it to ``apples-0.<32 hex digits>-delete`` when
the partition is deleted, to ``…-stray`` when it is set aside, and ``…-future`` is a copy that is
not whole yet (``UnifiedLog.logDeleteDirName`` and its like).
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from uuid import UUID

from kafka_admin_proto.arguments import listed
from kafka_admin_proto.errors import PartitionMetadataError
from kafka_admin_proto.kept_files import create_kept, read_kept, refuse_link
from kafka_admin_proto.records.batches.batches import Record, read_batches
from kafka_admin_proto.records.segments.partition_metadata import FILE_NAME, PartitionMetadata

FolderKind = Literal["live", "deleting", "stray", "future"]

#: The first segment, which is all that a log of few records needs.
SEGMENT_NAME = "00000000000000000000.log"
#: A folder's name has at most this many characters: that of a long topic is cut.
_LONGEST_NAME = 255
_KINDS: dict[str, FolderKind] = {"delete": "deleting", "stray": "stray", "future": "future"}
_NAME = re.compile(
    r"(?P<topic>.+)-(?P<partition>\d+)(\.[0-9a-f]{32}-(?P<ending>delete|stray|future))?"
)


@dataclass(frozen=True, slots=True)
class Folder:
    """A partition's folder. ``topic_id`` is its file's; None without a file that reads."""

    log_dir: str
    name: str
    topic: str
    partition: int
    topic_id: UUID | None
    kind: FolderKind


class Disk:
    """Log directories, kept in memory.

    A directory or folder that there is not is a KeyError.
    """

    def __init__(self, log_dirs: Sequence[str] = ("d1",)) -> None:
        self.log_dirs: tuple[str, ...] = tuple(listed(log_dirs, "log_dirs"))
        self._files: dict[str, dict[str, dict[str, bytes]]] = {each: {} for each in self.log_dirs}

    def names(self, log_dir: str) -> list[str]:
        """The folders of a log directory, in order, also those that no partition's name fits."""
        return sorted(self._files[log_dir])

    def make(self, log_dir: str, name: str) -> None:
        """Make an empty folder; one of that name loses its files."""
        self._files[log_dir][name] = {}

    def rename(self, log_dir: str, name: str, new: str) -> None:
        """Give a folder another name in its log directory."""
        folders = self._files[log_dir]
        folders[new] = folders.pop(name)

    def remove(self, log_dir: str, name: str) -> None:
        """Remove a folder with its files; no matter if it is gone."""
        self._files[log_dir].pop(name, None)

    def read(self, log_dir: str, name: str, file: str) -> bytes | None:
        """A file's contents; None without the file."""
        return self._files[log_dir][name].get(file)

    def write(self, log_dir: str, name: str, file: str, data: bytes) -> None:
        """Give a file of a folder these contents, in place of those that it had."""
        self._files[log_dir][name][file] = data

    def unlink(self, log_dir: str, name: str, file: str) -> None:
        """Remove one file; no matter if it is gone."""
        self._files[log_dir][name].pop(file, None)

    def folders(self) -> list[Folder]:
        """All folders of partitions, in the order of log directories and names."""
        found = []
        for log_dir in self.log_dirs:
            for name in self.names(log_dir):
                match = _NAME.fullmatch(name)
                if match is None:
                    continue
                kind = _KINDS[match["ending"]] if match["ending"] else "live"
                topic_id = self._topic_id(log_dir, name)
                topic, partition = match["topic"], int(match["partition"])
                found.append(Folder(log_dir, name, topic, partition, topic_id, kind))
        return found

    def records(self, folder: Folder) -> list[Record]:
        """The records of a folder's first segment in their order, none without that file.

        A last batch that is cut short is left out. Raises as ``read_batches``: DecodeError.
        """
        data = self.read(folder.log_dir, folder.name, SEGMENT_NAME) or b""
        return [record for batch in read_batches(data) for record in batch.records]

    def _topic_id(self, log_dir: str, name: str) -> UUID | None:
        data = self.read(log_dir, name, FILE_NAME)
        if data is None:
            return None
        try:
            return PartitionMetadata.parse(data).topic_id
        except PartitionMetadataError:
            return None


#: Of a file that is read back.
_MOST_BYTES = 1 << 30


class FolderDisk(Disk):
    """Log directories in the file system; ``log_dirs`` are their paths, which are made.

    Links below them are not followed: KeptFileError. Other faults are OSError, among them
    FileExistsError of ``make`` and FileNotFoundError where there is no such folder.
    """

    def __init__(self, log_dirs: Sequence[str | Path]) -> None:
        super().__init__(list(map(str, listed(log_dirs, "log_dirs"))))
        for each in self.log_dirs:
            Path(each).mkdir(parents=True, exist_ok=True)

    def names(self, log_dir: str) -> list[str]:
        paths = Path(log_dir).iterdir()
        return sorted(each.name for each in paths if each.is_dir() and not each.is_symlink())

    def make(self, log_dir: str, name: str) -> None:
        Path(log_dir, name).mkdir()

    def rename(self, log_dir: str, name: str, new: str) -> None:
        Path(log_dir, name).rename(Path(log_dir, new))

    def remove(self, log_dir: str, name: str) -> None:
        shutil.rmtree(Path(log_dir, name), ignore_errors=True)

    def read(self, log_dir: str, name: str, file: str) -> bytes | None:
        refuse_link(Path(log_dir, name))
        try:
            return read_kept(Path(log_dir, name, file), _MOST_BYTES)
        except FileNotFoundError:
            return None

    def write(self, log_dir: str, name: str, file: str, data: bytes) -> None:
        refuse_link(Path(log_dir, name))
        with open(create_kept(Path(log_dir, name, file)), "wb") as kept:
            kept.write(data)

    def unlink(self, log_dir: str, name: str, file: str) -> None:
        Path(log_dir, name, file).unlink(missing_ok=True)


def live_name(topic: str, partition: int) -> str:
    """The name of a live partition's folder."""
    return f"{topic}-{partition}"


def marked_name(topic: str, partition: int, hex_digits: str, ending: str) -> str:
    """The name of a folder that is deleted, set aside or copied; a long topic is cut."""
    rest = f"-{partition}.{hex_digits}-{ending}"
    return topic[: _LONGEST_NAME - len(rest)] + rest
