"""One partition with its replicas: a log that all have, and those that are behind.

Replicas on brokers that run have all records as soon as the leader has, unless their node lags. A
replica whose broker has ended keeps the offsets that it had, until it is in sync again or leads.
The high watermark is the least end offset of the replicas in sync (``Partition`` in Kafka).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Collection
from functools import partial
from typing import Any, NamedTuple

import msgspec

from kafka_admin_proto.loggers import SERVER
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.batches.model import Batch
from kafka_admin_proto.records.metadata.entities import Partition
from kafka_admin_proto.server.partitions.decompression import DecompressionBudget
from kafka_admin_proto.server.partitions.failures import RecordsRefused
from kafka_admin_proto.server.partitions.log import Appended, PartitionLog
from kafka_admin_proto.server.replication.lags import Lags


class _Reached(NamedTuple):
    """An end of the leader's log that a replica has not reached, and when the leader had it."""

    end: int
    time_ms: int


class _Behind(msgspec.Struct):
    """The offsets of a replica that may not have all of the log, and what will reach it.

    ``since_ms`` is when it last had all of the log, as far as it lacks anything.
    """

    start: int
    end: int
    since_ms: int
    coming: deque[_Reached] = msgspec.field(default_factory=deque)


class ReplicatedLog:
    """The log of a partition, and the replicas that do not have all of it.

    ``changed`` is called after the log, the leader or the ISR has changed.
    """

    def __init__(
        self,
        log: PartitionLog,
        partition: Partition,
        lags: Lags,
        changed: Callable[[], None],
    ) -> None:
        self.log = log
        self._lags = lags
        self._changed = changed
        self._isr = partition.isr
        self._replicas = partition.replicas
        self._leader = partition.leader
        self._behind: dict[int, _Behind] = {}
        for each in partition.replicas:
            self.change_lag(each)
        log.begin_epoch(partition.leader_epoch)
        self._raise_high_watermark()

    @property
    def min_isr(self) -> int:
        """The least number of replicas in sync for acks=all; no more than there are replicas."""
        return min(self.log.settings.min_insync_replicas, len(self._replicas))

    @property
    def in_sync(self) -> int:
        return len(self._isr)

    def append(
        self,
        data: bytes,
        *,
        leader_epoch: int,
        now_ms: int,
        budget: DecompressionBudget | None = None,
    ) -> Appended:
        """As `PartitionLog.append`. Raises RecordsRefused, also if the disk fails."""
        log = self.log
        return self._stored(
            lambda: log.append(data, leader_epoch=leader_epoch, now_ms=now_ms, budget=budget)
        )

    def append_own(self, batch: Batch, *, leader_epoch: int, now_ms: int) -> Appended:
        """As `PartitionLog.append_own`. Raises RecordsRefused, also if the disk fails."""
        log = self.log
        return self._stored(lambda: log.append_own(batch, leader_epoch=leader_epoch, now_ms=now_ms))

    def append_marker(self, producer_id: int, producer_epoch: int, **given: Any) -> Appended:
        """As `PartitionLog.append_marker`. Raises RecordsRefused, also if the disk fails."""
        log = self.log
        return self._stored(lambda: log.append_marker(producer_id, producer_epoch, **given))

    def _stored(self, append: Callable[[], Appended]) -> Appended:
        start, end = self.log.start_offset, self.log.end_offset
        try:
            appended = append()
        except OSError as error:
            SERVER.warning("%s: records were not stored: %s", self.log.name, error)
            raise RecordsRefused(codes.KAFKA_STORAGE_ERROR, None) from None
        self._let_lag(start, end)
        self._raise_high_watermark()
        self._changed()
        return appended

    def delete_before(self, offset: int) -> None:
        """Let the log begin at ``offset``. Raises OffsetOutOfRange."""
        start, end = self.log.start_offset, self.log.end_offset
        self.log.delete_before(offset)
        self._let_lag(start, end)
        self._changed()

    def end_on(self, node: int) -> int:
        behind = self._behind.get(node)
        return self.log.end_offset if behind is None else behind.end

    def low_watermark(self, alive: Collection[int]) -> int:
        """The least start offset of the replicas on these brokers."""
        starts = [each.start for node, each in self._behind.items() if node in alive]
        return min([self.log.start_offset, *starts])

    def is_behind(self, node: int) -> bool:
        """Whether a replica cannot join the ISR: it lacks what consumers can read.

        Kafka's leaders see that when a replica fetches, so one that gets nothing never joins.
        """
        behind, lag_s = self._behind.get(node), self._lags.of(node)
        if not lag_s or behind is None:
            return False
        return math.isinf(lag_s) or behind.end < self.log.high_watermark

    def late(self, now_ms: int, most_ms: int) -> list[int]:
        """The replicas in sync that had all of the log so long ago that they are no longer so."""
        return [
            node
            for node in self._isr
            if (behind := self._behind.get(node)) is not None
            and behind.end < self.log.end_offset
            and now_ms - behind.since_ms > most_ms
        ]

    def change_lag(self, node: int) -> None:
        """A node has another lag: what its replica lacks comes after that."""
        if node not in self._replicas or node == self._leader:
            return
        log, lag_s, now_ms = self.log, self._lags.of(node), self._lags.now_ms()
        behind = self._behind.pop(node, None)
        if behind is None:
            if math.isinf(lag_s):
                self._behind[node] = _Behind(log.start_offset, log.end_offset, now_ms)
            return
        # What came by the lag before is for an object that is not there any more.
        behind = self._behind[node] = _Behind(behind.start, behind.end, behind.since_ms)
        self._send(node, behind)
        if not lag_s:
            self._arrive(node, behind)

    def change(self, partition: Partition, now_ms: int) -> None:
        """Follow a change of leader or ISR; a leader that lacks records cuts them off."""
        log = self.log
        lead = self._behind.pop(partition.leader, None)
        if lead is not None and lead.end < log.end_offset:
            log.truncate(lead.end, now_ms)
            for follower in self._behind.values():
                follower.end = min(follower.end, lead.end)
                follower.coming = deque(
                    _Reached(min(end, lead.end), time_ms) for end, time_ms in follower.coming
                )
        for node in list(self._behind):
            joined = node in partition.isr and not self._lags.of(node)
            if joined or node not in partition.replicas:
                del self._behind[node]
        new = [each for each in partition.replicas if each not in self._replicas]
        self._isr, self._replicas = partition.isr, partition.replicas
        self._leader = partition.leader
        for node in new:
            if self._lags.of(node):
                self._behind[node] = _Behind(log.start_offset, log.start_offset, now_ms)
                self._send(node, self._behind[node])
        if partition.leader >= 0:
            log.begin_epoch(partition.leader_epoch)
        self._raise_high_watermark()
        self._changed()

    def _let_lag(self, start: int, end: int) -> None:
        """The log has changed from these offsets: it comes to nodes that lag later, or never."""
        if not self._lags:
            return
        for node in self._replicas:
            if node != self._leader and self._lags.of(node):
                behind = self._behind.get(node)
                if behind is None:
                    behind = self._behind[node] = _Behind(start, end, self._lags.now_ms())
                self._send(node, behind)

    def _send(self, node: int, behind: _Behind) -> None:
        if not math.isinf(self._lags.of(node)):
            behind.coming.append(_Reached(self.log.end_offset, self._lags.now_ms()))
            self._lags.later(node, partial(self._arrive, node, behind))

    def _arrive(self, node: int, behind: _Behind) -> None:
        """The next of what is coming has reached a replica, if it still waits for that."""
        if self._behind.get(node) is not behind or not behind.coming:
            return
        behind.end, behind.start = behind.coming.popleft().end, self.log.start_offset
        if behind.coming:
            behind.since_ms = behind.coming[0].time_ms
        else:
            del self._behind[node]
        self._raise_high_watermark()
        self._changed()

    def _raise_high_watermark(self) -> None:
        """Kafka leaves it while fewer replicas than min.insync.replicas are in sync."""
        log = self.log
        if len(self._isr) < self.min_isr:
            return
        end = log.end_offset
        for node, behind in self._behind.items():
            if node in self._isr:
                end = min(end, behind.end)
        if end > log.high_watermark:
            log.high_watermark = end
