"""How late the replicas on each node get records: at once, after some seconds, or not at all."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kafka_admin_proto.server.state import State


class Lags:
    """The lags of the nodes in seconds; a node that has ended gets nothing (``math.inf``)."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._ended: set[int] = set()
        self._delays_s: dict[int, float] = {}

    def __bool__(self) -> bool:
        return bool(self._ended or self._delays_s)

    def of(self, node: int) -> float:
        return math.inf if node in self._ended else self._delays_s.get(node, 0.0)

    def set(self, node: int, delay_s: float) -> None:
        """Change the lag of a node while it runs."""
        if delay_s:
            self._delays_s[node] = delay_s
        else:
            self._delays_s.pop(node, None)

    def runs(self, node: int) -> bool:
        return node not in self._ended

    def left(self, node: int) -> None:
        self._ended.add(node)

    def came(self, node: int) -> None:
        self._ended.discard(node)

    def now_ms(self) -> int:
        return self._state.clock.now_ms()

    def later(self, node: int, call: Callable[[], None]) -> None:
        """Make a call when the replicas on a node get what is appended now, if they do."""
        delay_s = self.of(node)
        if not math.isinf(delay_s):
            self._state.clock.later(delay_s, call)
