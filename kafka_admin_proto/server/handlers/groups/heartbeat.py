"""Heartbeat: a member of a group is alive, and hears when it has to join again.

Versions: 1 a throttle time, 3 static members (KIP-345), 4 flexible.
"""

from __future__ import annotations

from functools import partial

from kafka_admin_proto.messages import HeartbeatRequest, HeartbeatResponse
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.coordination.replies import answer_of
from kafka_admin_proto.server.groups.consumer.classic import heartbeat_consumers
from kafka_admin_proto.server.groups.membership import heartbeat
from kafka_admin_proto.server.security.authorizer.access import check_named_group
from kafka_admin_proto.server.security.authorizer.rules import READ


@handler(of_broker=True, needs=None, kept=False)
def handle(state: View, request: HeartbeatRequest, caller: Caller) -> Answer:
    """Let the member's session begin anew; answer when replicas have what came before."""
    name = request.group_id
    check_named_group(state, caller, READ, name)
    shard = state.controller_state.coordinators.shard(state, caller, name)
    instance_id = request.group_instance_id
    group = shard.consumer_groups.get(name)
    ids = request.member_id, instance_id, request.generation_id
    if group is not None:
        code = heartbeat_consumers(shard, group, *ids)
    else:
        code = heartbeat(shard, name, *ids)
    reply = shard.reply(partial(HeartbeatResponse, 0))
    shard.append([], lambda failed: reply.send(HeartbeatResponse(error_code=failed or code)))
    return answer_of(reply, HeartbeatResponse())
