"""Turns of the event loop for requests that wait, so that one turn stays short.

Large requests of all clients and many pipelined ones of one client wait here, as `NodeConnection`
has it; small requests of other clients are answered between them. A request is answered in one
piece: what one may ask for is bounded (docs/server-faults.md).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from kafka_admin_proto.server.clock import Clock

#: How long requests that may wait are answered in one turn of the event loop.
_SLICE_S = 0.0003


class Turns:
    """A queue of connections that wait for a turn of the event loop; each turn serves one."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waiting: deque[Callable[[], None]] = deque()
        #: The time when this turn's slice ends; 0 until `slice_is_over` is first called in it.
        self._end_s = 0.0

    def add(self, go_on: Callable[[], None]) -> None:
        """Call ``go_on`` in a turn of its own, after the others that wait."""
        self._waiting.append(go_on)
        if len(self._waiting) == 1:
            asyncio.get_running_loop().call_soon(self._next)

    def slice_is_over(self) -> bool:
        """Whether the work of all clients in this turn has taken longer than a slice."""
        now_s = self._clock.time_s()
        if not self._end_s:
            self._end_s = now_s + _SLICE_S
            asyncio.get_running_loop().call_soon(self._end_turn)
        return now_s > self._end_s

    def end(self) -> None:
        self._waiting.clear()

    def _end_turn(self) -> None:
        self._end_s = 0.0

    def _next(self) -> None:
        if not self._waiting:  # `end` was called
            return
        self._end_turn()
        go_on = self._waiting[0]
        try:
            go_on()
        finally:
            if self._waiting:
                self._waiting.popleft()
            if self._waiting:
                asyncio.get_running_loop().call_soon(self._next)
