"""Transactions by raw requests, on a clock that tests move."""

from __future__ import annotations

import math
from typing import Any

import pytest

from kafka_admin_proto import messages as m
from kafka_admin_proto.messages.add_partitions_to_txn_request import (
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from kafka_admin_proto.messages.alter_partition_reassignments_request import (
    ReassignablePartition,
    ReassignableTopic,
)
from kafka_admin_proto.messages.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
)
from kafka_admin_proto.messages.produce_request import PartitionProduceData, TopicProduceData
from kafka_admin_proto.messages.write_txn_markers_request import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records import Batch, Record, write_batch
from kafka_admin_proto.server.apis import Caller
from kafka_admin_proto.server.respond import respond
from kafka_admin_proto.server.transactions.transaction import MAX_EPOCH
from tests.server.served import Served
from tests.server.still_clock import StillClock

_TIMEOUT_S = 60
#: Seconds between two searches for transactions that are too old.
_SEARCH_S = 10
#: The versions of EndTxn and Produce by which clients know the first and second version of
#: transactions.
_FIRST, _SECOND = (4, 11), (5, 12)
_BOTH = pytest.mark.parametrize("versions", [_FIRST, _SECOND], ids=["first", "second"])


class _Producer:
    """The transactional id "t", asked on the first node; all have replicas of its partition."""

    def __init__(
        self, versions: tuple[int, int] = _FIRST, release: str = "4.3", nodes: int = 1
    ) -> None:
        configs = {
            "transaction.state.log.replication.factor": "1", "transaction.state.log.min.isr": "1",
        }  # fmt: skip
        self.served = Served(release, nodes, configs=configs)
        self._end, self._produce = versions
        for name, replicas in (("orders", [*range(1, nodes + 1)]), ("__transaction_state", [1])):
            topic = CreatableTopic(name, -1, -1, [CreatableReplicaAssignment(0, replicas)])
            self.served.ask(m.CreateTopicsRequest([topic], 1000))
        self.served.ask(m.FindCoordinatorRequest(key_type=1, coordinator_keys=["t"]))
        self.id, self.epoch = -1, -1
        self.sequence = 0

    def init(self, *, known: tuple[int, int] = (-1, -1)) -> Any:
        """A new epoch."""
        found = self.served.ask(m.InitProducerIdRequest("t", _TIMEOUT_S * 1000, *known))
        if found.error_code == 0:
            self.id, self.epoch, self.sequence = found.producer_id, found.producer_epoch, 0
        return found

    def add(self) -> int:
        """Make the partition part of the transaction, as clients of the first version."""
        topics = [AddPartitionsToTxnTopic("orders", [0])]
        request = m.AddPartitionsToTxnRequest([], "t", self.id, self.epoch, topics)
        (topic,) = self.served.ask(request, 3).results_by_topic_v3_and_below
        code: int = topic.results_by_partition[0].partition_error_code
        return code

    def write(self, epoch: int | None = None) -> int:
        """Produce a record of the transaction."""
        code: int = self.produced(epoch).error_code
        self.sequence += code == 0
        return code

    def produced(self, epoch: int | None = None) -> Any:
        """The row of a record of the transaction."""
        batch = Batch.of([Record(0, 0, None, b"v")])
        batch.is_transactional, batch.base_sequence = True, self.sequence
        batch.producer_id, batch.producer_epoch = self.id, self.epoch if epoch is None else epoch
        rows = [
            TopicProduceData("orders", partition_data=[PartitionProduceData(0, write_batch(batch))])
        ]
        (topic,) = self.served.ask(m.ProduceRequest("t", -1, 1000, rows), self._produce).responses
        return topic.partition_responses[0]

    def begin(self) -> None:
        """Begin a transaction with a record."""
        if self._end < 5:
            assert self.add() == 0
        assert self.write() == 0

    def end(self, *, commit: bool = True, epoch: int | None = None) -> int:
        """Commit or abort; clients of the second version go on with another epoch."""
        given = self.epoch if epoch is None else epoch
        found = self.served.ask(m.EndTxnRequest("t", self.id, given, commit), self._end)
        if found.error_code == 0 and self._end >= 5:
            self.sequence = 0
            self.id, self.epoch = found.producer_id, found.producer_epoch
        code: int = found.error_code
        return code

    def described(self) -> Any:
        (found,) = self.served.ask(m.DescribeTransactionsRequest(["t"])).transaction_states
        return found

    @property
    def log(self) -> Any:
        state = self.served.state
        topic = state.topic("orders")
        assert topic is not None
        return state.partitions.log(topic, 0).log

    def pass_time(self, seconds: float) -> None:
        clock = self.served.state.clock
        assert isinstance(clock, StillClock)
        clock.pass_time(seconds)


