"""Controllers that change, with the log on disk: epochs, files, and starts after that."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from kafka_admin_proto.errors import MetadataLogError
from kafka_admin_proto.records.metadata.log import FOLDER_NAME, Replayed, replay
from kafka_admin_proto.server import SyncCluster
from tests.helpers.waiting import until
from tests.server.brokers.test_lifecycle import AT_ONCE, create, partition, quorum
from tests.server.differential.wire import Nodes
from tests.server.test_cluster import topics


def replayed(data: Path, node: int) -> Replayed:
    return replay(data / str(node) / FOLDER_NAME)


def epochs(data: Path, node: int) -> tuple[int, int, int]:
    """(the leader and the epoch that quorum-state has, the epoch of the last batch)."""
    state = json.loads((data / str(node) / FOLDER_NAME / "quorum-state").read_bytes())
    return state["leaderId"], state["leaderEpoch"], replayed(data, node).state.epoch


def test_a_new_controller_writes_its_epoch(tmp_path: Path) -> None:
    with (
        SyncCluster(3, data=tmp_path, configs=AT_ONCE) as cluster,
        Nodes(cluster.bootstrap_servers) as nodes,
    ):
        create(nodes, [1, 2])
        assert epochs(tmp_path, 1) == (1, 1, 1)
        cluster.stop_broker(1)
        until(lambda: partition(nodes, 1)[0] == 2)
        assert epochs(tmp_path, 1) == (1, 1, 1)  # it does not run
        assert epochs(tmp_path, 2) == epochs(tmp_path, 3) == (2, 2, 2)
        cluster.start_broker(1)
        until(lambda: partition(nodes, 1)[2] == [1, 2])
        assert epochs(tmp_path, 1) == (2, 2, 2)
        items = cluster.state.cluster.items()
    for each in (1, 2, 3):
        found = replayed(tmp_path, each)
        assert not found.problems
        assert found.state.items()["partitions"] == items["partitions"]


@pytest.mark.parametrize("away", [1, 3])
def test_a_cluster_starts_again_though_a_node_was_away(away: int, tmp_path: Path) -> None:
    with (
        SyncCluster(3, data=tmp_path, configs=AT_ONCE) as cluster,
        Nodes(cluster.bootstrap_servers) as nodes,
    ):
        create(nodes, [away, 2])
        cluster.kill_broker(away)
        asked = 1 if away == 1 else 0
        until(lambda: partition(nodes, asked)[0] == 2)
        before = topics(nodes, asked)
        _, epoch = quorum(nodes, asked)
    with (
        SyncCluster(3, data=tmp_path, configs=AT_ONCE) as cluster,
        Nodes(cluster.bootstrap_servers) as nodes,
    ):
        assert topics(nodes, away - 1) == before
        assert quorum(nodes, 0) == (1, epoch + 1)
        until(lambda: partition(nodes)[2] == sorted([2, away]))
    assert len({replayed(tmp_path, each).state.offset for each in (1, 2, 3)}) == 1


def test_a_node_that_lost_its_folder_leads_again(tmp_path: Path) -> None:
    """Its replicas are in its new directory, in which Kafka's brokers make them anew."""
    with (
        SyncCluster(3, data=tmp_path, configs=AT_ONCE) as cluster,
        Nodes(cluster.bootstrap_servers) as nodes,
    ):
        create(nodes, [2])
        (lost,) = cluster.state.cluster.brokers[2].directories
    shutil.rmtree(tmp_path / "2")
    with SyncCluster(3, data=tmp_path, configs=AT_ONCE) as cluster:
        (topic,) = cluster.state.cluster.topics.values()
        found = cluster.state.cluster.brokers[2].directories
        assert found != [lost]
        assert topic.partitions[0].directories == found
        cluster.fence_broker(2)
        assert topic.partitions[0].leader == -1
        cluster.unfence_broker(2)
        assert topic.partitions[0].leader == 2


def test_a_node_whose_log_is_damaged_meanwhile_does_not_start(tmp_path: Path) -> None:
    with (
        SyncCluster(3, data=tmp_path, configs=AT_ONCE) as cluster,
        Nodes(cluster.bootstrap_servers) as nodes,
    ):
        create(nodes, [1, 2])
        cluster.stop_broker(3)
        (segment,) = (tmp_path / "3" / FOLDER_NAME).glob("*.log")
        whole = segment.read_bytes()
        segment.write_bytes(whole[:100] + b"\xff" + whole[101:])
        with pytest.raises(MetadataLogError, match="whole batches follow what is damaged"):
            cluster.start_broker(3)
        assert cluster.broker_states == {1: "running", 2: "running", 3: "ended"}
        segment.write_bytes(whole)
        cluster.start_broker(3)
        assert cluster.broker_states[3] == "running"


def test_a_node_gets_a_snapshot_that_was_written_meanwhile(tmp_path: Path) -> None:
    configs = {
        **AT_ONCE,
        "metadata.log.max.record.bytes.between.snapshots": "1",
        "metadata.max.retention.bytes": "1",
        "internal.metadata.log.segment.bytes": "1000",
    }
    with (
        SyncCluster(3, data=tmp_path, configs=configs) as cluster,
        Nodes(cluster.bootstrap_servers) as nodes,
    ):
        cluster.stop_broker(3)
        create(nodes, [1, 2])
        for _ in range(20):
            cluster.fence_broker(2)
            cluster.unfence_broker(2)
        cluster.start_broker(3)
        cluster.stop_broker(1)
        cluster.stop_broker(2)  # the last one has to have it all
        assert replayed(tmp_path, 3).state.items()["topics"].keys() == {"t"}
