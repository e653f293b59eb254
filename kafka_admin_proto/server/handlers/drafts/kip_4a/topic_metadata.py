"""TopicMetadata v1 by the topic commands' text: brokers and topics, without ISR."""

from __future__ import annotations

from kafka_admin_proto.messages.kip_4a import TopicMetadataRequest
from kafka_admin_proto.messages.kip_4a.topic_metadata_response import (
    Broker,
    PartitionMetadata,
    TopicMetadata,
    TopicMetadataResponse,
)
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.handlers.drafts.topics import code_of_missing, wanted_topics
from kafka_admin_proto.server.topics.views import leader_of


@handler(of_broker=True, needs=None, kept=True)
def handle(state: View, request: TopicMetadataRequest, caller: Caller) -> Answer:
    """Describe the topics in the view of the broker; an empty list stands for all topics."""
    topics = []
    for name, topic in wanted_topics(state, request.topic_name):
        if topic is None:
            topics.append(TopicMetadata(code_of_missing(name), name))
            continue
        partitions = []
        for number, partition in sorted(topic.partitions.items()):
            leader, error = leader_of(state, partition)
            partitions.append(PartitionMetadata(error, number, leader, partition.replicas))
        topics.append(TopicMetadata(0, name, partitions))
    endpoints = [(each.id, each.endpoints[caller.listener]) for each in state.live_brokers()]
    brokers = [Broker(broker_id, each.host, each.port) for broker_id, each in endpoints]
    return Answer(TopicMetadataResponse(brokers, topics))
