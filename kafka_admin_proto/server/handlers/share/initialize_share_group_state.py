"""InitializeShareGroupState: a share group begins with partitions (KIP-932)."""

from __future__ import annotations

from kafka_admin_proto.messages import InitializeShareGroupStateRequest
from kafka_admin_proto.messages.initialize_share_group_state_response import (
    InitializeShareGroupStateResponse,
    InitializeStateResult,
    PartitionResult,
)
from kafka_admin_proto.server.apis import Answer, Caller, Gate, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.security.authorizer.rules import CLUSTER_ACTION
from kafka_admin_proto.server.share.state_requests import answer_states


@handler(of_broker=True, needs=Gate(CLUSTER_ACTION, "code"), kept=False, at_once=True)
def handle(state: View, request: InitializeShareGroupStateRequest, caller: Caller) -> Answer:
    """Begin with each partition, or anew."""
    return answer_states(
        state, caller, request, InitializeShareGroupStateResponse(),
        (InitializeStateResult, PartitionResult),
        lambda shard, key, asked, row, then: shard.initialize(
            key, asked.state_epoch, asked.start_offset, then
        ),
    )  # fmt: skip
