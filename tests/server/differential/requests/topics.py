"""Requests that create, change, delete and describe topics, drawn for both clusters."""

from __future__ import annotations

from kafka_admin_proto.messages import (
    CreatePartitionsRequest,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    DescribeTopicPartitionsRequest,
    MetadataRequest,
)
from kafka_admin_proto.messages.create_partitions_request import (
    CreatePartitionsAssignment,
    CreatePartitionsTopic,
)
from kafka_admin_proto.messages.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
)
from kafka_admin_proto.messages.delete_topics_request import DeleteTopicState
from kafka_admin_proto.messages.describe_topic_partitions_request import Cursor, TopicRequest
from kafka_admin_proto.messages.metadata_request import MetadataRequestTopic
from kafka_admin_proto.values import Message
from tests.server.differential.requests.drawing import TIMEOUT_MS, Draws, Ids, Step
from tests.server.differential.requests.pools import FOREIGN

#: More partitions than a request may ask for, and the most that it may.
_MANY_PARTITIONS = (10_001, 10_000, 9_999)


#: With so many topics no more are created.
_MOST_TOPICS = 8


def first_topics(draws: Draws) -> Step:
    """A few topics to begin with: placed, assigned, with a config."""
    wanted = [
        CreatableTopic("a", draws.within(1, 3), draws.within(1, 3)),
        CreatableTopic("b", 1, -1, configs=[CreatableTopicConfig("segment.bytes", "1048576")]),
        _assigned("c", [draws.replicas(2)]),
        _assigned("a.b", [draws.replicas(draws.nodes) for _ in range(3)]),
    ]
    return _creation(draws, draws.version(19), wanted, TIMEOUT_MS, False)


def _assigned(name: str, replicas: list[list[int]]) -> CreatableTopic:
    rows = [CreatableReplicaAssignment(*each) for each in enumerate(replicas)]
    return CreatableTopic(name, -1, -1, rows)


def create_topics(draws: Draws) -> Step:
    """Topics by counts, by assignment, with configs; valid and invalid."""
    if draws.existing[_MOST_TOPICS:]:
        return delete_topics(draws)
    version = draws.version(19)
    topics = [_topic(draws) for _ in range(draws.one([1, 1, 1, 1, 2, 2, 3, 4, 0]))]
    if topics and draws.rarely(20):
        topics.append(topics[0])
    validate = version >= 1 and draws.rarely(5)
    return _creation(draws, version, topics, draws.timeout_ms(), validate)


def create_valid_topics(draws: Draws) -> Step:
    """Topics that nothing forbids but the names of those that are there."""
    if draws.existing[_MOST_TOPICS:]:
        return delete_topics(draws)
    version = draws.version(19)
    topics = []
    for _ in range(draws.within(1, 2)):
        topic = CreatableTopic(draws.new_name(), draws.within(1, 4), draws.within(1, draws.nodes))
        if draws.rarely(2):
            count, factor = draws.within(1, 3), topic.replication_factor
            topic.num_partitions = topic.replication_factor = -1
            topic.assignments = [
                CreatableReplicaAssignment(number, draws.replicas(factor))
                for number in range(count)
            ]
        topics.append(topic)
    return _creation(draws, version, topics, TIMEOUT_MS, False)


def create_many_partitions(draws: Draws) -> Step:
    """A topic, or two, with about as many partitions as a request may ask for; only validated."""
    low, _ = draws.versions[19]
    version = max(low, 1, draws.version(19))
    topics = [
        CreatableTopic(draws.name(), draws.one([*_MANY_PARTITIONS, 5_001]), 1)
        for _ in range(draws.within(1, 2))
    ]
    return _creation(draws, version, topics, TIMEOUT_MS, True)


def _topic(draws: Draws) -> CreatableTopic:
    topic = CreatableTopic(draws.new_name() if draws.rarely(2) else draws.name())
    topic.num_partitions = draws.one([1, 1, 2, 3, 5, -1, -1, 0, -2])
    topic.replication_factor = draws.one([1, 1, 2, 3, -1, -1, 0, -2, 4, 9])
    if draws.rarely(3):
        count, factor = draws.within(1, 4), draws.within(1, draws.nodes)
        topic.assignments = [
            CreatableReplicaAssignment(number, draws.replicas(factor)) for number in range(count)
        ]
        if draws.rarely(6):
            draws.one(topic.assignments).partition_index = draws.one([0, -1, 1, 7])
        if not draws.rarely(5):
            topic.num_partitions = topic.replication_factor = -1
    if draws.rarely(2):
        topic.configs = [CreatableTopicConfig(name, value) for name, value in draws.configs(2)]
    return topic


