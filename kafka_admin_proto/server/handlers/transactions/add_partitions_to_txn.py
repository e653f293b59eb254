"""AddPartitionsToTxn: a producer's next records are for these partitions.

Versions: 1 a throttle time, 2 PRODUCER_FENCED (KIP-588), 3 flexible, 4 several transactions, for
brokers alone, which may ask whether partitions were added (KIP-890), 5 TRANSACTION_ABORTABLE.
"""

from __future__ import annotations

from collections.abc import Callable

from kafka_admin_proto.messages.add_partitions_to_txn_request import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTransaction,
)
from kafka_admin_proto.messages.add_partitions_to_txn_response import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopicResult,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.coordination.replies import Reply, answer_of_all
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.security.authorizer.access import (
    allowed_topics,
    allows_on_cluster,
    check_transactional_id,
)
from kafka_admin_proto.server.security.authorizer.rules import CLUSTER_ACTION, WRITE
from kafka_admin_proto.server.transactions.beginning import add_partitions, unverified
from kafka_admin_proto.server.transactions.transaction import EPOCH_BUMP, Place

_FENCED, _OF_BROKERS = 2, 4
_Codes = dict[Place, int]


@handler(of_broker=True, needs=None, kept=False)
def handle(state: View, request: AddPartitionsToTxnRequest, caller: Caller) -> Answer:
    """Add the partitions of each transaction, or check them; all of one or none."""
    of_brokers = caller.version >= _OF_BROKERS
    if of_brokers and not allows_on_cluster(state, caller, CLUSTER_ACTION):
        raise ApiFailure(codes.CLUSTER_AUTHORIZATION_FAILED)
    transactions = request.transactions
    if not of_brokers:
        one = AddPartitionsToTxnTransaction(
            request.v3_and_below_transactional_id,
            request.v3_and_below_producer_id,
            request.v3_and_below_producer_epoch,
            topics=request.v3_and_below_topics,
        )
        transactions = [one]
    response = AddPartitionsToTxnResponse()
    replies: list[Reply] = []
    for transaction in transactions:
        rows: list[AddPartitionsToTxnTopicResult] = []
        if of_brokers:
            row = AddPartitionsToTxnResult(transaction.transactional_id, rows)
            response.results_by_transaction.append(row)
        else:
            response.results_by_topic_v3_and_below = rows
        marked = _marked(transaction, rows, response)
        try:
            reply = _added(state, transaction, caller, marked)
        except ApiFailure as failure:
            code = failure.code
            if code == codes.PRODUCER_FENCED and caller.version < _FENCED:
                code = codes.INVALID_PRODUCER_EPOCH
            marked(dict.fromkeys(_places(transaction), code))
        else:
            if reply is not None:
                replies.append(reply)

    return answer_of_all(replies, response)


def _places(transaction: AddPartitionsToTxnTransaction) -> list[Place]:
    return [(topic.name, number) for topic in transaction.topics for number in topic.partitions]


def _marked(
    transaction: AddPartitionsToTxnTransaction,
    rows: list[AddPartitionsToTxnTopicResult],
    response: AddPartitionsToTxnResponse,
) -> Callable[[_Codes], AddPartitionsToTxnResponse]:
    """A function that makes the rows of a transaction with these codes."""

    def marked(by_partition: _Codes) -> AddPartitionsToTxnResponse:
        rows[:] = [
            AddPartitionsToTxnTopicResult(
                topic.name,
                [
                    AddPartitionsToTxnPartitionResult(each, by_partition[topic.name, each])
                    for each in topic.partitions
                ],
            )
            for topic in transaction.topics
        ]
        return response

    return marked


def _added(
    state: View,
    transaction: AddPartitionsToTxnTransaction,
    caller: Caller,
    marked: Callable[[_Codes], AddPartitionsToTxnResponse],
) -> Reply | None:
    """The reply of what was added; None where the rows are there. Raises ApiFailure."""
    name, places = transaction.transactional_id, _places(transaction)
    of_brokers = caller.version >= _OF_BROKERS
    names = {topic for topic, _ in places}
    allowed = names
    if not of_brokers:
        check_transactional_id(state, caller, WRITE, name)
        allowed = allowed_topics(state, caller, WRITE, names)
    refused: _Codes = {}
    for place in places:
        topic = state.topic(place[0])
        if place[0] not in allowed:
            refused[place] = codes.TOPIC_AUTHORIZATION_FAILED
        elif topic is None or place[1] not in topic.partitions:
            refused[place] = codes.UNKNOWN_TOPIC_OR_PARTITION
    if refused:
        others = dict.fromkeys(places, codes.OPERATION_NOT_ATTEMPTED)
        marked({**others, **refused})
        return None
    if not name:
        raise ApiFailure(codes.INVALID_REQUEST)
    shard = state.controller_state.transactions.shard(state, caller, name)
    producer = transaction.producer_id, transaction.producer_epoch
    if transaction.verify_only:
        missing = unverified(shard, name, producer, places)
        marked({each: codes.TRANSACTION_ABORTABLE * (each in missing) for each in places})
        return None

    reply = shard.reply(lambda code: marked(dict.fromkeys(places, code)))
    version = EPOCH_BUMP if of_brokers else 0
    add_partitions(
        shard, name, producer, places, version,
        lambda code: reply.send(marked(dict.fromkeys(places, code))),
    )  # fmt: skip
    return reply
