"""Faults of Produce and Fetch: by partition, by count, after the append, and wrong bytes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from kafka_admin_proto.errors import DecodeError
from kafka_admin_proto.messages import DeleteRecordsRequest, FetchRequest, ProduceRequest
from kafka_admin_proto.messages.delete_records_request import (
    DeleteRecordsPartition,
    DeleteRecordsTopic,
)
from kafka_admin_proto.messages.fetch_request import FetchPartition, FetchTopic
from kafka_admin_proto.messages.produce_request import PartitionProduceData, TopicProduceData
from kafka_admin_proto.records import Batch, Record, read_batches, write_batch
from kafka_admin_proto.server import SyncCluster
from tests.server.differential.wire import Nodes

_NOT_LEADER = 6


@pytest.fixture
def cluster() -> Iterator[SyncCluster]:
    with SyncCluster(topics={"orders": 3, "other": 1}) as cluster:
        yield cluster


@pytest.fixture
def nodes(cluster: SyncCluster) -> Iterator[Nodes]:
    with Nodes(cluster.bootstrap_servers) as nodes:
        yield nodes


def produce(acks: int = -1) -> ProduceRequest:
    data = write_batch(Batch.of([Record(0, 1_700_000_000_000, None, b"value")]))
    rows = [PartitionProduceData(number, data) for number in range(3)]
    other = TopicProduceData("other", partition_data=[PartitionProduceData(0, data)])
    topics = [TopicProduceData("orders", partition_data=rows), other]
    return ProduceRequest(None, acks, 1000, topics)


def codes(response: Any) -> dict[tuple[str, int], int]:
    return {
        (topic.name, each.index): each.error_code
        for topic in response.responses
        for each in topic.partition_responses
    }


def places(cluster: SyncCluster, topic: str = "orders") -> list[int]:
    return [each.partition for each in cluster.records(topic)]


@pytest.mark.parametrize("acks", [1, -1])
def test_a_partition_that_fails_gets_no_records(
    cluster: SyncCluster, nodes: Nodes, acks: int
) -> None:
    text = "api=Produce topic=orders partition=1 error=NOT_LEADER_OR_FOLLOWER count=1"
    fault = cluster.faults.add_text(text)
    found = codes(nodes.ask(0, produce(acks), 12))
    wanted = dict.fromkeys([("orders", 0), ("orders", 2), ("other", 0)], 0)
    assert found == {**wanted, ("orders", 1): _NOT_LEADER}
    assert (places(cluster), places(cluster, "other")) == ([0, 2], [0])
    assert set(codes(nodes.ask(0, produce(acks), 12)).values()) == {0}
    assert fault.fired == 1


def test_topics_by_their_ids_fail_as_well(cluster: SyncCluster, nodes: Nodes) -> None:
    """Newer clients name none of the topics that they write to and fetch from."""
    topic = cluster.state.topic("orders")
    assert topic is not None
    cluster.faults.add(topic="orders", partition=1, error=_NOT_LEADER)
    written = produce()
    written.topic_data = [TopicProduceData("", topic.id, written.topic_data[0].partition_data)]
    found = codes(nodes.ask(0, written, 13))
    assert found == {("", 0): 0, ("", 1): _NOT_LEADER, ("", 2): 0}
    assert places(cluster) == [0, 2]
    fetched = fetch(0, -1, range(3), wait_ms=0)
    fetched.topics = [FetchTopic("", topic.id, fetched.topics[0].partitions)]
    rows = [
        (each.topic_id, row.partition_index, row.error_code, bool(row.records))
        for each in nodes.ask(0, fetched, 17).responses
        for row in each.partitions
    ]
    assert sorted(rows) == [
        (topic.id, 0, 0, True),
        (topic.id, 1, _NOT_LEADER, False),
        (topic.id, 2, 0, True),
    ]


def test_all_partitions_of_a_topic_fail(cluster: SyncCluster, nodes: Nodes) -> None:
    cluster.faults.add(api="Produce", topic="o*", error="KAFKA_STORAGE_ERROR", count=1)
    assert set(codes(nodes.ask(0, produce(), 12)).values()) == {56}
    assert places(cluster) == []


@pytest.mark.exhaustive
def test_records_that_are_not_deleted(cluster: SyncCluster, nodes: Nodes) -> None:
    nodes.ask(0, produce(), 12)
    cluster.faults.add(api="DeleteRecords", topic="orders", partition=2, error=_NOT_LEADER)
    rows = [DeleteRecordsPartition(number, -1) for number in range(3)]
    request = DeleteRecordsRequest([DeleteRecordsTopic("orders", rows)], 1000)
    answer = nodes.ask(0, request, 2)
    found = {x.partition_index: x.error_code for each in answer.topics for x in each.partitions}
    assert found == {0: 0, 1: 0, 2: _NOT_LEADER}
    assert places(cluster) == [2]


def fetch(session: int, epoch: int, partitions: range, wait_ms: int = 30_000) -> FetchRequest:
    parts = [FetchPartition(number, partition_max_bytes=1 << 20) for number in partitions]
    topics = [FetchTopic("orders", partitions=parts)]
    return FetchRequest(
        max_wait_ms=wait_ms,
        min_bytes=1,
        session_id=session,
        session_epoch=epoch,
        topics=topics if partitions else [],
    )


def test_a_partition_of_a_session_fails_at_once(cluster: SyncCluster, nodes: Nodes) -> None:
    """Further requests of a session do not name it; a long poll does not wait for a failure."""
    first = nodes.ask(0, fetch(0, 0, range(3), wait_ms=0), 12)
    cluster.faults.add(api="Fetch", topic="orders", partition=1, error=_NOT_LEADER, count=1)
    answer = nodes.ask(0, fetch(first.session_id, 1, range(0)), 12)
    rows = {x.partition_index: x for each in answer.responses for x in each.partitions}
    assert {number: each.error_code for number, each in rows.items()} == {1: _NOT_LEADER}
    cluster.produce("orders", [{"value": "v", "partition": 1}])
    answer = nodes.ask(0, fetch(first.session_id, 2, range(0)), 12)
    (row,) = answer.responses[0].partitions
    assert (row.partition_index, row.error_code, bool(row.records)) == (1, 0, True)


@pytest.mark.parametrize("cut", ["within", "after"])
def test_an_answer_is_lost_after_the_append(cluster: SyncCluster, nodes: Nodes, cut: str) -> None:
    cluster.faults.add_text(f"api=Produce cut={cut} count=1")
    nodes.ask(0, produce(), 12)
    assert places(cluster) == [0, 1, 2]


def test_records_with_a_wrong_checksum(cluster: SyncCluster, nodes: Nodes) -> None:
    """A fault that is for records is not used up by an answer without some."""
    fault = cluster.faults.add_text("api=Fetch topic=orders partition=2 garbage=records count=1")
    nodes.ask(0, fetch(0, -1, range(3), wait_ms=0), 12)
    assert fault.fired == 0
    cluster.produce("orders", [{"value": f"v{number}", "partition": number} for number in range(3)])
    wrong, right = (nodes.ask(0, fetch(0, -1, range(3), wait_ms=0), 12) for _ in range(2))
    assert fault.fired == 1
    for each, checks in ((wrong, [True, True, False]), (right, [True] * 3)):
        rows = each.responses[0].partitions
        assert [_checks(row.records) for row in rows] == checks


def _checks(records: bytes) -> bool:
    try:
        list(read_batches(records))
    except DecodeError as error:
        assert "CRC" in str(error)
        return False
    return True


@pytest.mark.exhaustive
def test_aiokafka_notices_a_wrong_checksum(cluster: SyncCluster) -> None:
    cluster.produce("orders", [{"value": "v", "partition": 0}])

    async def consume() -> bytes | None:
        from aiokafka import AIOKafkaConsumer, TopicPartition
        from aiokafka.errors import CorruptRecordException

        async with AIOKafkaConsumer(
            bootstrap_servers=cluster.bootstrap_servers, auto_offset_reset="earliest"
        ) as consumer:
            consumer.assign([TopicPartition("orders", 0)])
            with pytest.raises(CorruptRecordException):
                await asyncio.wait_for(consumer.getone(), 30)
            return (await asyncio.wait_for(consumer.getone(), 30)).value  # type: ignore[no-any-return]

    with cluster.faults.add(api="Fetch", garbage="records", count=1):
        assert asyncio.run(consume()) == b"v"
