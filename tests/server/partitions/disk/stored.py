"""A log on disk that takes the drawn steps of a log, and ends of its process at any change."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from kafka_admin_proto.server.partitions.disk.log_dir import LogDir
from kafka_admin_proto.server.partitions.log import PartitionLog
from kafka_admin_proto.server.partitions.settings import LogSettings
from tests.server.partitions.steps import Ours

TOPIC, TOPIC_ID = "t", UUID(int=7)
#: The calls that change files.
_CHANGES = ("write", "pwrite", "replace", "rename", "unlink", "ftruncate", "mkdir")


class Disk:
    """A folder of logs; files that are deleted go at once, or never before the end."""

    def __init__(self, folder: Path, *, deletes: bool = True) -> None:
        self.dir = LogDir(folder, lambda _, call: call() if deletes else None)

    def open(self, settings: LogSettings, now_ms: int) -> PartitionLog:
        list(self.dir.partitions())
        log = self.dir.open(TOPIC, 0, TOPIC_ID, settings, now_ms)
        self.dir.begin()
        return log


class OnDisk(Ours):
    """As ``Ours``, with a log in files."""

    def __init__(self, found: dict[str, str], release: str, folder: Path, **options: Any) -> None:
        super().__init__(found, release)
        self.settings = self.log.settings
        self.disk = Disk(folder, **options)
        self.log = self.disk.open(self.settings, 0)

    def reopen(self, *, is_stopped: bool) -> None:
        """End the process, cleanly or not, and start it again."""
        high_watermark = self.log.high_watermark
        if is_stopped:
            self.disk.dir.close(1, self.now)
        self.disk.dir.release()
        self.disk = Disk(self.disk.dir.folder)
        self.log = self.disk.open(self.settings, self.now)
        self.log.high_watermark = high_watermark


class Killed(BaseException):
    """The process was ended by SIGKILL."""


@contextmanager
def killed_at(change: int, part: float) -> Iterator[None]:
    """End the process in that change of a file, of which a part of the bytes is written."""
    left = change

    def counted(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            nonlocal left
            left -= 1
            if left > 0:
                return real(*arguments, **named)
            if not left and real.__name__ in ("write", "pwrite"):
                file, data, *at = arguments
                real(file, data[: int(len(data) * part)], *at)
            raise Killed

        return call

    with pytest.MonkeyPatch.context() as patch:
        for name in _CHANGES:
            patch.setattr(os, name, counted(getattr(os, name)))
        yield
