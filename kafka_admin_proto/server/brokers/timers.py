"""Delayed calls, all of which can be cancelled at once."""

from __future__ import annotations

from collections.abc import Callable

from kafka_admin_proto.server.clock import Clock, Timer


class Timers:
    """The delayed calls of an owner, on the clock of the cluster."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waiting: set[Timer] = set()

    def later(self, delay_s: float, call: Callable[[], object]) -> Timer:
        """Make a call after ``delay_s`` seconds."""

        def due() -> None:
            self._waiting.discard(timer)
            call()

        timer = self._clock.later(delay_s, due)
        self._waiting.add(timer)
        return timer

    def end(self) -> None:
        for each in self._waiting:
            each.cancel()
        self._waiting.clear()
