"""The folder where a run works: its lock, its staging folder, and a stream's checkpoint.

All workers have to see it. For Parquet it is the folder of the tables itself; Delta tables may be
in an object store, where none of this can be.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import uuid
from pathlib import Path
from typing import IO

from kafka_admin_proto.errors import KafkaAdminProtoError

LOCK, STAGING = ".lock", ".staging-"
#: Where a stream keeps how far it is.
CHECKPOINT = ".checkpoint"
#: The mode of folders that only their owner may read.
_PRIVATE = 0o700


class OutputError(KafkaAdminProtoError):
    """Tables cannot be written to the output; the message says why and what to do."""


class Workspace:
    """``staging`` is this run's own folder below ``path``; `hold` comes before `stage`."""

    def __init__(self, path: Path) -> None:
        self.path: Path = path.absolute()
        self.staging: Path = self.path
        self._lock: IO[str] | None = None

    def hold(self) -> None:
        """Take the lock. Raises OutputError where another run has it."""
        self._lock = (self.path / LOCK).open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.release()
            raise OutputError(
                f"another run writes to {self.path}: wait for it, or name another folder"
            ) from None

    @property
    def is_held(self) -> bool:
        return self._lock is not None

    def release(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def clear(self) -> None:
        """Remove the files of killed runs."""
        for each in self.path.glob(f"{STAGING}*"):
            if each.is_dir():
                shutil.rmtree(each)
            else:
                each.unlink()

    def stage(self) -> None:
        """Go on with a new, empty staging folder."""
        self.staging = self.path / f"{STAGING}{uuid.uuid4().hex[:12]}"
        self.staging.mkdir(_PRIVATE)

    def unstage(self) -> None:
        shutil.rmtree(self.staging, ignore_errors=True)

    def checkpoint(self) -> Path:
        """The folder where a stream keeps how far it is.

        It is its owner's alone: of connections that go on it has bytes as they were captured,
        with the credentials in them.
        """
        folder = self.path / CHECKPOINT
        try:
            folder.mkdir(_PRIVATE, exist_ok=True)
            folder.chmod(_PRIVATE)
        except OSError as error:
            raise OutputError(f"{folder} cannot be made private: {error}") from None
        return folder


def write_whole(path: Path, data: bytes, unfinished: Path) -> None:
    """Write a file that is there whole or not at all; ``unfinished`` is on the same file system."""
    with unfinished.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)
