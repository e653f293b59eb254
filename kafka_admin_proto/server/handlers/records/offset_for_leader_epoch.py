"""OffsetForLeaderEpoch: where a leader epoch ends, by which a reader finds lost records (KIP-320).

Versions: 2 the epoch that the client knows, 3 the replica's id, 4 flexible.
"""

from __future__ import annotations

from kafka_admin_proto.messages import OffsetForLeaderEpochRequest
from kafka_admin_proto.messages.offset_for_leader_epoch_response import (
    EpochEndOffset,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderTopicResult,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.replication.leaders import hosted
from kafka_admin_proto.server.security.authorizer.access import allowed_topics, allows_on_cluster
from kafka_admin_proto.server.security.authorizer.rules import CLUSTER_ACTION, DESCRIBE


@handler(of_broker=True, needs=None, kept=False)
def handle(state: View, request: OffsetForLeaderEpochRequest, caller: Caller) -> Answer:
    """Look up each partition's epoch."""
    names = {each.topic for each in request.topics}
    if not allows_on_cluster(state, caller, CLUSTER_ACTION):
        names = allowed_topics(state, caller, DESCRIBE, names)
    response = OffsetForLeaderEpochResponse()
    for wanted in request.topics:
        topic = state.topic(wanted.topic)
        rows = []
        for part in wanted.partitions:
            row = EpochEndOffset(partition=part.partition)
            rows.append(row)
            try:
                if wanted.topic not in names:
                    raise ApiFailure(codes.TOPIC_AUTHORIZATION_FAILED)
                replica = hosted(
                    state, caller, topic, part.partition, epoch=part.current_leader_epoch
                )
            except ApiFailure as failure:
                row.error_code = failure.code
            else:
                log = replica.replicas.log
                row.leader_epoch, row.end_offset = log.end_of_epoch(part.leader_epoch)
        response.topics.append(OffsetForLeaderTopicResult(wanted.topic, rows))
    return Answer(response)
