"""EndTxn: a producer commits or aborts its transaction.

Versions: 1 a throttle time, 2 PRODUCER_FENCED (KIP-588), 3 flexible, 4 TRANSACTION_ABORTABLE,
5 a higher epoch for the next transaction (KIP-890).
"""

from __future__ import annotations

from kafka_admin_proto.messages import EndTxnRequest, EndTxnResponse
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.coordination.replies import answer_of
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.security.authorizer.access import check_transactional_id
from kafka_admin_proto.server.security.authorizer.rules import WRITE
from kafka_admin_proto.server.transactions.ending import end_transaction
from kafka_admin_proto.server.transactions.producer_ids import ProducerIds
from kafka_admin_proto.server.transactions.transaction import EPOCH_BUMP, Transaction

_FENCED, _EPOCHS = 2, 5


@handler(of_broker=True, needs=None, kept=False)
def handle(state: View, request: EndTxnRequest, caller: Caller) -> Answer:
    """Decide the end; markers follow, and the next transaction waits for them."""
    name = request.transactional_id
    check_transactional_id(state, caller, WRITE, name)
    if not name:
        raise ApiFailure(codes.INVALID_REQUEST)
    controller = state.controller_state
    shard = controller.transactions.shard(state, caller, name)
    ids = ProducerIds(controller, caller.node_id)
    bumps = caller.version >= _EPOCHS

    def response(code: int, transaction: Transaction | None = None) -> EndTxnResponse:
        if code == codes.PRODUCER_FENCED and caller.version < _FENCED:
            code = codes.INVALID_PRODUCER_EPOCH
        if transaction is None or not bumps:
            return EndTxnResponse(error_code=code)
        return EndTxnResponse(producer_id=transaction.producer_id, producer_epoch=transaction.epoch)

    reply = shard.reply(response)
    try:
        end_transaction(
            shard, name, (request.producer_id, request.producer_epoch), commit=request.committed,
            client_version=EPOCH_BUMP if bumps else 0, new_id=ids.take,
            then=lambda code, found: reply.send(response(code, found)),
        )  # fmt: skip
    except ApiFailure as failure:
        return Answer(response(failure.code))
    answer = answer_of(reply, EndTxnResponse())
    answer.records = ids.records
    return answer
