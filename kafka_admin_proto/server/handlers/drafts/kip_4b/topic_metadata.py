"""TopicMetadata v1 by the admin schema's text: with lag, ISR and overridden configs."""

from __future__ import annotations

from kafka_admin_proto.messages.kip_4b import TopicMetadataRequest
from kafka_admin_proto.messages.kip_4b.topic_metadata_response import (
    Broker,
    ConfigEntry,
    PartitionMetadata,
    ReplicasLag,
    TopicMetadata,
    TopicMetadataResponse,
)
from kafka_admin_proto.records.metadata.entities import Topic
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.brokers.view import TOPIC_RESOURCE, View
from kafka_admin_proto.server.handlers.drafts.topics import code_of_missing, wanted_topics
from kafka_admin_proto.server.topics.views import leader_of

#: The lag of a replica that is not in sync. The text has an int32 for a lag.
_UNKNOWN, _LARGEST = -1, 2**31 - 1


@handler(of_broker=True, needs=None, kept=True)
def handle(state: View, request: TopicMetadataRequest, caller: Caller) -> Answer:
    """Describe the topics in the view of the broker; an empty list stands for all topics."""
    topics = [
        TopicMetadata(code_of_missing(name), name)
        if topic is None
        else TopicMetadata(0, name, _partitions(state, topic), _configs(state, name))
        for name, topic in wanted_topics(state, request.topic_name)
    ]
    endpoints = [(each.id, each.endpoints[caller.listener]) for each in state.live_brokers()]
    brokers = [Broker(broker_id, each.host, each.port) for broker_id, each in endpoints]
    return Answer(TopicMetadataResponse(brokers, topics))


def _partitions(state: View, topic: Topic) -> list[PartitionMetadata]:
    rows, partitions = [], state.controller_state.partitions
    for number, partition in sorted(topic.partitions.items()):
        leader, error = leader_of(state, partition)
        in_sync = partition.isr
        lags = [
            ReplicasLag(
                each,
                min(partitions.lag(topic.id, number, each), _LARGEST)
                if each in in_sync
                else _UNKNOWN,
            )
            for each in partition.replicas
        ]
        rows.append(PartitionMetadata(error, number, leader, lags, in_sync))
    return rows


def _configs(state: View, name: str) -> list[ConfigEntry]:
    own = state.configs(TOPIC_RESOURCE, name)
    return [ConfigEntry(key, value) for key, value in sorted(own.items()) if value is not None]
