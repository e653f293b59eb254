"""Tasks in processes of this machine, one for each core: tables without Spark and Java."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection
from threading import Lock, Thread
from typing import Any, ClassVar, Self

from kafka_admin_proto.errors import KafkaAdminProtoError
from kafka_admin_proto.tables.runner import R, T, Tasks

#: What each task needs is imported once, by the process that all workers are forked from.
_PRELOADED = ["kafka_admin_proto.tables.pipeline"]

_SAFE_PATH = "PYTHONSAFEPATH"


class WorkerError(KafkaAdminProtoError):
    """A task has failed, or the process that ran it has ended; the message says what it was."""


class Processes:
    """A `Runner` of processes, which start with the first task and end with the context.

    They end with this process as well, however it ends: each waits for the end of a pipe that only
    this process holds.
    """

    def __init__(self, cores: int | None = None) -> None:
        self.cores: int = _usable_cores() if cores is None else cores
        context = get_context("forkserver")
        context.set_forkserver_preload(_PRELOADED)
        self._reader, self._writer = context.Pipe(duplex=False)
        #: Something can be read while tasks may run; nobody reads it meanwhile.
        self._gate, self._opener = context.Pipe(duplex=False)
        given = (self._reader, self._gate)
        self._pool = ProcessPoolExecutor(self.cores, context, _start_worker, given)
        #: The pool does not bear a worker's end while it starts another one.
        self._starting = Lock()
        self._futures: Sequence[Future[Any]] = ()

    def run(self, task: Callable[[T], R], shares: Sequence[T]) -> list[R]:
        """See `Runner`. Raises WorkerError, whose cause is what a task has raised."""
        try:
            futures = self._futures = self._submitted(task, shares)
            for first in wait(futures, return_when=FIRST_EXCEPTION).done:
                first.result()
            return [each.result() for each in futures]
        except BrokenProcessPool:
            raise WorkerError(
                "a worker process ended in the middle of its task, killed perhaps, or for want of "
                "memory: see the system's log, and run it again, with a smaller --split-size or on "
                "fewer cores (taskset) where memory was short"
            ) from None
        except Exception as error:
            raise WorkerError(f"a task failed: {type(error).__name__}: {error}") from error
        finally:
            self._futures = ()

    def _submitted(self, task: Callable[[T], R], shares: Sequence[T]) -> list[Future[R]]:
        """The results of tasks, none of which runs before the last one has its worker."""
        with self._starting, _away_from_the_folder(), _deaf_to_interrupts():
            if self._gate.poll():
                self._gate.recv_bytes()
            futures = [self._pool.submit(_run, task, share) for share in shares]
            self._opener.send_bytes(b"open")
        return futures

    def tasks(self) -> Tasks:
        """See `Runner`."""
        futures = self._futures
        done = sum(each.done() for each in futures)
        return Tasks(len(futures), done, sum(each.running() for each in futures))

    def cancel(self) -> None:
        """End the processes, in the middle of their tasks."""
        with self._starting:
            self._writer.close()

    def close(self) -> None:
        self.cancel()
        self._pool.shutdown(cancel_futures=True)
        for each in (self._reader, self._gate, self._opener):
            each.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *about_error: object) -> None:
        self.close()


def _usable_cores() -> int:
    """The cores that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


@contextmanager
def _away_from_the_folder() -> Iterator[None]:
    """Interpreters that start meanwhile do not take modules from the current folder.

    It may be one of captures, and what lies beside them may be a stranger's.
    """
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_SAFE_PATH]
        else:
            os.environ[_SAFE_PATH] = before


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Processes that are started meanwhile never get Ctrl-C, which is for this process alone."""
    resource_tracker.ensure_running()  # its start ends with SIGINT unblocked
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Worker:
    """What a worker process has been given."""

    gate: ClassVar[Connection]


def _run(task: Callable[[T], R], share: T) -> R:
    """Run a task and leave none of its garbage, which `tune_gc` of the next one would keep."""
    _Worker.gate.poll(None)
    try:
        return task(share)
    finally:
        gc.collect()


def _start_worker(pipe: Connection, gate: Connection) -> None:
    """Have this worker end when the pipe does."""
    _Worker.gate = gate
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # where a server of forks ran before
    Thread(target=_end_with, args=(pipe,), daemon=True).start()


def _end_with(pipe: Connection) -> None:
    pipe.poll(None)
    os._exit(1)
