"""JoinGroup: a member comes, and waits for the next generation of its group.

Versions: 1 rebalance timeouts, 2 a throttle time, 4 ids are given out first (KIP-394), 5 static
members (KIP-345), 6 flexible, 7 the type of the protocol (KIP-559), 8 reasons (KIP-800), 9 leaders
that skip the assignment (KIP-814).
"""

from __future__ import annotations

from functools import partial

from kafka_admin_proto.messages import JoinGroupRequest, JoinGroupResponse
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.coordination.replies import answer_of
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.groups.consumer.classic import join_consumers
from kafka_admin_proto.server.groups.joining import Joining, failed_join, join
from kafka_admin_proto.server.security.authorizer.access import allowed_topics, check_group
from kafka_admin_proto.server.security.authorizer.rules import DESCRIBE, READ

_NULLABLE_PROTOCOL = 7


@handler(of_broker=True, needs=None, kept=False)
def handle(state: View, request: JoinGroupRequest, caller: Caller) -> Answer:
    """Let the member join; the answer waits until all members have, or their time is over."""

    def mend(response: JoinGroupResponse) -> None:
        if response.error_code and caller.version >= _NULLABLE_PROTOCOL:
            response.protocol_name = None

    member_id = ""
    try:
        check_group(state, caller, READ, request.group_id)
        member_id = request.member_id
        if not request.group_id:
            raise ApiFailure(codes.INVALID_GROUP_ID)
        limits = state.controller_state.coordinators.limits(caller.node_id)
        if not limits.min_session_ms <= request.session_timeout_ms <= limits.max_session_ms:
            raise ApiFailure(codes.INVALID_SESSION_TIMEOUT)
        shard = state.controller_state.coordinators.shard(state, caller, request.group_id)
    except ApiFailure as failure:
        response = failed_join(failure.code, member_id)
        mend(response)
        return Answer(response)
    reply = shard.reply(partial(failed_join, member_id=member_id))
    host = f"/{caller.host}"
    allowed = partial(allowed_topics, state, caller, DESCRIBE)
    joining = Joining(request, caller.version, caller.client_id or "", host, allowed, reply)
    group = shard.consumer_groups.get(request.group_id)
    streams = shard.streams_groups.get(request.group_id)
    if group is not None and group.members:
        try:
            join_consumers(shard, group, joining)
        except ApiFailure as failure:
            joining.refuse(failure.code)
    elif request.group_id in shard.share_groups or (streams is not None and streams.members):
        joining.refuse(codes.INCONSISTENT_GROUP_PROTOCOL)
    else:
        modern = group or streams
        if modern is not None:
            shard.append(modern.tombstones())
        join(shard, joining)
    return answer_of(reply, JoinGroupResponse(), mend)
