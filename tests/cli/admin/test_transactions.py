"""``kap transactions`` and ``kap producers``: listed, described, aborted."""

from __future__ import annotations

import json

import pytest

import kafka_admin_proto.messages as m
from kafka_admin_proto.records import Batch, Record, write_batch
from kafka_admin_proto.server import SyncCluster
from tests.cli.admin.conftest import Run
from tests.cli.admin.filled_cluster import RECORDS, requests_of
from tests.helpers.kap import ended
from tests.server.groups.stories import Member

#: Offset of the transaction that hangs on partition 0 of topic orders.
START = RECORDS


@pytest.fixture(autouse=True)
def producer(cluster: SyncCluster) -> tuple[int, int]:
    """The id and epoch of the producer whose transaction "pay-1" is open in partition 0."""
    address, *_ = cluster.bootstrap_servers.split(",")
    leader = Member(address)
    find = m.FindCoordinatorRequest(key_type=1, coordinator_keys=["pay-1"])
    leader.ask(find, 4)  # which creates the topic of the coordinators
    (found,) = leader.ask(find, 4).coordinators
    coordinator = Member(f"{found.host}:{found.port}")
    made = coordinator.ask(m.InitProducerIdRequest("pay-1", 60_000), 2)
    producer = made.producer_id, made.producer_epoch
    add, produce = m.AddPartitionsToTxnRequest, m.ProduceRequest
    topics = [add.AddPartitionsToTxnTopic("orders", [0])]
    coordinator.ask(add([], "pay-1", *producer, topics), 3)
    batch = Batch.of([Record(0, 0, None, b"v")])
    batch.is_transactional, batch.base_sequence = True, 0
    batch.producer_id, batch.producer_epoch = producer
    partition = produce.PartitionProduceData(0, write_batch(batch))
    leader.ask(
        produce(
            "pay-1", -1, 1000, [produce.TopicProduceData("orders", partition_data=[partition])]
        ),
        11,
    )
    for each in (leader, coordinator):
        each.close()
    cluster.requests.clear()
    return producer


def test_transactions_are_listed(run: Run, producer: tuple[int, int]) -> None:
    found = json.loads(run("transactions list --state Ongoing --state Nonsense -o json").stdout)
    (row,) = found["transactions"]
    assert (row["transactional_id"], row["producer_id"], row["state"]) == (
        "pay-1", producer[0], "Ongoing",
    )  # fmt: skip
    assert found["unknown_states"] == ["Nonsense"]
    assert run("transactions list --state Empty").stderr == (
        "no transaction is as the options say: kap transactions list without options lists all\n"
    )


def test_brokers_that_refuse_are_not_taken_for_none(run: Run) -> None:
    result = ended(run("transactions list --transactional-id-pattern ("), 1)
    assert "INVALID_REGULAR_EXPRESSION: " in result.stderr
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
    found = json.loads(run("producers describe --topic orders --partition 0 -o json").stdout)
    (partition,) = found["partitions"]
    assert partition["producers"][0]["transaction_start_offset"] == START
    assert partition["broker"] == 1, "the leader"
    found = json.loads(run("producers describe -t orders --partition 0 --broker 2 -o json").stdout)
    assert found["partitions"][0]["broker"] == 2
    assert run("producers describe -t nothere --partition 0").exit_code == 1
    nobody = "no producer has written to it lately\n"
    assert run("producers describe -t orders --partition 0").stderr == ""
    assert run("producers describe -t payments --partition 0").stderr == nobody


@pytest.mark.parametrize(
    ("which", "coordinator_epoch"),
    [
        (f"--start-offset {START}", 0),
        ("--producer-id {} --producer-epoch {} --coordinator-epoch 2", 2),
    ],
)
def test_what_hangs_is_aborted(
    which: str, coordinator_epoch: int, run: Run, cluster: SyncCluster, producer: tuple[int, int]
) -> None:
    line = f"transactions abort --topic orders --partition 0 {which.format(*producer)}"
    assert run(line).exit_code == 2
    assert not requests_of(cluster, "WriteTxnMarkers"), "there is no terminal to ask on"
    assert run(f"{line} --yes").exit_code == 0
    (request,) = requests_of(cluster, "WriteTxnMarkers")
    (marker,) = request.markers
    assert (marker.producer_id, marker.producer_epoch) == producer
    assert marker.coordinator_epoch == coordinator_epoch
    assert (marker.transaction_result, marker.topics[0].partition_indexes) == (False, [0])


def test_what_does_not_hang_is_not_aborted(run: Run, cluster: SyncCluster) -> None:
    where = "transactions abort --topic orders --partition 0 --yes --output json"
    document = json.loads(ended(run(f"{where} --start-offset 5"), 1).stdout)
    (error,), (item,) = document["errors"], document["transactions"]
    assert (error["error"], error["partition"]) == ("NoTransaction", 0)
    assert (item["error"], item["producer_id"]) == ("NoTransaction", None)
    for half in ("", "--producer-id 9", f"--start-offset {START} --producer-id 9"):
        assert run(f"{where} {half}").exit_code == 2
    assert run("transactions abort --topic x --partition 0 --start-offset 1 -y").exit_code == 1
    assert not requests_of(cluster, "WriteTxnMarkers")
