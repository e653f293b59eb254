"""The column of tagged fields that a message's definition does not have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from kafka_admin_proto.spark.columns import arrow_arrays as arrays
from kafka_admin_proto.spark.columns.leaves import Listed, Names, Shown, Sink


class UnknownTags(Listed):
    """The index of the struct of each unknown field, and the field's tag and bytes.

    With ``secret``, the bytes may be a credential of a newer release.
    """

    def __init__(self, names: Names, *, secret: bool) -> None:
        super().__init__(names)
        self.secret = secret
        self.tags: list[tuple[int, bytes]] = []

    def sinks(self) -> Iterator[tuple[str, Sink]]:
        yield from super().sinks()
        yield f"{self.name}t", self.tags.append

    def undo(self, count: int) -> None:
        while self.values and self.values[-1] >= count:
            self.values.pop()
        del self.tags[len(self.values) :]

    def build(self, count: int, type_: Any, shown: Shown, hidden: Any) -> pa.Array:
        if not self.values:
            return pa.nulls(count, type_)
        lengths = np.bincount(np.array(self.values, np.int64), minlength=count)
        item = type_.value_type
        columns = [
            pa.array([tag for tag, _ in self.tags], item[0].type),
            pa.array([data for _, data in self.tags], item[1].type),
        ]
        if self.secret and shown.mask:
            columns[1] = arrays.masked(columns[1])
        elif hidden is not None:
            columns[1] = arrays.masked(columns[1], pa.array(hidden[self.values]))
        items = pa.StructArray.from_arrays(columns, fields=list(item))
        return arrays.list_array(lengths, lengths == 0, items, type_)
