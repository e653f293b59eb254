"""The folder where a run works: its lock, its staging folder, and a stream's checkpoint.

All workers have to see it. For Parquet it is the folder of the tables itself; Delta tables may be
in an object store, where none of this can be.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import uuid
from contextlib import suppress
from pathlib import Path

from kafka_admin_proto.errors import KafkaAdminProtoError
from kafka_admin_proto.kept_files import open_kept, refuse_links

LOCK, STAGING = ".lock", ".staging-"
#: Where a stream keeps how far it is.
CHECKPOINT = ".checkpoint"
#: The mode of folders that only their owner may read.
_PRIVATE = 0o700
#: How often the lock is opened again where other runs remove it, and perhaps its folder.
_ATTEMPTS = 16


class OutputError(KafkaAdminProtoError):
    """Tables cannot be written to the output; the message says why and what to do."""


class Workspace:
    """``staging`` is this run's own folder below ``path``; `hold` comes before `stage`."""

    def __init__(self, path: Path) -> None:
        self.path: Path = path.absolute()
        self.staging: Path = self.path
        self._lock: int | None = None
        #: The folders that this run has made, the innermost first.
        self._made: list[Path] = []

    def make(self) -> None:
        """Make the folder, and those above it."""
        self._made = [each for each in (self.path, *self.path.parents) if not each.exists()]
        self.path.mkdir(parents=True, exist_ok=True)

    def hold(self) -> None:
        """Take the lock. Raises OutputError where another run has it, KeptFileError for a link."""
        try:
            self._take_lock()
        except KeyboardInterrupt:
            # Its file may be there without a lock: `release` removes none but what is held.
            with suppress(KafkaAdminProtoError, OSError):
                self._take_lock()
            raise

    def _take_lock(self) -> None:
        for _ in range(_ATTEMPTS):
            try:
                lock = open_kept(self.path / LOCK, os.O_RDWR | os.O_CREAT)
            except FileNotFoundError:  # the run that made the folder has just removed it
                self.make()
                continue
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if self._is_of(lock):
                    self._lock = lock
                    return
            except BlockingIOError:
                break
            finally:
                if self._lock != lock:  # the run that had it may have just removed the file
                    os.close(lock)
        raise OutputError(f"another run writes to {self.path}: wait for it, or name another folder")

    def _is_of(self, lock: int) -> bool:
        """Whether the file that is locked is still the one that other runs open."""
        try:
            return os.path.samestat(os.fstat(lock), (self.path / LOCK).lstat())
        except FileNotFoundError:
            return False

    @property
    def is_held(self) -> bool:
        return self._lock is not None

    def release(self) -> None:
        """Give the lock back. A folder that has nothing in it is as it was before the run."""
        if self._lock is not None:
            with suppress(OSError):
                if os.listdir(self.path) == [LOCK]:
                    (self.path / LOCK).unlink()
            os.close(self._lock)
            self._lock = None
        with suppress(OSError):  # one that is not empty, nor are those above it
            for each in self._made:
                each.rmdir()
        self._made = []

    def clear(self) -> None:
        """Remove the files of killed runs."""
        for each in self.path.glob(f"{STAGING}*"):
            if each.is_dir() and not each.is_symlink():
                shutil.rmtree(each)
            else:
                each.unlink()

    def stage(self) -> None:
        """Go on with a new, empty staging folder."""
        self.staging = self.path / f"{STAGING}{uuid.uuid4().hex[:12]}"
        self.staging.mkdir(_PRIVATE)

    def unstage(self) -> None:
        if self.staging != self.path:
            shutil.rmtree(self.staging, ignore_errors=True)

    def checkpoint(self) -> Path:
        """The folder where a stream keeps how far it is.

        It is its owner's alone: of connections that go on it has bytes as they were captured,
        with the credentials in them. Raises KeptFileError for links in it.
        """
        folder = self.path / CHECKPOINT
        refuse_links(folder)
        try:
            folder.mkdir(_PRIVATE, exist_ok=True)
            folder.chmod(_PRIVATE)
        except OSError as error:
            raise OutputError(f"{folder} cannot be made private: {error}") from None
        return folder
