"""Requests for clusters whose nodes come and go.

Every replica of a partition that is created is assigned: two placers choose differently, and what
follows would differ too. What a placer refuses is asked for with validate_only.
"""

from __future__ import annotations

from kafka_admin_proto.messages import (
    AlterPartitionReassignmentsRequest,
    CreatePartitionsRequest,
    CreateTopicsRequest,
    DescribeClusterRequest,
    ElectLeadersRequest,
    IncrementalAlterConfigsRequest,
)
from kafka_admin_proto.messages.alter_partition_reassignments_request import (
    ReassignablePartition,
    ReassignableTopic,
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
from kafka_admin_proto.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
)
from tests.server.differential.requests import cluster, topics
from tests.server.differential.requests.drawing import TIMEOUT_MS, Draws, Step

_NAMES = ("a", "b", "c", "d")
_MIN_IN_SYNC, _UNCLEAN = "min.insync.replicas", "unclean.leader.election.enable"
#: With so many topics no more are created.
_MOST_TOPICS = 6


def outage(draws: Draws) -> Step:
    """A node that ends or is killed; where one is away, it starts again."""
    return Step(draws.node(), 0, outage=draws.one(["stop", "kill"]))


def first_topics(draws: Draws) -> Step:
    """Topics whose partitions have one to three replicas."""
    return _creation(draws, [_topic(draws, name, factor) for factor, name in enumerate(_NAMES, 1)])


def create_topics(draws: Draws) -> Step:
    """Topics with some replicas on nodes that may be away."""
    if draws.existing[_MOST_TOPICS:]:
        return topics.delete_topics(draws)
    return _creation(draws, [_topic(draws, draws.new_name(), draws.within(1, draws.nodes))])


def validate_placed_topics(draws: Draws) -> Step:
    """Topics whose replicas are placed, some more than there are brokers; none is created."""
    rows = [CreatableTopic(draws.new_name(), draws.within(1, 3), draws.within(1, draws.nodes + 1))]
    request = CreateTopicsRequest(rows, TIMEOUT_MS, validate_only=True)
    return Step(draws.node(), max(1, draws.version(19)), lambda _: request)


def validate_placed_partitions(draws: Draws) -> Step:
    """Partitions whose replicas are placed; none is created."""
    topic = CreatePartitionsTopic(draws.known_name(), draws.within(2, 5), None)
    request = CreatePartitionsRequest([topic], TIMEOUT_MS, validate_only=True)
    return Step(draws.node(), draws.version(37), lambda _: request)


def _topic(draws: Draws, name: str, factor: int) -> CreatableTopic:
    rows = [
        CreatableReplicaAssignment(number, draws.replicas(factor))
        for number in range(draws.within(1, 3))
    ]
    configs = [
        CreatableTopicConfig(_MIN_IN_SYNC, draws.one(["1", "2", "3"])),
        CreatableTopicConfig(_UNCLEAN, draws.one(["false", "true"])),
    ]
    return CreatableTopic(name, -1, -1, rows, [each for each in configs if draws.rarely(2)])


def _creation(draws: Draws, wanted: list[CreatableTopic]) -> Step:
    request = CreateTopicsRequest(wanted, TIMEOUT_MS)
    return Step(draws.node(), draws.version(19), lambda _: request)


def create_partitions(draws: Draws) -> Step:
    """Another partition or two."""
    count, factor = draws.within(1, 2), draws.within(1, draws.nodes)
    rows = [CreatePartitionsAssignment(draws.replicas(factor)) for _ in range(count)]
    topic = CreatePartitionsTopic(draws.known_name(), draws.within(2, 5), rows)
    request = CreatePartitionsRequest([topic], TIMEOUT_MS)
    return Step(draws.node(), draws.version(37), lambda _: request)


def elect_leaders(draws: Draws) -> Step:
    """Preferred and unclean leaders of all partitions, or of some."""
    step = cluster.elect_leaders(draws)
    if not draws.rarely(3):
        version = max(1, step.version)
        request = ElectLeadersRequest(draws.one([0, 1]), None, TIMEOUT_MS)
        step = Step(step.node, version, lambda _: request)
    return step


def alter_configs(draws: Draws) -> Step:
    """How many have to be in sync, and who may lead: of a topic, or of all."""
    name = draws.one([_MIN_IN_SYNC, _UNCLEAN])
    value = draws.one(["1", "2", "3"] if name == _MIN_IN_SYNC else ["true", "false"])
    row = AlterConfigsResource(2, draws.known_name(), [AlterableConfig(name, 0, value)])
    if draws.rarely(4):
        row = AlterConfigsResource(4, "", [AlterableConfig(name, 0, value)])
    elif draws.rarely(4):
        row.configs[0].config_operation, row.configs[0].value = 1, None
    request = IncrementalAlterConfigsRequest([row])
    return Step(draws.node(), draws.version(44), lambda _: request)


def reassign(draws: Draws) -> Step:
    """A partition moved, or its move cancelled."""
    replicas = None if draws.rarely(5) else draws.replicas(draws.within(1, draws.nodes))
    rows = [ReassignablePartition(draws.within(0, 1), replicas)]
    topic = ReassignableTopic(draws.known_name(), rows)
    request = AlterPartitionReassignmentsRequest(timeout_ms=TIMEOUT_MS, topics=[topic])
    return Step(draws.node(), 0, lambda _: request)


def describe_cluster(draws: Draws) -> Step:
    """Brokers, those that are away too."""
    _, high = draws.versions[60]
    request = DescribeClusterRequest(include_fenced_brokers=high >= 2)
    return Step(draws.node(), high, lambda _: request)


def metadata(draws: Draws) -> Step:
    """Topics, but for requests that may create one: its replicas would be placed."""
    step = topics.metadata(draws)
    return describe_cluster(draws) if step.placed else step


REQUESTS = (
    *[outage] * 8,
    *[create_topics] * 4,
    *[create_partitions] * 2,
    *[validate_placed_topics] * 3,
    *[validate_placed_partitions] * 1,
    *[topics.delete_topics] * 1,
    *[metadata] * 2,
    *[topics.describe_topic_partitions] * 1,
    *[elect_leaders] * 4,
    *[alter_configs] * 4,
    *[reassign] * 2,
    *[cluster.list_partition_reassignments] * 1,
    *[describe_cluster] * 1,
)
