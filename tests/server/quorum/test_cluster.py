"""A cluster without brokers of its own, as its users have it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Any

import pytest

from kafka_admin_proto.admin import AdminClient, MetadataRecords, QuorumLeader
from kafka_admin_proto.faults.words import FaultError
from kafka_admin_proto.messages import BrokerHeartbeatRequest, FetchRequest
from kafka_admin_proto.messages.fetch_request import FetchPartition, FetchTopic, ReplicaState
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server import Cluster
from kafka_admin_proto.server.apis import CONTROLLERS, handler_modules, served_apis
from kafka_admin_proto.server.brokers.control import commands_of
from kafka_admin_proto.server.releases import ReleaseNumber
from kafka_admin_proto.topic_ids import METADATA_TOPIC_ID
from tests.server.quorum.controller import asked, registration


async def test_what_needs_brokers_of_its_own_says_so() -> None:
    async with Cluster(0) as cluster:
        for call in (
            lambda: cluster.produce("a", ["b"]),
            lambda: cluster.records("a"),
            lambda: cluster.group("a"),
            lambda: cluster.rebalance("a"),
            lambda: cluster.delay_metadata(1),
        ):
            with pytest.raises(ValueError, match="the cluster is a controller alone"):
                call()
        with pytest.raises(ValueError, match="broker 1 is no node of this cluster"):
            await cluster.stop_broker(1)
        with pytest.raises(ValueError, match="broker 3000 is no node of this cluster"):
            cluster.delay_replication(1, 3000)
        with pytest.raises(FaultError, match="broker 1 is no node of this cluster"):
            cluster.faults.add(node=1, error="NOT_CONTROLLER")
        with pytest.raises(FaultError, match="answers Envelope by itself"):
            cluster.faults.add(api="Envelope", error="NOT_CONTROLLER")
        for fence in (cluster.fence_broker, cluster.unfence_broker):
            with pytest.raises(ValueError, match="there is no broker 1; registered are none"):
                fence(1)
        assert cluster.broker_states == {}
        status = await commands_of(cluster)["status"]()
        assert status is not None
        assert "controller=3000 epoch=1" in status


async def test_those_with_brokers_have_no_others() -> None:
    async with Cluster() as cluster:
        assert cluster.quorum_voters is None


async def test_a_follower_of_this_package_reads_the_log() -> None:
    async with Cluster(0) as cluster:
        assert cluster.quorum_voters == f"3000@{cluster.bootstrap_servers}"
        async with AdminClient(bootstrap_controllers=cluster.bootstrap_servers) as admin:
            events = admin.follow_metadata(timeout=10)
            leader, records = await anext(events), await anext(events)
            await events.aclose()
        assert leader == QuorumLeader(3000, 1)
        assert isinstance(records, MetadataRecords)
        last = records.batches[-1].records[-1]
        assert last.offset == cluster.state.end_offset - 1


async def test_a_session_ends_by_the_clock_of_the_cluster() -> None:
    async with Cluster(0) as cluster:
        state = cluster.state
        found = await asked(cluster, registration(1, cluster_id=state.cluster_id), 4)
        assert cluster.broker_states == {1: "fenced"}
        beat = BrokerHeartbeatRequest(1, found.broker_epoch, state.end_offset)
        await asked(cluster, beat, 2)
        assert cluster.broker_states == {1: "running"}
        # One that follows the log waits meanwhile, and has the record that fences the broker.
        end = state.end_offset
        following = asyncio.create_task(asked(cluster, _fetch(end, high_watermark=end), 18))
        await cluster.wait_for(lambda: cluster.requests.of("Fetch"))
        assert not following.done()
        await cluster.clock.advance(9)
        assert cluster.broker_states == {1: "fenced"}
        row = (await following).responses[0].partitions[0]
        assert row.high_watermark == state.end_offset > end
        assert row.records


async def test_a_fault_of_the_metadata_log() -> None:
    """Which a Fetch names by its id alone."""
    async with Cluster(0) as cluster:
        cluster.faults.add(
            api="Fetch", topic="__cluster_metadata", partition=0, error="FENCED_LEADER_EPOCH"
        )
        row = (await asked(cluster, _fetch(0, last_fetched_epoch=0), 18)).responses[0].partitions[0]
        assert row.error_code == codes.FENCED_LEADER_EPOCH


def _fetch(offset: int, **fields: Any) -> FetchRequest:
    """As a broker follows the log; it waits for long."""
    given = {"fetch_offset": offset, "current_leader_epoch": 1, "last_fetched_epoch": 1, **fields}
    return FetchRequest(
        replica_state=ReplicaState(1), max_wait_ms=60_000, max_bytes=1000,
        topics=[FetchTopic("", METADATA_TOPIC_ID, [FetchPartition(0, **given)])],
    )  # fmt: skip


def test_apis_are_those_of_the_listener() -> None:
    """What Kafka's definitions list for controllers, and nothing of brokers alone."""
    names = {each.name for each in served_apis(ReleaseNumber(4, 4), CONTROLLERS)}
    assert {"Fetch", "BrokerHeartbeat", "Envelope", "CreateTopics", "DescribeQuorum"} <= names
    assert not {"Produce", "Metadata", "JoinGroup", "Vote"} & names
    of_brokers = {each.name for each in served_apis(ReleaseNumber(4, 4))}
    assert not {"Envelope", "BrokerHeartbeat", "AlterPartition"} & of_brokers
    assert handler_modules(CONTROLLERS)[1].endswith("controllers.fetch")


def test_kap_serve_says_what_brokers_need() -> None:
    command = [sys.executable, "-m", "kafka_admin_proto", "serve", "--brokers", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as served:
        try:
            assert served.stdout is not None
            address, voters, cluster_id = (served.stdout.readline().split() for _ in range(3))
        finally:
            served.terminate()
    assert voters == ["controller.quorum.voters", f"3000@{address[0]}"]
    assert cluster_id[0] == "cluster.id"
    assert len(cluster_id[1]) == 22
