"""Ctrl-C while tables are made: the work is asked to stop, and ends in order.

pyspark's own handler of SIGINT calls Java in the middle of whatever the main thread does, which may
be another call of Java. So the work has a thread of its own, for which pyspark sets no handler, and
the main thread only waits for it and for the signal.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread, current_thread, main_thread
from typing import Any, TypeVar

from kafka_admin_proto.cli.pipeline.failures import is_of_runner

T = TypeVar("T")

#: Seconds between two looks whether the work has ended, and two attempts to cancel its jobs.
_PAUSE_S = 0.2
#: Seconds that Spark has to start after Ctrl-C, so that it can be ended in order.
_STARTING_S = 10


class Stopped(Exception):  # not an error: it was asked for
    """Ctrl-C has stopped the work before it was done."""


class Interrupt:
    """Whether Ctrl-C was pressed, for the work to look at; ``event`` is set then."""

    def __init__(self) -> None:
        self.event: Event = Event()
        #: Whether the work has begun; Ctrl-C before that is a KeyboardInterrupt.
        self.has_begun: bool = False
        self._started = Event()
        self._done = Event()

    def check(self) -> None:
        """Raise Stopped after Ctrl-C."""
        if self.event.is_set():
            raise Stopped

    def started(self, cancel: Callable[[], None] | None = None) -> None:
        """Called by the work when tasks can run, which Ctrl-C has ``cancel`` end.

        Raises Stopped where Ctrl-C came before.
        """
        self._started.set()
        self.check()
        if cancel is not None:
            Thread(target=self._cancel, args=(cancel,), daemon=True).start()

    def _cancel(self, cancel: Callable[[], None]) -> None:
        while not self._done.is_set():
            if self.event.wait(_PAUSE_S):
                # A job may begin between two attempts. Once Spark has stopped, there are none.
                with suppress(Exception):
                    cancel()
                self._done.wait(_PAUSE_S)

    def run(self, work: Callable[[], T]) -> T:
        """What ``work`` returns, which runs in another thread; it raises what ``work`` raises.

        After Ctrl-C errors of Spark's and of workers are those of cancelled tasks: Stopped. The
        second Ctrl-C is a KeyboardInterrupt, and leaves the work as if it had been killed. So does
        the first, as Stopped, where Spark does not get started.
        """
        results: list[T] = []
        errors: list[BaseException] = []

        def run() -> None:
            try:
                results.append(work())
            except BaseException as error:
                errors.append(error)
            finally:
                self._done.set()

        is_main = current_thread() is main_thread()
        before = signal.signal(signal.SIGINT, self._interrupted) if is_main else None
        try:
            self.has_begun = True
            Thread(target=run, daemon=True).start()
            self._wait()
        finally:
            self._done.set()
            if is_main:
                signal.signal(signal.SIGINT, before)
        if errors:
            if self.event.is_set() and is_of_runner(errors[0]):
                raise Stopped from errors[0]
            raise errors[0]
        return results[0]

    def _wait(self) -> None:
        deadline = None
        while not self._done.wait(_PAUSE_S):
            if not self.event.is_set() or self._started.is_set():
                continue
            if deadline is None:
                deadline = time.monotonic() + _STARTING_S
            elif time.monotonic() > deadline:
                raise Stopped

    def _interrupted(self, *_: Any) -> None:
        if self.event.is_set():
            raise KeyboardInterrupt
        self.event.set()
