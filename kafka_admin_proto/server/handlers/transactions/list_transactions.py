"""ListTransactions: the transactional ids that the broker coordinates (KIP-664).

Versions: 1 a filter by duration (KIP-994), 2 one by a regular expression (KIP-1152).
"""

from __future__ import annotations

from collections.abc import Callable

from kafka_admin_proto.messages import ListTransactionsRequest
from kafka_admin_proto.messages.list_transactions_response import (
    ListTransactionsResponse,
    TransactionState,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.patterns import Pattern, PatternError
from kafka_admin_proto.server.security.authorizer.access import allows
from kafka_admin_proto.server.security.authorizer.rules import DESCRIBE, TRANSACTIONAL_ID
from kafka_admin_proto.server.transactions.transaction import STATES


@handler(of_broker=True, needs=None, kept=False)
def handle(state: View, request: ListTransactionsRequest, caller: Caller) -> Answer:
    """List the transactions that pass all filters and that the caller may describe."""
    states = {each for each in request.state_filters if each in STATES}
    unknown = [each for each in request.state_filters if each not in STATES]
    matches = _matcher(request.transactional_id_pattern)
    producer_ids = {*request.producer_id_filters}
    now_ms = state.controller_state.clock.now_ms()
    rows = [
        TransactionState(each.transactional_id, each.producer_id, each.state)
        for shard in state.controller_state.transactions.shards(state, caller)
        for each in shard.transactions.values()
        if (not request.state_filters or each.state in states)
        and (not producer_ids or each.producer_id in producer_ids)
        and (request.duration_filter < 0 or now_ms - each.started_ms > request.duration_filter)
        and matches(each.transactional_id)
        and allows(state, caller, DESCRIBE, TRANSACTIONAL_ID, each.transactional_id)
    ]
    response = ListTransactionsResponse(unknown_state_filters=unknown, transaction_states=rows)
    return Answer(response)


def _matcher(text: str | None) -> Callable[[str], bool]:
    """Whether an id matches a pattern, as all do without one. Raises ApiFailure."""
    if not text:
        return lambda _: True
    try:
        pattern = Pattern(text)
    except PatternError:
        raise ApiFailure(codes.INVALID_REGULAR_EXPRESSION) from None

    def matches(transactional_id: str) -> bool:
        try:
            return pattern.matches(transactional_id)
        except PatternError:  # it takes too long
            raise ApiFailure(codes.INVALID_REGULAR_EXPRESSION) from None

    return matches
