"""ShareGroupHeartbeat: a member of a share group comes, stays, and leaves (KIP-932)."""

from __future__ import annotations

from functools import partial

from kafka_admin_proto.messages import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.coordination.replies import answer_of
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.groups.modern import LEAVES
from kafka_admin_proto.server.groups.share.heartbeat import Beat, heartbeat
from kafka_admin_proto.server.java import trim
from kafka_admin_proto.server.security.authorizer.access import allowed_topics, check_group
from kafka_admin_proto.server.security.authorizer.rules import DESCRIBE, READ
from kafka_admin_proto.server.share.checks import (
    check_member_id,
    check_share_version,
    missing_state_topic,
)

_FAILED = partial(ShareGroupHeartbeatResponse, 0)


@handler(of_broker=True, needs=None, kept=False)
def handle(state: View, request: ShareGroupHeartbeatRequest, caller: Caller) -> Answer:
    """Answer with what the member gets, when replicas have that.

    The topic of the share coordinators is created when a group needs it first.
    """
    controller_state = state.controller_state
    try:
        check_share_version(state)
        check_group(state, caller, READ, request.group_id)
        check_member_id(request.member_id)
        names = request.subscribed_topic_names or ()
        if len(allowed_topics(state, caller, DESCRIBE, names)) < len(set(names)):
            raise ApiFailure(codes.TOPIC_AUTHORIZATION_FAILED)
        _check(request)
        shard = controller_state.coordinators.shard(state, caller, request.group_id)
        reply = shard.reply(_FAILED)
        beat = Beat(request, caller.client_id or "", f"/{caller.host}")
        needs_states = heartbeat(shard, beat, reply, controller_state.share_states)
    except ApiFailure as failure:
        return Answer(_FAILED(failure.code, failure.message))
    answer = answer_of(reply, ShareGroupHeartbeatResponse())
    if needs_states:
        answer.records = missing_state_topic(state, caller)
    return answer


def _check(request: ShareGroupHeartbeatRequest) -> None:
    """Raises ApiFailure for a request that no member may send."""
    for name, text in (
        ("MemberId", request.member_id),
        ("GroupId", request.group_id),
        ("RackId", request.rack_id),
    ):
        if text is not None and not trim(text):
            raise _invalid(f"{name} can't be empty.")
    if request.member_epoch == 0 and not request.subscribed_topic_names:
        raise _invalid("SubscribedTopicNames must be set in first request.")
    if request.member_epoch < LEAVES:
        raise _invalid("MemberEpoch is invalid.")


def _invalid(text: str) -> ApiFailure:
    return ApiFailure(codes.INVALID_REQUEST, text)
