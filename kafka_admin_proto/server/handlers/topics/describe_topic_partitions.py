"""DescribeTopicPartitions: topics page by page, with eligible leader replicas (KIP-966).

Version 0 is the only one.
"""

from __future__ import annotations

from kafka_admin_proto.messages import DescribeTopicPartitionsRequest
from kafka_admin_proto.messages.describe_topic_partitions_response import (
    Cursor,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.metadata.entities import Topic
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.java import int_sum
from kafka_admin_proto.server.security.authorizer.access import allowed_topics, topic_operations
from kafka_admin_proto.server.security.authorizer.rules import DESCRIBE
from kafka_admin_proto.server.topics.names import INTERNAL, is_valid
from kafka_admin_proto.server.topics.views import leader_of, offline_replicas
from kafka_admin_proto.topic_ids import ZERO_TOPIC_ID


@handler(of_broker=True, needs=None, kept=True)
def handle(state: View, request: DescribeTopicPartitionsRequest, caller: Caller) -> Answer:
    """List topics by name from the cursor on, with at most so many partitions as the limit."""
    cursor = request.cursor
    start = "" if cursor is None else cursor.topic_name
    names = (
        list(state.topic_names) if not request.topics else [each.name for each in request.topics]
    )
    names = sorted({each for each in names if each >= start})
    if cursor is not None and (
        cursor.partition_index < 0 or (request.topics and start not in names)
    ):
        raise ApiFailure(codes.INVALID_REQUEST)
    limit = state.broker_value("max.request.partition.size.limit", caller.node_id)
    left = max(1, min(limit, request.response_partition_limit))
    response = DescribeTopicPartitionsResponse()
    allowed = allowed_topics(state, caller, DESCRIBE, names)
    if cursor is None and "" in allowed:  # Kafka takes it for the topic of the cursor
        raise ApiFailure(codes.UNKNOWN_SERVER_ERROR)
    for name in (each for each in names if each in allowed):
        if left == 0:
            response.next_cursor = Cursor(name, 0)
            break
        topic = state.topic(name)
        if topic is None:
            if request.topics:
                response.topics.append(_missing(state, caller, name))
            continue
        first = cursor.partition_index if cursor is not None and name == start else 0
        count = len(topic.partitions)
        end = min(count, int_sum(first, left))
        response.topics.append(_described(state, caller, topic, first, end))
        left -= max(0, end - first)
        if end < count:
            response.next_cursor = Cursor(name, end)
            break
    if request.topics:
        response.topics += [_unauthorized(each) for each in names if each not in allowed]
    return Answer(response)


def _described(
    state: View, caller: Caller, topic: Topic, first: int, end: int
) -> DescribeTopicPartitionsResponseTopic:
    rows = []
    for number in range(first, end):
        partition = topic.partitions[number]
        leader, _ = leader_of(state, partition)  # only Metadata answers the error
        rows.append(
            DescribeTopicPartitionsResponsePartition(
                partition_index=number,
                leader_id=leader,
                leader_epoch=partition.leader_epoch,
                replica_nodes=partition.replicas,
                isr_nodes=partition.isr,
                eligible_leader_replicas=partition.elr,
                last_known_elr=partition.last_known_elr,
                offline_replicas=offline_replicas(state, partition),
            )
        )
    operations = topic_operations(state, caller, topic.name)
    return DescribeTopicPartitionsResponseTopic(
        0, topic.name, topic.id, topic.name in INTERNAL, rows, operations
    )


def _missing(state: View, caller: Caller, name: str) -> DescribeTopicPartitionsResponseTopic:
    return DescribeTopicPartitionsResponseTopic(
        codes.UNKNOWN_TOPIC_OR_PARTITION if is_valid(name) else codes.INVALID_TOPIC_EXCEPTION,
        name,
        ZERO_TOPIC_ID,
        name in INTERNAL,
        [],
        topic_operations(state, caller, name),
    )


def _unauthorized(name: str) -> DescribeTopicPartitionsResponseTopic:
    return DescribeTopicPartitionsResponseTopic(
        codes.TOPIC_AUTHORIZATION_FAILED, name, ZERO_TOPIC_ID
    )
