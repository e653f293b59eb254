"""Which view of the metadata log each broker answers from, and when records reach it."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial

import msgspec

from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.clock import Timers
from kafka_admin_proto.server.state import State
from kafka_admin_proto.values import Message


class _Batch(msgspec.Struct):
    """A batch that a broker will see later; without records for a control record."""

    records: Sequence[Message]
    offset: int
    epoch: int


class _Follower:
    """A broker that sees each batch ``delay_s`` after its commit; with ``math.inf`` never.

    ``changed`` is called after batches have arrived.
    """

    def __init__(self, state: State, delay_s: float, changed: Callable[[], None]) -> None:
        self.view = View(
            state.release, state.cluster_id, state.static, state.quorum, state.cluster.copied()
        )
        self.view.controller_state = state
        self.delay_s = delay_s
        self._changed = changed
        self._coming: deque[_Batch] = deque()
        self._timers = Timers(state.clock)

    def expect(self, batch: _Batch) -> None:
        """Let a committed batch arrive in ``delay_s``."""
        self._coming.append(batch)
        self.arrange(batch.offset)

    def arrange(self, offset: int) -> None:
        """Let the batches before an offset that have not arrived do so in ``delay_s``."""
        if math.isinf(self.delay_s):
            return
        self._timers.later(self.delay_s, partial(self.catch_up, offset))

    def catch_up(self, offset: int | float = math.inf) -> None:
        """Apply the batches before an offset that have not arrived."""
        while self._coming and self._coming[0].offset <= offset:
            batch = self._coming.popleft()
            if batch.records:
                self.view.apply(batch.records, batch.offset, batch.epoch)
            else:
                self.view.skip(batch.offset, batch.epoch)
        self._changed()

    def change_delay(self, delay_s: float) -> None:
        """Change the delay, for batches that have not arrived yet too."""
        self.delay_s = delay_s
        self.end()
        if self._coming:
            self.arrange(self._coming[-1].offset)

    def end(self) -> None:
        """Nothing arrives any more."""
        self._timers.end()


class Views:
    """The view of each broker: that of ``state`` itself, unless the broker lags behind."""

    def __init__(self, state: State) -> None:
        self.state = state
        #: Called after any of the views may have changed.
        self.changed: list[Callable[[], None]] = []
        self._followers: dict[int, _Follower] = {}
        state.followers.append(self._appended)

    def of(self, node_id: int) -> View:
        found = self._followers.get(node_id)
        return self.state if found is None else found.view

    def current(self) -> set[View]:
        """All views: the controller's state, and those of brokers with a delay."""
        return {self.state, *(each.view for each in self._followers.values())}

    def delay(self, node_id: int, delay_s: float) -> None:
        """Let a broker see changes ``delay_s`` seconds late; with ``math.inf`` it sees no more.

        At 0 the broker has caught up when this returns.
        """
        follower = self._followers.get(node_id)
        if delay_s == 0:
            self.catch_up(node_id)
            self._followers.pop(node_id, None)
        elif follower is None:
            self._followers[node_id] = _Follower(self.state, delay_s, self._have_changed)
        else:
            follower.change_delay(delay_s)

    def catch_up(self, node_id: int) -> None:
        """Let a broker see all committed batches now: a broker that starts reads the whole log."""
        follower = self._followers.get(node_id)
        if follower is not None:
            follower.end()
            follower.catch_up()

    def end(self) -> None:
        """Nothing arrives any more."""
        for each in self._followers.values():
            each.end()

    def _appended(self, records: Sequence[Message], offset: int) -> None:
        if self._followers:
            batch = _Batch(records, offset, self.state.quorum.epoch)
            for each in self._followers.values():
                each.expect(batch)
        self._have_changed()

    def _have_changed(self) -> None:
        for each in self.changed:
            each()
