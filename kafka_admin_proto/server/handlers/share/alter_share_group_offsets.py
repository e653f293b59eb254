"""AlterShareGroupOffsets: where a share group without members begins (KIP-932)."""

from __future__ import annotations

from functools import partial
from uuid import UUID

from kafka_admin_proto.messages import AlterShareGroupOffsetsRequest
from kafka_admin_proto.messages.alter_share_group_offsets_response import (
    AlterShareGroupOffsetsResponse,
    AlterShareGroupOffsetsResponsePartition,
    AlterShareGroupOffsetsResponseTopic,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.coordination.replies import answer_of
from kafka_admin_proto.server.failures import NOT_AUTHORIZED, NOT_HOSTED, ApiFailure
from kafka_admin_proto.server.groups.share.deletion import check_empty
from kafka_admin_proto.server.groups.share.initializing import initialize, initializing_record
from kafka_admin_proto.server.groups.share.records import Initialized
from kafka_admin_proto.server.security.authorizer.access import allowed_topics, check_named_group
from kafka_admin_proto.server.security.authorizer.rules import READ
from kafka_admin_proto.server.share.checks import check_share_version, missing_state_topic, text_of
from kafka_admin_proto.server.share.state import ShareKey
from kafka_admin_proto.topic_ids import topic_id_to_text

_BELOW = "Initialize share group parameters has invalid partitionId - "


@handler(of_broker=True, needs=None, kept=False)
def handle(state: View, request: AlterShareGroupOffsetsRequest, caller: Caller) -> Answer:
    """Begin anew with partitions that are there; a group that is not there is made.

    For that it is enough that one of the topics is there. As in Kafka a number below 0 is refused
    only after that.
    """
    name = request.group_id
    controller_state = state.controller_state
    response = AlterShareGroupOffsetsResponse()
    try:
        check_share_version(state)
        check_named_group(state, caller, READ, name)
        offsets = _offsets(state, request, caller, response)
        shard = controller_state.coordinators.shard(state, caller, name)
        group = shard.share_group_or_new(name)
        check_empty(group)
    except ApiFailure as failure:
        return Answer(_failed(failure.code, failure.message))
    if not offsets:
        return Answer(response)
    starts = {
        ShareKey(name, topic_id, number): offset
        for topic_id, each in offsets.items()
        for number, offset in each.items()
    }
    below = next((each for each in starts if each.partition < 0), None)
    new = {
        topic_id: Initialized(
            shard.topics.name_of(topic_id) or "",
            frozenset(number for number in each if number >= 0),
            shard.now_ms,
        )
        for topic_id, each in offsets.items()
    }
    reply = shard.reply(_failed)

    def stored(code: int) -> None:
        for topic in response.responses if code else ():
            for row in topic.partitions:
                if not row.error_code:
                    row.error_code, row.error_message = code, text_of(code)
        reply.send(response)

    def marked(code: int) -> None:
        if code or not starts:
            stored(code)
            return
        if below is not None:
            shown = f"{name} {topic_id_to_text(below.topic_id)} {below.partition}"
            reply.send(_failed(codes.UNKNOWN_SERVER_ERROR, _BELOW + shown))
            return
        begin = partial(
            initialize, controller_state.share_states, shard, name, group.epoch, starts, stored
        )
        shard.later(object(), 0, begin)  # a key of its own: no other request replaces it

    shard.append([initializing_record(group, new)], marked)
    answer = answer_of(reply, response)
    answer.records = missing_state_topic(state, caller)
    return answer


def _failed(code: int, message: str | None = None) -> AlterShareGroupOffsetsResponse:
    return AlterShareGroupOffsetsResponse(0, code, text_of(code, message))


def _offsets(
    state: View,
    request: AlterShareGroupOffsetsRequest,
    caller: Caller,
    response: AlterShareGroupOffsetsResponse,
) -> dict[UUID, dict[int, int]]:
    """Where partitions begin, by the ids of topics that are there.

    All partitions have a row, those that are not there with an error; a topic that is not there
    has one for them alone.
    """
    allowed = allowed_topics(state, caller, READ, [each.topic_name for each in request.topics])
    starts: dict[UUID, dict[int, int]] = {}
    for wanted in request.topics:
        topic = state.topic(wanted.topic_name)
        item = AlterShareGroupOffsetsResponseTopic(wanted.topic_name)
        if topic is not None:
            item.topic_id = topic.id
            if wanted.topic_name in allowed:
                starts[topic.id] = {}
        if wanted.partitions or item.topic_id in starts:
            response.responses.append(item)
        for part in wanted.partitions:
            row = AlterShareGroupOffsetsResponsePartition(part.partition_index)
            item.partitions.append(row)
            if wanted.topic_name not in allowed:
                row.error_code = codes.TOPIC_AUTHORIZATION_FAILED
                row.error_message = NOT_AUTHORIZED[row.error_code]
            elif topic is None or part.partition_index >= len(topic.partitions):
                row.error_code = codes.UNKNOWN_TOPIC_OR_PARTITION
                row.error_message = NOT_HOSTED
            else:
                starts[topic.id][part.partition_index] = part.start_offset
    return starts
