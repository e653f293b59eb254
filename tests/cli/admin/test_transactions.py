"""``kap transactions`` and ``kap producers``: listed, described, aborted."""

from __future__ import annotations

import json

import pytest

import kafka_admin_proto.messages as m
from kafka_admin_proto import Message
from tests.cli.admin.conftest import Run
from tests.cli.admin.scripted_broker import ScriptedBroker

NOT_FOUND = 105
#: Offset of the transaction that hangs on partition 0 of topic orders.
START = 4711


@pytest.fixture
def broker(broker: ScriptedBroker, monkeypatch: pytest.MonkeyPatch) -> ScriptedBroker:
    """The usual one, with a transaction that is open, "pay-1" of producer 9."""

    def listed(request: m.ListTransactionsRequest) -> Message:
        r = m.ListTransactionsResponse
        there = not request.state_filters or "Ongoing" in request.state_filters
        unknown = [each for each in request.state_filters if each == "Nonsense"]
        state = r.TransactionState("pay-1", 9, "Ongoing")
        return r(unknown_state_filters=unknown, transaction_states=[state] if there else [])

    def described(request: m.DescribeTransactionsRequest) -> Message:
        r = m.DescribeTransactionsResponse
        return r(
            transaction_states=[
                r.TransactionState(
                    transactional_id=each,
                    transaction_state="Ongoing",
                    transaction_timeout_ms=60_000,
                    transaction_start_time_ms=1_700_000_000_000,
                    producer_id=9,
                    producer_epoch=3,
                    topics=[r.TopicData("orders", [0])],
                )
                if each == "pay-1"
                else r.TransactionState(error_code=NOT_FOUND, transactional_id=each)
                for each in request.transactional_ids
            ]
        )

    def producing(request: m.DescribeProducersRequest) -> Message:
        r = m.DescribeProducersResponse
        (topic,) = request.topics
        producer = r.ProducerState(9, 3, 5, 1_700_000_000_000, 2, START)
        return r(
            topics=[
                r.TopicResponse(
                    topic.name,
                    [
                        r.PartitionResponse(partition_index=each, active_producers=[producer])
                        for each in topic.partition_indexes
                    ],
                )
            ]
        )

    def marked(request: m.WriteTxnMarkersRequest) -> Message:
        r = m.WriteTxnMarkersResponse
        (marker,) = request.markers
        (topic,) = marker.topics
        rows = [r.WritableTxnMarkerPartitionResult(each) for each in topic.partition_indexes]
        result = r.WritableTxnMarkerTopicResult(topic.name, rows)
        return r([r.WritableTxnMarkerResult(marker.producer_id, [result])])

    for name, answer in (
        ("ListTransactions", listed),
        ("DescribeTransactions", described),
        ("DescribeProducers", producing),
        ("WriteTxnMarkers", marked),
    ):
        monkeypatch.setattr(ScriptedBroker, f"_{name}", staticmethod(answer), raising=False)
    return broker


def test_transactions_are_listed(run: Run) -> None:
    found = json.loads(run("transactions list --state Ongoing --state Nonsense -o json").stdout)
    (row,) = found["transactions"]
    assert (row["transactional_id"], row["producer_id"], row["state"]) == ("pay-1", 9, "Ongoing")
    assert found["unknown_states"] == ["Nonsense"]
    assert run("transactions list --state Empty").stderr == (
        "no transaction is as the options say: kap transactions list without options lists all\n"
    )


def test_brokers_that_refuse_are_not_taken_for_none(run: Run, broker: ScriptedBroker) -> None:
    refusal = m.ListTransactionsResponse(error_code=128)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(broker, "_ListTransactions", lambda request: refusal)
        result = run("transactions list --transactional-id-pattern (")
    assert result.exit_code == 1
    assert "INVALID_REGULAR_EXPRESSION: The regular expression cannot be compiled" in result.stderr
    assert "no transaction" not in result.stderr


def test_transactions_are_described_each_on_its_own(run: Run) -> None:
    result = run("transactions describe pay-1 --transactional-id other -o json")
    found = json.loads(result.stdout)
    assert result.exit_code == 1
    assert [each["state"] for each in found["transactions"]] == ["Ongoing", None]
    assert found["transactions"][0]["partitions"] == [{"topic": "orders", "partitions": [0]}]
    (error,) = found["errors"]
    assert (error["transactional_id"], error["error"]) == ("other", "TRANSACTIONAL_ID_NOT_FOUND")
    assert "orders=0" in run("transactions describe pay-1").stdout
    assert run("transactions describe").exit_code == 2


def test_producers_are_described(run: Run) -> None:
    found = json.loads(run("producers describe --topic orders --partition 1 -o json").stdout)
    (partition,) = found["partitions"]
    assert partition["producers"][0]["transaction_start_offset"] == START
    assert partition["broker"] == 2, "the leader"
    found = json.loads(run("producers describe -t orders --partition 1 --broker 3 -o json").stdout)
    assert found["partitions"][0]["broker"] == 3
    assert run("producers describe -t nothere --partition 0").exit_code == 1


@pytest.mark.parametrize(
    "which",
    [f"--start-offset {START}", "--producer-id 9 --producer-epoch 3 --coordinator-epoch 2"],
)
def test_what_hangs_is_aborted(which: str, run: Run, broker: ScriptedBroker) -> None:
    where = "transactions abort --topic orders --partition 0"
    assert run(f"{where} {which}").exit_code == 2
    assert not broker.asked("WriteTxnMarkers"), "there is no terminal to ask on"
    assert run(f"{where} {which} --yes").exit_code == 0
    (asked,) = broker.asked("WriteTxnMarkers")
    (marker,) = asked.markers
    assert (marker.producer_id, marker.producer_epoch, marker.coordinator_epoch) == (9, 3, 2)
    assert (marker.transaction_result, marker.topics[0].partition_indexes) == (False, [0])


def test_what_does_not_hang_is_not_aborted(run: Run, broker: ScriptedBroker) -> None:
    where = "transactions abort --topic orders --partition 0 --yes --output json"
    result = run(f"{where} --start-offset 5")
    assert result.exit_code == 1
    document = json.loads(result.stdout)
    (error,), (item,) = document["errors"], document["transactions"]
    assert (error["error"], error["partition"]) == ("NoTransaction", 0)
    assert (item["error"], item["producer_id"]) == ("NoTransaction", None)
    for half in ("", "--producer-id 9", f"--start-offset {START} --producer-id 9"):
        assert run(f"{where} {half}").exit_code == 2
    assert run("transactions abort --topic x --partition 0 --start-offset 1 -y").exit_code == 1
    assert not broker.asked("WriteTxnMarkers")