@_BOTH
@pytest.mark.parametrize("commit", [True, False])
def test_a_marker_ends_the_transaction(versions: tuple[int, int], commit: bool) -> None:
    producer = _Producer(versions)
    producer.init()
    producer.begin()
    assert producer.described().transaction_state == "Ongoing"
    assert producer.log.last_stable_offset == 0
    epoch = producer.epoch
    assert producer.end(commit=commit) == 0
    assert producer.epoch == epoch + (versions == _SECOND)
    assert producer.described().transaction_state == f"Complete{'Commit' if commit else 'Abort'}"
    assert producer.log.last_stable_offset == producer.log.end_offset == 2
    assert len(producer.log.aborted_transactions(0, 2)) == (not commit)
    # A request that was sent twice is answered as the first one, another one is refused.
    assert producer.end(commit=commit, epoch=epoch) == 0
    assert producer.end(commit=not commit, epoch=epoch) == codes.INVALID_TXN_STATE


@_BOTH
def test_an_older_epoch_is_fenced(versions: tuple[int, int]) -> None:
    producer = _Producer(versions)
    producer.init()
    producer.begin()
    old = producer.epoch
    assert producer.init().error_code == codes.CONCURRENT_TRANSACTIONS
    assert producer.described().transaction_state == "CompleteAbort"
    assert producer.init().error_code == 0
    assert producer.epoch == old + 2
    assert producer.write(epoch=old) == codes.INVALID_PRODUCER_EPOCH
    assert producer.end(epoch=old) == codes.PRODUCER_FENCED
    assert producer.init(known=(producer.id, old)).error_code == codes.PRODUCER_FENCED


@pytest.mark.parametrize(("release", "start_offset"), [("3.9", 0), ("4.3", -1)])
def test_who_refuses_an_older_epoch_amid_a_transaction(release: str, start_offset: int) -> None:
    """In 3.9 it is the log, which says where it begins: who is in it is not verified."""
    producer = _Producer(release=release)
    producer.init()
    producer.init()
    producer.begin()
    row = producer.produced(producer.epoch - 1)
    assert (row.error_code, row.log_start_offset) == (codes.INVALID_PRODUCER_EPOCH, start_offset)


@_BOTH
def test_a_transaction_that_is_too_old_is_aborted(versions: tuple[int, int]) -> None:
    producer = _Producer(versions)
    producer.init()
    producer.begin()
    producer.pass_time(_TIMEOUT_S - 1)
    assert producer.described().transaction_state == "Ongoing"
    producer.pass_time(1 + _SEARCH_S)
    assert producer.described().transaction_state == "CompleteAbort"
    assert producer.described().producer_epoch == producer.epoch + 1
    assert len(producer.log.aborted_transactions(0, 2)) == 1
    # A client of the second version has the epoch of one whose request was sent twice.
    assert producer.end() == (
        codes.PRODUCER_FENCED if versions == _FIRST else codes.INVALID_TXN_STATE
    )


def test_records_without_a_partition_added_are_refused() -> None:
    producer = _Producer()
    producer.init()
    assert producer.write() == codes.TRANSACTION_ABORTABLE
    older = _Producer((4, 10))
    older.init()
    assert older.write() == codes.INVALID_TXN_STATE


@_BOTH
def test_an_id_whose_epochs_are_used_up_gets_another(versions: tuple[int, int]) -> None:
    producer = _Producer(versions)
    producer.init()
    shard = producer.served.state.transactions.led("t")
    shard.change(shard.found("t").changed(0, epoch=MAX_EPOCH - 1))
    producer.epoch, first = MAX_EPOCH - 1, producer.id
    producer.begin()
    assert producer.end() == 0
    if versions == _FIRST:
        assert producer.init(known=(producer.id, producer.epoch)).error_code == 0
    assert producer.id != first
    assert producer.epoch == 0
    producer.begin()
    assert producer.end() == 0


