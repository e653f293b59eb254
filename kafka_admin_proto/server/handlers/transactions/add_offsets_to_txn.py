"""AddOffsetsToTxn: a producer's transaction commits offsets of a group.

Versions: 1 a throttle time, 2 PRODUCER_FENCED (KIP-588), 3 flexible, 4 TRANSACTION_ABORTABLE.
"""

from __future__ import annotations

from kafka_admin_proto.messages import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.coordination.replies import answer_of
from kafka_admin_proto.server.coordination.routing import partition_of
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.security.authorizer.access import check_group, check_transactional_id
from kafka_admin_proto.server.security.authorizer.rules import READ, WRITE
from kafka_admin_proto.server.topics.names import CONSUMER_OFFSETS
from kafka_admin_proto.server.transactions.beginning import add_partitions

_FENCED = 2


@handler(of_broker=True, needs=None, kept=False)
def handle(state: View, request: AddOffsetsToTxnRequest, caller: Caller) -> Answer:
    """Add the partition of ``__consumer_offsets`` that has the group."""
    name = request.transactional_id
    check_transactional_id(state, caller, WRITE, name)
    check_group(state, caller, READ, request.group_id)
    if not name:
        raise ApiFailure(codes.INVALID_REQUEST)
    topic = state.topic(CONSUMER_OFFSETS)
    count = state.broker_value("offsets.topic.num.partitions", caller.node_id)
    if topic is not None:
        count = len(topic.partitions)
    place = CONSUMER_OFFSETS, partition_of(request.group_id, count)
    shard = state.controller_state.transactions.shard(state, caller, name)

    def response(code: int) -> AddOffsetsToTxnResponse:
        if code == codes.PRODUCER_FENCED and caller.version < _FENCED:
            code = codes.INVALID_PRODUCER_EPOCH
        return AddOffsetsToTxnResponse(error_code=code)

    reply = shard.reply(response)
    producer = request.producer_id, request.producer_epoch
    try:
        add_partitions(shard, name, producer, [place], 0, lambda code: reply.send(response(code)))
    except ApiFailure as failure:
        return Answer(response(failure.code))
    return answer_of(reply, AddOffsetsToTxnResponse())
