"""A real node on a folder of ours, ours on a copy of its folder, and a real one on that again."""

from __future__ import annotations

import shutil
import time
from functools import partial
from pathlib import Path

import pytest

from kafka_admin_proto.messages import (
    CreateTopicsRequest,
    DeleteTopicsRequest,
    DescribeConfigsRequest,
    IncrementalAlterConfigsRequest,
    MetadataRequest,
)
from kafka_admin_proto.messages.create_topics_request import CreatableTopic, CreatableTopicConfig
from kafka_admin_proto.messages.delete_topics_request import DeleteTopicState
from kafka_admin_proto.messages.describe_configs_request import DescribeConfigsResource
from kafka_admin_proto.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
)
from kafka_admin_proto.records.metadata.log import FOLDER_NAME
from kafka_admin_proto.records.metadata.names import TOPIC_RESOURCE
from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.server.log.snapshots import Snapshot
from tests.helpers.requirements import require_oracle
from tests.records.dumped import check_with_kafka
from tests.server.differential.wire import Nodes
from tests.server.log.stored import small
from tests.server.releases import RELEASES
from tools.clusters import kraft

_DYNAMIC_TOPIC = 1
#: Seconds until a real broker shows what its controller has written.
_SEEN_S = 30.0

#: Topic → its id, its partitions with their replicas, and its configs.
Described = dict[str, tuple[str, list[tuple[int, list[int]]], dict[str, str]]]


def described(bootstrap: str) -> Described:
    """All topics, by Metadata and DescribeConfigs."""
    with Nodes(bootstrap) as nodes:
        topics = nodes.ask(0, MetadataRequest(topics=None), 12).topics
        resources = [DescribeConfigsResource(TOPIC_RESOURCE, each.name) for each in topics]
        results = nodes.ask(0, DescribeConfigsRequest(resources), 4).results
    configs = {
        each.resource_name: {
            row.name: row.value for row in each.configs if row.config_source == _DYNAMIC_TOPIC
        }
        for each in results
    }
    return {
        each.name: (
            str(each.topic_id),
            sorted((row.partition_index, row.replica_nodes) for row in each.partitions),
            configs[each.name],
        )
        for each in topics
    }


def change(bootstrap: str, prefix: str, topics: int) -> None:
    """Create topics with configs, alter one and delete one, and wait until that is seen."""
    names = [f"{prefix}-{number}" for number in range(topics)]
    with Nodes(bootstrap) as nodes:
        for number, name in enumerate(names):
            configs = [CreatableTopicConfig("retention.ms", str(1000 + number))]
            wanted = CreatableTopic(name, number % 3 + 1, 1, configs=configs)
            answer = nodes.ask(0, CreateTopicsRequest([wanted], timeout_ms=10_000), 7)
            assert answer.topics[0].error_code == 0, answer.topics[0].error_message
        altered = [AlterableConfig("max.message.bytes", 0, "65536")]
        resources = [AlterConfigsResource(TOPIC_RESOURCE, names[0], altered)]
        answer = nodes.ask(0, IncrementalAlterConfigsRequest(resources), 1)
        assert answer.responses[0].error_code == 0
        gone = [DeleteTopicState(names[1])]
        answer = nodes.ask(0, DeleteTopicsRequest(topics=gone, timeout_ms=10_000), 6)
        assert answer.responses[0].error_code == 0
        left, until = {*names} - {names[1]}, time.monotonic() + _SEEN_S
        while (seen := _names(nodes, prefix)) != left:
            assert time.monotonic() < until, f"the broker shows {sorted(seen)}"
            time.sleep(0.1)


def _names(nodes: Nodes, prefix: str) -> set[str]:
    """Topics that the broker shows; of those just made it may not know yet."""
    topics = nodes.ask(0, MetadataRequest(topics=None), 12).topics
    return {each.name for each in topics if each.name.startswith(prefix)}


def check_log(folder: Path) -> None:
    """The log's beginning is in a snapshot only, and Kafka reads every file."""
    assert int(min(folder.glob("*.log")).stem) > 0
    assert Snapshot.in_folder(folder)
    check_with_kafka(folder)


@pytest.mark.exhaustive
@pytest.mark.xdist_group("real nodes of server logs")
@pytest.mark.parametrize("release", RELEASES)
def test_there_and_back(release: str, tmp_path: Path) -> None:
    require_oracle()
    ours_as = partial(SyncCluster, release=release.rpartition(".")[0], configs=small(release))
    data = tmp_path / "one" / "node1" / "data"
    with ours_as(data=data) as cluster:
        change(cluster.bootstrap_servers, "first", 20)
        ours = described(cluster.bootstrap_servers)
    assert len(ours) == 19
    check_log(data / FOLDER_NAME)
    with kraft(tmp_path / "one", release) as real:
        assert described(real.bootstrap) == ours
        change(real.bootstrap, "second", 3)
        theirs = described(real.bootstrap)
        real.end(1)
    assert len(theirs) == 21
    again = tmp_path / "two" / "node1" / "data"
    shutil.copytree(data, again)
    with ours_as(data=again) as cluster:
        assert described(cluster.bootstrap_servers) == theirs
        change(cluster.bootstrap_servers, "third", 20)
        ours = described(cluster.bootstrap_servers)
    check_log(again / FOLDER_NAME)
    with kraft(tmp_path / "two", release) as real:
        assert described(real.bootstrap) == ours
