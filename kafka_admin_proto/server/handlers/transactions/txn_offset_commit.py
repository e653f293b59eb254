"""TxnOffsetCommit: a group's positions, which count when a producer's transaction commits.

Versions: 1 a throttle time, 2 leader epochs (KIP-320), 3 members of groups (KIP-447), flexible,
4 TRANSACTION_ABORTABLE, 5 the group becomes part of the transaction by itself (KIP-890), 6 topic
ids.
"""

from __future__ import annotations

from kafka_admin_proto.messages import TxnOffsetCommitRequest, TxnOffsetCommitResponse
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.coordination.routing import partition_of
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.groups.commit_answers import answer_commits, read_commits
from kafka_admin_proto.server.groups.shard import Shard
from kafka_admin_proto.server.security.authorizer.access import (
    check_group,
    check_transactional_id,
)
from kafka_admin_proto.server.security.authorizer.rules import READ, WRITE
from kafka_admin_proto.server.topics.names import CONSUMER_OFFSETS
from kafka_admin_proto.server.transactions.verification import Support, verify

_ABORTABLE, _IMPLICIT, _TOPIC_IDS = 4, 5, 6


@handler(of_broker=True, needs=None, kept=False)
def handle(state: View, request: TxnOffsetCommitRequest, caller: Caller) -> Answer:
    """Store the offsets of topics that the caller may read; answer when replicas have them."""
    check_transactional_id(state, caller, WRITE, request.transactional_id)
    check_group(state, caller, READ, request.group_id)
    response = TxnOffsetCommitResponse()
    commits = read_commits(state, caller, request, response, ids_since=_TOPIC_IDS)
    producer = request.producer_id, request.producer_epoch
    return answer_commits(
        request, 0, lambda: _shard(state, request, caller), commits, response, producer
    )


def _shard(state: View, request: TxnOffsetCommitRequest, caller: Caller) -> Shard:
    """The shard of the group, for a transaction that its partition belongs to."""
    if not request.group_id:
        raise ApiFailure(codes.INVALID_GROUP_ID)
    shard = state.controller_state.coordinators.shard(state, caller, request.group_id)
    _verify(state, request, caller.version)
    return shard


def _verify(state: View, request: TxnOffsetCommitRequest, version: int) -> None:
    """Raises ApiFailure unless the group's partition belongs to the transaction."""
    topic = state.topic(CONSUMER_OFFSETS)
    assert topic is not None
    number = partition_of(request.group_id, len(topic.partitions))
    support = Support.IMPLICIT if version >= _IMPLICIT else Support.NONE
    if version == _ABORTABLE:
        support = Support.ABORTABLE
    producer = request.producer_id, request.producer_epoch
    log = state.controller_state.partitions.log(topic, number).log
    place = CONSUMER_OFFSETS, number
    try:
        verify(state, request.transactional_id, producer, place, log, support)
    except ApiFailure as failure:
        if failure.code == codes.NOT_COORDINATOR:  # of the transaction, not of the group
            raise ApiFailure(codes.COORDINATOR_NOT_AVAILABLE) from None
        raise
