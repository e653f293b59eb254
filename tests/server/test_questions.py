"""Answers to questions about a cluster, as releases give them."""

from __future__ import annotations

import pytest

from kafka_admin_proto.messages import DescribeQuorumRequest, FindCoordinatorRequest
from kafka_admin_proto.messages.describe_quorum_request import PartitionData, TopicData
from tests.server.served import Served


@pytest.mark.parametrize(("release", "code"), [("4.3", 42), ("3.9", 15)])
def test_a_key_of_a_share_group_that_is_none(release: str, code: int) -> None:
    request = FindCoordinatorRequest(key_type=2, coordinator_keys=["x"])
    (row,) = Served(release).ask(request).coordinators
    assert row.error_code == code


@pytest.mark.parametrize("release", ["4.3", "3.9"])
def test_the_quorum_of_another_topic(release: str) -> None:
    request = DescribeQuorumRequest([TopicData("a", [PartitionData(0)])])
    (row,) = Served(release).ask(request).topics[0].partitions
    assert row.error_code == 3
    assert row.error_message == "This server does not host this topic-partition."
