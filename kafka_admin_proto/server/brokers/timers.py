"""Delayed calls, all of which can be cancelled at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Timers:
    """The delayed calls of an owner, in the running event loop."""

    def __init__(self) -> None:
        self._waiting: set[asyncio.TimerHandle] = set()

    def later(self, delay_s: float, call: Callable[[], object]) -> asyncio.TimerHandle:
        """Make a call after so many seconds."""

        def due() -> None:
            self._waiting.discard(handle)
            call()

        handle = asyncio.get_running_loop().call_later(delay_s, due)
        self._waiting.add(handle)
        return handle

    def end(self) -> None:
        """Cancel all calls."""
        for each in self._waiting:
            each.cancel()
        self._waiting.clear()
