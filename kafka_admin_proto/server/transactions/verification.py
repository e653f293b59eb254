"""Whether a partition belongs to the transaction of records for it (KIP-890).

The leader asks the coordinator of transactions, as ``AddPartitionsToTxnManager`` in Kafka; for
clients of the second version of transactions it adds the partition then.
"""

from __future__ import annotations

from enum import IntEnum

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.partitions.log import PartitionLog
from kafka_admin_proto.server.transactions.beginning import add_partitions, unverified
from kafka_admin_proto.server.transactions.transaction import EPOCH_BUMP, Place


class Support(IntEnum):
    """What a client knows of KIP-890: nothing, TRANSACTION_ABORTABLE, or all of it."""

    NONE = 0
    ABORTABLE = 1
    IMPLICIT = 2


def verify(
    view: View,
    transactional_id: str,
    producer: tuple[int, int],
    place: Place,
    log: PartitionLog,
    support: Support,
) -> None:
    """Raises ApiFailure unless a partition belongs to a producer's transaction, or does now.

    Nothing is asked where the log has records of it: before Kafka 4 of any of its epochs.
    """
    state = view.controller_state
    producer_id, epoch = producer
    ongoing = log.ongoing_transaction(producer_id)
    is_known = ongoing is not None and (ongoing == epoch or view.release < (4,))
    if is_known or not view.broker_value("transaction.partition.verification.enable"):
        return
    done: list[int] = []
    try:
        shard = state.transactions.led(transactional_id)
        if support == Support.IMPLICIT:
            add_partitions(shard, transactional_id, producer, [place], EPOCH_BUMP, done.append)
            if not done:  # until the replicas have it, the client's next attempt is refused too
                raise ApiFailure(codes.CONCURRENT_TRANSACTIONS)
            if done[0]:
                raise ApiFailure(done[0])
        elif unverified(shard, transactional_id, producer, [place]):
            raise ApiFailure(codes.TRANSACTION_ABORTABLE)
    except ApiFailure as failure:
        raise ApiFailure(_code(failure.code, support)) from None


def _code(code: int, support: Support) -> int:
    """The code of a coordinator's refusal as the client of the leader gets it."""
    if code == codes.PRODUCER_FENCED:
        return codes.INVALID_PRODUCER_EPOCH
    if code == codes.TRANSACTION_ABORTABLE and support == Support.NONE:
        return codes.INVALID_TXN_STATE
    return code