def test_an_id_whose_epochs_are_used_up_is_not_the_older_producers() -> None:
    """Only the latest producer of an id goes on with another one (``ProducerIdRotation``)."""
    producer = _Producer()
    producer.init()
    shard = producer.served.state.transactions.led("t")
    shard.change(shard.found("t").changed(0, epoch=MAX_EPOCH - 1))
    before = shard.found("t")
    older = producer.init(known=(producer.id, MAX_EPOCH - 2))
    assert older.error_code == codes.UNKNOWN_SERVER_ERROR
    assert shard.found("t") == before
    assert producer.init(known=(producer.id, MAX_EPOCH - 1)).producer_epoch == 0


def test_a_fence_counts_though_the_log_takes_no_record(monkeypatch: pytest.MonkeyPatch) -> None:
    producer = _Producer()
    producer.served.state.cluster.features["transaction.version"] = 1
    producer.init()
    producer.begin()
    shard = producer.served.state.transactions.led("t")
    refused = codes.COORDINATOR_NOT_AVAILABLE
    fenced = m.InitProducerIdRequest("t", _TIMEOUT_S * 1000)
    for _ in range(2):
        with monkeypatch.context() as patch:
            patch.setattr(shard, "write", lambda _, __, then, **___: then(refused))
            assert producer.served.ask(fenced).error_code == refused
        assert producer.end() == codes.PRODUCER_FENCED
    assert (shard.found("t").state, shard.found("t").epoch) == ("Ongoing", 1)
    assert producer.served.ask(fenced).error_code == codes.CONCURRENT_TRANSACTIONS
    assert (shard.found("t").state, shard.found("t").epoch) == ("CompleteAbort", 1)
    assert producer.served.ask(fenced).producer_epoch == 2


@pytest.mark.parametrize(("versions", "code"), [
    (_FIRST, codes.INVALID_PRODUCER_ID_MAPPING), (_SECOND, codes.CONCURRENT_TRANSACTIONS),
])  # fmt: skip
def test_what_an_end_meets_first(versions: tuple[int, int], code: int) -> None:
    """By the second version a change under way comes before the producer's id."""
    producer = _Producer(versions)
    producer.init()
    producer.begin()
    producer.served.state.transactions.led("t").pending["t"] = "Ongoing"
    producer.id += 1
    assert producer.end() == code


@pytest.mark.parametrize(
    ("timeout_ms", "code"),
    [
        (0, codes.INVALID_TRANSACTION_TIMEOUT),
        (900_001, codes.INVALID_TRANSACTION_TIMEOUT),
        (900_000, 0),
    ],
)
def test_a_timeout_has_bounds(timeout_ms: int, code: int) -> None:
    served = _Producer().served
    assert served.ask(m.InitProducerIdRequest("t", timeout_ms)).error_code == code


@pytest.mark.exhaustive
def test_an_id_that_is_not_used_is_forgotten() -> None:
    producer = _Producer()
    producer.init()
    producer.pass_time(8 * 24 * 3600)
    assert producer.described().error_code == codes.TRANSACTIONAL_ID_NOT_FOUND
    assert producer.add() == codes.INVALID_PRODUCER_ID_MAPPING


def test_a_hanging_transaction_is_ended_by_a_marker() -> None:
    producer = _Producer()
    producer.init()
    producer.begin()
    topics = [WritableTxnMarkerTopic("orders", [0])]
    markers = [WritableTxnMarker(producer.id, producer.epoch, False, topics, 0)]
    answer = producer.served.ask(m.WriteTxnMarkersRequest(markers), 1)
    assert answer.markers[0].topics[0].partitions[0].error_code == 0
    assert producer.log.last_stable_offset == 2


