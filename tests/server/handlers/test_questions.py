"""Answers to questions about a cluster, as releases give them."""

from __future__ import annotations

import pytest

from kafka_admin_proto.messages import (
    AlterReplicaLogDirsRequest,
    DescribeLogDirsRequest,
    DescribeQuorumRequest,
    DescribeTopicPartitionsRequest,
    FindCoordinatorRequest,
    MetadataRequest,
)
from kafka_admin_proto.messages.alter_replica_log_dirs_request import (
    AlterReplicaLogDir,
    AlterReplicaLogDirTopic,
)
from kafka_admin_proto.messages.describe_log_dirs_request import DescribableLogDirTopic
from kafka_admin_proto.messages.describe_quorum_request import PartitionData, TopicData
from kafka_admin_proto.messages.describe_topic_partitions_request import Cursor
from kafka_admin_proto.messages.metadata_request import MetadataRequestTopic
from kafka_admin_proto.server.releases import RELEASES
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


@pytest.mark.parametrize("release", RELEASES)
def test_the_quorum_of_another_topic(release: str) -> None:
    request = DescribeQuorumRequest([TopicData("a", [PartitionData(0)])])
    (row,) = Served(release).ask(request).topics[0].partitions
    assert row.error_code == 3
    assert row.error_message == "This server does not host this topic-partition."


@pytest.mark.parametrize("release", RELEASES)
def test_the_controllers_log_is_a_topic_without_an_id(release: str) -> None:
    request = MetadataRequest([MetadataRequestTopic(name="__cluster_metadata")])
    (row,) = Served(release).ask(request, 12).topics
    assert (row.error_code, row.topic_id.int) == (3, 0)


@pytest.mark.parametrize("release", RELEASES)
def test_a_partition_twice_has_one_log(release: str) -> None:
    served = Served(release)
    create(served, topic("a", assignment={0: [1], 1: [1]}))
    wanted = [DescribableLogDirTopic("a", [0, 0]), DescribableLogDirTopic("a", [1])]
    (found,) = served.ask(DescribeLogDirsRequest(wanted)).results[0].topics
    assert [each.partition_index for each in found.partitions] == [0, 1]


def test_a_cursor_at_the_end_of_all_ints_overflows() -> None:
    """4.3.1 and 3.9.2, asked on 2026-11-23."""
    served = Served()
    create(served, topic("a", assignment={0: [1]}))
    request = DescribeTopicPartitionsRequest([], 1, Cursor("a", (1 << 31) - 1))
    cursor = served.ask(request).next_cursor
    assert (cursor.topic_name, cursor.partition_index) == ("a", -(1 << 31))


@pytest.mark.parametrize("release", RELEASES)
def test_replicas_move_to_the_directory_they_are_in(release: str) -> None:
    """4.3.1 and 3.9.2 with one directory, asked on 2026-11-27."""
    served, long, longest = Served(release), "l" * 240, "m" * 212
    create(served, topic("a", assignment={0: [1], 1: [2]}))
    create(served, topic(longest, assignment={0: [1]}))
    here = served.ask(DescribeLogDirsRequest(None)).results[0].log_dir

    def codes(*dirs: tuple[str, str, list[int]]) -> dict[tuple[str, int], int]:
        rows = [
            AlterReplicaLogDir(path, [AlterReplicaLogDirTopic(name, numbers)])
            for path, name, numbers in dirs
        ]
        return {
            (each.topic_name, row.partition_index): row.error_code
            for each in served.ask(AlterReplicaLogDirsRequest(rows)).results
            for row in each.partitions
        }

    assert codes((here, "a", [0, 1, 5])) == {("a", 0): 0, ("a", 1): 9, ("a", 5): 3}
    assert codes((here, longest, [0]), (here, long, [0])) == {(longest, 0): 0, (long, 0): 17}
    assert codes(("/other", "a", [0]), ("/other", "no", [0])) == {("a", 0): 57, ("no", 0): 57}
    assert codes(("/other", "a", [0]), (here, "a", [0])) == {("a", 0): 0}
    assert codes() == {}
