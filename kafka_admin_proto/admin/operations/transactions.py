"""Transactions: list, describe, abort."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from kafka_admin_proto.admin.errors import InstructionError
from kafka_admin_proto.admin.operations.common.coordinators import KeyType, ask_coordinators
from kafka_admin_proto.admin.operations.common.failures import Failure, failure, raise_failure
from kafka_admin_proto.admin.operations.common.item_retries import replaced
from kafka_admin_proto.admin.operations.common.routing import (
    BrokerFailure,
    ask_every_broker,
    ask_leaders,
)
from kafka_admin_proto.admin.operations.common.topic_partitions import (
    TopicPartitions,
    topic_partitions,
)
from kafka_admin_proto.admin.operations.producers import ProducerOperations
from kafka_admin_proto.messages import (
    DescribeTransactionsRequest,
    ListTransactionsRequest,
    ListTransactionsResponse,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from kafka_admin_proto.messages.describe_transactions_response import (
    DescribeTransactionsResponse,
    TransactionState,
)
from kafka_admin_proto.schema.versions import VersionRange

_WITH_DURATIONS, _WITH_PATTERNS = VersionRange.parse("1+"), VersionRange.parse("2+")
#: The error where no transaction is open; no error of Kafka's is called so.
NO_TRANSACTION = "NoTransaction"


class ListedTransaction(msgspec.Struct, frozen=True):
    """A transactional id, as its coordinator lists it."""

    transactional_id: str
    producer_id: int
    state: str
    coordinator: int


class TransactionListing(msgspec.Struct, frozen=True):
    """The transactional ids of all brokers that answered, sorted, and the brokers that did not.

    ``unknown_states`` are those of the filter that a broker does not know.
    """

    transactions: Sequence[ListedTransaction]
    failed: Sequence[BrokerFailure] = ()
    unknown_states: Sequence[str] = ()


class TransactionDescription(msgspec.Struct, frozen=True):
    """A transaction. ``start_time_ms`` is None while no transaction is open."""

    transactional_id: str
    state: str | None = None
    coordinator: int | None = None
    producer_id: int | None = None
    producer_epoch: int | None = None
    timeout_ms: int | None = None
    start_time_ms: int | None = None
    partitions: Sequence[TopicPartitions] = ()
    error: str | None = None
    message: str | None = None


class AbortedTransaction(msgspec.Struct, frozen=True):
    """A partition that an abort marker was written to, unless there is an error."""

    topic: str
    partition: int
    producer_id: int | None
    error: str | None = None
    message: str | None = None


class OpenTransaction(msgspec.Struct, frozen=True, kw_only=True):
    """A transaction that is open on a partition, as ``abort_transaction`` takes it.

    The numbers of its producer and its coordinator are those of ``describe_producers``. Without one
    at the ``start_offset`` the error is ``NO_TRANSACTION``, or that of the partition.
    """

    topic: str
    partition: int
    start_offset: int | None = None
    producer_id: int | None = None
    producer_epoch: int | None = None
    coordinator_epoch: int = 0
    error: str | None = None
    message: str | None = None


class TransactionOperations(ProducerOperations):
    """Transactions and their producers."""

    async def list_transactions(
        self,
        *,
        states: Iterable[str] = (),
        producer_ids: Iterable[int] = (),
        min_duration_ms: int | None = None,
        pattern: str | None = None,
        timeout: float | None = None,
    ) -> TransactionListing:
        """Transactional ids of all brokers, those that every filter finds.

        ``min_duration_ms`` is how long a transaction has been open at least (brokers from 3.8 on);
        ``pattern`` a regular expression of RE2 for transactional ids (from 4.1 on). Brokers that
        are too old for a filter are among the ``failed``.
        """
        request = ListTransactionsRequest(
            list(states),
            list(producer_ids),
            -1 if min_duration_ms is None else min_duration_ms,
            pattern,
        )
        versions = None if min_duration_ms is None else _WITH_DURATIONS
        versions = versions if pattern is None else _WITH_PATTERNS

        async def ask(broker: int, seconds: float) -> tuple[list[ListedTransaction], list[str]]:
            reply = await self.call_owner(
                request, ListTransactionsResponse, to=broker, timeout=seconds, versions=versions
            )
            raise_failure(reply.body.error_code, context="ListTransactions")
            listed = [
                ListedTransaction(
                    each.transactional_id, each.producer_id, each.transaction_state, broker
                )
                for each in reply.body.transaction_states
            ]
            return listed, list(reply.body.unknown_state_filters)

        answers, failed = await ask_every_broker(self, ask, timeout=timeout)
        # One that moves between the answers may be listed by both coordinators.
        found = {each.transactional_id: each for listed, _ in answers for each in listed}
        unknown = sorted({state for _, states in answers for state in states})
        return TransactionListing([found[id_] for id_ in sorted(found)], failed, unknown)

    async def describe_transactions(
        self, transactional_ids: Iterable[str], *, timeout: float | None = None
    ) -> list[TransactionDescription]:
        """Transactions by their ids, in order, each from its coordinator."""

        async def ask(
            broker: int, mine: list[str], seconds: float
        ) -> Mapping[str, TransactionDescription]:
            reply = await self.call_owner(
                DescribeTransactionsRequest(mine),
                DescribeTransactionsResponse,
                to=broker,
                timeout=seconds,
            )
            return {
                each.transactional_id: _description(each, broker)
                for each in reply.body.transaction_states
            }

        def failed(id_: str, why: Failure) -> TransactionDescription:
            return TransactionDescription(id_, **why)

        return await ask_coordinators(
            self, list(transactional_ids), KeyType.TRANSACTION, ask, failed, timeout=timeout
        )

    async def find_open_transaction(
        self, topic: str, partition: int, start_offset: int, *, timeout: float | None = None
    ) -> OpenTransaction:
        """The transaction that begins at this offset of a partition, as its leader knows it."""
        (described,) = await self.describe_producers([(topic, partition)], timeout=timeout)
        place = OpenTransaction(topic=topic, partition=partition, start_offset=start_offset)
        if described.error is not None:
            return replaced(place, error=described.error, message=described.message)
        for producer in described.producers:
            if producer.transaction_start_offset == start_offset:
                return replaced(
                    place,
                    producer_id=producer.producer_id,
                    producer_epoch=producer.producer_epoch,
                    coordinator_epoch=producer.coordinator_epoch or 0,
                )
        message = f"no open transaction begins at offset {start_offset}"
        return replaced(place, error=NO_TRANSACTION, message=message)

    async def abort_transaction(
        self, transaction: OpenTransaction, *, timeout: float | None = None
    ) -> AbortedTransaction:
        """End a hanging transaction on one partition: the leader writes an abort marker.

        A transaction hangs when its coordinator does not know of it any more. Aborting one that its
        coordinator still manages breaks its atomicity: look at ``describe_transactions`` before.
        Nothing is written for one that was not found, whose error the result has. Raises
        InstructionError for one without its producer.
        """
        topic, partition = transaction.topic, transaction.partition
        producer_id, producer_epoch = transaction.producer_id, transaction.producer_epoch
        if transaction.error is not None:
            return AbortedTransaction(
                topic, partition, producer_id, transaction.error, transaction.message
            )
        if producer_id is None or producer_epoch is None:
            raise InstructionError(
                f"the transaction on {topic}-{partition} says nothing of its producer: give "
                "producer_id and producer_epoch, or take it from find_open_transaction"
            )
        request = WriteTxnMarkersRequest(
            [
                WriteTxnMarkersRequest.WritableTxnMarker(
                    producer_id,
                    producer_epoch,
                    False,
                    [WriteTxnMarkersRequest.WritableTxnMarkerTopic(topic, [partition])],
                    transaction.coordinator_epoch,
                )
            ]
        )

        async def ask(
            broker: int, mine: list[tuple[str, int]], seconds: float
        ) -> Mapping[tuple[str, int], AbortedTransaction]:
            reply = await self.call_owner(
                request, WriteTxnMarkersResponse, to=broker, timeout=seconds
            )
            return {
                (own.name, each.partition_index): AbortedTransaction(
                    own.name, each.partition_index, producer_id, **failure(each.error_code)
                )
                for marker in reply.body.markers
                for own in marker.topics
                for each in own.partitions
            }

        def failed(item: tuple[str, int], why: Failure) -> AbortedTransaction:
            return AbortedTransaction(*item, producer_id, **why)

        (aborted,) = await ask_leaders(self, [(topic, partition)], ask, failed, timeout=timeout)
        return aborted


def _description(state: TransactionState, broker: int) -> TransactionDescription:
    if state.error_code:
        return TransactionDescription(state.transactional_id, **failure(state.error_code))
    start = state.transaction_start_time_ms
    return TransactionDescription(
        state.transactional_id,
        state.transaction_state,
        broker,
        state.producer_id,
        state.producer_epoch,
        state.transaction_timeout_ms,
        None if start < 0 else start,
        topic_partitions((each.topic, each.partitions) for each in state.topics),
    )
