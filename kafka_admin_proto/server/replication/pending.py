"""Rows of an answer that wait for their partitions (``DelayedProduce`` and its like in Kafka)."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Generic, NamedTuple, TypeVar

from kafka_admin_proto.server.apis import WaitKey
from kafka_admin_proto.server.replication.leaders import Hosted

_Row = TypeVar("_Row")


class Pending(NamedTuple, Generic[_Row]):
    """The row of a partition that has to get to an offset on all replicas that count."""

    row: _Row
    replica: Hosted
    offset: int


class PendingRows(Generic[_Row]):
    """The rows that wait, by partition, so that a change costs only the rows of its partition."""

    def __init__(self) -> None:
        self._rows: dict[WaitKey, list[Pending[_Row]]] = {}

    def __bool__(self) -> bool:
        return bool(self._rows)

    @property
    def keys(self) -> list[WaitKey]:
        return list(self._rows)

    def add(self, row: _Row, replica: Hosted, offset: int) -> None:
        self._rows.setdefault(replica.key, []).append(Pending(row, replica, offset))

    def decide(
        self, changed: Collection[WaitKey], is_decided: Callable[[Pending[_Row]], bool]
    ) -> None:
        """Forget the rows of these partitions that are decided."""
        for key in changed:
            left = [each for each in self._rows.pop(key, ()) if not is_decided(each)]
            if left:
                self._rows[key] = left
