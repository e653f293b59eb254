"""OffsetCommit: a group's positions in the logs of partitions.

Versions: 1 generations, 2 retention times, 3 a throttle time, 5 no retention times (KIP-211),
6 leader epochs (KIP-320), 7 static members (KIP-345), 8 flexible, 9 errors of KIP-848's groups,
10 topic ids (KIP-848).
"""

from __future__ import annotations

from kafka_admin_proto.messages import OffsetCommitRequest, OffsetCommitResponse
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.groups.commit_answers import answer_commits, read_commits
from kafka_admin_proto.server.security.authorizer.access import check_group
from kafka_admin_proto.server.security.authorizer.rules import READ

_TOPIC_IDS = 10


@handler(of_broker=True, needs=None, kept=False)
def handle(state: View, request: OffsetCommitRequest, caller: Caller) -> Answer:
    """Store the offsets of topics that the caller may read; answer when replicas have them."""
    if caller.version == 0:  # the offsets of version 0 were kept by ZooKeeper
        raise ApiFailure(codes.UNSUPPORTED_VERSION)
    name = request.group_id
    check_group(state, caller, READ, name)
    response = OffsetCommitResponse()
    commits = read_commits(
        state, caller, request, response,
        ids_since=_TOPIC_IDS, retention_ms=request.retention_time_ms,
    )  # fmt: skip
    shards = state.controller_state.coordinators
    return answer_commits(
        request, caller.version, lambda: shards.shard(state, caller, name), commits, response
    )
