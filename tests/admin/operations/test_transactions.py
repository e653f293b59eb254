"""Transactions of all brokers, producers at their leaders, markers and fences."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kafka_admin_proto.admin.errors import ConnectionFailedError, InstructionError
from kafka_admin_proto.admin.operations.common.topic_partitions import TopicPartitions
from kafka_admin_proto.admin.operations.producers import ActiveProducer
from kafka_admin_proto.admin.operations.transactions import (
    AbortedTransaction,
    OpenTransaction,
    TransactionOperations,
)
from kafka_admin_proto.messages import describe_producers_response as producers
from kafka_admin_proto.messages import describe_transactions_response as described
from kafka_admin_proto.messages import metadata_response as metadata
from kafka_admin_proto.messages import write_txn_markers_response as markers
from kafka_admin_proto.messages.describe_producers_request import DescribeProducersRequest
from kafka_admin_proto.messages.describe_transactions_request import DescribeTransactionsRequest
from kafka_admin_proto.messages.find_coordinator_request import FindCoordinatorRequest
from kafka_admin_proto.messages.init_producer_id_request import InitProducerIdRequest
from kafka_admin_proto.messages.init_producer_id_response import InitProducerIdResponse
from kafka_admin_proto.messages.list_transactions_request import ListTransactionsRequest
from kafka_admin_proto.messages.list_transactions_response import (
    ListTransactionsResponse,
    TransactionState,
)
from kafka_admin_proto.messages.metadata_request import MetadataRequest
from kafka_admin_proto.messages.write_txn_markers_request import WriteTxnMarkersRequest
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.values import Message
from tests.admin.fake_caller import Call, FakeCaller
from tests.admin.operations.common.coordinators import coordinator_of, find_coordinator

NOT_LEADER, CONCURRENT, UNKNOWN_ID = 6, 51, 105


class Client(TransactionOperations, FakeCaller):
    """Three brokers; the partitions 0 to 2 of topic "t" are led by the brokers 1 to 3."""

    def __init__(self, list_version: int = 2) -> None:
        super().__init__(
            {
                FindCoordinatorRequest: find_coordinator,
                ListTransactionsRequest: self._list,
                DescribeTransactionsRequest: self._describe,
                MetadataRequest: self._metadata,
                DescribeProducersRequest: self._producers,
                WriteTxnMarkersRequest: self._markers,
                InitProducerIdRequest: self._init,
            },
            versions={66: VersionRange(0, list_version)},
        )
        #: Answers that are transient errors before one that is not.
        self.passing = 0
        self.gone.add(2)

    def _passes(self) -> bool:
        self.passing -= 1
        return self.passing >= 0

    def _list(self, request: Message, call: Call) -> Message | Exception:
        if call.broker == 2:
            return ConnectionFailedError("no route", address="b2:9092")
        state = TransactionState(f"id-{call.broker}", call.broker * 10, "Ongoing")
        return ListTransactionsResponse(unknown_state_filters=["Odd"], transaction_states=[state])

    def _describe(self, request: Message, call: Call) -> Message:
        assert isinstance(request, DescribeTransactionsRequest)
        rows = []
        for id_ in request.transactional_ids:
            assert call.broker == coordinator_of(id_)
            if id_ == "gone":
                rows.append(described.TransactionState(UNKNOWN_ID, id_))
                continue
            topics = [described.TopicData("t", [2, 0])] if id_ == "open" else []
            start = 5 if topics else -1
            rows.append(described.TransactionState(0, id_, "Ongoing", 60_000, start, 7, 1, topics))
        return described.DescribeTransactionsResponse(transaction_states=rows)

    def _metadata(self, request: Message, call: Call) -> Message:
        partition = metadata.MetadataResponsePartition
        partitions = [partition(partition_index=at, leader_id=at + 1) for at in range(3)]
        partitions.append(partition(partition_index=3, leader_id=-1))
        topic = metadata.MetadataResponseTopic(name="t", partitions=partitions)
        return metadata.MetadataResponse(topics=[topic])

    def _producers(self, request: Message, call: Call) -> Message:
        assert isinstance(request, DescribeProducersRequest)
        (topic,) = request.topics
        rows = []
        for at in topic.partition_indexes:
            if at + 1 != call.broker or self._passes():
                rows.append(producers.PartitionResponse(at, NOT_LEADER))
                continue
            states = [
                producers.ProducerState(9, 1, 3, 77, 4, 12),
                producers.ProducerState(8, 0, 3, 77, -1, -1),
            ]
            rows.append(producers.PartitionResponse(at, active_producers=states))
        return producers.DescribeProducersResponse(
            topics=[producers.TopicResponse(topic.name, rows)]
        )

    def _markers(self, request: Message, call: Call) -> Message:
        assert isinstance(request, WriteTxnMarkersRequest)
        (marker,) = request.markers
        assert not marker.transaction_result
        (topic,) = marker.topics
        code = NOT_LEADER if self._passes() else 0
        partitions = [
            markers.WritableTxnMarkerPartitionResult(at, code) for at in topic.partition_indexes
        ]
        topics = [markers.WritableTxnMarkerTopicResult(topic.name, partitions)]
        return markers.WriteTxnMarkersResponse(
            [markers.WritableTxnMarkerResult(marker.producer_id, topics)]
        )

    def _init(self, request: Message, call: Call) -> Message:
        assert isinstance(request, InitProducerIdRequest)
        assert request.transactional_id is not None
        assert call.broker == coordinator_of(request.transactional_id)
        if self._passes():
            return InitProducerIdResponse(error_code=CONCURRENT)
        if request.transactional_id == "not mine":
            return InitProducerIdResponse(error_code=53)
        return InitProducerIdResponse(producer_id=7, producer_epoch=4)


def test_a_listing_joins_the_brokers_that_answer() -> None:
    listing = asyncio.run(Client().list_transactions(states=["Ongoing", "Odd"]))
    assert [(each.transactional_id, each.coordinator) for each in listing.transactions] == [
        ("id-1", 1),
        ("id-3", 3),
    ]
    assert [(each.broker, each.error) for each in listing.failed] == [(2, "ConnectionFailedError")]
    assert listing.unknown_states == ["Odd"]


@pytest.mark.parametrize(("duration", "pattern", "needed"), [(5, None, 1), (None, "a.*", 2)])
def test_filters_that_a_broker_lacks_are_its_failure(
    duration: int | None, pattern: str | None, needed: int
) -> None:
    for version in range(3):
        client = Client(version)
        listing = asyncio.run(client.list_transactions(min_duration_ms=duration, pattern=pattern))
        errors = {each.error for each in listing.failed}
        assert ("UnsupportedVersionError" in errors) == (version < needed)


def test_transactions_are_described_at_their_coordinators() -> None:
    opened, idle, gone = asyncio.run(Client().describe_transactions(["open", "idle", "gone"]))
    assert opened.partitions == [TopicPartitions("t", [0, 2])]
    assert (opened.start_time_ms, opened.coordinator) == (5, coordinator_of("open"))
    assert (idle.start_time_ms, idle.partitions, idle.error) == (None, [], None)
    assert (gone.error, gone.state) == ("TRANSACTIONAL_ID_NOT_FOUND", None)


@pytest.mark.parametrize("passing", [0, 3])
def test_producers_are_described_at_their_leaders(passing: int) -> None:
    client = Client()
    client.passing = passing
    wanted = [("t", 2), ("t", 0), ("t", 9), ("u", 0)]
    two, zero, *unknown = asyncio.run(client.describe_producers(wanted, timeout=2))
    expected = [ActiveProducer(8, 0, 3, 77, None, None), ActiveProducer(9, 1, 3, 77, 4, 12)]
    assert (two.broker, two.producers) == (3, expected)
    assert (zero.broker, zero.producers) == (1, expected)
    assert {each.error for each in unknown} == {"UNKNOWN_TOPIC_OR_PARTITION"}


def test_a_replica_is_asked_where_it_is_named_and_partitions_without_leaders_wait() -> None:
    client = Client()
    (found,) = asyncio.run(client.describe_producers([("t", 1)], broker=2))
    assert (found.broker, found.error) == (2, None)
    assert [type(call.request) for call in client.calls] == [DescribeProducersRequest]
    (waited,) = asyncio.run(client.describe_producers([("t", 3)], timeout=0.05))
    assert waited.error == "LEADER_NOT_AVAILABLE"


@pytest.mark.parametrize(
    ("partition", "offset", "found"),
    [
        (0, 12, (9, 1, 4, None)),
        (0, 13, (None, None, 0, "NoTransaction")),
        (3, 12, (None, None, 0, "LEADER_NOT_AVAILABLE")),
    ],
)
def test_an_open_transaction_is_found_by_its_offset(
    partition: int, offset: int, found: tuple[Any, ...]
) -> None:
    open_ = asyncio.run(Client().find_open_transaction("t", partition, offset, timeout=0.1))
    assert (open_.topic, open_.partition, open_.start_offset) == ("t", partition, offset)
    assert (
        open_.producer_id, open_.producer_epoch, open_.coordinator_epoch, open_.error,
    ) == found  # fmt: skip


def test_an_abort_marker_goes_to_the_leader_wherever_that_is() -> None:
    client = Client()
    client.passing = 1
    hanging = OpenTransaction(topic="t", partition=1, producer_id=9, producer_epoch=1)
    aborted = asyncio.run(client.abort_transaction(hanging))
    assert aborted.error is None
    asked = [
        call.broker for call in client.calls if isinstance(call.request, WriteTxnMarkersRequest)
    ]
    assert asked == [2, 2]


def test_what_was_not_found_is_not_aborted() -> None:
    client = Client()
    not_found = OpenTransaction(topic="t", partition=0, error="NoTransaction", message="why")
    aborted = asyncio.run(client.abort_transaction(not_found))
    assert aborted == AbortedTransaction("t", 0, None, "NoTransaction", "why")
    with pytest.raises(InstructionError, match="on t-0 says nothing of its producer"):
        asyncio.run(client.abort_transaction(OpenTransaction(topic="t", partition=0)))
    assert not client.calls


def test_producers_are_fenced_at_their_coordinators() -> None:
    client = Client()
    client.passing = 2
    fenced, refused = asyncio.run(client.fence_producers(["a", "not mine"]))
    assert (fenced.producer_id, fenced.producer_epoch, fenced.error) == (7, 4, None)
    assert refused.error == "TRANSACTIONAL_ID_AUTHORIZATION_FAILED"
