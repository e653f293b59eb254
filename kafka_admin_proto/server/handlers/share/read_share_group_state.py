"""ReadShareGroupState: the new leader of a partition asks for its state (KIP-932)."""

from __future__ import annotations

import msgspec

from kafka_admin_proto.messages.read_share_group_state_request import (
    PartitionData,
    ReadShareGroupStateRequest,
)
from kafka_admin_proto.messages.read_share_group_state_response import (
    PartitionResult,
    ReadShareGroupStateResponse,
    ReadStateResult,
    StateBatch,
)
from kafka_admin_proto.server.apis import Answer, Caller, Gate, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.coordination.shard import Then
from kafka_admin_proto.server.security.authorizer.rules import CLUSTER_ACTION
from kafka_admin_proto.server.share.shard import ShareStateShard
from kafka_admin_proto.server.share.state import ShareKey
from kafka_admin_proto.server.share.state_requests import answer_states


@handler(of_broker=True, needs=Gate(CLUSTER_ACTION, "code"), kept=False, at_once=True)
def handle(state: View, request: ReadShareGroupStateRequest, caller: Caller) -> Answer:
    rows = (ReadStateResult, PartitionResult)
    return answer_states(state, caller, request, ReadShareGroupStateResponse(), rows, _act)


def _act(
    shard: ShareStateShard, key: ShareKey, asked: PartitionData, row: PartitionResult, then: Then
) -> None:
    share_state = shard.read(key, asked.leader_epoch)
    row.state_epoch, row.start_offset = share_state.state_epoch, share_state.start_offset
    row.state_batches = [StateBatch(*msgspec.structs.astuple(each)) for each in share_state.batches]
    then(0)
