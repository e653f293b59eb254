"""Rows of an answer that wait for their partitions (``DelayedProduce`` and its like in Kafka)."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Generic, TypeVar

from kafka_admin_proto.server.apis import WaitKey

_Row = TypeVar("_Row")


class PendingRows(Generic[_Row]):
    """The rows that wait, by partition, so that a change costs only the rows of its partition."""

    def __init__(self) -> None:
        self._rows: dict[WaitKey, list[_Row]] = {}

    def __bool__(self) -> bool:
        return bool(self._rows)

    @property
    def keys(self) -> list[WaitKey]:
        return list(self._rows)

    def add(self, key: WaitKey, row: _Row) -> None:
        self._rows.setdefault(key, []).append(row)

    def decide(self, changed: Collection[WaitKey], is_decided: Callable[[_Row], bool]) -> None:
        """Forget the rows of these partitions that are decided."""
        for key in changed:
            left = [each for each in self._rows.pop(key, ()) if not is_decided(each)]
            if left:
                self._rows[key] = left
