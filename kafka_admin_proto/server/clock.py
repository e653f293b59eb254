"""The time of a cluster: the machine's, and as much more as a test has moved it by.

All that a cluster waits for is on its clock: sessions, quotas, retention, delays, limits of idle
connections and logins. ``tests/server/test_clock.py`` holds that the package has no other clock.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import math
import time
from collections.abc import Callable
from functools import partial

from kafka_admin_proto.arguments import is_time
from kafka_admin_proto.loop_thread import running_loop
from kafka_admin_proto.wire.types.base import shown

#: So many cancelled timers are kept at least, until they are due.
_CANCELLED = 100
#: A timer that was set at once by another's call sets others for so much later at least, as Kafka's
#: timers tick: one that sets itself again at once would leave no time for anything else.
_TICK_S = 0.001
#: Turns of the event loop in which what a timer has begun goes on, before the next timer.
_TURNS = 5


class Timer:
    """A call that the clock makes later, unless it is cancelled."""

    __slots__ = ("_cancelled", "at_once", "call")

    def __init__(
        self, call: Callable[[], object], cancelled: Callable[[], None], *, at_once: bool
    ) -> None:
        self.call: Callable[[], object] | None = call
        #: Whether another's call has set it, to come right behind that.
        self.at_once: bool = at_once
        self._cancelled = cancelled

    def cancel(self) -> None:
        """Do not make the call; nothing happens if it was made."""
        if self.call is not None:
            self.call = None
            self._cancelled()


class Clock:
    """The clock of a cluster; ``cluster.clock`` in the tests of users."""

    def __init__(self) -> None:
        self._moved_s = 0.0
        #: (when it is due, a number for timers of the same time, timer), the next one first.
        self._timers: list[tuple[float, int, Timer]] = []
        self._cancelled = 0
        self._numbers = itertools.count()
        self._wake: asyncio.TimerHandle | None = None
        #: The timer whose call is being made, and when it was due if `advance` makes it: what the
        #: call sets counts from then, however long the machine takes, or the last of several in a
        #: row would come too late.
        self._calling: Timer | None = None
        self._due_s: float | None = None
        #: The event loop of the cluster, from `start` to `end`.
        self._loop: asyncio.AbstractEventLoop | None = None
        self._advancing = asyncio.Lock()

    def start(self) -> None:
        """Belong to the running event loop, in which timers make their calls."""
        self._loop = asyncio.get_running_loop()

    def end(self) -> None:
        """Make no more calls: the cluster has ended."""
        self._timers.clear()
        self._cancelled = 0
        self._loop = None
        self._arrange()

    def time_s(self) -> float:
        """Seconds since some moment; they never go back."""
        return time.monotonic() + self._moved_s

    def now_ms(self) -> int:
        """Milliseconds since 1970."""
        return int(time.time_ns() / 1_000_000 + self._moved_s * 1000)

    def later(self, delay_s: float, call: Callable[..., object], *arguments: object) -> Timer:
        """Make a call after ``delay_s`` seconds; calls that are due together keep their order."""
        now_s = self.time_s() if self._due_s is None else self._due_s
        setter = self._calling
        delay_s = max(0.0 if setter is None or not setter.at_once else _TICK_S, delay_s)
        due_s, at_once = now_s + delay_s, setter is not None and not delay_s
        timer = Timer(partial(call, *arguments), self._forget_cancelled, at_once=at_once)
        heapq.heappush(self._timers, (due_s, next(self._numbers), timer))
        if self._timers[0][2] is timer:
            self._arrange()
        return timer

    async def advance(self, seconds: float) -> None:
        """Let ``seconds`` pass at once: the cluster does what is due in them, in its order.

        What a timer begins, such as opening a port, goes on before the next timer, whose time the
        clock then shows. Timers that are set meanwhile count. A second call waits for the first.
        Clients keep their own time.

        Raises ValueError for a number below 0 or nan, and RuntimeError if the cluster does not run
        in this event loop.
        """
        if not (is_time(seconds) and seconds < math.inf):
            raise ValueError(f"a clock is moved by 0 or more seconds, not {shown(seconds)}")
        if self._loop is None or running_loop() is not self._loop:
            raise RuntimeError(
                "the clock is moved in the event loop in which its cluster runs; start the "
                "cluster, and call it there"
            )
        async with self._advancing:
            end_s = self.time_s() + seconds
            try:
                while self._timers and self._timers[0][0] <= end_s:
                    due_s = self._timers[0][0]
                    self._move_to(due_s)
                    self._call_first(due_s)
                    await _go_on()
                self._move_to(end_s)
            finally:
                self._arrange()
            await _go_on()

    def _move_to(self, time_s: float) -> None:
        self._moved_s += max(0.0, time_s - self.time_s())

    def _call_first(self, due_s: float | None = None) -> None:
        timer = heapq.heappop(self._timers)[2]
        call, timer.call = timer.call, None
        if call is None:
            self._cancelled -= 1
            return
        self._calling, self._due_s = timer, due_s
        try:
            call()
        finally:
            self._calling = self._due_s = None

    def _forget_cancelled(self) -> None:
        """Count a cancelled timer, and drop all of them once they are the most."""
        self._cancelled += 1
        if self._cancelled > max(_CANCELLED, len(self._timers) // 2):
            self._timers = [each for each in self._timers if each[2].call is not None]
            heapq.heapify(self._timers)
            self._cancelled = 0

    def catch_up(self) -> float:
        """Make the calls that are due, and return the time in seconds.

        An event loop that is late sees sockets before timers: without this, a request that has come
        after the end of a session would find its member.
        """
        now_s = self.time_s()
        if self._timers and self._timers[0][0] <= now_s:
            self._call_due()
        return now_s

    def _call_due(self) -> None:
        while self._timers and self._timers[0][0] <= self.time_s():
            try:
                self._call_first()
            except Exception as error:  # whoever called has no part in it
                loop = self._loop or asyncio.get_running_loop()
                loop.call_exception_handler({"message": "A timer failed", "exception": error})
        self._arrange()

    def _arrange(self) -> None:
        """Let the event loop wake this clock when the next timer is due."""
        if self._wake is not None:
            self._wake.cancel()
            self._wake = None
        if self._timers:
            loop = self._loop or asyncio.get_running_loop()
            delay_s = max(0.0, self._timers[0][0] - self.time_s())
            self._wake = loop.call_later(delay_s, self._call_due)


async def _go_on() -> None:
    for _ in range(_TURNS):
        await asyncio.sleep(0)


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
