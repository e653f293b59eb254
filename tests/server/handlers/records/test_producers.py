"""InitProducerId gives each id once; DescribeProducers lists who wrote to a partition."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_admin_proto.messages import DescribeProducersRequest, InitProducerIdRequest
from kafka_admin_proto.messages.describe_producers_request import TopicRequest
from kafka_admin_proto.protocol import codes
from tests.server.handlers.records.asked import Asked

_BLOCK = 1000


def test_ids_are_given_once() -> None:
    """Each node has blocks of a thousand of its own, which end with its run."""
    asked = Asked()
    given = []
    for turn in range(2 * _BLOCK + 1):
        for node in (1, 2, 3) if turn % 100 == 0 else (1,):
            answer = asked.ask(InitProducerIdRequest(None, 60_000), 4, node)
            assert (answer.error_code, answer.producer_epoch) == (0, 0)
            given.append((node, answer.producer_id))
    ids = [each for _, each in given]
    assert len(set(ids)) == len(ids)
    by_block = {each // _BLOCK: node for node, each in given}
    assert sorted(by_block.values()) == [1, 1, 1, 2, 3]
    assert asked.state.cluster.next_producer_id == 5 * _BLOCK


@pytest.mark.parametrize(
    ("name", "producer", "code"),
    [
        (None, (-1, -1), 0),
        (None, (5, 0), 0),
        (None, (5, -1), codes.INVALID_REQUEST),
        (None, (-1, 0), codes.INVALID_REQUEST),
        ("", (-1, -1), codes.INVALID_REQUEST),
    ],
)
def test_who_gets_an_id(name: str | None, producer: tuple[int, int], code: int) -> None:
    answer = Asked().ask(InitProducerIdRequest(name, 60_000, *producer), 4)
    assert answer.error_code == code
    assert (answer.producer_id >= 0, answer.producer_epoch) == ((False, -1) if code else (True, 0))


def described(asked: Asked, number: int = 0, node: int = 1, name: str = "t") -> Any:
    answer = asked.ask(DescribeProducersRequest([TopicRequest(name, [number])]), 0, node)
    (item,) = answer.topics
    (row,) = item.partitions
    return row


def test_producers_of_a_partition() -> None:
    asked = Asked("t")
    asked.produce("t", b"a", b"b", producer_id=7, producer_epoch=2, base_sequence=0)
    asked.produce("t", b"c")
    for node in (1, 2, 3):
        (found,) = described(asked, node=node).active_producers
        assert (found.producer_id, found.producer_epoch, found.last_sequence) == (7, 2, 1)
        assert (found.last_timestamp, found.current_txn_start_offset) == (1, -1)
    asked.state.partitions.left(2)
    asked.produce("t", b"d", producer_id=8, producer_epoch=0, base_sequence=0)
    asked.change("t", leader=2, isr=[2])
    (found,) = described(asked, node=2).active_producers
    assert found.producer_id == 7, "the records of the other one are gone"


def test_partitions_that_are_not_there() -> None:
    asked = Asked("t")
    for number, name in ((5, "t"), (0, "u")):
        row = described(asked, number, name=name)
        assert row.error_code == codes.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".", "Topic name is invalid: '.' is not allowed"),
        ("", "Topic name is invalid: the empty string is not allowed"),
        (
            "n" * 9000,
            f"Topic name is invalid: the length of '{'n' * 249}...' is longer than the max allowed "
            "length 249",
        ),
    ],
    ids=["a dot", "empty", "long"],
)
def test_names_that_no_topic_may_have(name: str, text: str) -> None:
    """Kafka has all of a long name in the row of each partition; here each has its beginning."""
    row = described(Asked("t"), name=name)
    assert (row.error_code, row.error_message) == (codes.INVALID_TOPIC_EXCEPTION, text)
