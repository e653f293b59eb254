"""DescribeProducers: the producers that a partition remembers (KIP-664).

Version 0 is the only one.
"""

from __future__ import annotations

from kafka_admin_proto.messages import DescribeProducersRequest
from kafka_admin_proto.messages.describe_producers_response import (
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.failures import NOT_AUTHORIZED, NOT_HOSTED, ApiFailure
from kafka_admin_proto.server.replication.leaders import hosted
from kafka_admin_proto.server.security.authorizer.access import allowed_topics
from kafka_admin_proto.server.security.authorizer.rules import READ
from kafka_admin_proto.server.topics.names import check_topic_name, shortened

_TEXTS = {
    codes.TOPIC_AUTHORIZATION_FAILED: NOT_AUTHORIZED[codes.TOPIC_AUTHORIZATION_FAILED],
    codes.UNKNOWN_TOPIC_OR_PARTITION: NOT_HOSTED,
}


@handler(of_broker=True, needs=None, kept=False)
def handle(state: View, request: DescribeProducersRequest, caller: Caller) -> Answer:
    """List the producers of each partition of which the broker has a replica."""
    allowed = allowed_topics(state, caller, READ, [each.name for each in request.topics])
    response = DescribeProducersResponse()
    for wanted in request.topics:
        topic = state.topic(wanted.name)
        rows = []
        for number in wanted.partition_indexes:
            row = PartitionResponse(number)
            rows.append(row)
            try:
                check_topic_name(shortened(wanted.name))
                if wanted.name not in allowed:
                    raise ApiFailure(codes.TOPIC_AUTHORIZATION_FAILED)
                replica = hosted(state, caller, topic, number, leader_only=False)
            except ApiFailure as failure:
                row.error_code = failure.code
                # Of a partition that the topic does not have Kafka says no more than the code.
                if topic is None or failure.code == codes.TOPIC_AUTHORIZATION_FAILED:
                    row.error_message = _TEXTS.get(failure.code, failure.message)
            else:
                row.active_producers = [
                    ProducerState(
                        producer.producer_id,
                        producer.producer_epoch,
                        producer.last_sequence,
                        producer.last_timestamp,
                        producer.coordinator_epoch,
                        producer.current_txn_start_offset,
                    )
                    for producer in replica.replicas.log.producers()
                ]
        response.topics.append(TopicResponse(wanted.name, rows))
    return Answer(response)
