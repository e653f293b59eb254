"""The metadata log of a controller, in memory, as brokers and observers fetch it.

The log is committed as soon as it is written, since the controller is the only voter.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from uuid import UUID

import msgspec

from kafka_admin_proto.records.metadata.cluster_state import ClusterState
from kafka_admin_proto.schema.scalars import ZERO_UUID
from kafka_admin_proto.server.clock import Clock
from kafka_admin_proto.server.log.batches import (
    control_batch,
    leader_change,
    level_of,
    metadata_batch,
)
from kafka_admin_proto.values import Message

#: What one answer has at most (``KafkaRaftClient.MAX_FETCH_SIZE_BYTES``), but one batch at least.
_FETCH_BYTES = 8 << 20
#: A replica that has not fetched for so long is none any more
#: (``LeaderState.OBSERVER_SESSION_TIMEOUT_MS``).
_OBSERVER_MS = 300_000
#: So many replicas are remembered at most, for any client can name one.
_MOST_OBSERVERS = 1000


class Observer(msgspec.Struct):
    """A replica that fetches the log: its next offset, and when it fetched and had all (ms)."""

    directory: UUID = ZERO_UUID
    offset: int = -1
    fetched_ms: int = -1
    caught_up_ms: int = -1
    #: The end of the log when it fetched last.
    end_then: int = -1


class MetadataLog:
    """The batches of the log, led by the controller ``leader`` in ``epoch``."""

    def __init__(self, leader: int, clock: Clock) -> None:
        self.leader = leader
        self.epoch = 1
        self._clock = clock
        #: The end offset of each batch, and its bytes.
        self._ends: list[int] = []
        self._batches: list[bytes] = []
        self._level = 0
        self._observers: dict[int, Observer] = {}
        message = leader_change(leader, [leader], [leader])
        data = control_batch([("LEADER_CHANGE", message)], 0, self.epoch, clock.now_ms())
        self._add(data, 1)

    @property
    def end_offset(self) -> int:
        """The offset of the next record, which is the high watermark too."""
        return self._ends[-1]

    def append(self, records: Sequence[Message], offset: int) -> None:
        """Add a batch; ``offset`` is that of its first record."""
        level = level_of(records)
        self._level = self._level if level is None else level
        data = metadata_batch(records, offset, self.epoch, self._level, self._clock.now_ms())
        self._add(data, offset + len(records))

    def applied(self, cluster: ClusterState) -> None:
        """The log has no snapshots: it begins with its first record."""

    def read(self, offset: int, most_bytes: int) -> bytes:
        """The batches from the one with ``offset`` on, at least one if there is one."""
        first = bisect_right(self._ends, offset)
        left = min(most_bytes, _FETCH_BYTES)
        last = first
        while last < len(self._batches) and (last == first or len(self._batches[last]) <= left):
            left -= len(self._batches[last])
            last += 1
        return b"".join(self._batches[first:last])

    def divergence(self, offset: int, epoch: int) -> tuple[int, int] | None:
        """The last epoch and end offset that a replica shares, if its log is another one.

        ``epoch`` is that of the record before ``offset``, as the replica has it; all here are of
        one epoch.
        """
        shared = self.end_offset if epoch == self.epoch else 0
        return None if offset <= shared else (epoch, shared)

    def fetched(self, replica: int, directory: UUID, offset: int) -> None:
        """A replica has the log before ``offset``; below 0 it is no replica."""
        if replica < 0 or replica == self.leader:
            return
        now_ms = self._clock.now_ms()
        observer = self._observers.pop(replica, None) or Observer()
        if offset >= self.end_offset:
            observer.caught_up_ms = now_ms
        elif offset >= observer.end_then >= 0:
            observer.caught_up_ms = observer.fetched_ms
        observer.directory, observer.offset, observer.fetched_ms = directory, offset, now_ms
        observer.end_then = self.end_offset
        self._observers[replica] = observer  # behind those that fetched earlier
        if len(self._observers) > _MOST_OBSERVERS:
            del self._observers[next(iter(self._observers))]

    def observers(self) -> dict[int, Observer]:
        since_ms = self._clock.now_ms() - _OBSERVER_MS
        found = {key: each for key, each in self._observers.items() if each.fetched_ms >= since_ms}
        return dict(sorted(found.items()))

    def _add(self, data: bytes, end: int) -> None:
        self._ends.append(end)
        self._batches.append(data)