def _creation(
    draws: Draws, version: int, topics: list[CreatableTopic], timeout_ms: int, validate: bool
) -> Step:
    request = CreateTopicsRequest(topics, timeout_ms, validate)
    placed = [each.name for each in topics if not each.assignments]
    return Step(draws.node(), version, lambda _: request, placed)


def delete_topics(draws: Draws) -> Step:
    """Topics by name and by id: current, stale and foreign ones, zero, or a name and an id."""
    version = draws.version(20)
    names = [draws.name() for _ in range(draws.one([1, 1, 1, 0, 2, 3]))]
    by_id = version >= 6
    current = [draws.name() for _ in range(draws.one([0, 0, 1, 1, 2]) if by_id else 0)]
    stale = [draws.name() for _ in range(draws.one([0, 0, 0, 1]) if by_id else 0)]
    timeout_ms, both, zero = draws.timeout_ms(), draws.rarely(12), draws.rarely(12)

    def make(ids: Ids) -> Message:
        if not by_id:
            return DeleteTopicsRequest(topic_names=names, timeout_ms=timeout_ms)
        topics = [DeleteTopicState(each) for each in names]
        topics += [DeleteTopicState(None, ids.of(each)) for each in current]
        topics += [DeleteTopicState(None, ids.stale(each)) for each in stale]
        if both:
            topics.append(DeleteTopicState("a", FOREIGN))
        if zero:
            topics.append(DeleteTopicState(None))
        return DeleteTopicsRequest(topics=topics, timeout_ms=timeout_ms)

    return Step(draws.node(), version, make)


def create_partitions(draws: Draws) -> Step:
    """More partitions, fewer, as many; placed and assigned."""
    version = draws.version(37)
    topics, placed = [], []
    validate = draws.rarely(5)
    for _ in range(draws.one([1, 1, 1, 0, 2])):
        name, count = draws.known_name(), draws.one([2, 3, 4, 5, 6, 7, 1, 0, -1])
        if validate and draws.rarely(3):
            count = draws.one(_MANY_PARTITIONS) + draws.within(1, 4)
        assignments = None
        if draws.rarely(3):
            factor = draws.within(1, draws.nodes)
            assignments = [
                CreatePartitionsAssignment(draws.replicas(factor))
                for _ in range(draws.within(0, 3))
            ]
        else:
            placed.append(name)
        topics.append(CreatePartitionsTopic(name, count, assignments))
    if topics and draws.rarely(12):
        topics.append(topics[0])
    request = CreatePartitionsRequest(topics, draws.timeout_ms(), validate)
    return Step(draws.node(), version, lambda _: request, placed)


def metadata(draws: Draws) -> Step:
    """All topics, none, some by name or by id; seldom such as are created by being asked for."""
    version = draws.version(3)
    names = [draws.name() for _ in range(draws.one([1, 2, 3, 0]))]
    by_id, stale = version >= 10 and draws.rarely(2), draws.rarely(3)
    everything = version >= 1 and draws.rarely(4)
    create = version < 4 or draws.rarely(12)
    if create and version >= 4:
        names = names[:1]
    operations, cluster = draws.rarely(2), draws.rarely(2)

    def make(ids: Ids) -> Message:
        wanted = ids.stale if stale else ids.of
        topics = [
            MetadataRequestTopic(wanted(each), None) if by_id else MetadataRequestTopic(name=each)
            for each in names
        ]
        request = MetadataRequest(topics=None if everything else topics)
        if version >= 4:
            request.allow_auto_topic_creation = create
        if version >= 8:
            request.include_topic_authorized_operations = operations
        if 8 <= version <= 10:
            request.include_cluster_authorized_operations = cluster
        return request

    placed = [] if everything or by_id or not create else names
    return Step(draws.node(), version, make, placed)


def describe_topic_partitions(draws: Draws) -> Step:
    """Topics with limits and cursors, in and out of range."""
    version = draws.version(75)
    names = [draws.known_name() for _ in range(draws.one([0, 0, 1, 2, 3]))]
    cursor = None
    if draws.rarely(3):
        cursor = Cursor(draws.name(), draws.one([0, 0, 1, 2, -1, 9]))
    limit = draws.one([2000, 1, 2, 3, 5, 0, -1])
    request = DescribeTopicPartitionsRequest([TopicRequest(each) for each in names], limit, cursor)
    return Step(draws.node(), version, lambda _: request)
