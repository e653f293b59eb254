"""Metadata: brokers, and topics with their partitions.

Versions: 1 racks, controller and a null list for all topics, 2 the cluster's id, 3 a throttle
time, 4 no creation where the client says so, 5 offline replicas, 7 leader epochs, 8 authorized
operations, 10 topic ids, 11 the cluster's operations are DescribeCluster's, 12 topics by id,
13 an error of its own (KIP-1102).
"""

from __future__ import annotations

from uuid import UUID

from kafka_admin_proto.messages import MetadataRequest
from kafka_admin_proto.messages.metadata_response import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.metadata.entities import Topic
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.security.authorizer.access import (
    allowed_topics,
    cluster_operations,
    creatable_topics,
    topic_operations,
)
from kafka_admin_proto.server.security.authorizer.rules import DESCRIBE
from kafka_admin_proto.server.topics.auto_creation import created_topics
from kafka_admin_proto.server.topics.names import INTERNAL, is_valid
from kafka_admin_proto.server.topics.views import leader_of, named_controller, offline_replicas
from kafka_admin_proto.topic_ids import ZERO_TOPIC_ID
from kafka_admin_proto.values import Message

_NOT_ASKED = -(1 << 31)


@handler(of_broker=True, needs=None, kept=True)
def handle(state: View, request: MetadataRequest, caller: Caller) -> Answer:
    """List live brokers and the requested topics; unknown topics may be created.

    Topics that the caller may not describe are left out, or have an error if they were named.
    """
    version = caller.version
    wanted = request.topics
    everything = wanted is None or (version == 0 and not wanted)
    topics: list[MetadataResponseTopic] = []
    records: list[Message] = []

    def operations(name: str) -> int:
        if request.include_topic_authorized_operations:
            return topic_operations(state, caller, name)
        return _NOT_ASKED

    if everything:
        allowed = allowed_topics(state, caller, DESCRIBE, state.topic_names)
        topics = [
            _described(state, topic, operations(topic.name), version)
            for topic in state.cluster.topics.values()
            if topic.name in allowed
        ]
    else:
        assert wanted is not None
        if version < 12 and any(each.name is None or each.topic_id.int for each in wanted):
            raise ApiFailure(codes.INVALID_REQUEST)
        ids = {each.topic_id for each in wanted} - {ZERO_TOPIC_ID}
        names: list[str] = []
        if ids:
            topics += [_unknown_id(each) for each in ids if state.topic_by_id(each) is None]
            names = [topic.name for each in ids if (topic := state.topic_by_id(each))]
        else:
            names = [each.name for each in wanted if each.name is not None]
            if len(names) < len(wanted):  # Kafka looks for a topic of a null name
                raise ApiFailure(codes.UNKNOWN_SERVER_ERROR)
        allowed = allowed_topics(state, caller, DESCRIBE, names)
        missing, refused = [], []
        for name in dict.fromkeys(names):
            topic = state.topic(name)
            if name not in allowed:
                shown = None if ids else name
                topic_id = topic.id if ids and topic is not None else ZERO_TOPIC_ID
                refused.append(
                    MetadataResponseTopic(codes.TOPIC_AUTHORIZATION_FAILED, shown, topic_id)
                )
            elif topic is None:
                missing.append(name)
            else:
                topics.append(_described(state, topic, operations(name), version))
        if missing and request.allow_auto_topic_creation and _creates_topics(state, caller):
            creatable = creatable_topics(state, caller, missing)
            refused += [_not_creatable(each) for each in missing if each not in creatable]
            missing = [each for each in missing if each in creatable]
            records = created_topics(state, missing, caller)
        topics += [_missing(name, operations(name)) for name in missing] + refused
    brokers = []
    for broker in state.live_brokers():
        endpoint = broker.endpoints[caller.listener]
        brokers.append(MetadataResponseBroker(broker.id, endpoint.host, endpoint.port, broker.rack))
    return Answer(
        MetadataResponse(
            brokers=brokers,
            cluster_id=state.cluster_id,
            controller_id=named_controller(state),
            topics=topics,
            cluster_authorized_operations=(
                cluster_operations(state, caller)
                if 8 <= version <= 10 and request.include_cluster_authorized_operations
                else _NOT_ASKED
            ),
        ),
        records,
    )


def _described(state: View, topic: Topic, operations: int, version: int) -> MetadataResponseTopic:
    partitions = []
    for number, partition in sorted(topic.partitions.items()):
        leader, error = leader_of(state, partition)
        offline = offline_replicas(state, partition)
        replicas, in_sync = partition.replicas, partition.isr
        if version == 0 and offline:
            error = error or codes.REPLICA_NOT_AVAILABLE
            replicas = [each for each in replicas if each not in offline]
            in_sync = [each for each in in_sync if each not in offline]
        partitions.append(
            MetadataResponsePartition(
                error, number, leader, partition.leader_epoch, replicas, in_sync, offline
            )
        )
    return MetadataResponseTopic(
        0, topic.name, topic.id, topic.name in INTERNAL, partitions, operations
    )


def _missing(name: str, operations: int) -> MetadataResponseTopic:
    code = codes.UNKNOWN_TOPIC_OR_PARTITION if is_valid(name) else codes.INVALID_TOPIC_EXCEPTION
    return MetadataResponseTopic(
        code,
        name,
        ZERO_TOPIC_ID,
        name in INTERNAL,
        [],
        operations,
    )


def _not_creatable(name: str) -> MetadataResponseTopic:
    return MetadataResponseTopic(
        codes.TOPIC_AUTHORIZATION_FAILED, name, ZERO_TOPIC_ID, name in INTERNAL
    )


def _unknown_id(topic_id: UUID) -> MetadataResponseTopic:
    return MetadataResponseTopic(codes.UNKNOWN_TOPIC_ID, None, topic_id)


def _creates_topics(state: View, caller: Caller) -> bool:
    enabled: bool = state.broker_value("auto.create.topics.enable", caller.node_id)
    return enabled
