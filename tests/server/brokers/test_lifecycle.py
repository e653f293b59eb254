"""Brokers stop, start again and are fenced: answers to clients, and records of the metadata log."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from kafka_admin_proto.messages import (
    CreateTopicsRequest,
    DescribeClusterRequest,
    DescribeQuorumRequest,
    DescribeTopicPartitionsRequest,
    ElectLeadersRequest,
    IncrementalAlterConfigsRequest,
    ListPartitionReassignmentsRequest,
    MetadataRequest,
)
from kafka_admin_proto.messages.create_topics_request import CreatableTopicConfig
from kafka_admin_proto.messages.describe_quorum_request import PartitionData, TopicData
from kafka_admin_proto.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
)
from kafka_admin_proto.server import Cluster, SyncCluster
from kafka_admin_proto.server.network import service
from tests.helpers.waiting import until
from tests.server.differential.wire import Nodes
from tests.server.handlers.test_create_topics import topic

#: A node that is killed is missed at once, or not before a test is over.
AT_ONCE = {"broker.session.timeout.ms": "1", "controller.quorum.fetch.timeout.ms": "1"}
LATE = {"broker.session.timeout.ms": "600000", "controller.quorum.fetch.timeout.ms": "600000"}
_SECONDS = 30


@pytest.fixture
def cluster(request: pytest.FixtureRequest) -> Iterator[SyncCluster]:
    """Three nodes; a parameter is what ``Cluster`` takes beside."""
    settings = {"configs": AT_ONCE, "sync_delay_s": 0.0, **getattr(request, "param", {})}
    with SyncCluster(3, **settings) as cluster:
        yield cluster


@pytest.fixture
def nodes(cluster: SyncCluster) -> Iterator[Nodes]:
    with Nodes(cluster.bootstrap_servers) as nodes:
        yield nodes


def create(nodes: Nodes, replicas: list[int], configs: Mapping[str, str] | None = None) -> None:
    """Topic t with one partition on these brokers."""
    wanted = topic("t", assignment={0: replicas})
    wanted.configs = [CreatableTopicConfig(*each) for each in (configs or {}).items()]
    answer = nodes.ask(0, CreateTopicsRequest([wanted], timeout_ms=1000), 7)
    assert [each.error_code for each in answer.topics] == [0]


def partition(nodes: Nodes, node: int = 0) -> tuple[Any, ...]:
    """(leader, leader epoch, in sync, offline) of the partition."""
    (found,) = nodes.ask(node, MetadataRequest(topics=None), 12).topics[0].partitions
    return found.leader_id, found.leader_epoch, found.isr_nodes, found.offline_replicas


def eligible(nodes: Nodes, node: int = 0) -> tuple[Any, ...]:
    """(eligible leaders, last known ones) of the partition."""
    answer = nodes.ask(node, DescribeTopicPartitionsRequest([]), 0)
    (found,) = answer.topics[0].partitions
    assert found.error_code == 0  # whatever there is of leaders
    return found.eligible_leader_replicas, found.last_known_elr


def elect_unclean(nodes: Nodes, node: int = 0) -> int:
    """The error code of an unclean election of the partition; 0 too where none was needed."""
    answer = nodes.ask(node, ElectLeadersRequest(1, None, timeout_ms=1000), 2)
    codes = [row.error_code for row in answer.replica_election_results[0].partition_result]
    return codes[0] if codes else 0


def quorum(nodes: Nodes, node: int) -> tuple[int, int]:
    """(active controller, epoch)."""
    request = DescribeQuorumRequest([TopicData("__cluster_metadata", [PartitionData(0)])])
    found = nodes.ask(node, request, 2).topics[0].partitions[0]
    return found.leader_id, found.leader_epoch


def refuses(nodes: Nodes, node: int) -> bool:
    host, port = nodes.addresses[node]
    try:
        socket.create_connection((host, port), _SECONDS).close()
    except ConnectionRefusedError:
        return True
    return False


def test_a_broker_that_is_stopped_hands_over(cluster: SyncCluster, nodes: Nodes) -> None:
    create(nodes, [1, 2, 3])
    nodes.ask(0, MetadataRequest(topics=None), 12)
    cluster.stop_broker(1)
    assert nodes.ask(0, MetadataRequest(topics=None), 12) is None  # the connection is closed
    assert refuses(nodes, 0)
    assert partition(nodes, 1) == (2, 1, [2, 3], [1])
    assert [each.node_id for each in nodes.ask(1, MetadataRequest(topics=[]), 12).brokers] == [2, 3]
    assert cluster.broker_states == {1: "ended", 2: "running", 3: "running"}
    cluster.start_broker(1)
    until(lambda: partition(nodes, 0) == (2, 1, [1, 2, 3], []))  # it does not lead by itself
    assert cluster.broker_states[1] == "running"


def test_the_first_version_of_metadata_has_brokers_that_are_there_alone(
    cluster: SyncCluster, nodes: Nodes
) -> None:
    create(nodes, [2, 3])
    cluster.stop_broker(3)
    (found,) = nodes.ask(0, MetadataRequest(topics=[]), 0).topics[0].partitions
    assert (found.error_code, found.replica_nodes, found.isr_nodes) == (9, [2], [2])
    cluster.fence_broker(2)
    (found,) = nodes.ask(0, MetadataRequest(topics=[]), 0).topics[0].partitions
    assert (found.error_code, found.replica_nodes, found.isr_nodes) == (5, [], [])


def test_a_port_stays_the_same(cluster: SyncCluster, nodes: Nodes) -> None:
    before = cluster.bootstrap_servers
    for each in (1, 2, 3):
        cluster.stop_broker(each)
        cluster.start_broker(each)
    assert cluster.bootstrap_servers == before
    assert len(nodes.ask(2, MetadataRequest(topics=[]), 12).brokers) == 3


@pytest.mark.parametrize("cluster", [{"configs": LATE}], indirect=True)
def test_a_broker_that_was_killed_is_missed_when_its_session_is_over(
    cluster: SyncCluster, nodes: Nodes
) -> None:
    create(nodes, [2, 3])
    cluster.kill_broker(2)
    assert refuses(nodes, 1)
    assert partition(nodes) == (2, 0, [2, 3], [])  # nobody knows
    assert cluster.broker_states[2] == "ended"


def test_a_broker_that_was_killed_is_fenced(cluster: SyncCluster, nodes: Nodes) -> None:
    create(nodes, [2, 3])
    cluster.kill_broker(2)
    until(lambda: partition(nodes) == (3, 1, [3], [2]))
    cluster.start_broker(2)
    until(lambda: partition(nodes) == (3, 1, [2, 3], []))


@pytest.mark.parametrize("cluster", [{"configs": LATE}], indirect=True)
@pytest.mark.parametrize("end", ["stop_broker", "kill_broker"])
def test_no_answer_names_a_broker_that_has_ended_as_the_controller(
    cluster: SyncCluster, nodes: Nodes, end: str
) -> None:
    """Not even before its session is over: clients would ask it, and hear nothing.

    The same questions had another answer before, which is not given again.
    """
    questions = ((1, MetadataRequest(topics=[])), (2, DescribeClusterRequest()))
    for named in (1, 2):
        for node, request in questions:
            for _ in range(2):
                assert nodes.ask(node, request, 1).controller_id == named
        if named == 1:
            getattr(cluster, end)(1)


def test_starting_a_node_whose_session_lasts_takes_until_it_is_over() -> None:
    configs = {**LATE, "broker.session.timeout.ms": "200"}
    with SyncCluster(3, configs=configs) as cluster, Nodes(cluster.bootstrap_servers) as nodes:
        create(nodes, [2, 3])
        cluster.kill_broker(2)
        cluster.start_broker(2)
        assert partition(nodes, 1)[0] == 3
        assert cluster.broker_states[2] == "running"


async def test_a_node_ends_while_it_starts() -> None:
    """By a kill, and with the cluster: whoever waits for the start is not left waiting."""
    async with Cluster(3, configs=LATE) as cluster:
        await cluster.kill_broker(2)
        starting = asyncio.ensure_future(cluster.start_broker(2))
        await asyncio.sleep(0)
        assert not starting.done(), "its session is not over"
        await cluster.kill_broker(2)
        await asyncio.wait_for(starting, _SECONDS)
        assert cluster.broker_states[2] == "ended"
        starting = asyncio.ensure_future(cluster.start_broker(2))
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(starting, _SECONDS)


@pytest.mark.parametrize("end", ["stop_broker", "kill_broker", "fence_broker"])
def test_a_broker_that_is_away_gets_replicas_where_the_others_are_too_few(
    cluster: SyncCluster, nodes: Nodes, end: str
) -> None:
    getattr(cluster, end)(2)
    fenced = DescribeClusterRequest(include_fenced_brokers=True)
    until(lambda: nodes.ask(0, fenced, 2).brokers[1].is_fenced)
    request = CreateTopicsRequest([topic("all", 4, 3), topic("some", 8, 2), topic("many", 1, 4)])
    every, some, many = nodes.ask(0, request, 7).topics
    assert (every.error_code, some.error_code, many.error_code) == (0, 0, 38)
    assert "only 3 broker(s) are registered" in many.error_message
    found = nodes.ask(0, MetadataRequest(topics=None), 12).topics
    partitions = {each.name: each.partitions for each in found}
    for each in partitions["all"]:
        assert each.leader_id == each.replica_nodes[0] != 2
        assert (sorted(each.replica_nodes), sorted(each.isr_nodes)) == ([1, 2, 3], [1, 3])
        assert each.offline_replicas == [2]
    assert all(2 not in each.replica_nodes for each in partitions["some"])


def test_nothing_is_placed_where_all_brokers_are_fenced(cluster: SyncCluster, nodes: Nodes) -> None:
    for each in (1, 2, 3):
        cluster.fence_broker(each)
    (refused,) = nodes.ask(0, CreateTopicsRequest([topic("a", 1, 3)]), 7).topics
    assert refused.error_code == 38
    assert refused.error_message.endswith("All brokers are currently fenced.")


def test_what_ended_ends_once_and_what_runs_starts_once(cluster: SyncCluster) -> None:
    cluster.start_broker(1)
    cluster.stop_broker(1)
    cluster.stop_broker(1)
    cluster.kill_broker(1)
    assert cluster.broker_states[1] == "ended"
    with pytest.raises(ValueError, match="there is no broker 4; brokers are 1 to 3"):
        cluster.stop_broker(4)


def test_a_port_that_is_taken_meanwhile(cluster: SyncCluster, nodes: Nodes) -> None:
    cluster.stop_broker(2)
    host, port = nodes.addresses[1]
    with socket.create_server((host, port)), pytest.raises(OSError, match="in use"):
        cluster.start_broker(2)
    cluster.start_broker(2)
    assert cluster.broker_states[2] == "running"


def test_a_broker_that_is_fenced_runs_on(cluster: SyncCluster, nodes: Nodes) -> None:
    create(nodes, [2, 3])
    cluster.fence_broker(2)
    assert partition(nodes, 1) == (3, 1, [3], [2])
    request = DescribeClusterRequest(include_fenced_brokers=True)
    brokers = nodes.ask(0, request, 2).brokers
    assert [each.is_fenced for each in brokers] == [False, True, False]
    assert cluster.broker_states[2] == "fenced"
    cluster.stop_broker(2)
    cluster.start_broker(2)
    assert cluster.broker_states[2] == "fenced"  # until it may be there again
    cluster.unfence_broker(2)
    until(lambda: partition(nodes) == (3, 1, [2, 3], []))


# Eligible leader replicas (KIP-966), and what 3.9 does without them.


def test_the_last_ones_in_sync_are_eligible(cluster: SyncCluster, nodes: Nodes) -> None:
    create(nodes, [1, 2, 3], {"min.insync.replicas": "2"})
    cluster.stop_broker(3)
    assert (partition(nodes), eligible(nodes)) == ((1, 0, [1, 2], [3]), ([], []))
    cluster.fence_broker(2)
    assert (partition(nodes), eligible(nodes)) == ((1, 0, [1], [2, 3]), ([2], []))
    cluster.fence_broker(1)
    assert (partition(nodes), eligible(nodes)) == ((-1, 1, [], [1, 2, 3]), ([1, 2], [1]))
    assert elect_unclean(nodes) == 83
    cluster.start_broker(3)  # it was not in sync: it may not lead
    assert (partition(nodes), eligible(nodes)) == ((-1, 1, [], [1, 2]), ([1, 2], [1]))
    cluster.unfence_broker(2)
    until(lambda: partition(nodes) == (2, 2, [2, 3], [1]))
    assert eligible(nodes) == ([], [])


@pytest.mark.parametrize("resource", [(2, "t"), (4, "")])
def test_nobody_is_eligible_when_the_number_that_suffices_changes(
    cluster: SyncCluster, nodes: Nodes, resource: tuple[int, str]
) -> None:
    create(nodes, [1, 2, 3], {"min.insync.replicas": "2"})
    cluster.fence_broker(2)
    cluster.fence_broker(3)
    assert eligible(nodes) == ([3], [])
    row = AlterConfigsResource(*resource, [AlterableConfig("min.insync.replicas", 0, "3")])
    nodes.ask(0, IncrementalAlterConfigsRequest([row]), 1)
    assert eligible(nodes) == ([], [])


def test_a_last_leader_that_was_killed_leads_again(cluster: SyncCluster, nodes: Nodes) -> None:
    """It may have lost records, but no other replica can have more (KIP-966)."""
    create(nodes, [3])
    cluster.kill_broker(3)
    until(lambda: partition(nodes) == (-1, 1, [], [3]))
    assert eligible(nodes) == ([3], [3])
    cluster.start_broker(3)
    assert (partition(nodes), eligible(nodes)) == ((3, 2, [3], []), ([], []))
    (found,) = next(iter(cluster.state.cluster.topics.values())).partitions.values()
    assert found.leader_recovery_state == 1


@pytest.mark.parametrize("cluster", [{"release": "3.9"}], indirect=True)
def test_without_eligible_leaders_the_last_one_stays_in_sync(
    cluster: SyncCluster, nodes: Nodes
) -> None:
    create(nodes, [2, 3])
    cluster.stop_broker(3)
    cluster.stop_broker(2)
    until(lambda: partition(nodes) == (-1, 1, [2], [2, 3]))
    cluster.start_broker(3)
    assert partition(nodes) == (-1, 1, [2], [2])
    assert elect_unclean(nodes) == 0
    until(lambda: partition(nodes) == (3, 2, [3], [2]))
    cluster.start_broker(2)
    until(lambda: partition(nodes) == (3, 2, [3, 2], []))


@pytest.mark.parametrize("enabled", ["topic", "static"])
def test_an_unclean_leader_is_elected_where_that_is_allowed(enabled: str) -> None:
    name = "unclean.leader.election.enable"
    configs = {**AT_ONCE, **({name: "true"} if enabled == "static" else {})}
    own = {name: "true"} if enabled == "topic" else {}
    with (
        SyncCluster(3, release="3.9", configs=configs) as cluster,
        Nodes(cluster.bootstrap_servers) as nodes,
    ):
        create(nodes, [2, 3], own)
        cluster.fence_broker(3)
        cluster.fence_broker(2)
        assert partition(nodes) == (-1, 1, [2], [2, 3])
        cluster.unfence_broker(3)
        assert partition(nodes)[:3] == (3, 2, [3])


def test_leaders_are_given_back_at_the_interval() -> None:
    with SyncCluster(3, configs=AT_ONCE) as cluster, Nodes(cluster.bootstrap_servers) as nodes:
        create(nodes, [2, 3])
        cluster.stop_broker(2)
        cluster.start_broker(2)
        assert partition(nodes)[0] == 3
        cluster.clock.advance(300)  # leader.imbalance.check.interval.seconds
        assert partition(nodes)[0] == 2


# Controllers.


def test_another_controller_is_elected(cluster: SyncCluster, nodes: Nodes) -> None:
    assert quorum(nodes, 1) == (1, 1)
    cluster.stop_broker(1)
    assert quorum(nodes, 1) == (2, 2)
    cluster.kill_broker(2)  # the last one has no majority
    cluster.start_broker(1)
    assert quorum(nodes, 0) == (1, 3)
    until(lambda: cluster.state.cluster.brokers[2].fenced)
    assert cluster.state.cluster.epoch == 3


def test_without_a_majority_the_controller_is_waited_for(
    cluster: SyncCluster, nodes: Nodes
) -> None:
    create(nodes, [2, 3])
    cluster.stop_broker(1)
    cluster.stop_broker(2)
    assert partition(nodes, 2) == (3, 1, [3], [2])  # a broker's own knowledge
    answers: list[Any] = []
    request = ListPartitionReassignmentsRequest(timeout_ms=1000, topics=None)
    asking = threading.Thread(target=lambda: answers.append(nodes.ask(2, request, 0)))
    asking.start()
    with Nodes(cluster.bootstrap_servers) as others:
        assert partition(others, 2)[0] == 3
        until(lambda: cluster.state.quorum.waiting)
        assert answers == []
        cluster.start_broker(1)
        asking.join(_SECONDS)
        assert [each.error_code for each in answers] == [0]


def test_a_controller_is_not_waited_for_without_end(
    cluster: SyncCluster, nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "_CONTROLLER_S", 0.0)
    cluster.stop_broker(1)
    cluster.stop_broker(2)
    answer = nodes.ask(2, CreateTopicsRequest([topic("t")], timeout_ms=1000), 7)
    (row,) = answer.topics
    assert (row.name, row.error_code, row.error_message) == ("t", 7, None)
    assert nodes.ask(2, MetadataRequest(topics=[]), 12).error_code == 0
    assert cluster.state.quorum.waiting == []


def test_nodes_start_when_there_are_enough_controllers(cluster: SyncCluster, nodes: Nodes) -> None:
    for each in (1, 2, 3):
        cluster.stop_broker(each)
    cluster.start_broker(3)
    assert cluster.broker_states == {1: "ended", 2: "ended", 3: "starting"}
    cluster.start_broker(1)
    until(lambda: cluster.broker_states == {1: "running", 2: "ended", 3: "running"})
    assert [each.node_id for each in nodes.ask(2, MetadataRequest(topics=[]), 12).brokers] == [1, 3]
    assert quorum(nodes, 2)[1] == 3
