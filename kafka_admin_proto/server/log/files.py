"""Appending to, replacing and removing files of a node, with a sync after each step.

After a crash a replaced file is the old or the new one. Appended data may be incomplete, and an
unfinished replacement may be left over; its name ends with ``.part``.
"""

from __future__ import annotations

import fcntl
import os
import stat
from pathlib import Path

from kafka_admin_proto.errors import MetadataLogError
from kafka_admin_proto.kept_files import create_kept, open_kept

#: The suffix of a file that is being written; Kafka too removes such snapshots at its start.
PART = ".part"
#: A broker that runs holds a lock on this file in each of its ``log.dirs``.
LOCK = ".lock"
_WRITE_BITS = 0o222


def open_to_append(path: Path) -> int:
    """The descriptor of a file for ``append``; the file is created if it does not exist."""
    new = not path.exists()
    file = open_kept(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    if new:
        _sync_folder(path.parent)
    return file


def append(file: int, data: bytes) -> None:
    """Write all data and wait until it is on disk. Raises OSError."""
    _write(file, data)
    os.fsync(file)


def replace(path: Path, data: bytes, *, read_only: bool = False, is_synced: bool = True) -> None:
    """Write a file so that a crash leaves the old or the new one. Raises OSError.

    ``is_synced`` says whether the end of the machine does so too.
    """
    part = path.with_name(path.name + PART)
    file = create_kept(part)
    try:
        _write(file, data)
        if is_synced:
            os.fsync(file)
        if read_only:
            os.fchmod(file, stat.S_IMODE(os.fstat(file).st_mode) & ~_WRITE_BITS)
    finally:
        os.close(file)
    if is_synced:
        rename(part, path)
    else:
        os.replace(part, path)


def rename(path: Path, to: Path) -> None:
    """Give a file another name in its folder."""
    os.replace(path, to)
    _sync_folder(path.parent)


def truncate(path: Path, size: int) -> None:
    """Cut a file off after its first ``size`` bytes."""
    file = open_kept(path, os.O_WRONLY)
    try:
        os.ftruncate(file, size)
        os.fsync(file)
    finally:
        os.close(file)


def remove(path: Path) -> None:
    """Remove a file, and wait until that is on disk."""
    os.unlink(path)
    _sync_folder(path.parent)


class FolderLock:
    """A lock that keeps other processes, brokers too, out of a node's folder.

    Raises MetadataLogError if another process has the folder, and KeptFileError for a link.
    """

    def __init__(self, folder: Path) -> None:
        self._file = open_kept(folder / LOCK, os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # for this process
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # for others, as Java does
        except OSError:
            os.close(self._file)
            raise MetadataLogError(
                f"{folder} is in use by another cluster or broker",
                "that one ended first, or another folder",
            ) from None

    def close(self) -> None:
        os.close(self._file)


def _write(file: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(file, rest) :]


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
