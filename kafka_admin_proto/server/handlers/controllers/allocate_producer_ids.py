"""AllocateProducerIds: a block of ids that a broker gives to its producers (KIP-730).

Versions: 0.
"""

from __future__ import annotations

from kafka_admin_proto.messages import AllocateProducerIdsRequest, AllocateProducerIdsResponse
from kafka_admin_proto.server.apis import Answer, Caller, Gate, handler
from kafka_admin_proto.server.quorum.broker_states import check_epoch
from kafka_admin_proto.server.security.authorizer.rules import CLUSTER_ACTION
from kafka_admin_proto.server.state import State
from kafka_admin_proto.server.transactions.producer_ids import BLOCK, next_block


@handler(of_broker=False, needs=Gate(CLUSTER_ACTION, "none"), kept=False)
def handle(state: State, request: AllocateProducerIdsRequest, caller: Caller) -> Answer:
    """Give the next 1,000 ids away; STALE_BROKER_EPOCH for another incarnation."""
    check_epoch(state, request.broker_id, request.broker_epoch)
    first, record = next_block(state, request.broker_id)
    response = AllocateProducerIdsResponse(producer_id_start=first, producer_id_len=BLOCK)
    return Answer(response, [record])
