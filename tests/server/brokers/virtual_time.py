"""An event loop whose time passes when nothing is left to be done: minutes take no time."""

from __future__ import annotations

import asyncio
from typing import Any


class VirtualLoop(asyncio.SelectorEventLoop):
    """Timers only: sockets and threads are never waited for."""

    def __init__(self) -> None:
        super().__init__()
        self._now_s = 0.0
        selector: Any = vars(self)["_selector"]  # asyncio's own, which its types leave out
        selector.select = self._pass

    def time(self) -> float:
        """Seconds since the loop was made."""
        return self._now_s

    def _pass(self, timeout: float | None) -> list[Any]:
        assert timeout is not None, "nothing will ever happen"
        self._now_s += timeout
        return []

    def pass_time(self, seconds: float) -> None:
        """Let what is due in that time happen."""
        self.run_until_complete(asyncio.sleep(seconds))
