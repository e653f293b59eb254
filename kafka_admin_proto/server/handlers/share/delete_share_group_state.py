"""DeleteShareGroupState: a share group has no more to do with partitions (KIP-932)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_admin_proto.messages.delete_share_group_state_request import (
    DeleteShareGroupStateRequest,
    PartitionData,
)
from kafka_admin_proto.messages.delete_share_group_state_response import (
    DeleteShareGroupStateResponse,
    DeleteStateResult,
    PartitionResult,
)
from kafka_admin_proto.server.apis import Answer, Caller, Gate, handler
from kafka_admin_proto.server.security.authorizer.rules import CLUSTER_ACTION
from kafka_admin_proto.server.share.state_requests import answer_states

if TYPE_CHECKING:
    from kafka_admin_proto.server.brokers.view import View
    from kafka_admin_proto.server.coordination.shard import Then
    from kafka_admin_proto.server.share.shard import ShareStateShard
    from kafka_admin_proto.server.share.state import ShareKey


@handler(of_broker=True, needs=Gate(CLUSTER_ACTION, "code"), kept=False, at_once=True)
def handle(state: View, request: DeleteShareGroupStateRequest, caller: Caller) -> Answer:
    rows = (DeleteStateResult, PartitionResult)
    return answer_states(state, caller, request, DeleteShareGroupStateResponse(), rows, _act)


def _act(
    shard: ShareStateShard, key: ShareKey, asked: PartitionData, row: PartitionResult, then: Then
) -> None:
    shard.delete([key], then)
