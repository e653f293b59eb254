"""The transactional ids that one partition of ``__transaction_state`` keeps, on its leader."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kafka_admin_proto.messages import TransactionLogKey, TransactionLogValue
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.batches.model import Batch, Record
from kafka_admin_proto.records.segments.known_topics import TRANSACTION_STATE, write_known_record
from kafka_admin_proto.server.coordination.loading import read_record
from kafka_admin_proto.server.coordination.shard import CoordinatorShard, Leads, Then, unheard
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.transactions.transaction import (
    DEAD,
    Transaction,
    transaction_of,
    written,
)

if TYPE_CHECKING:
    from kafka_admin_proto.server.replication.replicas import ReplicatedLog
    from kafka_admin_proto.server.state import State


class TransactionShard(CoordinatorShard):
    """Transactions by transactional id; ``pending`` has the next states that are not kept yet."""

    def __init__(
        self,
        state: State,
        leads: Leads,
        replicas: ReplicatedLog,
        sent: list[Callable[..., None]],
    ) -> None:
        self.state = state
        self.transactions: dict[str, Transaction] = {}
        self.pending: dict[str, str] = {}
        #: The ids whose producers could not be fenced, since the log took no record.
        self.failed_fences: set[str] = set()
        super().__init__(leads, replicas, state.clock, sent)

    @property
    def level(self) -> int:
        """The level of the feature transaction.version."""
        return self.state.cluster.features.get("transaction.version", 0)

    def config(self, name: str) -> int:
        value: int = self.state.broker_value(name, self.leads.node)
        return value

    def found(self, transactional_id: str) -> Transaction:
        found = self.transactions.get(transactional_id)
        if found is None:
            raise ApiFailure(codes.INVALID_PRODUCER_ID_MAPPING)
        return found

    def change(self, new: Transaction, then: Then = unheard) -> None:
        """Append a transaction as it is now; it counts, and ``then`` gets 0, once replicated."""
        name = new.transactional_id
        self.pending[name] = new.state

        def kept(code: int) -> None:
            del self.pending[name]
            if not code:
                self.transactions[name] = new
            then(code)

        self._write([written(new, self.level)], kept, new.timeout_ms)

    def forget(self, transactional_id: str) -> None:
        self.pending[transactional_id] = DEAD

        def kept(code: int) -> None:
            del self.pending[transactional_id]
            if not code:
                del self.transactions[transactional_id]

        key = TransactionLogKey(transactional_id)
        self._write([write_known_record(key, None)], kept, self.config("request.timeout.ms"))

    def _write(self, pairs: list[tuple[bytes, bytes | None]], then: Then, timeout_ms: int) -> None:
        self.write(pairs, lambda _: None, then, timeout_ms=timeout_ms)

    def _apply(self, batch: Batch, record: Record) -> None:
        key, value = read_record(TRANSACTION_STATE, record)
        assert isinstance(key, TransactionLogKey)
        if isinstance(value, TransactionLogValue):
            self.transactions[key.transactional_id] = transaction_of(key, value)
        else:
            self.transactions.pop(key.transactional_id, None)
