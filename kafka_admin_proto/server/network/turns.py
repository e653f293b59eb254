"""Long work of connections in slices, so that one turn of the event loop stays short.

Three kinds of work take turns: many pipelined requests of one client, single large requests, and
reading large requests that have arrived in part.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Generator
from typing import Any, TypeVar

T = TypeVar("T")

#: Work in steps of some tens of microseconds, which returns its result.
Steps = Generator[None, None, T]

#: How long such work goes on in one turn of the event loop. A client with a small request waits
#: for one slice, and for the small requests of others in the same turn.
_SLICE_S = 0.0003


class Turns:
    """A queue of work for later turns of the event loop, one slice in each turn.

    Between two slices the event loop serves all other clients: a small request waits for one
    slice, however many large requests are queued.
    """

    def __init__(self) -> None:
        self._waiting: deque[Callable[[], None]] = deque()
        #: Large requests, which are answered one after another in their order.
        self._large: deque[tuple[Steps[Any], Callable[[Any], None], Callable[..., None]]] = deque()
        #: The time when this turn's slice ends; 0 until `slice_is_over` is first called in it.
        self._end_s = 0.0

    def add(self, go_on: Callable[[], None]) -> None:
        """Call ``go_on`` in a turn of its own, after the work that is queued."""
        self._waiting.append(go_on)
        if len(self._waiting) == 1:
            asyncio.get_running_loop().call_soon(self._next)

    def add_large(
        self,
        steps: Steps[T],
        then: Callable[[T], None],
        failed: Callable[[Exception], None],
    ) -> None:
        """Queue these steps; ``then`` gets their result, or ``failed`` their error."""
        self._large.append((steps, then, failed))
        if len(self._large) == 1:
            self.add(self._go_on_large)

    def slice_is_over(self) -> bool:
        """Whether the work of all clients in this turn has taken longer than a slice."""
        now_s = time.monotonic()
        if not self._end_s:
            self._end_s = now_s + _SLICE_S
            asyncio.get_running_loop().call_soon(self._end_turn)
        return now_s > self._end_s

    def run(self, steps: Steps[T]) -> T | None:
        """Run steps for one slice at most; their result, or None if they are not done."""
        end_s = time.monotonic() + _SLICE_S
        try:
            while True:
                next(steps)
                if time.monotonic() > end_s:
                    return None
        except StopIteration as end:
            result: T = end.value
            return result

    def end(self) -> None:
        """Forget all queued work: the cluster has ended."""
        self._waiting.clear()
        self._large.clear()

    def _end_turn(self) -> None:
        self._end_s = 0.0

    def _next(self) -> None:
        if not self._waiting:  # `end` was called
            return
        go_on = self._waiting[0]
        try:
            go_on()
        finally:
            if self._waiting:
                self._waiting.popleft()
            if self._waiting:
                asyncio.get_running_loop().call_soon(self._next)

    def _go_on_large(self) -> None:
        steps, then, failed = self._large[0]
        try:
            result = self.run(steps)
        except Exception as error:
            self._end_large()
            failed(error)
            return
        if result is None:
            self.add(self._go_on_large)
        else:
            self._end_large()
            then(result)

    def _end_large(self) -> None:
        self._large.popleft()
        if self._large:
            self.add(self._go_on_large)
