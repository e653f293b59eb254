"""Progress of Spark's tasks, on standard error."""

from __future__ import annotations

import sys
import time
from threading import Event, Thread
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import click

if TYPE_CHECKING:
    from pyspark import SparkContext

#: Seconds between two reads of the tasks' status.
_PAUSE = 0.5


class JobProgress:
    """A bar on a terminal; elsewhere a line for each step that is done, with its time."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._task: Any = None
        self._name = "starting Spark"
        self._since = time.monotonic()
        self._over = Event()
        self._thread: Thread | None = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            from rich import progress
            from rich.console import Console

            self._bar = progress.Progress(
                progress.SpinnerColumn(),
                progress.TextColumn("{task.description}"),
                progress.BarColumn(),
                progress.TextColumn("{task.fields[tasks]}"),
                progress.TimeElapsedColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._task = self._bar.add_task(self._name, total=None, tasks="")
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()
        if kind is None:
            self._done()
        if self._bar is not None:
            self._bar.stop()

    def watch(self, context: SparkContext) -> None:
        """Look at the tasks of Spark from now on."""
        if self._bar is not None:
            self._thread = Thread(target=self._look, args=(context,), daemon=True)
            self._thread.start()

    def step(self, name: str) -> None:
        """The last step is done, and this one begins; "" is to wait, which is no step."""
        self._done()
        self._name, self._since = name, time.monotonic()
        if self._bar is not None:
            shown = name or "waiting for files"
            self._bar.update(self._task, description=shown, completed=0, total=None, tasks="")

    def _done(self) -> None:
        if self._bar is None and self._name:
            click.echo(f"{self._name}: {time.monotonic() - self._since:.1f} s", err=True)

    def _look(self, context: SparkContext) -> None:
        tracker = context.statusTracker()
        while not self._over.wait(_PAUSE):
            try:
                stages = [tracker.getStageInfo(each) for each in tracker.getActiveStageIds()]
            except Exception:
                return  # Spark is on its way out, and whoever stopped it says why
            found = [each for each in stages if each is not None]
            total = sum(each.numTasks for each in found)
            if total:
                done = sum(each.numCompletedTasks for each in found)
                tasks = f"{done}/{total} tasks"
                self._bar.update(self._task, completed=done, total=total, tasks=tasks)
