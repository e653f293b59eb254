"""FetchSnapshot: a snapshot of the metadata log, of which this controller has none (KIP-630).

Its log begins with the first record, and no answer to Fetch names a snapshot.

Versions: 1 directories and addresses of leaders (KIP-853).
"""

from __future__ import annotations

from kafka_admin_proto.messages import FetchSnapshotRequest
from kafka_admin_proto.messages.fetch_snapshot_response import (
    FetchSnapshotResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionSnapshot,
    TopicSnapshot,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, Gate, handler
from kafka_admin_proto.server.security.authorizer.rules import CLUSTER_ACTION
from kafka_admin_proto.server.state import State
from kafka_admin_proto.server.topics.names import CLUSTER_METADATA


@handler(of_broker=False, needs=Gate(CLUSTER_ACTION, "none"), kept=False)
def handle(state: State, request: FetchSnapshotRequest, caller: Caller) -> Answer:
    """SNAPSHOT_NOT_FOUND for whatever snapshot, by a replica that knows the epoch."""
    log = state.metadata_log
    assert log is not None
    if request.cluster_id not in (None, state.cluster_id):
        return Answer(FetchSnapshotResponse(error_code=codes.INCONSISTENT_CLUSTER_ID))
    if len(request.topics) != 1 or len(request.topics[0].partitions) != 1:
        return Answer(FetchSnapshotResponse(error_code=codes.INVALID_REQUEST))
    name, asked = request.topics[0].name, request.topics[0].partitions[0]
    row = PartitionSnapshot(asked.partition)
    row.current_leader = LeaderIdAndEpoch(log.leader, log.epoch)
    if (name, asked.partition) != (CLUSTER_METADATA, 0):
        row.error_code = codes.UNKNOWN_TOPIC_OR_PARTITION
    elif asked.current_leader_epoch != log.epoch:
        is_older = asked.current_leader_epoch < log.epoch
        row.error_code = codes.FENCED_LEADER_EPOCH if is_older else codes.UNKNOWN_LEADER_EPOCH
    else:
        row.error_code = codes.SNAPSHOT_NOT_FOUND
    return Answer(
        FetchSnapshotResponse(
            topics=[TopicSnapshot(name, [row])],
            node_endpoints=[
                NodeEndpoint(number, endpoint.host, endpoint.port)
                for number, controller in state.cluster.controllers.items()
                if (endpoint := controller.endpoints.get(caller.listener)) is not None
            ],
        )
    )
