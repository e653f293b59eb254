"""Produce: who has to have the records before the answer, and what is not appended twice."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_admin_proto.messages import IncrementalAlterConfigsRequest, ProduceRequest
from kafka_admin_proto.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
)
from kafka_admin_proto.messages.produce_request import PartitionProduceData, TopicProduceData
from kafka_admin_proto.protocol import codes
from tests.server.handlers.records.asked import Asked, Waiting, fetching, produced, values

_ALL = -1


def begun(asked: Asked, *sent: bytes, **fields: Any) -> Waiting:
    return asked.begin(produced("t", *sent, acks=_ALL, **fields), 9)


def outcome(waiting: Waiting) -> tuple[int, int]:
    """The error code and the first offset."""
    (item,) = waiting.end_time().responses
    (row,) = item.partition_responses
    return row.error_code, row.base_offset


def read(asked: Asked) -> list[bytes | None]:
    (item,) = asked.begin(fetching(("t", 0, 0), max_wait_ms=0), 12, 1).response.responses
    return values(item.partitions[0].records)


@pytest.mark.parametrize("acks", [0, 1])
def test_the_leader_is_enough(acks: int) -> None:
    asked = Asked("t")
    asked.state.partitions.left(2)
    assert asked.produce("t", b"a", acks=acks).error_code == 0
    assert read(asked) == [], "it is not replicated"
    asked.change("t", isr=[1, 3])
    assert read(asked) == [b"a"]


@pytest.mark.parametrize("acks", [-2, 2, 3])
def test_other_acks(acks: int) -> None:
    asked = Asked("t")
    assert asked.produce("t", b"a", acks=acks).error_code == codes.INVALID_REQUIRED_ACKS
    assert asked.log("t").log.end_offset == 0


def test_all_replicas_in_sync_have_it() -> None:
    asked = Asked("t")
    asked.state.partitions.left(2)
    waiting = begun(asked, b"a")
    assert waiting.waits()
    asked.change("t", isr=[1, 3])
    assert not waiting.waits()
    assert outcome(waiting) == (0, 0)


def test_followers_that_do_not_catch_up() -> None:
    """The records stay, and are there as soon as the follower is out of the ISR."""
    asked = Asked("t")
    asked.state.partitions.left(2)
    assert outcome(begun(asked, b"a")) == (codes.REQUEST_TIMED_OUT, 0)
    assert outcome(begun(asked, b"b", timeout_ms=-5)) == (codes.REQUEST_TIMED_OUT, 1)
    asked.change("t", isr=[1, 3])
    assert read(asked) == [b"a", b"b"]


def test_too_few_replicas() -> None:
    asked = Asked()
    asked.create("t", min_insync_replicas="2")
    asked.change("t", isr=[1])
    for acks, code in ((_ALL, codes.NOT_ENOUGH_REPLICAS), (1, 0), (0, 0)):
        assert asked.produce("t", b"a", acks=acks).error_code == code
    assert asked.log("t").log.end_offset == 2
    assert read(asked) == [], "the high watermark stays while the ISR is too small"
    asked.change("t", isr=[1, 2])
    assert read(asked) == [b"a", b"a"]


def test_more_replicas_than_there_are() -> None:
    asked = Asked()
    asked.create("t", min_insync_replicas="5")
    assert asked.produce("t", b"a", acks=_ALL).error_code == 0


def test_too_few_replicas_after_the_append() -> None:
    asked = Asked("t")
    asked.state.partitions.left(2)
    waiting = begun(asked, b"a")
    asked.state.partitions.changed.remove(waiting.changed)  # it looks after all three changes
    asked.change("t", isr=[1, 3])
    config = AlterableConfig("min.insync.replicas", 0, "2")
    asked.ask(IncrementalAlterConfigsRequest([AlterConfigsResource(2, "t", [config])]))
    asked.change("t", isr=[1])
    assert outcome(waiting) == (codes.NOT_ENOUGH_REPLICAS_AFTER_APPEND, 0)
    assert read(asked) == [b"a"]


def test_another_leader_while_it_waits() -> None:
    asked = Asked("t")
    asked.state.partitions.left(2)
    waiting = begun(asked, b"a")
    asked.change("t", leader=3)
    assert outcome(waiting) == (codes.NOT_LEADER_OR_FOLLOWER, 0)


def test_a_topic_that_is_deleted_while_it_waits() -> None:
    asked = Asked("t")
    asked.state.partitions.left(2)
    waiting = begun(asked, b"a")
    asked.delete("t")
    assert not waiting.waits()
    assert outcome(waiting)[0] == codes.UNKNOWN_TOPIC_OR_PARTITION


def test_what_is_sent_again_is_not_appended_again() -> None:
    """The answer was lost: the producer sends the same batch, and waits as for a new one."""
    asked = Asked("t")

    def sent(sequence: int, epoch: int = 0, **fields: Any) -> Waiting:
        return begun(
            asked, b"a", b"b",
            producer_id=7, producer_epoch=epoch, base_sequence=sequence, **fields,
        )  # fmt: skip

    assert outcome(sent(0)) == (0, 0)
    assert outcome(sent(0)) == (0, 0)
    assert asked.log("t").log.end_offset == 2
    assert outcome(sent(5))[0] == codes.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert outcome(sent(0, 1)) == (0, 2)
    assert outcome(sent(2))[0] == codes.INVALID_PRODUCER_EPOCH
    asked.state.partitions.left(2)
    assert outcome(sent(2, 1)) == (codes.REQUEST_TIMED_OUT, 4)
    again = sent(2, 1)
    assert again.waits()
    asked.change("t", isr=[1, 3])
    assert outcome(again) == (0, 4)
    assert asked.log("t").log.end_offset == 6


@pytest.mark.parametrize(("compression", "code"), [("producer", 0), ("gzip", -1)])
def test_a_producer_id_without_an_epoch(compression: str, code: int) -> None:
    """4.3.1 and 3.9.2: only a batch that the broker compresses anew is checked for it."""
    asked = Asked()
    asked.create("t", compression_type=compression)
    fields = {"producer_id": 7, "producer_epoch": -1, "base_sequence": 0}
    assert asked.produce("t", b"a", **fields).error_code == code


@pytest.mark.parametrize("version", [9, 10, 13])
def test_clients_of_others(version: int) -> None:
    asked = Asked("t")
    request = produced("t", b"a")
    if version >= 13:
        request.topic_data[0].name, request.topic_data[0].topic_id = "", asked.id_of("t")
    response = asked.begin(request, version, 2).response
    (row,) = response.responses[0].partition_responses
    assert row.error_code == codes.NOT_LEADER_OR_FOLLOWER
    hint = (1, 0, [1]) if version >= 10 else (-1, -1, [])
    leader = row.current_leader
    nodes = [each.node_id for each in response.node_endpoints]
    assert (leader.leader_id, leader.leader_epoch, nodes) == hint


def test_each_partition_waits_by_itself() -> None:
    asked = Asked()
    asked.create("t", 4)
    data = produced("t", b"a").topic_data[0].partition_data[0].records
    parts = [PartitionProduceData(number, data) for number in (0, 3, 1, 9)]
    request = ProduceRequest(None, _ALL, 500, [TopicProduceData("t", partition_data=parts)])
    asked.state.partitions.left(2)
    asked.change("t", 0, isr=[1, 3])
    waiting = asked.begin(request, 9)
    assert waiting.waits()
    (item,) = waiting.end_time().responses
    found = {each.index: each.error_code for each in item.partition_responses}
    assert found == {
        0: 0, 3: codes.REQUEST_TIMED_OUT, 1: codes.NOT_LEADER_OR_FOLLOWER,
        9: codes.UNKNOWN_TOPIC_OR_PARTITION,
    }  # fmt: skip


@pytest.mark.parametrize("version", [3, 9, 13])
def test_null_records_fail_the_request_if_the_partition_is_there(version: int) -> None:
    """A real broker answers them never, and nothing else on that connection; nor appends any."""
    asked = Asked("t")
    request = produced("t", b"a")
    if version >= 13:
        request.topic_data[0].topic_id = asked.id_of("t")
    parts = request.topic_data[0].partition_data
    parts.append(PartitionProduceData(9, None))
    (item,) = asked.begin(request, version).end_time().responses
    found = [each.error_code for each in item.partition_responses]
    assert found == [0, codes.UNKNOWN_TOPIC_OR_PARTITION]
    end = asked.log("t").log.end_offset
    asked.create("u")
    request.topic_data.append(TopicProduceData("u", partition_data=[PartitionProduceData(0, None)]))
    if version >= 13:
        request.topic_data[1].topic_id = asked.id_of("u")
    response = asked.begin(request, version).end_time()
    rows = [row for item in response.responses for row in item.partition_responses]
    assert {each.error_code for each in rows} == {codes.UNKNOWN_SERVER_ERROR}
    assert asked.log("t").log.end_offset == end
