"""Progress of reading long files: bytes and rate, on a terminal's standard error."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator
from io import FileIO
from pathlib import Path
from typing import Any

import click

from kafka_admin_proto.capture.frames import DecodedFrame

#: Files that take less than a second or so show nothing.
_LONG = 16 * 1024 * 1024


class Progress:
    """Progress on standard error, if that is a terminal without other output and files are long.

    ``silent``: what goes to standard output comes at the end. Otherwise the bar is shown only where
    standard output is a regular file, as a pipe may lead to the same terminal (``| less``).
    """

    def __init__(self, files: Iterable[str], *, silent: bool = False) -> None:
        self._total = sum(map(_size, files))
        self._bar: Any = None
        self._task: Any = None
        self._shown = self._total >= _LONG and sys.stderr.isatty()
        self._shown = self._shown and (
            silent or stat.S_ISREG(os.fstat(sys.stdout.fileno()).st_mode)
        )

    def open(self, name: str) -> FileIO:
        """The file, whose reads are counted where that is shown."""
        return _Counted(name, self) if self._shown else FileIO(name)

    def around(self, frames: Iterable[DecodedFrame]) -> Iterator[DecodedFrame]:
        """The frames, with the bar on show while they are taken."""
        if not self._shown:
            yield from frames
            return
        from rich import progress
        from rich.console import Console

        self._bar = progress.Progress(
            progress.BarColumn(),
            progress.TaskProgressColumn(),
            progress.DownloadColumn(),
            progress.TransferSpeedColumn(),
            progress.TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._bar.add_task("", total=self._total)
        # An error, Ctrl-C or a closed pipe leaves this generator where it is, with the bar on show.
        click.get_current_context().call_on_close(self._bar.stop)
        with self._bar:
            yield from frames

    def advance(self, size: int) -> None:
        """So many more bytes were read."""
        if self._bar is not None:
            self._bar.advance(self._task, size)


class _Counted(FileIO):
    def __init__(self, name: str, progress: Progress) -> None:
        super().__init__(name)
        self._progress = progress

    def readinto(self, buffer: Any) -> int | None:
        size = super().readinto(buffer)
        self._progress.advance(size or 0)
        return size


def _size(name: str) -> int:
    try:
        return Path(name).stat().st_size
    except OSError:
        return 0
