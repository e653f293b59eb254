"""DeleteShareGroupState: a share group has no more to do with partitions (KIP-932)."""

from __future__ import annotations

from kafka_admin_proto.messages import DeleteShareGroupStateRequest
from kafka_admin_proto.messages.delete_share_group_state_response import (
    DeleteShareGroupStateResponse,
    DeleteStateResult,
    PartitionResult,
)
from kafka_admin_proto.server.apis import Answer, Caller, Gate, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.security.authorizer.rules import CLUSTER_ACTION
from kafka_admin_proto.server.share.state_requests import answer_states


@handler(of_broker=True, needs=Gate(CLUSTER_ACTION, "code"), kept=False, at_once=True)
def handle(state: View, request: DeleteShareGroupStateRequest, caller: Caller) -> Answer:
    return answer_states(
        state, caller, request, DeleteShareGroupStateResponse(),
        (DeleteStateResult, PartitionResult),
        lambda shard, key, asked, row, then: shard.delete([key], then),
    )  # fmt: skip
