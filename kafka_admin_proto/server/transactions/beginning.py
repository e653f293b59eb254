"""What begins transactions: InitProducerId and AddPartitionsToTxn, and the check of partitions."""

from __future__ import annotations

from collections.abc import Callable, Collection

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.coordination.shard import Then
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.transactions.ending import fence
from kafka_admin_proto.server.transactions.shard import TransactionShard
from kafka_admin_proto.server.transactions.transaction import (
    EMPTY,
    NO_EPOCH,
    ONGOING,
    OVER,
    PREPARED,
    Place,
    Transaction,
    is_exhausted,
)


def init_producer(
    shard: TransactionShard,
    name: str,
    timeout_ms: int,
    known: tuple[int, int],
    new_id: Callable[[], int],
    then: Callable[[int, Transaction | None], None],
) -> None:
    """Give a transactional id a new epoch, and so fence its other producers.

    ``known`` are the id and the epoch that the producer had, -1 for a new one. ``then`` gets the
    error code, and the transaction where that is 0. Raises ApiFailure.
    """
    if not 0 < timeout_ms <= shard.config("transaction.max.timeout.ms"):
        raise ApiFailure(codes.INVALID_TRANSACTION_TIMEOUT)
    txn = shard.transactions.get(name)
    if txn is None:
        txn = Transaction(name, new_id(), timeout_ms, shard.now_ms)
        shard.transactions[name] = txn
    if name in shard.pending:
        raise ApiFailure(codes.CONCURRENT_TRANSACTIONS)
    if known[1] != NO_EPOCH and not _is_valid(txn, *known):
        raise ApiFailure(codes.PRODUCER_FENCED)
    if txn.state in PREPARED:
        raise ApiFailure(codes.CONCURRENT_TRANSACTIONS)
    if txn.state == ONGOING:
        fence(shard, txn, lambda code: then(code or codes.CONCURRENT_TRANSACTIONS, None))
        return
    new = _next(shard, txn, timeout_ms, known[1], new_id)
    shard.change(new, lambda code: then(code, None if code else new))


def _is_valid(txn: Transaction, producer_id: int, epoch: int) -> bool:
    """Whether the id and epoch of a producer are those of its transactional id."""
    return (
        txn.epoch == NO_EPOCH
        or producer_id == txn.producer_id
        or (producer_id == txn.previous_producer_id and is_exhausted(epoch))
    )


def _next(
    shard: TransactionShard,
    txn: Transaction,
    timeout_ms: int,
    known_epoch: int,
    new_id: Callable[[], int],
) -> Transaction:
    """The transactional id in its next epoch, or with another id. Raises ApiFailure."""
    is_known = known_epoch != NO_EPOCH
    begun: dict[str, object] = {
        "state": EMPTY, "timeout_ms": timeout_ms, "partitions": frozenset()
    }  # fmt: skip
    if shard.state.release >= (4,):  # 3.9 goes on to show when the last transaction began
        begun["started_ms"] = -1
    if txn.is_exhausted and is_known and known_epoch != txn.epoch:
        # A producer that is no longer the latest one gets no id that would go on for it.
        raise ApiFailure(codes.UNKNOWN_SERVER_ERROR)
    if txn.is_exhausted:
        return txn.changed(
            shard.now_ms, producer_id=new_id(), epoch=0,
            last_epoch=txn.epoch if is_known else NO_EPOCH, **begun,
        )  # fmt: skip
    epoch, last = txn.epoch + 1, NO_EPOCH
    if is_known and txn.epoch in (NO_EPOCH, known_epoch):
        last = txn.epoch
    elif is_known and known_epoch == txn.last_epoch:  # the request was sent twice
        epoch, last = txn.epoch, txn.last_epoch
    elif is_known:
        raise ApiFailure(codes.PRODUCER_FENCED)
    return txn.changed(shard.now_ms, epoch=epoch, last_epoch=last, **begun)


def _checked(shard: TransactionShard, name: str, producer_id: int, epoch: int) -> Transaction:
    if not name:
        raise ApiFailure(codes.INVALID_REQUEST)
    txn = shard.found(name)
    if txn.producer_id != producer_id:
        raise ApiFailure(codes.INVALID_PRODUCER_ID_MAPPING)
    if txn.epoch != epoch:
        raise ApiFailure(codes.PRODUCER_FENCED)
    if txn.state in PREPARED:
        raise ApiFailure(codes.CONCURRENT_TRANSACTIONS)
    return txn


def add_partitions(
    shard: TransactionShard,
    name: str,
    producer: tuple[int, int],
    places: Collection[Place],
    client_version: int,
    then: Then,
) -> None:
    """Make partitions part of the transaction, which begins with the first ones.

    Raises ApiFailure.
    """
    if name and shard.found(name) and name in shard.pending:
        raise ApiFailure(codes.CONCURRENT_TRANSACTIONS)
    txn = _checked(shard, name, *producer)
    if txn.state == ONGOING and txn.partitions.issuperset(places):
        then(0)
        return
    now_ms = shard.now_ms
    new = txn.changed(
        now_ms, state=ONGOING, partitions=txn.partitions.union(places),
        started_ms=now_ms if txn.state in OVER else txn.started_ms,
        client_version=client_version,
    )  # fmt: skip
    shard.change(new, then)


def unverified(
    shard: TransactionShard, name: str, producer: tuple[int, int], places: Collection[Place]
) -> set[Place]:
    """The partitions that are not part of the transaction. Raises ApiFailure."""
    return set(places) - _checked(shard, name, *producer).partitions
