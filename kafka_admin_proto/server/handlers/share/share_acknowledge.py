"""ShareAcknowledge: what a member of a share group says of records that it has (KIP-932).

Versions: 2 renewed locks.
"""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID, uuid4

from kafka_admin_proto.messages import ShareAcknowledgeRequest
from kafka_admin_proto.messages.share_acknowledge_response import (
    NodeEndpoint,
    PartitionData,
    ShareAcknowledgeResponse,
    ShareAcknowledgeTopicResponse,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, Wait, WaitKey, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.replication.leaders import LeaderHints
from kafka_admin_proto.server.share.acknowledgements import RENEWS, Acknowledging
from kafka_admin_proto.server.share.checks import check_member, lock_ms, missing_state_topic
from kafka_admin_proto.server.share.sessions import BEGINS, ENDS


@handler(of_broker=True, needs=None, kept=False, at_once=True)
def handle(state: View, request: ShareAcknowledgeRequest, caller: Caller) -> Answer:
    """Answer when the share coordinator has kept what changed."""
    shares = state.controller_state.shares
    broker = shares.of(caller.node_id)
    epoch = request.share_session_epoch
    try:
        owner = check_member(state, caller, request.group_id, request.member_id)
        if epoch == BEGINS:
            raise ApiFailure(codes.INVALID_SHARE_SESSION_EPOCH)
        session = broker.sessions.found(owner)
        if epoch != ENDS:
            session.go_on(epoch)
    except ApiFailure as failure:
        return Answer(ShareAcknowledgeResponse(error_code=failure.code))
    asked = {
        (topic.topic_id, part.partition_index): part.acknowledgement_batches
        for topic in request.topics
        for part in topic.partitions
    }
    key: WaitKey = (uuid4(), -1)
    acknowledging = Acknowledging(
        state, caller, owner, asked,
        renews=caller.version >= RENEWS and request.is_renew_ack, then=lambda: shares.wake(key),
    )  # fmt: skip

    def complete(answer: Answer, view: View, changed: Collection[WaitKey], is_over: bool) -> bool:
        if not acknowledging.is_over:
            return False
        if epoch == ENDS:
            broker.release(owner)
        answer.response = _response(view, caller, acknowledging)
        if caller.version >= RENEWS:
            answer.response.acquisition_lock_timeout_ms = lock_ms(view, caller, owner)
        return True

    answer = Answer(ShareAcknowledgeResponse())
    if not complete(answer, state, (), False):
        answer.wait = Wait(None, [key], complete)
        answer.records = missing_state_topic(state, caller)
    return answer


def _response(view: View, caller: Caller, acknowledging: Acknowledging) -> ShareAcknowledgeResponse:
    hints = LeaderHints(view, caller)
    topics: dict[UUID, ShareAcknowledgeTopicResponse] = {}
    for (topic_id, number), (code, message) in acknowledging.results.items():
        topic = topics.setdefault(topic_id, ShareAcknowledgeTopicResponse(topic_id))
        row = PartitionData(number, code, message)
        topic.partitions.append(row)
        if code in (codes.NOT_LEADER_OR_FOLLOWER, codes.FENCED_LEADER_EPOCH):
            hints.add(row, view.topic_by_id(topic_id), number)
    return ShareAcknowledgeResponse(
        responses=list(topics.values()), node_endpoints=hints.endpoints(NodeEndpoint)
    )
