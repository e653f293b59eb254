"""Which batches and markers of transactions compaction may remove.

``CleanedTransactionMetadata`` in Kafka.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush

from kafka_admin_proto.errors import DecodeError
from kafka_admin_proto.records.batches.control import read_control_key
from kafka_admin_proto.records.batches.model import Batch
from kafka_admin_proto.server.partitions.indexes import AbortedRange


class CleanedTransactions:
    """The transactions around the batch that compaction is at; batches come by their offsets."""

    def __init__(self) -> None:
        self._coming: list[tuple[int, int, AbortedRange]] = []
        #: By producer: the aborted transaction that is under way, and whether a batch of it came.
        self._aborted: dict[int, tuple[AbortedRange, bool]] = {}
        self._committed: set[int] = set()
        self._kept: list[AbortedRange] = []

    def add(self, aborted: Iterable[AbortedRange]) -> None:
        """More aborted transactions, of the segment that comes next."""
        for each in aborted:
            heappush(self._coming, (each.first_offset, each.last_offset, each))

    def take_kept(self) -> list[AbortedRange]:
        """The aborted transactions that still have batches, for the index of a cleaned segment."""
        kept, self._kept = self._kept, []
        return kept

    def is_discarded(self, batch: Batch) -> bool:
        """Whether a batch is of an aborted transaction, or marks one that has no batches left."""
        while self._coming and self._coming[0][0] <= batch.last_offset:
            entry = heappop(self._coming)[2]
            self._aborted.setdefault(entry.producer_id, (entry, False))
        producer_id = batch.producer_id
        if batch.is_control:
            return self._is_empty(batch)
        if not batch.is_transactional:
            return False
        if producer_id in self._aborted:
            self._aborted[producer_id] = (self._aborted[producer_id][0], True)
            return True
        self._committed.add(producer_id)
        return False

    def _is_empty(self, marker: Batch) -> bool:
        if not marker.records:
            return True
        try:
            name = read_control_key(marker.records[0].key).name
        except DecodeError:  # what it marks is not known: it stays
            return False
        if name == "ABORT":
            entry, has_batches = self._aborted.pop(marker.producer_id, (None, False))
            if entry is not None and has_batches:
                self._kept.append(entry)
            return not has_batches
        if name == "COMMIT" and marker.producer_id in self._committed:
            self._committed.remove(marker.producer_id)
            return False
        return name == "COMMIT"
