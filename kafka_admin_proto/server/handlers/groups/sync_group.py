"""SyncGroup: a member asks for its assignment, and the leader of its group sends them.

Versions: 1 a throttle time, 3 static members (KIP-345), 4 flexible, 5 the protocol (KIP-559).
"""

from __future__ import annotations

from functools import partial

from kafka_admin_proto.messages import SyncGroupRequest, SyncGroupResponse
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.coordination.replies import answer_of
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.groups.consumer.classic import sync_consumers
from kafka_admin_proto.server.groups.membership import sync
from kafka_admin_proto.server.security.authorizer.access import check_named_group
from kafka_admin_proto.server.security.authorizer.rules import READ

#: The first version that names the protocol.
_PROTOCOLS = 5
_FAILED = partial(SyncGroupResponse, 0)


@handler(of_broker=True, needs=None, kept=False)
def handle(state: View, request: SyncGroupRequest, caller: Caller) -> Answer:
    """Answer when the leader's assignments are stored."""
    if caller.version >= _PROTOCOLS and None in (request.protocol_type, request.protocol_name):
        raise ApiFailure(codes.INCONSISTENT_GROUP_PROTOCOL)
    check_named_group(state, caller, READ, request.group_id)
    shard = state.controller_state.coordinators.shard(state, caller, request.group_id)
    reply = shard.reply(_FAILED)
    group = shard.consumer_groups.get(request.group_id)
    try:
        if group is not None:
            sync_consumers(shard, group, request, reply)
        else:
            sync(shard, request, reply)
    except ApiFailure as failure:
        reply.send(_FAILED(failure.code))
    return answer_of(reply, SyncGroupResponse())
