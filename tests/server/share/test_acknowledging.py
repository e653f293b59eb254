"""Answers to acknowledgements, as real nodes of 4.4.0 give them."""

from __future__ import annotations

import pytest

from kafka_admin_proto import messages as m
from kafka_admin_proto.messages.share_acknowledge_request import (
    AcknowledgementBatch,
    AcknowledgePartition,
    AcknowledgeTopic,
)
from tests.server.share.sharing import Fetcher, produce, ready

_ACCEPTED, _REFUSED = AcknowledgementBatch(0, 0, [1]), AcknowledgementBatch(2, 1, [1])


@pytest.mark.parametrize(
    ("parts", "rows"),
    [
        ([AcknowledgePartition(1)], []),
        ([AcknowledgePartition(0, [_REFUSED]), AcknowledgePartition(1)], [0]),
        ([AcknowledgePartition(0, [_ACCEPTED]), AcknowledgePartition(1)], [0, 1]),
    ],
)
def test_a_partition_without_acknowledgements_has_a_row_beside_another(
    parts: list[AcknowledgePartition], rows: list[int]
) -> None:
    """One whose acknowledgements are looked at, and not for their form alone."""
    cluster = ready()
    produce(cluster, 1)
    one = Fetcher(cluster, "one")
    one.get()
    topics = [AcknowledgeTopic(one.topic_id, parts)]
    found = cluster.ask(m.ShareAcknowledgeRequest("g", one.id, one.epoch, topics=topics))
    assert found.error_code == 0
    numbers = [part.partition_index for each in found.responses for part in each.partitions]
    assert sorted(numbers) == rows
