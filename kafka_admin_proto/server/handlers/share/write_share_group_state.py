"""WriteShareGroupState: the leader of a partition keeps what changed (KIP-932).

Versions: 1 how many records are done with.
"""

from __future__ import annotations

from kafka_admin_proto.messages.write_share_group_state_request import (
    PartitionData,
    WriteShareGroupStateRequest,
)
from kafka_admin_proto.messages.write_share_group_state_response import (
    PartitionResult,
    WriteShareGroupStateResponse,
    WriteStateResult,
)
from kafka_admin_proto.server.apis import Answer, Caller, Gate, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.coordination.shard import Then
from kafka_admin_proto.server.security.authorizer.rules import CLUSTER_ACTION
from kafka_admin_proto.server.share.shard import ShareStateShard
from kafka_admin_proto.server.share.state import ShareKey, StateBatch
from kafka_admin_proto.server.share.state_requests import answer_states


@handler(of_broker=True, needs=Gate(CLUSTER_ACTION, "code"), kept=False, at_once=True)
def handle(state: View, request: WriteShareGroupStateRequest, caller: Caller) -> Answer:
    rows = (WriteStateResult, PartitionResult)
    return answer_states(state, caller, request, WriteShareGroupStateResponse(), rows, _act)


def _act(
    shard: ShareStateShard, key: ShareKey, asked: PartitionData, row: PartitionResult, then: Then
) -> None:
    epochs = asked.state_epoch, asked.leader_epoch
    batches = [
        StateBatch(each.first_offset, each.last_offset, each.delivery_state, each.delivery_count)
        for each in asked.state_batches
    ]
    shard.change(key, epochs, asked.start_offset, asked.delivery_complete_count, batches, then)
