"""ReadShareGroupStateSummary: how far a share group is with partitions (KIP-932).

Versions: 1 how many records are done with.
"""

from __future__ import annotations

from kafka_admin_proto.messages.read_share_group_state_summary_request import (
    PartitionData,
    ReadShareGroupStateSummaryRequest,
)
from kafka_admin_proto.messages.read_share_group_state_summary_response import (
    PartitionResult,
    ReadShareGroupStateSummaryResponse,
    ReadStateSummaryResult,
)
from kafka_admin_proto.server.apis import Answer, Caller, Gate, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.coordination.shard import Then
from kafka_admin_proto.server.security.authorizer.rules import CLUSTER_ACTION
from kafka_admin_proto.server.share.shard import ShareStateShard
from kafka_admin_proto.server.share.state import UNKNOWN_OFFSET, ShareKey
from kafka_admin_proto.server.share.state_requests import answer_states


@handler(of_broker=True, needs=Gate(CLUSTER_ACTION, "code"), kept=False, at_once=True)
def handle(state: View, request: ReadShareGroupStateSummaryRequest, caller: Caller) -> Answer:
    """Answer with where each partition begins, and what is done with behind that."""
    rows = (ReadStateSummaryResult, PartitionResult)
    return answer_states(state, caller, request, ReadShareGroupStateSummaryResponse(), rows, _act)


def _act(
    shard: ShareStateShard, key: ShareKey, asked: PartitionData, row: PartitionResult, then: Then
) -> None:
    share_state = shard.states.get(key)
    row.start_offset = UNKNOWN_OFFSET
    if share_state is not None:
        row.state_epoch, row.leader_epoch = share_state.state_epoch, share_state.leader_epoch
        row.start_offset, row.delivery_complete_count = (
            share_state.start_offset,
            share_state.completed,
        )
    then(0)
