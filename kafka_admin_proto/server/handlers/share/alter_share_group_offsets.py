"""AlterShareGroupOffsets: where a share group without members begins (KIP-932)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kafka_admin_proto.messages.alter_share_group_offsets_request import (
    AlterShareGroupOffsetsRequest,
)
from kafka_admin_proto.messages.alter_share_group_offsets_response import (
    AlterShareGroupOffsetsResponse,
    AlterShareGroupOffsetsResponsePartition,
    AlterShareGroupOffsetsResponseTopic,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.coordination.replies import answer_of
from kafka_admin_proto.server.failures import NOT_AUTHORIZED, NOT_HOSTED, ApiFailure
from kafka_admin_proto.server.groups.share.deletion import check_empty
from kafka_admin_proto.server.groups.share.initializing import (
    initialize,
    initializing_record,
    topics_of,
)
from kafka_admin_proto.server.security.authorizer.access import allowed_topics, check_group
from kafka_admin_proto.server.security.authorizer.rules import READ
from kafka_admin_proto.server.share.checks import check_share_version
from kafka_admin_proto.server.share.state import ShareKey
from kafka_admin_proto.server.topics.auto_creation import created_topics
from kafka_admin_proto.server.topics.names import SHARE_GROUP_STATE

if TYPE_CHECKING:
    from kafka_admin_proto.server.brokers.view import View


@handler(of_broker=True, needs=None, kept=False)
def handle(state: View, request: AlterShareGroupOffsetsRequest, caller: Caller) -> Answer:
    """Begin anew with partitions that are there; a group that is not there is made."""
    name = request.group_id
    controller_state = state.controller_state
    response = AlterShareGroupOffsetsResponse()
    try:
        check_share_version(state)
        check_group(state, caller, READ, name)
        if not name:
            raise ApiFailure(codes.INVALID_GROUP_ID)
        starts = _starts(state, request, caller, response)
        shard = controller_state.coordinators.shard(state, caller, name)
        group = shard.share_group_or_new(name)
        check_empty(group)
    except ApiFailure as failure:
        return Answer(
            AlterShareGroupOffsetsResponse(error_code=failure.code, error_message=failure.message)
        )
    if not starts:
        return Answer(response)
    reply = shard.reply(partial(AlterShareGroupOffsetsResponse, 0))

    def stored(code: int) -> None:
        for topic in response.responses if code else ():
            for row in topic.partitions:
                row.error_code = row.error_code or code
        reply.send(response)

    def marked(code: int) -> None:
        if code:
            stored(code)
            return
        begin = partial(
            initialize, controller_state.share_states, shard, name, group.epoch, starts, stored
        )
        shard.later(object(), 0, begin)  # a key of its own: no other request replaces it

    shard.append([initializing_record(group, topics_of(shard, starts))], marked)
    answer = answer_of(reply, response)
    if state.topic(SHARE_GROUP_STATE) is None:
        answer.records = created_topics(state, [SHARE_GROUP_STATE], caller)
    return answer


def _starts(
    state: View,
    request: AlterShareGroupOffsetsRequest,
    caller: Caller,
    response: AlterShareGroupOffsetsResponse,
) -> dict[ShareKey, int]:
    """Where partitions begin; all have a row, those that are not there with an error."""
    allowed = allowed_topics(state, caller, READ, [each.topic_name for each in request.topics])
    found = {}
    for each in request.topics:
        topic = state.topic(each.topic_name)
        item = AlterShareGroupOffsetsResponseTopic(each.topic_name)
        response.responses.append(item)
        if topic is not None:
            item.topic_id = topic.id
        for part in each.partitions:
            row = AlterShareGroupOffsetsResponsePartition(part.partition_index)
            item.partitions.append(row)
            if each.topic_name not in allowed:
                row.error_code = codes.TOPIC_AUTHORIZATION_FAILED
                row.error_message = NOT_AUTHORIZED[row.error_code]
            elif topic is None or part.partition_index not in topic.partitions:
                row.error_code = codes.UNKNOWN_TOPIC_OR_PARTITION
                row.error_message = NOT_HOSTED
            else:
                key = ShareKey(request.group_id, topic.id, part.partition_index)
                found[key] = part.start_offset
    return found
