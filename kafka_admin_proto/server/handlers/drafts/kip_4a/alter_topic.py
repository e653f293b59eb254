"""AlterTopic by the topic commands' text: an assignment, else a factor, else a number.

A number is defined unless it is -1. Of several instructions for a topic the last one counts.
"""

from __future__ import annotations

from collections.abc import Sequence

from kafka_admin_proto.counts import counted
from kafka_admin_proto.messages.kip_4a.alter_topic_request import (
    AlterTopicRequest,
    AlterTopicRequestItem,
)
from kafka_admin_proto.messages.kip_4a.alter_topic_response import (
    AlterTopicResponse,
    AlterTopicResponseItem,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.metadata.entities import Topic
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.handlers.drafts.replicas import (
    NOTHING,
    assigned,
    by_partition,
    check_count,
    grown,
    records_of,
    refactored,
    replicas_of,
    within_limit,
)
from kafka_admin_proto.server.state import State
from kafka_admin_proto.values import Message


@handler(of_broker=False, needs=None, kept=False)
def handle(state: State, request: AlterTopicRequest, caller: Caller) -> Answer:
    """Begin the alteration of each topic, or refuse it with an error code."""
    records: list[Message] = []
    rows = []
    for item in {each.topic_name: each for each in request.items}.values():
        code = 0
        try:
            topic = state.topic(item.topic_name)
            if topic is None:
                raise ApiFailure(codes.UNKNOWN_TOPIC_OR_PARTITION)
            wanted = _wanted(state, topic, item, records)
            records += within_limit(records, records_of(state, topic, wanted))
        except ApiFailure as failure:
            code = failure.code
        rows.append(AlterTopicResponseItem(item.topic_name, code))
    return Answer(AlterTopicResponse(rows), records)


def _wanted(
    state: State, topic: Topic, item: AlterTopicRequestItem, before: Sequence[Message]
) -> list[list[int]]:
    """The replicas of all partitions after the alteration, by the text's three branches."""
    now = replicas_of(topic)
    if item.replica_assignment:
        pairs = ((each.partition_id, each.replica_id) for each in item.replica_assignment)
        return assigned(state, now, by_partition(pairs))
    added = 0
    if item.partitions != NOTHING:
        check_count(item.partitions)
        added = item.partitions - len(now)
        check_count(added, before)
        if added < 0:
            raise ApiFailure(
                codes.INVALID_PARTITIONS, f"there are {counted(len(now), 'partitions')}"
            )
    if item.replication_factor != NOTHING:
        return refactored(state, topic, now, item.replication_factor, added)
    return grown(state, topic, now, added)
