"""Answers to questions about a cluster, as releases give them."""

from __future__ import annotations

import pytest

from kafka_admin_proto.messages import (
    DescribeLogDirsRequest,
    DescribeQuorumRequest,
    FindCoordinatorRequest,
    MetadataRequest,
)
from kafka_admin_proto.messages.describe_log_dirs_request import DescribableLogDirTopic
from kafka_admin_proto.messages.describe_quorum_request import PartitionData, TopicData
from kafka_admin_proto.messages.metadata_request import MetadataRequestTopic
from tests.server.handlers.test_create_topics import create, topic
from tests.server.served import Served


@pytest.mark.parametrize(
    ("release", "version", "key", "code"),
    [
        ("4.3", 6, "x", 42),
        ("4.3", 6, "a:AAAAAAAAAAAAAAAAAAAAAA:1", 15),
        ("4.3", 6, "a:b:AAAAAAAAAAAAAAAAAAAAAA:1", 15),
        ("4.3", 6, "a:AAAAAAAAAAAAAAAAAAAAAA:x", 42),
        ("4.3", 6, " :AAAAAAAAAAAAAAAAAAAAAA:1", 42),
        ("4.3", 5, "a:AAAAAAAAAAAAAAAAAAAAAA:1", 42),
        ("3.9", 6, "x", 15),
        ("3.9", 5, "x", 42),
    ],
)
def test_a_key_of_a_share_group(release: str, version: int, key: str, code: int) -> None:
    request = FindCoordinatorRequest(key_type=2, coordinator_keys=[key])
    (row,) = Served(release).ask(request, version).coordinators
    assert row.error_code == code


@pytest.mark.parametrize("release", ["4.3", "3.9"])
def test_the_quorum_of_another_topic(release: str) -> None:
    request = DescribeQuorumRequest([TopicData("a", [PartitionData(0)])])
    (row,) = Served(release).ask(request).topics[0].partitions
    assert row.error_code == 3
    assert row.error_message == "This server does not host this topic-partition."


@pytest.mark.parametrize(("release", "known"), [("4.3", 1), ("3.9", 0)])
def test_the_id_of_the_controllers_log(release: str, known: int) -> None:
    request = MetadataRequest([MetadataRequestTopic(name="__cluster_metadata")])
    (row,) = Served(release).ask(request, 12).topics
    assert row.topic_id.int == known


@pytest.mark.parametrize("release", ["4.3", "3.9"])
def test_a_partition_twice_has_one_log(release: str) -> None:
    served = Served(release)
    create(served, topic("a", assignment={0: [1], 1: [1]}))
    wanted = [DescribableLogDirTopic("a", [0, 0]), DescribableLogDirTopic("a", [1])]
    (found,) = served.ask(DescribeLogDirsRequest(wanted)).results[0].topics
    assert [each.partition_index for each in found.partitions] == [0, 1]
