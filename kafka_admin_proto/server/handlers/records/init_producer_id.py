"""InitProducerId: an id for a producer (KIP-98); that of a transactional id has a higher epoch.

Versions: 2 flexible, 3 the id that the producer had (KIP-360), 4 PRODUCER_FENCED (KIP-588),
5 TRANSACTION_ABORTABLE (KIP-890).
"""

from __future__ import annotations

from kafka_admin_proto.messages import InitProducerIdRequest, InitProducerIdResponse
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.coordination.replies import answer_of
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.security.authorizer.access import (
    allows_on_any_topic,
    allows_on_cluster,
    check_transactional_id,
)
from kafka_admin_proto.server.security.authorizer.rules import (
    IDEMPOTENT_WRITE,
    WRITE,
)
from kafka_admin_proto.server.transactions.beginning import init_producer
from kafka_admin_proto.server.transactions.producer_ids import ProducerIds
from kafka_admin_proto.server.transactions.transaction import Transaction

#: The first version with PRODUCER_FENCED.
_FENCED = 4


@handler(of_broker=True, needs=None, kept=False)
def handle(state: View, request: InitProducerIdRequest, caller: Caller) -> Answer:
    """Give the next id away; a transactional id keeps its own until its epochs are used up."""
    name = request.transactional_id
    if name is not None:
        check_transactional_id(state, caller, WRITE, name)
    elif not (
        allows_on_cluster(state, caller, IDEMPOTENT_WRITE)
        or allows_on_any_topic(state, caller, WRITE)
    ):
        raise ApiFailure(codes.CLUSTER_AUTHORIZATION_FAILED)
    if (request.producer_id == -1) != (request.producer_epoch == -1) or name == "":
        raise ApiFailure(codes.INVALID_REQUEST)
    ids = ProducerIds(state.controller_state, caller.node_id)
    if name is None:
        return Answer(InitProducerIdResponse(producer_id=ids.take()), ids.records)
    answer = _of_transactions(state, request, name, caller, ids)
    answer.records = ids.records
    return answer


def _of_transactions(
    state: View, request: InitProducerIdRequest, name: str, caller: Caller, ids: ProducerIds
) -> Answer:
    """Give a transactional id its next epoch, and wait until that is kept."""
    shard = state.controller_state.transactions.shard(state, caller, name)

    def response(code: int, transaction: Transaction | None = None) -> InitProducerIdResponse:
        if transaction is not None:
            return InitProducerIdResponse(
                producer_id=transaction.producer_id, producer_epoch=transaction.epoch
            )
        if code == codes.PRODUCER_FENCED and caller.version < _FENCED:
            code = codes.INVALID_PRODUCER_EPOCH
        return InitProducerIdResponse(error_code=code, producer_epoch=-1)

    reply = shard.reply(response)
    try:
        init_producer(
            shard, name, request.transaction_timeout_ms,
            (request.producer_id, request.producer_epoch), ids.take,
            lambda code, found: reply.send(response(code, found)),
        )  # fmt: skip
    except ApiFailure as failure:
        return Answer(response(failure.code))
    return answer_of(reply, InitProducerIdResponse())
