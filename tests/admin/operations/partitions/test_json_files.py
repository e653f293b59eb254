"""The JSON files of Kafka's tools: what we write we read, and what is wrong is named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.admin.errors import InstructionError
from kafka_admin_proto.admin.operations.partitions.json_files import (
    PartitionReplicas,
    check_reassignment,
    read_election,
    read_reassignment,
    read_topics_to_move,
    write_reassignment,
    write_topics_to_move,
)

TOPICS = st.text('ab._-é"\\', min_size=1, max_size=5)
BROKERS = st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=4, unique=True)


@st.composite
def rows(draw: st.DrawFn) -> list[PartitionReplicas]:
    keys = draw(st.lists(st.tuples(TOPICS, st.integers(0, 9)), min_size=1, unique=True))
    found = []
    for topic, partition in sorted(keys):
        replicas = draw(BROKERS)
        paths = st.lists(TOPICS, min_size=len(replicas), max_size=len(replicas))
        found.append(PartitionReplicas(topic, partition, replicas, draw(paths)))
    return found


@given(rows())
def test_a_reassignment_is_read_as_it_was_written(found: list[PartitionReplicas]) -> None:
    assert read_reassignment(write_reassignment(reversed(found))) == found


@given(st.lists(TOPICS, unique=True))
def test_topics_to_move(names: list[str]) -> None:
    assert read_topics_to_move(write_topics_to_move(names)) == names


def test_what_may_be_left_out() -> None:
    text = '{"partitions": [{"topic": "a", "partition": 0, "replicas": [1], "more": 1}], "x": 2}'
    assert read_reassignment(text) == [PartitionReplicas("a", 0, [1])]
    assert write_reassignment(read_reassignment(text)) == (
        '{"version":1,"partitions":[{"topic":"a","partition":0,"replicas":[1],"log_dirs":["any"]}]}'
    )
    assert read_election('{"partitions": [{"topic": "a", "partition": 3}]}') == [("a", 3)]


ROW = '{"topic":"a","partition":0,"replicas":[1]}'


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("{", "this is no reassignment JSON"),
        (b"\xff", "this is no reassignment JSON"),
        ("[]", "this is no reassignment JSON"),
        ('{"partitions":[{"topic":"a","partition":"0","replicas":[]}]}', r"partitions\[0\].partit"),
        ('{"version":2,"partitions":[]}', "version 2 is not known"),
        ("{}", "names no partitions"),
        (f'{{"partitions":[{ROW},{ROW}]}}', "stands in the reassignment twice"),
        ('{"partitions":[{"topic":"a","partition":0,"replicas":[]}]}', "has no replicas"),
        ('{"partitions":[{"topic":"a","partition":0,"replicas":[1,1]}]}', "a broker twice"),
        (
            '{"partitions":[{"topic":"a","partition":0,"replicas":[1],"log_dirs":[]}]}',
            "1 replica and 0 log dirs",
        ),
    ],
)
def test_reassignments_that_are_none(text: str | bytes, error: str) -> None:
    with pytest.raises(InstructionError, match=error):
        read_reassignment(text)


def test_other_files_that_are_none() -> None:
    with pytest.raises(InstructionError, match="2 times"):
        read_topics_to_move('{"topics":[{"topic":"a"},{"topic":"a"}]}')
    with pytest.raises(InstructionError, match="topics-to-move JSON of version 3"):
        read_topics_to_move('{"version":3}')
    with pytest.raises(InstructionError, match="the election twice"):
        read_election('{"partitions":[{"topic":"a","partition":1},{"topic":"a","partition":1}]}')
    with pytest.raises(InstructionError, match="election JSON"):
        read_election("{}")
    with pytest.raises(InstructionError, match="no partitions"):
        check_reassignment([])
