"""DescribeTransactions: the transactions of transactional ids (KIP-664).

Version 0 is the only one.
"""

from __future__ import annotations

from kafka_admin_proto.messages import DescribeTransactionsRequest
from kafka_admin_proto.messages.describe_transactions_response import (
    DescribeTransactionsResponse,
    TopicData,
    TransactionState,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.repeats import Repeats
from kafka_admin_proto.server.security.authorizer.access import (
    allowed_topics,
    check_transactional_id,
)
from kafka_admin_proto.server.security.authorizer.rules import DESCRIBE


@handler(of_broker=True, needs=None, kept=False)
def handle(state: View, request: DescribeTransactionsRequest, caller: Caller) -> Answer:
    rows = []
    repeats = Repeats("partitions of transactions")
    for name in request.transactional_ids:
        try:
            repeats.describe(name)
            row = _row(state, name, caller)
            repeats.described(name, sum(len(each.partitions) for each in row.topics))
            rows.append(row)
        except ApiFailure as failure:
            rows.append(TransactionState(failure.code, name))
    return Answer(DescribeTransactionsResponse(transaction_states=rows))


def _row(state: View, name: str, caller: Caller) -> TransactionState:
    check_transactional_id(state, caller, DESCRIBE, name)
    if not name:
        raise ApiFailure(codes.INVALID_REQUEST)
    shard = state.controller_state.transactions.shard(state, caller, name)
    transaction = shard.transactions.get(name)
    if transaction is None:
        raise ApiFailure(codes.TRANSACTIONAL_ID_NOT_FOUND)
    topics: dict[str, list[int]] = {}
    for topic, number in sorted(transaction.partitions):
        topics.setdefault(topic, []).append(number)
    allowed = allowed_topics(state, caller, DESCRIBE, topics)
    return TransactionState(
        0,
        name,
        transaction.state,
        transaction.timeout_ms,
        transaction.started_ms,
        transaction.producer_id,
        transaction.epoch,
        [TopicData(*each) for each in topics.items() if each[0] in allowed],
    )
