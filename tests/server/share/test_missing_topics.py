"""Share sessions whose topics are not there: the answers of real nodes of 4.4.0, and of 4.3.1."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from kafka_admin_proto import messages as m
from kafka_admin_proto.messages import delete_share_group_offsets_request as deleted_offsets
from kafka_admin_proto.messages import describe_share_group_offsets_request as described_offsets
from kafka_admin_proto.messages import share_acknowledge_request as asked
from kafka_admin_proto.messages.create_topics_request import CreatableTopic
from kafka_admin_proto.messages.delete_topics_request import DeleteTopicState
from kafka_admin_proto.messages.share_fetch_request import FetchPartition, FetchTopic
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.topics.names import SHARE_GROUP_STATE
from tests.server.groups.coordinated import Coordinated, Waiting
from tests.server.share.sharing import Fetcher, produce, ready

_FOREIGN = UUID(int=9)


def _codes(response: Any) -> list[int]:
    assert response.error_code == 0, response
    return sorted(part.error_code for each in response.responses for part in each.partitions)


@pytest.mark.parametrize("release", ["4.4", "4.3"])
def test_an_id_that_no_topic_has(release: str) -> None:
    """4.3.1 counts the bytes of each row for its topic's name, and fails where there is none."""
    one = Fetcher(ready(release), "one")
    topics = [FetchTopic(each, [FetchPartition(0)]) for each in (_FOREIGN, one.topic_id)]
    for epoch in (0, 1):
        response = one.send(topics=topics, share_session_epoch=epoch, max_wait_ms=0).response
        if release == "4.3":
            assert response == m.ShareFetchResponse(error_code=codes.UNKNOWN_SERVER_ERROR)
        else:
            assert codes.UNKNOWN_TOPIC_ID in _codes(response)


@pytest.mark.parametrize("release", ["4.4", "4.3"])
def test_a_topic_that_is_deleted_meanwhile(release: str) -> None:
    """The session knows its name, of which another topic has no state of a share group."""
    cluster = ready(release)
    one = Fetcher(cluster, "one")
    one.get()
    cluster.served.ask(m.DeleteTopicsRequest([DeleteTopicState("orders")], timeout_ms=1000))
    expected = [codes.UNKNOWN_TOPIC_OR_PARTITION, codes.UNKNOWN_SERVER_ERROR]
    for code in expected:
        response = one.send(topics=[], max_wait_ms=0).response
        if release == "4.3":
            assert response.error_code == codes.UNKNOWN_SERVER_ERROR
        else:
            assert _codes(response) == [code]
        cluster.served.ask(m.CreateTopicsRequest([CreatableTopic("orders", 2, 1)], 1000))


@pytest.mark.parametrize("most", ["max_records", "max_bytes"])
def test_another_topic_of_the_name_has_no_error_where_nothing_is_wanted(most: str) -> None:
    """Nobody reads its state then."""
    cluster = ready()
    one = Fetcher(cluster, "one")
    one.get()
    cluster.served.ask(m.DeleteTopicsRequest([DeleteTopicState("orders")], timeout_ms=1000))
    cluster.served.ask(m.CreateTopicsRequest([CreatableTopic("orders", 2, 1)], 1000))
    nothing = {"topics": [], most: 0}
    assert one.send(**nothing).response.responses == []
    assert _codes(one.send(topics=[]).response) == [codes.UNKNOWN_SERVER_ERROR]


def test_partitions_take_turns_without_those_that_are_not_there() -> None:
    """Of two that can be read the second one is first in epoch 1, however many cannot be read."""
    cluster = ready()
    one = Fetcher(cluster, "one")
    parts = [FetchPartition(0), FetchPartition(1)]
    topics = [FetchTopic(_FOREIGN, [FetchPartition(0)]), FetchTopic(one.topic_id, parts)]
    one.send(topics=topics, max_wait_ms=0)
    produce(cluster, 1, partition=0)
    produce(cluster, 1, partition=1)
    response = one.send(topics=[], max_records=1, max_wait_ms=0).response
    rows = [part for each in response.responses for part in each.partitions]
    assert [each.partition_index for each in rows if each.acquired_records] == [1]


def _lose_states(cluster: Coordinated) -> None:
    """Delete the topic of the share coordinators."""
    topics = [DeleteTopicState(SHARE_GROUP_STATE)]
    cluster.served.ask(m.DeleteTopicsRequest(topics, timeout_ms=1000))
    assert cluster.state.topic(SHARE_GROUP_STATE) is None


def _without_states() -> Coordinated:
    """A cluster with records whose topic of the share coordinators was deleted."""
    cluster = ready()
    produce(cluster, 2)
    _lose_states(cluster)
    return cluster


def _has_states(cluster: Coordinated, found: Waiting) -> bool:
    """Whether the topic is there once the records of an answer are appended."""
    cluster.state.append(found.records)
    return cluster.state.topic(SHARE_GROUP_STATE) is not None


def test_a_fetch_makes_the_topic_of_the_share_coordinators() -> None:
    """It waits for a coordinator, which has nothing of the partition then."""
    cluster = _without_states()
    one = Fetcher(cluster, "one")
    found = one.send()
    assert found.waits
    assert _has_states(cluster, found)
    assert _codes(found.response) == [codes.UNKNOWN_SERVER_ERROR]


def test_a_fetch_that_waits_for_a_share_coordinator_has_no_error() -> None:
    one = Fetcher(_without_states(), "one")
    assert one.send(max_wait_ms=0).response.responses == []
    assert one.send().is_over_with().responses == []


def test_others_make_the_topic_of_the_share_coordinators_too() -> None:
    """Whatever is asked of a share coordinator: the answers are those of real nodes of 4.4.0."""
    cluster = ready()
    produce(cluster, 2)
    one = Fetcher(cluster, "one")
    assert one.get() == [(0, 1, 1)]
    part = asked.AcknowledgePartition(0, [asked.AcknowledgementBatch(0, 0, [1])])
    topics = [asked.AcknowledgeTopic(one.topic_id, [part])]
    described = described_offsets.DescribeShareGroupOffsetsRequestGroup("g", None)
    deleted = deleted_offsets.DeleteShareGroupOffsetsRequestTopic("orders")
    found = []
    for request in (
        m.ShareAcknowledgeRequest("g", "one", 1, topics=topics),
        m.DescribeShareGroupOffsetsRequest([described]),
        m.DeleteShareGroupOffsetsRequest("g", [deleted]),
        m.DeleteGroupsRequest(["g"]),
    ):
        _lose_states(cluster)
        answer = cluster.send(request)
        assert _has_states(cluster, answer), request
        cluster.clock.pass_time(1)
        found.append(answer.response)
        cluster.ask(m.ShareGroupHeartbeatRequest("g", "one", -1))
    acknowledged, listed, forgotten, gone = found
    (row,) = acknowledged.responses[0].partitions
    assert (row.error_code, row.error_message) == (
        codes.UNKNOWN_SERVER_ERROR,
        "Error in write state RPC. Write operation on uninitialized share partition not allowed.",
    )
    (group,) = listed.groups
    assert {part.start_offset for part in group.topics[0].partitions} == {-1}
    assert [each.error_code for each in (*forgotten.responses, *gone.results)] == [0, 0]
