"""Fetch: the metadata log, as brokers and observers follow it (KIP-595).

Versions: 12 the last fetched epoch, 13 topic ids, 15 the replica's epoch, 16 addresses of leaders,
17 directories, 18 the high watermark that the replica knows (KIP-1166).
"""

from __future__ import annotations

from collections.abc import Collection

from kafka_admin_proto.messages.fetch_request import FetchPartition, FetchRequest
from kafka_admin_proto.messages.fetch_response import (
    EpochEndOffset,
    FetchableTopicResponse,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, Gate, Wait, WaitKey, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.quorum.metadata_log import MetadataLog
from kafka_admin_proto.server.security.authorizer.rules import CLUSTER_ACTION
from kafka_admin_proto.server.state import State
from kafka_admin_proto.server.topics.names import CLUSTER_METADATA
from kafka_admin_proto.topic_ids import METADATA_TOPIC_ID

_WITH_STATE = 15


@handler(of_broker=False, needs=Gate(CLUSTER_ACTION, "none"), kept=False)
def handle(state: State, request: FetchRequest, caller: Caller) -> Answer:
    """The batches from an offset on, or where the replica's log parts from this one.

    A replica with nothing to fetch waits, for ``max_wait_ms`` at most. Every answer names the
    leader and its address, without which a broker asks again at once, for ever. INVALID_REQUEST for
    another topic or a position that cannot be, FENCED_LEADER_EPOCH and UNKNOWN_LEADER_EPOCH for
    another epoch.
    """
    log = state.metadata_log
    assert log is not None
    if request.cluster_id not in (None, state.cluster_id):
        return Answer(FetchResponse(error_code=codes.INCONSISTENT_CLUSTER_ID))
    topics = request.topics
    if not (
        len(topics) == 1
        and topics[0].topic_id == METADATA_TOPIC_ID
        and len(topics[0].partitions) == 1
        and topics[0].partitions[0].partition == 0
    ):
        return Answer(FetchResponse(error_code=codes.INVALID_REQUEST))
    asked = topics[0].partitions[0]
    is_old = caller.version < _WITH_STATE
    replica = request.replica_id if is_old else request.replica_state.replica_id
    row = _row(log, request, asked, replica)
    row.current_leader = LeaderIdAndEpoch(log.leader, log.epoch)
    response = FetchResponse(
        responses=[FetchableTopicResponse(CLUSTER_METADATA, METADATA_TOPIC_ID, [row])],
        node_endpoints=[
            NodeEndpoint(number, endpoint.host, endpoint.port)
            for number, controller in state.cluster.controllers.items()
            if (endpoint := controller.endpoints.get(caller.listener)) is not None
        ],
    )
    if not _waits(log, asked, row):
        return Answer(response)

    def complete(answer: Answer, view: View, changed: Collection[WaitKey], is_over: bool) -> bool:
        row.records = log.read(asked.fetch_offset, request.max_bytes)
        row.high_watermark = log.end_offset
        if row.records:
            log.fetched(replica, asked.replica_directory_id, asked.fetch_offset)
        return bool(row.records) or is_over

    return Answer(response, wait=Wait(request.max_wait_ms, (None,), complete))


def _row(
    log: MetadataLog, request: FetchRequest, asked: FetchPartition, replica: int
) -> PartitionData:
    row = PartitionData(high_watermark=log.end_offset, log_start_offset=0, records=b"")
    offset, epoch = asked.fetch_offset, asked.last_fetched_epoch
    if request.max_wait_ms < 0 or offset < 0 or not 0 <= epoch <= asked.current_leader_epoch:
        row.error_code = codes.INVALID_REQUEST
    elif asked.current_leader_epoch != log.epoch:
        is_older = asked.current_leader_epoch < log.epoch
        row.error_code = codes.FENCED_LEADER_EPOCH if is_older else codes.UNKNOWN_LEADER_EPOCH
    elif (parting := log.divergence(offset, epoch)) is not None:
        row.diverging_epoch = EpochEndOffset(*parting)
    else:
        row.records = log.read(offset, request.max_bytes)
        log.fetched(replica, asked.replica_directory_id, offset)
    return row


def _waits(log: MetadataLog, asked: FetchPartition, row: PartitionData) -> bool:
    """Whether a replica has all records, and knows that it has."""
    has_all = not (row.error_code or row.records or row.diverging_epoch.epoch >= 0)
    return has_all and asked.high_watermark >= log.end_offset
