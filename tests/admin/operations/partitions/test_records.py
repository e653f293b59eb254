"""Offsets listed and records deleted at the leaders of partitions, found anew when they move."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.admin import ALL_RECORDS, InstructionError
from kafka_admin_proto.admin.operations.partitions.records import OffsetSpec, RecordOperations
from kafka_admin_proto.errors import UnsupportedVersionError
from kafka_admin_proto.messages import DeleteRecordsRequest, ListOffsetsRequest, MetadataRequest
from kafka_admin_proto.messages import delete_records_response as deleted_messages
from kafka_admin_proto.messages import list_offsets_response as offsets_messages
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.values import Message
from tests.admin.fake_caller import Call, by_partition
from tests.admin.operations.topics.fake_cluster import Topic, Topics, code
from tests.helpers.mistyped import mistyped

_PARTITIONS = st.lists(
    st.tuples(st.sampled_from(["a", "b", "none"]), st.integers(0, 3)), unique=True
)
_TIMES: dict[OffsetSpec | int, int] = {
    "latest": -1, "earliest": -2, "max_timestamp": -3, "earliest_local": -4, "latest_tiered": -5,
    "earliest_pending_upload": -6, 0: 0, 1_700_000_000_000: 1_700_000_000_000,
}  # fmt: skip


class Client(RecordOperations, Topics):
    """Leaders that answer with the time they were asked for. ``moving``: partitions whose leader
    in Metadata has just lost the role to broker 3, once.
    """

    def __init__(self, versions: dict[int, VersionRange] | None = None) -> None:
        super().__init__(
            [Topic("a", [[1], [2], [3]]), Topic("b", [[2], [2]], leaders=[2, None])],
            versions=versions,
        )
        self.handlers |= {ListOffsetsRequest: self._list, DeleteRecordsRequest: self._drop}
        self.moving: set[tuple[str, int]] = set()

    def _error(self, broker: int, topic: str, partition: int) -> int:
        if (topic, partition) in self.moving:
            self.moving.discard((topic, partition))
            self.topics[topic].leaders[partition] = 3
            return code("NOT_LEADER_OR_FOLLOWER")
        assert self.topics[topic].leaders[partition] == broker
        return 0

    def _list(self, request: Message, call: Call) -> Message:
        assert isinstance(request, ListOffsetsRequest)
        assert request.replica_id == -1

        def listed(topic: str, each: Any) -> Any:
            error = self._error(call.broker, topic, each.partition_index)
            row, offset = offsets_messages.ListOffsetsPartitionResponse, each.timestamp + 10
            return row(each.partition_index, error, timestamp=-1, offset=offset)

        rows = by_partition(request, offsets_messages.ListOffsetsTopicResponse, listed)
        return offsets_messages.ListOffsetsResponse(topics=rows)

    def _drop(self, request: Message, call: Call) -> Message:
        assert isinstance(request, DeleteRecordsRequest)

        def dropped(topic: str, each: Any) -> Any:
            error = self._error(call.broker, topic, each.partition_index)
            row = deleted_messages.DeleteRecordsPartitionResult
            return row(each.partition_index, max(each.offset, 0), error)

        rows = by_partition(request, deleted_messages.DeleteRecordsTopicResult, dropped)
        return deleted_messages.DeleteRecordsResponse(topics=rows)


@given(partitions=_PARTITIONS, spec=st.sampled_from(list(_TIMES)), data=st.data())
def test_offsets_come_from_leaders_in_the_order_of_the_call(
    partitions: list[tuple[str, int]], spec: OffsetSpec | int, data: st.DataObject
) -> None:
    client = Client()
    led = [each for each in partitions if each in {("a", 0), ("a", 1), ("a", 2), ("b", 0)}]
    client.moving = data.draw(st.sets(st.sampled_from(led)) if led else st.just(set()))
    offsets = asyncio.run(client.list_offsets(dict.fromkeys(partitions, spec), timeout=0.3))
    assert [(each.topic, each.partition) for each in offsets] == partitions
    for each in offsets:
        if (each.topic, each.partition) in led:
            assert (each.error, each.offset) == (None, _TIMES[spec] + 10)
        elif (each.topic, each.partition) == ("b", 1):
            assert each.error == "LEADER_NOT_AVAILABLE"
        else:
            assert each.error == "UNKNOWN_TOPIC_OR_PARTITION"


def test_the_leaders_of_many_topics_are_looked_up_in_slices() -> None:
    client = Client()
    asyncio.run(client.list_offsets({(f"t{number}", 0): "latest" for number in range(1001)}))
    asked = [each.request for each in client.calls if isinstance(each.request, MetadataRequest)]
    assert [len(each.topics or ()) for each in asked] == [1000, 1]


def test_records_are_deleted_at_leaders() -> None:
    client = Client()
    client.moving = {("a", 1)}
    offsets = {("a", 1): 5, ("a", 0): ALL_RECORDS}
    deleted = asyncio.run(client.delete_records(offsets))
    assert [(each.partition, each.low_watermark, each.error) for each in deleted] == [
        (1, 5, None),
        (0, 0, None),
    ]


def test_what_a_broker_cannot_be_asked() -> None:
    client = Client({2: VersionRange(0, 7)})
    partition = ("a", 0)
    [found] = asyncio.run(client.list_offsets({partition: "max_timestamp"}))
    assert found.offset == 7
    with pytest.raises(UnsupportedVersionError):
        asyncio.run(client.list_offsets({partition: "earliest_local"}))


def test_mistakes_of_the_caller() -> None:
    for wrong in ("newest", -1):
        with pytest.raises(InstructionError, match="stands for no offset"):
            asyncio.run(Client().list_offsets({("a", 0): mistyped(wrong)}))
    with pytest.raises(TypeError, match=r"specs\[\('a', 0\)\]: expected str or int, got bool"):
        asyncio.run(Client().list_offsets({("a", 0): True}))
    with pytest.raises(ValueError, match="read_uncommitted, read_committed"):
        asyncio.run(Client().list_offsets({}, isolation=mistyped("committed")))
