"""OffsetCommit: a group's positions in the logs of partitions.

Versions: 1 generations, 2 retention times, 3 a throttle time, 5 no retention times (KIP-211),
6 leader epochs (KIP-320), 7 static members (KIP-345), 8 flexible, 9 errors of KIP-848's groups,
10 topic ids (KIP-848).
"""

from __future__ import annotations

from kafka_admin_proto.messages.offset_commit_request import OffsetCommitRequest
from kafka_admin_proto.messages.offset_commit_response import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.groups.commit_answers import answer_commits
from kafka_admin_proto.server.groups.committers import Commit
from kafka_admin_proto.server.groups.records import CommittedOffset
from kafka_admin_proto.server.replication.leaders import topic_of
from kafka_admin_proto.server.security.authorizer.access import allowed_topics, check_group
from kafka_admin_proto.server.security.authorizer.rules import READ
from kafka_admin_proto.topic_ids import ZERO_TOPIC_ID

_TOPIC_IDS = 10
_Row = OffsetCommitResponsePartition


@handler(of_broker=True, needs=None, kept=False)
def handle(state: View, request: OffsetCommitRequest, caller: Caller) -> Answer:
    """Store the offsets of topics that the caller may read; answer when replicas have them."""
    if caller.version == 0:  # the offsets of version 0 were kept by ZooKeeper
        raise ApiFailure(codes.UNSUPPORTED_VERSION)
    name = request.group_id
    check_group(state, caller, READ, name)
    response = OffsetCommitResponse()
    commits: list[Commit] = []
    rows: list[_Row] = []
    now_ms = state.controller_state.clock.now_ms()
    expires_ms = None if request.retention_time_ms < 0 else now_ms + request.retention_time_ms
    topics = [topic_of(state, each.name, each.topic_id) for each in request.topics]
    names = [
        each.name if topic is None else topic.name
        for each, topic in zip(request.topics, topics, strict=True)
    ]
    allowed = allowed_topics(state, caller, READ, names)
    for each, topic, topic_name in zip(request.topics, topics, names, strict=True):
        parts: list[_Row] = []
        response.topics.append(OffsetCommitResponseTopic(each.name, each.topic_id, parts))
        keeps_id = topic is not None and state.release >= (4,)
        for part in each.partitions:
            row = _Row(part.partition_index)
            parts.append(row)
            if topic is None and caller.version >= _TOPIC_IDS:
                row.error_code = codes.UNKNOWN_TOPIC_ID
            elif topic_name not in allowed:
                row.error_code = codes.TOPIC_AUTHORIZATION_FAILED
            elif topic is None or part.partition_index not in topic.partitions:
                row.error_code = codes.UNKNOWN_TOPIC_OR_PARTITION
            else:
                committed = CommittedOffset(
                    part.committed_offset,
                    part.committed_leader_epoch,
                    part.committed_metadata or "",
                    now_ms,
                    expires_ms,
                    topic.id if keeps_id else ZERO_TOPIC_ID,
                )
                commits.append(Commit(topic_name, part.partition_index, committed))
                rows.append(row)
    if not commits:
        return Answer(response)
    shards = state.controller_state.coordinators
    return answer_commits(
        request, caller.version, lambda: shards.shard(state, caller, name), commits, rows, response
    )
