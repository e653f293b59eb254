"""Answers to acknowledgements, as real nodes of 4.4.0 give them."""

from __future__ import annotations

import pytest

from kafka_admin_proto import messages as m
from kafka_admin_proto.messages import alter_share_group_offsets_request as alter
from kafka_admin_proto.messages import delete_share_group_offsets_request as delete
from kafka_admin_proto.messages.share_acknowledge_request import (
    AcknowledgementBatch,
    AcknowledgePartition,
    AcknowledgeTopic,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.values import Message
from tests.server.share.sharing import Fetcher, Sharer, produce, ready

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


_BEGINS = alter.AlterShareGroupOffsetsRequestPartition(0, 0)


@pytest.mark.parametrize(
    ("change", "code", "text"),
    [
        (
            m.DeleteShareGroupOffsetsRequest(
                "g", [delete.DeleteShareGroupOffsetsRequestTopic("orders")]
            ),
            codes.UNKNOWN_SERVER_ERROR,
            "Write operation on uninitialized share partition not allowed.",
        ),
        (
            m.AlterShareGroupOffsetsRequest(
                "g", [alter.AlterShareGroupOffsetsRequestTopic("orders", [_BEGINS])]
            ),
            codes.NOT_LEADER_OR_FOLLOWER,
            "The coordinator rejected the request because the state epoch did not match.",
        ),
    ],
)
def test_what_the_share_coordinator_refuses_has_its_text(
    change: Message, code: int, text: str
) -> None:
    """The group's offsets were deleted, or altered, since the leader has read its state."""
    cluster = ready()
    produce(cluster, 1)
    one = Fetcher(cluster, "one")
    one.get()
    Sharer(cluster, "one").beat(member_epoch=-1)
    changed = cluster.send(change)
    cluster.clock.pass_time(1)
    assert changed.response.error_code == 0
    topics = [AcknowledgeTopic(one.topic_id, [AcknowledgePartition(0, [_ACCEPTED])])]
    found = cluster.ask(m.ShareAcknowledgeRequest("g", one.id, one.epoch, topics=topics))
    (row,) = found.responses[0].partitions
    assert (row.error_code, row.error_message) == (code, f"Error in write state RPC. {text}")