@pytest.mark.parametrize(
    ("end", "code"),
    [
        ("caught up", 0),
        ("over", codes.REQUEST_TIMED_OUT),
        ("other leader", codes.NOT_LEADER_OR_FOLLOWER),
        ("deleted", codes.UNKNOWN_TOPIC_OR_PARTITION),
    ],
)
def test_a_marker_waits_for_the_replicas_in_sync(end: str, code: int) -> None:
    served = Served(nodes=3)
    topic = CreatableTopic("orders", -1, -1, [CreatableReplicaAssignment(0, [1, 2])])
    served.ask(m.CreateTopicsRequest([topic], 1000))
    served.state.partitions.delay(2, math.inf)
    marked = [WritableTxnMarkerTopic("orders", [0]), WritableTxnMarkerTopic("nowhere", [0])]
    request = m.WriteTxnMarkersRequest([WritableTxnMarker(7, 0, False, marked, 0)])
    answer = respond(served.state, 27, request, Caller(1, 1))
    assert answer.wait is not None

    def is_complete(*, is_over: bool = False) -> bool:
        assert answer.wait is not None
        return answer.wait.complete(answer, served.state, answer.wait.keys, is_over)

    assert not is_complete()
    match end:
        case "caught up":
            served.state.partitions.delay(2, 0)
        case "other leader":
            row = ReassignablePartition(0, [2])
            topics = [ReassignableTopic("orders", [row])]
            served.ask(m.AlterPartitionReassignmentsRequest(topics=topics))
        case "deleted":
            served.ask(m.DeleteTopicsRequest(topic_names=["orders"], timeout_ms=1000), 5)
    assert is_complete(is_over=end == "over")
    assert isinstance(answer.response, m.WriteTxnMarkersResponse)
    found = [each.partitions[0].error_code for each in answer.response.markers[0].topics]
    assert found == [code, codes.UNKNOWN_TOPIC_OR_PARTITION]


@_BOTH
def test_an_end_that_is_decided_waits_until_replicas_have_the_markers(
    versions: tuple[int, int],
) -> None:
    producer = _Producer(versions, nodes=2)
    producer.init()
    producer.begin()
    known = producer.id, producer.epoch
    partitions = producer.served.state.partitions
    partitions.delay(2, math.inf)
    assert producer.end() == 0
    assert producer.end(epoch=known[1]) == codes.CONCURRENT_TRANSACTIONS
    assert producer.init(known=known).error_code == codes.CONCURRENT_TRANSACTIONS
    assert producer.add() == codes.CONCURRENT_TRANSACTIONS
    producer.pass_time(1)
    assert producer.described().transaction_state == "PrepareCommit"
    assert (producer.log.last_stable_offset, producer.log.end_offset) == (0, 2)
    partitions.delay(2, 0)
    producer.pass_time(1)
    assert producer.described().transaction_state == "CompleteCommit"
    assert producer.log.last_stable_offset == producer.log.end_offset == 2


def test_brokers_ask_whether_partitions_are_of_a_transaction() -> None:
    """They change nothing by it (``verifyOnly``)."""
    producer = _Producer()
    producer.init()
    topics = [AddPartitionsToTxnTopic("orders", [0])]
    row = AddPartitionsToTxnTransaction("t", producer.id, producer.epoch, True, topics)

    def verified() -> int:
        found = producer.served.ask(m.AddPartitionsToTxnRequest([row]))
        (topic,) = found.results_by_transaction[0].topic_results
        code: int = topic.results_by_partition[0].partition_error_code
        return code

    assert verified() == codes.TRANSACTION_ABORTABLE
    assert producer.described().transaction_state == "Empty"
    producer.begin()
    assert verified() == 0


def test_lists_are_filtered() -> None:
    producer = _Producer()
    producer.init()

    def listed(**filters: Any) -> list[str]:
        found = producer.served.ask(m.ListTransactionsRequest(**filters))
        return [each.transactional_id for each in found.transaction_states]

    assert listed() == listed(state_filters=["Empty"]) == ["t"]
    assert listed(transactional_id_pattern="t|u") == listed(producer_id_filters=[producer.id])
    for filters in (
        {"state_filters": ["Ongoing"]}, {"producer_id_filters": [77]},
        {"transactional_id_pattern": "tt"}, {"state_filters": ["Other"]},
    ):  # fmt: skip
        assert listed(**filters) == []
    other = producer.served.ask(m.ListTransactionsRequest(state_filters=["Other"]))
    assert other.unknown_state_filters == ["Other"]


@pytest.mark.parametrize("pattern", ["(", r"(a)\1", "a**", "(?<=a)b"])
def test_what_is_no_pattern_is_refused(pattern: str) -> None:
    asked = m.ListTransactionsRequest(transactional_id_pattern=pattern)
    assert _Producer().served.ask(asked).error_code == codes.INVALID_REGULAR_EXPRESSION
