"""Requests that ask for a cluster's nodes and move its replicas, drawn for both clusters."""

from __future__ import annotations

from kafka_admin_proto.messages import (
    AlterPartitionReassignmentsRequest,
    ApiVersionsRequest,
    DescribeClusterRequest,
    DescribeLogDirsRequest,
    DescribeQuorumRequest,
    ElectLeadersRequest,
    FindCoordinatorRequest,
    ListPartitionReassignmentsRequest,
    describe_quorum_request,
)
from kafka_admin_proto.messages.alter_partition_reassignments_request import (
    ReassignablePartition,
    ReassignableTopic,
)
from kafka_admin_proto.messages.describe_log_dirs_request import DescribableLogDirTopic
from kafka_admin_proto.messages.elect_leaders_request import TopicPartitions
from kafka_admin_proto.messages.list_partition_reassignments_request import (
    ListPartitionReassignmentsTopics,
)
from tests.server.differential.requests.drawing import Draws, Step


def alter_partition_reassignments(draws: Draws) -> Step:
    """Replicas moved, and moves cancelled.

    No partition is moved twice: what that comes to depends on where a placer had put it.
    """
    version = draws.version(45)
    topics = []
    for name in dict.fromkeys(draws.known_name() for _ in range(draws.one([1, 1, 1, 0, 2]))):
        numbers = dict.fromkeys(draws.partition() for _ in range(draws.one([1, 1, 2])))
        rows = [
            ReassignablePartition(
                number, None if draws.rarely(6) else draws.replicas(draws.within(1, draws.nodes))
            )
            for number in numbers
        ]
        topics.append(ReassignableTopic(name, rows))
    request = AlterPartitionReassignmentsRequest(timeout_ms=draws.timeout_ms(), topics=topics)
    if version >= 1:
        request.allow_replication_factor_change = not draws.rarely(3)
    # Until what is added is in sync, and by whom first:
    placed = [each.name for each in topics]
    return Step(draws.node(), version, lambda _: request, placed)


def list_partition_reassignments(draws: Draws) -> Step:
    """The reassignments: none, once both clusters have completed them."""
    version = draws.version(46)
    topics = None
    if not draws.rarely(3):
        topics = [
            ListPartitionReassignmentsTopics(
                draws.known_name(), [draws.partition() for _ in range(2)]
            )
            for _ in range(draws.one([1, 0, 2]))
        ]
    request = ListPartitionReassignmentsRequest(draws.timeout_ms(), topics)
    return Step(draws.node(), version, lambda _: request)


def elect_leaders(draws: Draws) -> Step:
    """Preferred and unclean leaders, of all partitions or of some."""
    version = draws.version(43)
    topics = None
    if not draws.rarely(5):
        topics = [
            TopicPartitions(
                draws.known_name(), [draws.partition() for _ in range(draws.one([1, 1, 0, 2]))]
            )
            for _ in range(draws.one([1, 1, 0, 2]))
        ]
    request = ElectLeadersRequest(topic_partitions=topics, timeout_ms=draws.timeout_ms())
    if version >= 1:
        request.election_type = draws.one([0, 0, 0, 1, 2])
    return Step(draws.node(), version, lambda _: request)


def describe_cluster(draws: Draws) -> Step:
    """The nodes as a broker knows them; a broker is not asked for controllers' with success."""
    version = draws.version(60)
    request = DescribeClusterRequest(include_cluster_authorized_operations=draws.rarely(2))
    if version >= 1:
        request.endpoint_type = draws.one([1, 1, 2, 3, 0])
    if version >= 2:
        request.include_fenced_brokers = draws.rarely(2)
    return Step(draws.node(), version, lambda _: request)


def describe_quorum(draws: Draws) -> Step:
    """The quorum of the metadata log, and of topics that have none."""
    version = draws.version(55)
    names = ["__cluster_metadata", "__cluster_metadata", "a", ""]
    topics = [
        describe_quorum_request.TopicData(
            draws.one(names),
            [
                describe_quorum_request.PartitionData(draws.one([0, 0, 1, -1]))
                for _ in range(draws.one([1, 1, 0, 2]))
            ],
        )
        for _ in range(draws.one([1, 1, 0, 2]))
    ]
    request = DescribeQuorumRequest(topics)
    return Step(draws.node(), version, lambda _: request)


def describe_log_dirs(draws: Draws) -> Step:
    """Where a node has its replicas."""
    version = draws.version(35)
    topics = None
    if not draws.rarely(3):
        topics = [
            DescribableLogDirTopic(draws.known_name(), [draws.partition() for _ in range(2)])
            for _ in range(draws.one([1, 0, 2]))
        ]
    request = DescribeLogDirsRequest(topics)
    return Step(draws.node(), version, lambda _: request)


def find_coordinator(draws: Draws) -> Step:
    """Keys of types that do not exist: others would have a real cluster create its topics."""
    low, _ = draws.versions[10]
    version = max(low, 1, draws.version(10))
    request = FindCoordinatorRequest(key_type=draws.one([3, 2, -1, 127]))
    if version >= 4:
        request.coordinator_keys = [draws.one(["x", "", "a:b"]) for _ in range(draws.within(1, 2))]
    else:
        request.key = draws.one(["x", ""])
    return Step(draws.node(), version, lambda _: request)


def api_versions(draws: Draws) -> Step:
    """A client that sends its software's name and version."""
    version = draws.version(18)
    request = ApiVersionsRequest()
    if version >= 3:
        request.client_software_name = draws.one(["x", "", "-x", "a.b-c", "a b"])
        request.client_software_version = draws.one(["1", "1.0", "!"])
    if version >= 5:
        request.cluster_id = draws.one([None, None, "", "of another cluster"])
        request.node_id = draws.one([-1, -1, 1, 2, -2])
    return Step(draws.node(), version, lambda _: request)


def refused_versions(draws: Draws) -> Step:
    """Versions that a node does not take, and keys of no api: the connection ends."""
    key = draws.one([*draws.versions, -1, 999, 32_767])
    low, high = draws.versions.get(key, (0, 0))
    versions = [high + 1, low - 1, high + 100, 32_767, -1]
    if key not in draws.versions:
        versions = [0, 1, -1]
    return Step(draws.node(), draws.one(versions), api_key=key)
