"""The order of rows in answers about offsets, where topics and partitions have errors."""

from __future__ import annotations

from typing import Any

from kafka_admin_proto import messages as m
from kafka_admin_proto.messages.offset_commit_request import (
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafka_admin_proto.messages.offset_fetch_request import (
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from kafka_admin_proto.messages.txn_offset_commit_request import (
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kafka_admin_proto.topic_ids import random_topic_id
from tests.server.groups.coordinated import Coordinated

_Rows = list[tuple[str, list[int]]]


def _shown(answer: Any) -> list[tuple[str, list[tuple[int, int]]]]:
    return [
        (topic.name, [(each.partition_index, each.error_code) for each in topic.partitions])
        for topic in answer.topics
    ]


def _commit(served: Coordinated, topics: _Rows) -> Any:
    wanted = [
        OffsetCommitRequestTopic(
            name, partitions=[OffsetCommitRequestPartition(each, 1) for each in numbers]
        )
        for name, numbers in topics
    ]
    return _shown(served.ask(m.OffsetCommitRequest("g", topics=wanted), 9))


def test_rows_of_commits_that_are_refused_come_first() -> None:
    """Kafka's builder has them when the coordinator's are merged into it, topic by topic."""
    asked: _Rows = [("orders", [0]), ("no", [0]), ("orders", [7, 1]), ("no", [1]), ("bare", [])]
    assert _commit(Coordinated(), asked) == [
        ("no", [(0, 3), (1, 3)]),
        ("orders", [(7, 3), (0, 0), (1, 0)]),
        ("bare", []),
    ]


def test_rows_of_commits_that_are_all_taken_are_the_coordinators() -> None:
    """A topic that is named twice has two rows then, and one without partitions has none."""
    asked: _Rows = [("orders", [0]), ("orders", []), ("orders", [1])]
    found = [("orders", [(0, 0)]), ("orders", [(1, 0)])]
    assert _commit(Coordinated(), asked) == found


def test_rows_in_a_transaction_are_in_the_same_order() -> None:
    row = TxnOffsetCommitRequestPartition(0, 1)
    topics = [TxnOffsetCommitRequestTopic(each, partitions=[row]) for each in ("orders", "no")]
    answer = Coordinated().ask(m.TxnOffsetCommitRequest("t", "g", 1, 0, topics=topics), 2)
    assert [name for name, _ in _shown(answer)] == ["no", "orders"]


def test_fetched_topics_with_an_error_come_last() -> None:
    served = Coordinated()
    known = served.state.topic("orders")
    assert known is not None
    wanted = [
        OffsetFetchRequestTopics(topic_id=each, partition_indexes=[0])
        for each in (random_topic_id(), known.id)
    ]
    answer = served.ask(
        m.OffsetFetchRequest(groups=[OffsetFetchRequestGroup("g", topics=wanted)]), 10
    )
    rows = answer.groups[0].topics
    assert [each.partitions[0].error_code for each in rows] == [0, 100]
    assert rows[0].topic_id == known.id
