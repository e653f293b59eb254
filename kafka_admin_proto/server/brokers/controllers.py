"""The controllers of a cluster: while a majority of them runs, one of them is active.

Each node is a controller. When the active one is stopped, it resigns and another is elected at
once. When it is killed, the others notice after ``controller.quorum.fetch.timeout.ms``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from kafka_admin_proto.server.brokers.view import LastSeen
from kafka_admin_proto.server.clock import Timers

if TYPE_CHECKING:
    from kafka_admin_proto.server.log.cluster_log import ClusterLog
    from kafka_admin_proto.server.state import State

_FETCH_TIMEOUT = "controller.quorum.fetch.timeout.ms"


class Controllers:
    """Elections among the controllers of a cluster; ``elected`` is called after each."""

    def __init__(
        self,
        state: State,
        log: ClusterLog | None,
        nodes: Iterable[int],
        elected: Callable[[], None],
    ) -> None:
        self.running: set[int] = set(nodes)
        self._needed = len(self.running) // 2 + 1
        self._state = state
        self._log = log
        self._elected = elected
        self._election = Timers(state.clock)

    def left(self, node: int, *, clean: bool) -> None:
        """A node was stopped, or killed without a warning to the others."""
        quorum = self._state.quorum
        self.running.discard(node)
        quorum.last_seen[node] = LastSeen(self._state.end_offset, self._state.clock.now_ms())
        if self._log is not None:
            self._log.detach(node)
        if len(self.running) < self._needed:
            self._election.end()
            quorum.available = False
        elif node == quorum.controller and quorum.available:
            quorum.available = False
            if clean:
                self._elect()
            else:
                timeout_ms = self._state.broker_value(_FETCH_TIMEOUT)
                self._election.later(timeout_ms / 1000, self._elect)

    def came(self, node: int) -> None:
        """A node runs again, which may make the running nodes a majority."""
        if self._log is not None:
            self._log.attach(node)
        had_majority = len(self.running) >= self._needed
        self.running.add(node)
        self._state.quorum.last_seen.pop(node, None)
        if not had_majority and len(self.running) >= self._needed:
            self._elect()

    def end(self) -> None:
        """Hold no more elections: the cluster has ended."""
        self._election.end()

    def _elect(self) -> None:
        quorum = self._state.quorum
        if quorum.controller not in self.running:
            quorum.controller = min(self.running)
        quorum.epoch += 1
        quorum.available = True
        if self._log is not None:
            voters = list(self._state.static)
            self._log.epoch = quorum.epoch
            self._log.lead(quorum.controller, voters, self._state.end_offset)
        self._state.pass_offset()
        self._elected()
