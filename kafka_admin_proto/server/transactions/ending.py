"""The end of transactions: EndTxn, timeouts, and the producers that another one fences."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import msgspec

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.coordination.shard import Then, unheard
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.transactions.markers import Marker, unwritten
from kafka_admin_proto.server.transactions.shard import TransactionShard
from kafka_admin_proto.server.transactions.transaction import (
    COMPLETE_ABORT,
    COMPLETE_COMMIT,
    EMPTY,
    EPOCH_BUMP,
    MAX_EPOCH,
    NO_EPOCH,
    NO_ID,
    ONGOING,
    OVER,
    PREPARE_ABORT,
    PREPARE_COMMIT,
    PREPARED,
    Place,
    Transaction,
)

#: How long until a marker is tried again whose partition did not take it.
_RETRY_MS = 50

#: Called with the error code, and with the transaction where that is 0.
Ended = Callable[[int, Transaction | None], None]


def end_transaction(
    shard: TransactionShard,
    name: str,
    producer: tuple[int, int],
    *,
    commit: bool,
    client_version: int,
    new_id: Callable[[], int],
    then: Ended,
) -> None:
    """Commit or abort as a client asks for. Raises ApiFailure."""
    txn = shard.found(name)
    bumps = client_version >= EPOCH_BUMP
    if bumps and name in shard.pending:
        raise ApiFailure(codes.CONCURRENT_TRANSACTIONS)
    is_retry = bumps and _is_retry(txn, *producer)
    if txn.producer_id != producer[0] and not is_retry:
        raise ApiFailure(codes.INVALID_PRODUCER_ID_MAPPING)
    if not _is_valid(txn, producer[1], bumps=bumps, is_retry=is_retry):
        raise ApiFailure(codes.PRODUCER_FENCED)
    if name in shard.pending:
        raise ApiFailure(codes.CONCURRENT_TRANSACTIONS)
    prepared, complete = (
        (PREPARE_COMMIT, COMPLETE_COMMIT) if commit else (PREPARE_ABORT, COMPLETE_ABORT)
    )
    if txn.state == prepared:
        raise ApiFailure(codes.CONCURRENT_TRANSACTIONS)
    if txn.state == complete and (is_retry or not bumps):
        then(0, txn)
        return
    # By version 2 a client may abort before it has added any partition.
    is_empty = bumps and txn.state in OVER and not commit and not is_retry
    if txn.state != ONGOING and not is_empty:
        raise ApiFailure(codes.INVALID_TXN_STATE)
    next_id = new_id() if bumps and txn.is_exhausted else NO_ID
    _prepare(shard, txn, prepared, client_version, next_id, then)


def _is_retry(txn: Transaction, producer_id: int, epoch: int) -> bool:
    """Whether a client of version 2 asks once more, which then has an epoch too low."""
    overflowed = (
        txn.previous_producer_id == producer_id and epoch == MAX_EPOCH - 1 and txn.epoch == 0
    )
    return overflowed or (txn.producer_id == producer_id and txn.epoch == epoch + 1)


def _is_valid(txn: Transaction, epoch: int, *, bumps: bool, is_retry: bool) -> bool:
    if not bumps or txn.state in (ONGOING, EMPTY):
        return epoch == txn.epoch
    if txn.state in PREPARED:
        return is_retry
    return is_retry or epoch == txn.epoch


def fence(shard: TransactionShard, txn: Transaction, then: Then) -> None:
    """Abort a transaction that is under way, and give its id a higher epoch.

    By the first version the id has that epoch also if the log takes no record.
    """
    level, name = shard.level, txn.transactional_id
    fenced = txn
    if level < EPOCH_BUMP:
        is_last = name in shard.failed_fences or txn.epoch == MAX_EPOCH
        epoch = txn.epoch if is_last else txn.epoch + 1
        fenced = msgspec.structs.replace(txn, epoch=epoch, last_epoch=NO_EPOCH)
        shard.transactions[name] = fenced

    def prepared(code: int, new: Transaction | None) -> None:
        (shard.failed_fences.add if code else shard.failed_fences.discard)(name)
        then(code)

    _prepare(shard, fenced, PREPARE_ABORT, level, NO_ID, prepared)


def _prepare(
    shard: TransactionShard,
    txn: Transaction,
    state: str,
    client_version: int,
    next_id: int,
    then: Ended,
) -> None:
    """Decide the end, then let markers be written; ``then`` is called between the two."""
    now_ms, epochs = shard.now_ms, {}
    if client_version >= EPOCH_BUMP:
        epochs = {"epoch": min(txn.epoch + 1, MAX_EPOCH), "last_epoch": txn.epoch}
    new = txn.changed(
        now_ms, state=state, client_version=client_version, next_producer_id=next_id,
        started_ms=txn.started_ms if txn.state == ONGOING else now_ms, **epochs,
    )  # fmt: skip

    def kept(code: int) -> None:
        if code:
            then(code, None)
            return
        # A client of version 2 goes on with what the transaction has once it is complete.
        then(0, _completed(new, now_ms))
        complete(shard, new)

    shard.change(new, kept)


def _completed(txn: Transaction, now_ms: int) -> Transaction:
    ids = {}
    if txn.client_version >= EPOCH_BUMP and txn.next_producer_id != NO_ID:
        ids = {"producer_id": txn.next_producer_id, "epoch": 0}
    return txn.changed(
        now_ms, state=COMPLETE_COMMIT if txn.is_commit else COMPLETE_ABORT,
        partitions=frozenset(), next_producer_id=NO_ID, **ids,
    )  # fmt: skip


def complete(
    shard: TransactionShard, txn: Transaction, written: dict[Place, int] | None = None
) -> None:
    """Write the markers of a transaction whose end is decided; it is complete when all have them.

    ``written`` has the end of the log of each partition behind its marker.
    """
    written = {} if written is None else written
    marker = Marker(
        txn.producer_id,
        txn.epoch,
        txn.is_commit,
        shard.leads.epoch,
        txn.client_version,
    )
    shard.pending[txn.transactional_id] = COMPLETE_COMMIT if txn.is_commit else COMPLETE_ABORT
    if unwritten(shard.state, marker, txn.partitions, written):
        again = partial(complete, shard, txn, written)
        shard.later(("markers", txn.transactional_id), _RETRY_MS, again)
        return

    def kept(code: int) -> None:
        if code:
            again = partial(complete, shard, txn, written)
            shard.later(("markers", txn.transactional_id), _RETRY_MS, again)

    shard.change(_completed(txn, shard.now_ms), kept)


def begin(shard: TransactionShard) -> None:
    """Go on with transactions whose end was decided, and look for those that are too old."""
    for each in list(shard.transactions.values()):
        if each.state in PREPARED:
            complete(shard, each)
    _abort_old(shard)
    _forget_old(shard)


def _abort_old(shard: TransactionShard) -> None:
    now_ms = shard.now_ms
    for transaction in list(shard.transactions.values()):
        due_ms = transaction.started_ms + transaction.timeout_ms
        is_old = transaction.state == ONGOING and due_ms < now_ms
        if is_old and transaction.transactional_id not in shard.pending:
            fence(shard, transaction, unheard)
    interval_ms = shard.config("transaction.abort.timed.out.transaction.cleanup.interval.ms")
    shard.later("timeouts", interval_ms, partial(_abort_old, shard))


def _forget_old(shard: TransactionShard) -> None:
    oldest_ms = shard.now_ms - shard.config("transactional.id.expiration.ms")
    for name, each in list(shard.transactions.items()):
        if each.state in OVER and each.updated_ms <= oldest_ms and name not in shard.pending:
            shard.forget(name)
    interval_ms = shard.config("transaction.remove.expired.transaction.cleanup.interval.ms")
    shard.later("expiry", interval_ms, partial(_forget_old, shard))
