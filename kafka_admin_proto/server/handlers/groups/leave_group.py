"""LeaveGroup: members leave a group, or an administrator removes them.

Versions: 1 a throttle time, 3 several members (KIP-345), 4 flexible, 5 reasons (KIP-800).
"""

from __future__ import annotations

from functools import partial

from kafka_admin_proto.messages import LeaveGroupResponse
from kafka_admin_proto.messages.leave_group_request import LeaveGroupRequest, MemberIdentity
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.coordination.replies import answer_of
from kafka_admin_proto.server.groups.consumer.classic import leave_consumers
from kafka_admin_proto.server.groups.membership import leave
from kafka_admin_proto.server.security.authorizer.access import check_named_group
from kafka_admin_proto.server.security.authorizer.rules import READ

_SEVERAL = 3


@handler(of_broker=True, needs=None, kept=False)
def handle(state: View, request: LeaveGroupRequest, caller: Caller) -> Answer:
    """Remove the members; the others of the group join again."""
    name = request.group_id
    check_named_group(state, caller, READ, name)
    shard = state.controller_state.coordinators.shard(state, caller, name)
    several = caller.version >= _SEVERAL
    leaving = request.members if several else [MemberIdentity(request.member_id, None)]

    def mend(response: LeaveGroupResponse) -> None:
        if not several and response.members:
            response.error_code, response.members = response.members[0].error_code, []

    reply = shard.reply(partial(LeaveGroupResponse, 0))
    group = shard.consumer_groups.get(name)
    if group is not None:
        leave_consumers(shard, group, leaving, reply)
    else:
        leave(shard, name, leaving, reply)
    return answer_of(reply, LeaveGroupResponse(), mend)
