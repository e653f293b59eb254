"""A clock that only passes when it is moved: minutes take no time, and milliseconds are exact."""

from __future__ import annotations

from kafka_admin_proto.server.clock import Clock

_START_S = 1000.0


class StillClock(Clock):
    def time_s(self) -> float:
        return _START_S + self._moved_s

    def move(self, seconds: float) -> None:
        """Let time pass without an event loop; timers make no calls."""
        self._moved_s += seconds

    def pass_time(self, seconds: float) -> None:
        """Let time pass, and make the calls of the timers that are due, in their order."""
        end_s = self.time_s() + seconds
        while self._timers and self._timers[0][0] <= end_s:
            self._move_to(self._timers[0][0])
            self._call_first()
        self._move_to(end_s)

    def _arrange(self) -> None:
        """No event loop makes the calls."""
