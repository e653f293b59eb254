"""Files of a node appended, replaced and removed, each step synced before the next.

After a crash a file that is replaced is the old or the new one. What was appended may be there in
part, and what was written for a replacement may be left over: its name ends with ``.part``.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from kafka_admin_proto.errors import MetadataLogError

#: Behind the name of a file that is being written; Kafka too removes such snapshots when it starts.
PART = ".part"
#: A broker that runs holds a lock on this file in each of its ``log.dirs``.
_LOCK = ".lock"
_READ_ONLY = 0o444
_ALL_MODES = 0o666


def open_to_append(path: Path) -> int:
    """The descriptor of a file that ``append`` takes; the file is made where there is none."""
    new = not path.exists()
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, _ALL_MODES)
    if new:
        _sync_folder(path.parent)
    return file


def append(file: int, data: bytes) -> None:
    """Write all of the data and wait until the disk has it. Raises OSError."""
    _write(file, data)
    os.fsync(file)


def replace(path: Path, data: bytes, *, read_only: bool = False) -> None:
    """Write a file so that a crash leaves the old or the new one. Raises OSError."""
    part = path.with_name(path.name + PART)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
    file = os.open(part, flags, _ALL_MODES)
    try:
        append(file, data)
    finally:
        os.close(file)
    if read_only:
        os.chmod(part, _READ_ONLY)
    rename(part, path)


def rename(path: Path, to: Path) -> None:
    """Give a file another name in its folder."""
    os.replace(path, to)
    _sync_folder(path.parent)


def truncate(path: Path, size: int) -> None:
    """Leave the first ``size`` bytes of a file."""
    file = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.ftruncate(file, size)
        os.fsync(file)
    finally:
        os.close(file)


def remove(path: Path) -> None:
    """Remove a file, for good before the next one is removed."""
    os.unlink(path)
    _sync_folder(path.parent)


class FolderLock:
    """Keeps other processes, brokers too, from a node's folder until it is closed.

    Raises MetadataLogError where one has the folder.
    """

    def __init__(self, folder: Path) -> None:
        self._file = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _ALL_MODES)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # this process
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # others, as Java locks
        except OSError:
            os.close(self._file)
            raise MetadataLogError(
                f"{folder} is in use by another cluster or broker",
                "that one ended first, or another folder",
            ) from None

    def close(self) -> None:
        """Let others have the folder."""
        os.close(self._file)


def _write(file: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(file, rest) :]


def _sync_folder(folder: Path) -> None:
    found = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(found)
    finally:
        os.close(found)
