"""Produce with acks 0: it has no answer, and an error ends the connection."""

from __future__ import annotations

import pytest

from kafka_admin_proto.messages import MetadataRequest, ProduceRequest
from kafka_admin_proto.messages.produce_request import PartitionProduceData, TopicProduceData
from kafka_admin_proto.records import Batch, Record, write_batch
from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.values import Message
from tests.server.network.test_connection import answers, asked, connect, ids


@pytest.mark.parametrize(("partition", "answered"), [(0, [2]), (7, [])])
def test_an_error_ends_the_connection(partition: int, answered: list[int]) -> None:
    seen: list[tuple[int, int]] = []

    def trace(_: int, request: object, response: Message) -> None:
        for topic in getattr(response, "responses", ()):
            seen.extend((each.index, each.error_code) for each in topic.partition_responses)

    data = write_batch(Batch.of([Record(0, 1_700_000_000_000, None, b"value")]))
    rows = [PartitionProduceData(partition, data)]
    request = ProduceRequest(None, 0, 1000, [TopicProduceData("orders", partition_data=rows)])
    with SyncCluster(1, topics={"orders": 1}, trace=trace) as cluster, connect(cluster) as client:
        client.sendall(asked(request, 9, 1))
        if answered:
            client.sendall(asked(MetadataRequest(topics=None), 12, 2))
        assert ids(answers(client, len(answered) or None)) == answered
        assert [each.value for each in cluster.records("orders")] == [b"value"] * len(answered)
    assert seen == [(partition, 0 if answered else 3)]
