"""Turns of the event loop: who asks much is answered in slices, between which others are served.

Three kinds of work take turns: heaps of requests of one client, requests that are large by
themselves, and large requests that are still coming in.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Generator
from typing import Any, TypeVar

T = TypeVar("T")

#: Work that is done in steps of some tens of microseconds, and its result.
Steps = Generator[None, None, T]

#: How long such work goes on in one turn of the event loop. With what everybody else is answered
#: in a turn, that is what a client waits who asks little.
_SLICE_S = 0.0003


class Turns:
    """The work that is left for later turns of the event loop, one piece in each.

    Between two of them the event loop sees to all others, so that those who ask little wait for
    one slice, however many ask much.
    """

    def __init__(self) -> None:
        self._waiting: deque[Callable[[], None]] = deque()
        #: Large requests are answered one after another, as they came.
        self._large: deque[tuple[Steps[Any], Callable[[Any], None], Callable[..., None]]] = deque()
        #: When the slice of this turn ends; 0 until something asks.
        self._end_s = 0.0

    def add(self, go_on: Callable[[], None]) -> None:
        """Call this when the turn has come."""
        self._waiting.append(go_on)
        if len(self._waiting) == 1:
            asyncio.get_running_loop().call_soon(self._next)

    def add_large(
        self,
        steps: Steps[T],
        then: Callable[[T], None],
        failed: Callable[[Exception], None],
    ) -> None:
        """Go on with these steps when their turns come, and give their result or error on."""
        self._large.append((steps, then, failed))
        if len(self._large) == 1:
            self.add(self._go_on_large)

    def slice_is_over(self) -> bool:
        """Whether the work of this turn, of all clients together, has taken its time."""
        now_s = time.monotonic()
        if not self._end_s:
            self._end_s = now_s + _SLICE_S
            asyncio.get_running_loop().call_soon(self._end_turn)
        return now_s > self._end_s

    def run(self, steps: Steps[T]) -> T | None:
        """The result of steps that a slice is enough for; None where it is not."""
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
        """Nothing goes on any more: the cluster has ended."""
        self._waiting.clear()
        self._large.clear()

    def _end_turn(self) -> None:
        self._end_s = 0.0

    def _next(self) -> None:
        if not self._waiting:  # the end
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
