"""What is kept of a share group's partition: the records that are not done with, and the start."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from typing import NamedTuple
from uuid import UUID

import msgspec

from kafka_admin_proto.topic_ids import topic_id_to_text

#: A group that nobody has read for begins where ``share.auto.offset.reset`` says.
UNKNOWN_OFFSET = -1
#: The states of records (``RecordState`` in Kafka); records that a member has are ACQUIRED.
AVAILABLE, ACQUIRED, ACKNOWLEDGED, ARCHIVED = 0, 1, 2, 4


class ShareKey(NamedTuple):
    """A partition of a topic as a share group has it."""

    group: str
    topic_id: UUID
    partition: int

    @property
    def place(self) -> tuple[UUID, int]:
        """The partition, as all groups have it."""
        return self.topic_id, self.partition

    @property
    def text(self) -> str:
        """The key by which its coordinator is found."""
        return f"{self.group}:{topic_id_to_text(self.topic_id)}:{self.partition}"


class StateBatch(msgspec.Struct, frozen=True):
    """Records from ``first_offset`` to ``last_offset`` of one state and delivery count."""

    first_offset: int
    last_offset: int
    state: int
    delivery_count: int


class ShareState(msgspec.Struct, frozen=True):
    """The kept state of a partition (``ShareGroupOffset`` in Kafka).

    ``completed`` counts the records from ``start_offset`` on that are done with; ``updates`` the
    records of changes since the last snapshot. Times are milliseconds since 1970.
    """

    snapshot_epoch: int
    state_epoch: int
    leader_epoch: int
    start_offset: int
    completed: int
    batches: tuple[StateBatch, ...] = ()
    created_ms: int = 0
    updates: int = 0


def combined(
    older: Iterable[StateBatch], newer: Iterable[StateBatch], start_offset: int
) -> tuple[StateBatch, ...]:
    """Batches from a start on, of which none overlap, in the order of their offsets.

    Of two states of a record the one with more deliveries counts, or else the one that is nearer to
    its end. Neighbours of one state are one batch.
    """
    waiting = sorted(
        (max(each.first_offset, start_offset), -each.delivery_count, -each.state, each.last_offset)
        for each in (*older, *newer)
        if each.last_offset >= start_offset
    )
    edges = sorted({each[0] for each in waiting} | {each[3] + 1 for each in waiting})
    batches: list[StateBatch] = []
    open_batches: list[tuple[int, int, int]] = []
    begun = 0
    for index, first in enumerate(edges[:-1]):
        while begun < len(waiting) and waiting[begun][0] <= first:
            heapq.heappush(open_batches, waiting[begun][1:])
            begun += 1
        while open_batches and open_batches[0][2] < first:
            heapq.heappop(open_batches)
        if open_batches:
            count, state, _ = open_batches[0]
            _append(batches, StateBatch(first, edges[index + 1] - 1, -state, -count))
    return tuple(batches)


def _append(batches: list[StateBatch], batch: StateBatch) -> None:
    """Append a batch, which may go on with the last one."""
    last = batches[-1] if batches else None
    if last is not None and (last.last_offset + 1, last.state, last.delivery_count) == (
        batch.first_offset, batch.state, batch.delivery_count,
    ):  # fmt: skip
        batches[-1] = msgspec.structs.replace(last, last_offset=batch.last_offset)
    else:
        batches.append(batch)
