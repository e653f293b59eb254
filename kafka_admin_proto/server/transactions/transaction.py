"""A transactional id and its transaction (``TransactionMetadata``), and its record."""

from __future__ import annotations

import msgspec

from kafka_admin_proto.messages import TransactionLogKey
from kafka_admin_proto.messages.transaction_log_value import PartitionsSchema, TransactionLogValue
from kafka_admin_proto.records.segments.known_topics import write_known_record
from kafka_admin_proto.server.coordination.loading import StrangeRecord

EMPTY, ONGOING = "Empty", "Ongoing"
PREPARE_COMMIT, PREPARE_ABORT = "PrepareCommit", "PrepareAbort"
COMPLETE_COMMIT, COMPLETE_ABORT = "CompleteCommit", "CompleteAbort"
DEAD, EPOCH_FENCE = "Dead", "PrepareEpochFence"
#: The states in the order of the numbers that records have for them.
STATES = (
    EMPTY, ONGOING, PREPARE_COMMIT, PREPARE_ABORT, COMPLETE_COMMIT, COMPLETE_ABORT, DEAD,
    EPOCH_FENCE,
)  # fmt: skip
#: Those of the states above that a log has: an id that is gone has a tombstone.
_KEPT_STATES = STATES[:6]
#: The states of a transaction whose end is decided, and of one that has ended or not begun.
PREPARED = (PREPARE_COMMIT, PREPARE_ABORT)
OVER = (EMPTY, COMPLETE_COMMIT, COMPLETE_ABORT)

NO_ID = NO_EPOCH = -1
MAX_EPOCH = (1 << 15) - 1
#: The first level of the feature transaction.version with records of version 1, and the first one
#: whose transactions end with a higher epoch (KIP-890).
_FLEXIBLE, EPOCH_BUMP = 1, 2

#: A partition by topic and number.
Place = tuple[str, int]


class Transaction(msgspec.Struct, frozen=True):
    """A transactional id with its producer, and the transaction that is or was under way.

    Times are milliseconds since 1970, -1 where there is none. ``client_version`` is the version of
    transactions by which the client began it.
    """

    transactional_id: str
    producer_id: int
    timeout_ms: int
    updated_ms: int
    previous_producer_id: int = NO_ID
    next_producer_id: int = NO_ID
    epoch: int = NO_EPOCH
    last_epoch: int = NO_EPOCH
    state: str = EMPTY
    partitions: frozenset[Place] = frozenset()
    started_ms: int = -1
    client_version: int = 0

    def changed(self, now_ms: int, **fields: object) -> Transaction:
        """The transaction after a change; one that gets another id remembers this one."""
        return msgspec.structs.replace(
            self,
            **{"updated_ms": now_ms, "previous_producer_id": self.producer_id, **fields},
        )

    @property
    def is_exhausted(self) -> bool:
        """Whether the producer's id has no further epoch that a client may have."""
        return is_exhausted(self.epoch)

    @property
    def is_commit(self) -> bool:
        return self.state in (PREPARE_COMMIT, COMPLETE_COMMIT)


def is_exhausted(epoch: int) -> bool:
    """Whether an epoch is the last that a client may have; one is left to fence it."""
    return epoch >= MAX_EPOCH - 1


def written(transaction: Transaction, level: int) -> tuple[bytes, bytes | None]:
    """The record of a transaction, as the level of the feature transaction.version has it."""
    topics: dict[str, list[int]] = {}
    for topic, number in sorted(transaction.partitions):
        topics.setdefault(topic, []).append(number)
    rows = [PartitionsSchema(*each) for each in topics.items()]
    value = TransactionLogValue(
        transaction.producer_id,
        previous_producer_id=transaction.previous_producer_id,
        next_producer_id=transaction.next_producer_id,
        producer_epoch=transaction.epoch,
        transaction_timeout_ms=transaction.timeout_ms,
        transaction_status=STATES.index(transaction.state),
        transaction_partitions=None if transaction.state == EMPTY else rows,
        transaction_last_update_timestamp_ms=transaction.updated_ms,
        transaction_start_timestamp_ms=transaction.started_ms,
        client_transaction_version=transaction.client_version,
    )
    version = 1 if level >= _FLEXIBLE else 0
    if version == 0:
        value.previous_producer_id = value.next_producer_id = NO_ID
        value.client_transaction_version = 0
    return write_known_record(TransactionLogKey(transaction.transactional_id), value, version)


def transaction_of(key: TransactionLogKey, value: TransactionLogValue) -> Transaction:
    """The transaction of a record. Raises StrangeRecord."""
    if not 0 <= value.transaction_status < len(_KEPT_STATES):
        raise StrangeRecord(f"no transaction has the state {value.transaction_status}")
    if value.producer_id < 0 or value.producer_epoch < 0:
        producer = f"the id {value.producer_id} and the epoch {value.producer_epoch}"
        raise StrangeRecord(f"no producer has {producer}")
    return Transaction(
        transactional_id=key.transactional_id,
        producer_id=value.producer_id,
        timeout_ms=value.transaction_timeout_ms,
        updated_ms=value.transaction_last_update_timestamp_ms,
        previous_producer_id=value.previous_producer_id,
        next_producer_id=value.next_producer_id,
        epoch=value.producer_epoch,
        last_epoch=NO_EPOCH,
        state=STATES[value.transaction_status],
        partitions=frozenset(
            (each.topic, number)
            for each in value.transaction_partitions or ()
            for number in each.partition_ids
        ),
        started_ms=value.transaction_start_timestamp_ms,
        client_version=value.client_transaction_version,
    )
