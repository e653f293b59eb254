"""Progress of tasks, on standard error."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Self

import click

from kafka_admin_proto.counts import counted

if TYPE_CHECKING:
    from kafka_admin_proto.tables.runner import Tasks

#: Seconds between two reads of the tasks' status.
_PAUSE = 0.5
#: Seconds after which it is said that no task of a job has been started.
_NO_WORKER_S = 15
_NO_WORKER = (
    f"no worker has taken a task for {_NO_WORKER_S} s: none has enough free cores and memory "
    "(spark.executor.cores, spark.executor.memory), or none reaches this machine; still waiting"
)


class JobProgress:
    """A bar on a terminal; elsewhere a line for each step that is done, with its time.

    ``name`` is that of the first step, "" for none.
    """

    def __init__(self, name: str = "") -> None:
        self._bar: Any = None
        self._task: Any = None
        self._name = name
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

    def __exit__(self, kind: type[BaseException] | None, *about_error: object) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()
        if kind is None:
            self._done()
        if self._bar is not None:
            self._bar.stop()

    def watch(self, tasks: Callable[[], Tasks]) -> None:
        """Look at the tasks of a runner from now on."""
        self._thread = Thread(target=self._look, args=(tasks,), daemon=True)
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

    def _look(self, tasks: Callable[[], Tasks]) -> None:
        busy = time.monotonic()
        while not self._over.wait(_PAUSE):
            try:
                total, done, running = tasks()
            except Exception:
                return  # Spark is on its way out, and whoever stopped it says why
            now = time.monotonic()
            if not total or done or running:
                busy = now
            elif now - busy > _NO_WORKER_S:
                click.echo(_NO_WORKER, err=True)
                busy = math.inf  # it is said once, until a task runs
            if total and self._bar is not None:
                said = f"{done}/{counted(total, 'tasks')}"
                self._bar.update(self._task, completed=done, total=total, tasks=said)
