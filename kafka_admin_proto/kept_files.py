"""Files that the package writes for itself and reads back, in folders that others may write to.

What lies in such a folder is not believed. A link is not followed, because another file would be
read, cut off or removed through it; pipes and devices are not opened, because a run would wait for
them; and JSON is read as the type that was written. The folder that a user names may be a link.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TypeVar

import msgspec

from kafka_admin_proto.counts import with_commas
from kafka_admin_proto.errors import KafkaAdminProtoError

_ALL_MODES = 0o666
#: Without O_NONBLOCK, opening a pipe waits for its other end. It changes nothing for files.
_SAFELY = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_REMEDY = "remove it, or name another folder"
_T = TypeVar("_T")


class KeptFileError(KafkaAdminProtoError, ValueError):
    """A file or folder that the package keeps for itself is a link, or is not what was written."""

    def __init__(self, path: Path | str, fault: str, remedy: str) -> None:
        super().__init__(path, fault, remedy)
        self.path = path
        self.fault = fault
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.path} {self.fault}: {self.remedy}"


def refuse_link(path: Path) -> None:
    """Raise KeptFileError if the path is there and is neither a file nor a folder."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        kind = "a link, which is not followed" if stat.S_ISLNK(mode) else "neither file nor folder"
        raise KeptFileError(path, f"is {kind}", _REMEDY)


def refuse_links(path: Path) -> None:
    """The same for a path and all that is below it. Raises OSError for a folder without access."""
    refuse_link(path)
    if path.is_dir():
        for each in path.iterdir():
            refuse_links(each)


def open_kept(path: Path, flags: int) -> int:
    """The descriptor of a file, opened with these flags. Raises KeptFileError, OSError."""
    refuse_link(path)
    file = os.open(path, flags | _SAFELY, _ALL_MODES)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise KeptFileError(path, "is no file", _REMEDY)
    return file


def create_kept(path: Path) -> int:
    """The descriptor of a new file for writing; what has its name is removed. Raises OSError."""
    path.unlink(missing_ok=True)
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _ALL_MODES)


def write_whole(path: Path, data: bytes, unfinished: Path) -> None:
    """Write a file that is there whole or not at all; ``unfinished`` is on the same file system."""
    with open(create_kept(unfinished), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)


def read_kept(path: Path, most_bytes: int) -> bytes:
    """The contents of a file. Raises FileNotFoundError, OSError, and KeptFileError if it is longer.

    The file may be longer than memory, and cost no disk.
    """
    with open(open_kept(path, os.O_RDONLY), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size > most_bytes:
            raise KeptFileError(
                path,
                f"has {with_commas(size, 'bytes')}, of at most {most_bytes:,}",
                "name another folder",
            )
        return file.read(size)


def read_kept_json(path: Path, kind: type[_T], most_bytes: int) -> _T:
    """The value of a file of JSON. Raises as `read_kept`, and KeptFileError for another type."""
    try:
        return msgspec.json.decode(read_kept(path, most_bytes), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise KeptFileError(path, f"does not read ({error})", "name another folder") from None
