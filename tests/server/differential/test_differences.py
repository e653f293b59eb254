"""What differs from a real cluster on purpose, and what nodes keep of deleted topics."""

from __future__ import annotations

import pytest

from kafka_admin_proto import messages as m
from kafka_admin_proto.messages import fetch_response as fetched
from kafka_admin_proto.messages import share_group_describe_response as described
from kafka_admin_proto.messages import share_group_heartbeat_response as beaten
from kafka_admin_proto.records import Batch, Record, write_batch
from tests.server.differential.comparison import KNOWN, Comparison
from tests.server.differential.outages import FormerConfigs


def test_few_differences_are_on_purpose() -> None:
    assert len(KNOWN) <= 10
    assert all(each.line and each.why for each in KNOWN)


def _heartbeat(*numbers: int) -> m.ShareGroupHeartbeatResponse:
    rows = [beaten.TopicPartitions(partitions=[*numbers])]
    return m.ShareGroupHeartbeatResponse(assignment=beaten.Assignment(rows))


def _group(*assigned: list[int]) -> m.ShareGroupDescribeResponse:
    members = [
        described.Member(
            str(index),
            assignment=described.Assignment([described.TopicPartitions(partitions=each)]),
        )
        for index, each in enumerate(assigned)
    ]
    return m.ShareGroupDescribeResponse(groups=[described.DescribedGroup(members=members)])


def test_of_several_members_of_a_share_group_the_numbers_of_partitions_are_compared() -> None:
    compared = Comparison(({}, {}))
    assert compared.differences(_heartbeat(0, 2), _heartbeat(0, 1)) == []
    assert compared.differences(_heartbeat(0, 2), _heartbeat(0)) != []
    assert compared.differences(_group([0, 2], [1]), _group([0, 1], [2])) == []
    assert compared.differences(_group([0, 2], [1]), _group([0], [1])) != []
    assert compared.differences(_group([0]), _group([1])) != []


def _fetched(value: bytes) -> m.FetchResponse:
    records = write_batch(Batch(records=[Record(0, value=value)]))
    row = fetched.PartitionData(records=records)
    return m.FetchResponse(responses=[fetched.FetchableTopicResponse("a", partitions=[row])])


def test_of_batches_that_differ_it_is_said_which_record_does() -> None:
    compared = Comparison(({}, {}))
    assert compared.differences(_fetched(b"a"), _fetched(b"a")) == []
    lines = compared.differences(_fetched(b"a"), _fetched(b"b"))
    assert [line.rpartition(".value: ")[2] for line in lines] == ["b'a' and b'b'"]


_LINE = (
    "node 2: DescribeConfigsResponse.results[a.b].configs[min.insync.replicas].value: '2' and '1'"
)


@pytest.fixture
def former() -> FormerConfigs:
    """Node 2 has started behind the end of `a.b`."""
    found = FormerConfigs()
    found.start(1, ["a.b"])
    return found


def test_configs_of_a_deleted_topic_are_explained(former: FormerConfigs) -> None:
    assert former.explain(_LINE)


@pytest.mark.parametrize(
    "line",
    [
        _LINE.replace("node 2", "node 1"),
        _LINE.replace("[a.b]", "[a]"),
        _LINE.replace("[a.b]", "[2]"),
        "node 2: MetadataResponse.topics[a.b].is_internal: True and False",
    ],
)
def test_others_are_not(former: FormerConfigs, line: str) -> None:
    assert not former.explain(line)


def test_they_go_with_the_next_topic_of_the_name(former: FormerConfigs) -> None:
    former.delete(["a.b"])
    assert not former.explain(_LINE)


def test_a_start_before_a_deletion_has_none_left(former: FormerConfigs) -> None:
    former.start(1, [])
    assert not former.explain(_LINE)
