"""DeleteShareGroupOffsets: a share group without members forgets topics (KIP-932)."""

from __future__ import annotations

import msgspec

from kafka_admin_proto.messages import DeleteShareGroupOffsetsRequest
from kafka_admin_proto.messages.delete_share_group_offsets_response import (
    DeleteShareGroupOffsetsResponse,
    DeleteShareGroupOffsetsResponseTopic,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.coordination.replies import answer_of
from kafka_admin_proto.server.failures import NOT_AUTHORIZED, NOT_HOSTED, ApiFailure
from kafka_admin_proto.server.groups.share.deletion import check_empty, delete_states
from kafka_admin_proto.server.groups.share.records import state_record
from kafka_admin_proto.server.security.authorizer.access import allowed_topics, check_named_group
from kafka_admin_proto.server.security.authorizer.rules import DELETE, READ
from kafka_admin_proto.server.share.checks import check_share_version, missing_state_topic, text_of

_NO_OFFSETS = "There is no offset information to delete."


@handler(of_broker=True, needs=None, kept=False)
def handle(state: View, request: DeleteShareGroupOffsetsRequest, caller: Caller) -> Answer:
    """Forget the topics that the group has begun with."""
    name = request.group_id
    response = DeleteShareGroupOffsetsResponse()
    try:
        check_share_version(state)
        check_named_group(state, caller, DELETE, name)
        shard = state.controller_state.coordinators.shard(state, caller, name)
        group = shard.share_group(name)
        check_empty(group)
    except ApiFailure as failure:
        return Answer(_failed(failure.code, failure.message))
    allowed = allowed_topics(state, caller, READ, [each.topic_name for each in request.topics])
    rows = {}
    for wanted in request.topics:
        topic = state.topic(wanted.topic_name)
        row = DeleteShareGroupOffsetsResponseTopic(wanted.topic_name)
        response.responses.append(row)
        if wanted.topic_name not in allowed:
            row.error_code = codes.TOPIC_AUTHORIZATION_FAILED
            row.error_message = NOT_AUTHORIZED[row.error_code]
        elif topic is None or topic.id not in group.partitions.initialized:
            row.error_code = codes.UNKNOWN_TOPIC_OR_PARTITION
            row.error_message = NOT_HOSTED if topic is None else _NO_OFFSETS
        else:
            row.topic_id = topic.id
            rows[topic.id] = row
    reply = shard.reply(_failed)

    def deleted(code: int) -> None:
        for each in rows.values():
            each.error_code = code
        if code or not rows:
            reply.send(response)
            return
        known = group.partitions
        deleting = {topic: text for topic, text in known.deleting.items() if topic not in rows}
        left = msgspec.structs.replace(known, deleting=deleting)
        shard.append([state_record(name, left)], lambda _: reply.send(response))

    delete_states(state.controller_state.share_states, shard, group, rows, deleted)
    answer = answer_of(reply, response)
    if rows:
        answer.records = missing_state_topic(state, caller)
    return answer


def _failed(code: int, message: str | None = None) -> DeleteShareGroupOffsetsResponse:
    return DeleteShareGroupOffsetsResponse(0, code, text_of(code, message))
