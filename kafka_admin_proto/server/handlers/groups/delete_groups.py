"""DeleteGroups: groups without members, and their offsets (KIP-229).

Versions: 1 nothing, 2 flexible, 3 error messages, which only a plugin for streams groups gives.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from kafka_admin_proto.messages import DeleteGroupsRequest
from kafka_admin_proto.messages.delete_groups_response import (
    DeletableGroupResult,
    DeleteGroupsResponse,
)
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.coordination.replies import Reply, answer_of_all
from kafka_admin_proto.server.coordination.shard import Then
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.groups.offsets import delete_group
from kafka_admin_proto.server.groups.shard import Shard
from kafka_admin_proto.server.groups.share.deletion import delete_share_group
from kafka_admin_proto.server.security.authorizer.access import check_group
from kafka_admin_proto.server.security.authorizer.rules import DELETE
from kafka_admin_proto.server.share.checks import missing_state_topic
from kafka_admin_proto.values import Message


@handler(of_broker=True, needs=None, kept=False)
def handle(state: View, request: DeleteGroupsRequest, caller: Caller) -> Answer:
    """Delete each group; answer when replicas have that."""
    response = DeleteGroupsResponse()
    replies: list[Reply] = []
    records: list[Message] = []
    for name in dict.fromkeys(request.groups_names):
        row = DeletableGroupResult(name)
        response.results.append(row)
        try:
            check_group(state, caller, DELETE, name)
            controller_state = state.controller_state
            shard = controller_state.coordinators.shard(state, caller, name)
            delete = (
                partial(delete_share_group, controller_state.share_states)
                if name in shard.share_groups
                else delete_group
            )
            if name in shard.share_groups:
                records = missing_state_topic(state, caller)
            replies.append(_deleted(shard, row, response, delete))
        except ApiFailure as failure:
            row.error_code = failure.code

    return answer_of_all(replies, response, records)


def _deleted(
    shard: Shard,
    row: DeletableGroupResult,
    response: DeleteGroupsResponse,
    delete: Callable[[Shard, str, Then], None],
) -> Reply:
    """Delete the group of a row, whose code is set when the reply is sent. Raises ApiFailure."""

    def marked(code: int) -> DeleteGroupsResponse:
        row.error_code = code
        return response

    reply = shard.reply(marked)
    delete(shard, row.group_id, lambda code: reply.send(marked(code)))
    return reply
