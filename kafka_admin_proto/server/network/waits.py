"""Answers that wait: for records to fetch, replicas, new topics or groups (`apis.Wait`).

A connection waits with one answer at a time, as Kafka mutes a channel, so that there are as many
waits as connections at most. A wait ends when its answer is complete, when its time is over, or
when the connection is lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from kafka_admin_proto.server.apis import Answer, Wait, WaitKey
from kafka_admin_proto.server.brokers.views import Views
from kafka_admin_proto.server.clock import Timer

if TYPE_CHECKING:
    from kafka_admin_proto.server.brokers.view import View
    from kafka_admin_proto.server.network.client import Client


class _Waiting(msgspec.Struct):
    """An answer that waits, and the function that gets it then."""

    answer: Answer
    wait: Wait
    then: Callable[[Answer], None]
    timer: Timer | None


class Waits:
    """The answers of a cluster that wait, by connection."""

    def __init__(self, views: Views) -> None:
        self._views = views
        self._waits: dict[Client, _Waiting] = {}
        self._by_key: dict[WaitKey, dict[Client, None]] = {}
        #: The connections whose answers are checked in the next turn of the event loop, with the
        #: keys that have changed.
        self._woken: dict[Client, set[WaitKey]] = {}
        self._next_check: asyncio.Handle | None = None
        views.changed.append(partial(self.wake, None))
        views.state.partitions.changed.append(self.wake)
        state = views.state
        for each in (state.coordinators, state.transactions, state.share_states, state.shares):
            each.sent.append(self.wake)

    def add(self, connection: Client, answer: Answer, then: Callable[[Answer], None]) -> bool:
        """Call ``then`` when an answer that waits can be sent; False if that is now."""
        wait, answer.wait = answer.wait, None
        assert wait is not None
        # Its handler has looked already; since then the answer's own records changed the metadata.
        if None in wait.keys and wait.complete(answer, self._view(connection), {None}, False):
            return False
        clock = self._views.state.clock
        timer = None
        if wait.wait_ms is not None:
            timer = clock.later(wait.wait_ms / 1000, self._check, connection, True)
        self._waits[connection] = _Waiting(answer, wait, then, timer)
        for key in wait.keys:
            self._by_key.setdefault(key, {})[connection] = None
        return True

    def forget(self, connection: Client) -> None:
        """End the wait of a connection, if it has one, without an answer."""
        waiting = self._waits.pop(connection, None)
        if waiting is None:
            return
        if waiting.timer is not None:
            waiting.timer.cancel()
        self._woken.pop(connection, None)
        for key in waiting.wait.keys:
            others = self._by_key[key]
            others.pop(connection, None)
            if not others:
                self._by_key.pop(key, None)

    def end(self) -> None:
        """End all waits without an answer: the cluster has ended."""
        for each in list(self._waits):
            self.forget(each)
        if self._next_check is not None:
            self._next_check.cancel()

    def wake(self, key: WaitKey) -> None:
        """Check the answers that wait for a change of ``key`` in the next turn of the loop."""
        found = self._by_key.get(key) if self._by_key else None  # hashing a UUID takes its time
        if found:
            for each in found:
                self._woken.setdefault(each, set()).add(key)
            if self._next_check is None:
                self._next_check = asyncio.get_running_loop().call_soon(self._check_woken)

    def _check_woken(self) -> None:
        self._next_check = None
        for connection in list(self._woken):
            self._check(connection, is_over=False)

    def _check(self, connection: Client, is_over: bool) -> None:
        """Let the connection answer if its answer is complete."""
        changed = self._woken.pop(connection, set())
        waiting = self._waits.get(connection)
        if waiting is None:  # an earlier answer of this turn has closed the connection
            return
        if waiting.wait.complete(waiting.answer, self._view(connection), changed, is_over):
            self.forget(connection)
            waiting.then(waiting.answer)

    def _view(self, connection: Client) -> View:
        return self._views.of(connection.node_id)
