"""Replicas moved and leaders elected: as records, completed when the new replicas are in sync."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_admin_proto.messages import (
    AlterPartitionReassignmentsRequest,
    CreateTopicsRequest,
    ElectLeadersRequest,
    ListPartitionReassignmentsRequest,
    MetadataRequest,
)
from kafka_admin_proto.messages.alter_partition_reassignments_request import (
    ReassignablePartition,
    ReassignableTopic,
)
from kafka_admin_proto.messages.elect_leaders_request import TopicPartitions
from kafka_admin_proto.server.brokers.replicas import catch_up
from kafka_admin_proto.server.releases import RELEASES
from tests.server.handlers.test_create_topics import topic
from tests.server.served import Served


def served() -> Served:
    found = Served()
    found.ask(CreateTopicsRequest([topic("t", assignment={0: [1, 2]})], timeout_ms=1000))
    return found


def reassign(cluster: Served, replicas: list[int] | None, timeout_ms: int = 1000) -> Any:
    request = AlterPartitionReassignmentsRequest(
        timeout_ms=timeout_ms, topics=[ReassignableTopic("t", [ReassignablePartition(0, replicas)])]
    )
    (row,) = cluster.ask(request).responses[0].partitions
    return row.error_code, row.error_message


def test_a_request_without_topics_has_an_empty_message() -> None:
    """A real 4.3.1 answers so: the message's default, where other answers have null."""
    answer = served().ask(AlterPartitionReassignmentsRequest(timeout_ms=1000))
    assert (answer.error_code, answer.error_message) == (0, "")


@pytest.mark.parametrize(("timeout_ms", "shown"), [(1000, False), (0, True)])
def test_what_is_refused_as_a_whole_does_not_say_whether_the_factor_may_change(
    timeout_ms: int, shown: bool
) -> None:
    """A real 4.3.1 answers so: the field is at its default."""
    topics = [ReassignableTopic("t", [ReassignablePartition(0, [3])])]
    request = AlterPartitionReassignmentsRequest(timeout_ms, False, topics)
    assert served().ask(request).allow_replication_factor_change is shown


def partition(cluster: Served) -> Any:
    (found,) = cluster.ask(MetadataRequest(topics=None)).topics[0].partitions
    return found.leader_id, found.leader_epoch, found.replica_nodes, found.isr_nodes


def ongoing(cluster: Served) -> Any:
    found = cluster.ask(ListPartitionReassignmentsRequest(timeout_ms=1000, topics=None)).topics
    return [
        (p.replicas, p.adding_replicas, p.removing_replicas) for t in found for p in t.partitions
    ]


def test_a_replica_moves() -> None:
    cluster = served()
    assert reassign(cluster, [3, 1]) == (0, None)
    assert ongoing(cluster) == [([3, 1, 2], [3], [2])]
    assert partition(cluster) == (1, 0, [3, 1, 2], [1, 2])
    catch_up(cluster.state)
    assert ongoing(cluster) == []
    assert partition(cluster) == (1, 1, [3, 1], [1, 3])


def test_a_leader_goes_with_its_replica() -> None:
    cluster = served()
    assert reassign(cluster, [2]) == (0, None)
    assert partition(cluster) == (2, 1, [2], [2])


def test_a_move_is_cancelled() -> None:
    cluster = served()
    reassign(cluster, [3])
    assert reassign(cluster, None) == (0, None)
    catch_up(cluster.state)
    assert partition(cluster)[2:] == ([1, 2], [1, 2])
    assert reassign(cluster, None) == (85, None)


def test_nothing_moves_when_the_time_is_over() -> None:
    cluster = served()
    assert reassign(cluster, [3], timeout_ms=0) == (7, None)
    assert ongoing(cluster) == []


def test_the_preferred_leader_is_elected() -> None:
    cluster = served()
    reassign(cluster, [2, 1])
    request = ElectLeadersRequest(topic_partitions=None, timeout_ms=1000)
    (row,) = cluster.ask(request).replica_election_results[0].partition_result
    assert (row.partition_id, row.error_code) == (0, 0)
    assert partition(cluster) == (2, 1, [2, 1], [1, 2])
    again = ElectLeadersRequest(topic_partitions=[TopicPartitions("t", [0])], timeout_ms=1000)
    (row,) = cluster.ask(again).replica_election_results[0].partition_result
    assert row.error_code == 84


@pytest.mark.parametrize("release", RELEASES)
def test_an_election_of_nothing_is_done(release: str) -> None:
    request = ElectLeadersRequest(election_type=2, topic_partitions=[], timeout_ms=0)
    assert Served(release).ask(request).error_code == 0
