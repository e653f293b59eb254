"""Virtual time: calls that wait for their moment, in an order that is the same in each run."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush

from kafka_admin_proto.simulation.node import Cancel


class Scheduler:
    """A clock that stands still while calls run, and jumps to the next one's moment."""

    def __init__(self) -> None:
        #: Virtual time since the world began.
        self.now_ms: int = 0
        self._count = 0
        self._waiting: list[tuple[int, int, Callable[[], None]]] = []
        self._cancelled: set[int] = set()

    def call_at(self, at_ms: int, call: Callable[[], None]) -> Cancel:
        """Call at a moment, now at the earliest; calls of one moment run as they were added."""
        number = self._count
        self._count = number + 1
        heappush(self._waiting, (max(at_ms, self.now_ms), number, call))

        def cancel() -> None:
            self._cancelled.add(number)

        return cancel

    def call_later(self, delay_ms: int, call: Callable[[], None]) -> Cancel:
        """Call after a delay of virtual time."""
        return self.call_at(self.now_ms + delay_ms, call)

    def step(self, until_ms: int | None = None) -> bool:
        """Run the next call. False when none waits, or none before ``until_ms`` has passed."""
        while self._waiting:
            at_ms, number, call = self._waiting[0]
            if number in self._cancelled:
                heappop(self._waiting)
                self._cancelled.discard(number)
                continue
            if until_ms is not None and at_ms > until_ms:
                break
            heappop(self._waiting)
            self.now_ms = at_ms
            call()
            return True
        if until_ms is not None:
            self.now_ms = max(self.now_ms, until_ms)
        return False
