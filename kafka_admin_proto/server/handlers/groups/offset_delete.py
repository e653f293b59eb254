"""OffsetDelete: forget the offsets that a group has committed (KIP-496)."""

from __future__ import annotations

from functools import partial

from kafka_admin_proto.messages import OffsetDeleteRequest
from kafka_admin_proto.messages.offset_delete_response import (
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.coordination.replies import answer_of
from kafka_admin_proto.server.groups.offsets import delete_offsets
from kafka_admin_proto.server.security.authorizer.access import allowed_topics, check_named_group
from kafka_admin_proto.server.security.authorizer.rules import DELETE, READ


@handler(of_broker=True, needs=None, kept=False)
def handle(state: View, request: OffsetDeleteRequest, caller: Caller) -> Answer:
    """Delete the offsets of topics that no member subscribes."""
    name = request.group_id
    check_named_group(state, caller, DELETE, name)
    response = OffsetDeleteResponse()
    rows: dict[tuple[str, int], OffsetDeleteResponsePartition] = {}
    allowed = allowed_topics(state, caller, READ, [each.name for each in request.topics])
    for each in request.topics:
        topic = state.topic(each.name)
        parts: list[OffsetDeleteResponsePartition] = []
        response.topics.append(OffsetDeleteResponseTopic(each.name, parts))
        for part in each.partitions:
            row = OffsetDeleteResponsePartition(part.partition_index)
            parts.append(row)
            if each.name not in allowed:
                row.error_code = codes.TOPIC_AUTHORIZATION_FAILED
            elif topic is None or part.partition_index not in topic.partitions:
                row.error_code = codes.UNKNOWN_TOPIC_OR_PARTITION
            else:
                rows[each.name, part.partition_index] = row
    shard = state.controller_state.coordinators.shard(state, caller, name)
    reply = shard.reply(partial(OffsetDeleteResponse))
    for topic_name in delete_offsets(shard, name, rows, reply.once_stored(response)):
        for (each_name, _), row in rows.items():
            if each_name == topic_name:
                row.error_code = codes.GROUP_SUBSCRIBED_TO_TOPIC
    return answer_of(reply, response)
