"""Plans of both readings: the tables of docs/alter-topic.md, and what holds for any instruction."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.admin.alter import (
    AddPartitionsStep,
    DeleteConfigStep,
    ReassignStep,
    SetConfigStep,
    TopicAlteration,
    TopicPlan,
)
from kafka_admin_proto.admin.alter.planning import DraftReading, TopicState, plan_topic
from kafka_admin_proto.placement import count_moves
from kafka_admin_proto.protocol.error_codes import error_code
from tests.helpers.mistyped import mistyped
from tests.placement.clusters import difference, is_spread, leader_counts, replica_counts

RACKS: dict[int, str | None] = {1: "a", 2: "b", 3: "c"}
STATE = TopicState([[1, 2], [2, 3]], configs={"retention.ms": "1000"})
DOC = Path(__file__).parents[3] / "docs" / "alter-topic.md"


def plan(
    reading: DraftReading = "first", state: TopicState | None = STATE, **asked: Any
) -> TopicPlan:
    return plan_topic(TopicAlteration("t", **asked), state, RACKS, reading=reading)


def after(state: TopicState, found: TopicPlan) -> list[list[int]]:
    """The replicas when the steps are done, each of them fitting to what was there before it."""
    replicas = [list(each) for each in state.replicas]
    for step in found.steps:
        if isinstance(step, AddPartitionsStep):
            assert step.current == len(replicas)
            replicas += step.assignments
            assert step.count == len(replicas)
            assert {len(each) for each in step.assignments} == {len(state.replicas[0])}
        elif isinstance(step, ReassignStep):
            assert replicas[step.partition] == step.current != step.replicas
            replicas[step.partition] = step.replicas
    return replicas


# The first draft.


def test_1_an_assignment_reassigns_what_differs_and_adds_what_is_not_there() -> None:
    found = plan(assignment={0: [1, 2], 1: [3, 2], 2: [3, 1]}, partitions=1, replication_factor=3)
    assert found.steps == [
        AddPartitionsStep(current=2, count=3, assignments=[[3, 1]]),
        ReassignStep(partition=1, current=[2, 3], replicas=[3, 2]),
    ]
    assert found.moves == 0
    assert found.notes == [
        "partitions 1 is ignored: there is an assignment",
        "replication factor 3 is ignored: there is an assignment",
        "the assignment leaves 1 partition as before",
    ]


def test_1_new_partitions_get_the_factor_of_the_others_first() -> None:
    more = plan(assignment={2: [1, 2, 3]})
    assert more.steps == [
        AddPartitionsStep(current=2, count=3, assignments=[[1, 2]]),
        ReassignStep(partition=2, current=[1, 2], replicas=[1, 2, 3]),
    ]
    fewer = plan(assignment={2: [3]})
    assert fewer.steps == [
        AddPartitionsStep(current=2, count=3, assignments=[[3, 1]]),
        ReassignStep(partition=2, current=[3, 1], replicas=[3]),
    ]


@pytest.mark.parametrize("partitions", [None, -1, 2, 5])
def test_2_a_replication_factor_regenerates_all(partitions: int | None) -> None:
    found = plan(replication_factor=3, partitions=partitions)
    replicas = after(STATE, found)
    assert len(replicas) == max(partitions or 0, 2)
    assert all(sorted(each) == [1, 2, 3] for each in replicas)
    assert found.moves == 2


def test_2_an_unchanged_replication_factor_moves_nothing() -> None:
    uneven = TopicState([[1, 2], [1, 2], [1, 2]])
    assert plan(state=uneven, replication_factor=2).steps == []
    (added,) = plan(state=uneven, replication_factor=2, partitions=5).steps
    assert isinstance(added, AddPartitionsStep)
    assert [3 in each for each in added.assignments] == [True, True]


def test_3_fewer_partitions_are_refused_and_more_are_added() -> None:
    assert plan(partitions=1).error == "INVALID_PARTITIONS"
    assert plan(partitions=1, replication_factor=3).error == "INVALID_PARTITIONS"
    assert plan(partitions=-2).error == "INVALID_PARTITIONS"
    assert plan(partitions=2) == TopicPlan("t", notes=["the topic has 2 partitions already"])
    (step,) = plan(partitions=4).steps
    assert isinstance(step, AddPartitionsStep)
    assert difference(replica_counts([*STATE.replicas, *step.assignments]), RACKS) <= 1


@pytest.mark.parametrize(
    ("assignment", "error"),
    [
        ({0: []}, "no replicas"),
        ({0: [1, 1]}, "a broker twice"),
        ({0: [1, 9]}, r"broker 9, which is not among the live ones \(1, 2, 3\)"),
        ({3: [1, 2]}, "the next one is 2"),
        ({-1: [1, 2]}, "the next one is 2"),
    ],
)
def test_assignments_that_no_topic_can_have(assignment: dict[int, list[int]], error: str) -> None:
    found = plan(assignment=assignment)
    assert found.error == "INVALID_REPLICA_ASSIGNMENT"
    assert re.search(error, found.message or "")
    assert found.steps == []


def test_a_replica_may_stay_on_a_broker_that_is_not_live() -> None:
    found = plan(state=TopicState([[1, 9]]), assignment={0: [9, 2]})
    assert found.steps == [ReassignStep(partition=0, current=[1, 9], replicas=[9, 2])]
    gone = plan(state=TopicState([[1, 9]]), replication_factor=1)
    assert gone.notes == ["broker 9 is not live: its replicas go to other brokers"]
    assert after(TopicState([[1, 9]]), gone) == [[1]]


def test_a_replication_factor_that_the_brokers_cannot_hold() -> None:
    assert plan(replication_factor=4).error == "INVALID_REPLICATION_FACTOR"
    assert plan(replication_factor=0).error == "INVALID_REPLICATION_FACTOR"


def test_what_moves_already_is_left_alone_or_refused() -> None:
    moving = TopicState([[1, 2], [2, 3]], reassigning=frozenset({1}))
    assert plan(state=moving, assignment={1: [2, 3]}).steps == []
    assert plan(state=moving, assignment={0: [3, 1]}).error is None
    assert plan(state=moving, assignment={1: [3, 1]}).error == "REASSIGNMENT_IN_PROGRESS"
    assert plan(state=moving, partitions=3).error == "REASSIGNMENT_IN_PROGRESS"


def test_configs_are_compared_with_those_of_the_topic() -> None:
    found = plan(configs={"retention.ms": "1000", "segment.ms": "5"}, delete_configs=["flush.ms"])
    assert found.steps == [SetConfigStep(name="segment.ms", value="5")]
    assert found.notes == [
        "config retention.ms has this value already",
        "config flush.ms is not set for the topic",
    ]
    assert plan(delete_configs=["retention.ms"]).steps == [
        DeleteConfigStep(name="retention.ms", current="1000")
    ]
    assert plan(configs={"a": "1"}, delete_configs=["a"]).error == "INVALID_CONFIG"


def test_configs_that_may_not_be_seen_are_set_and_deleted() -> None:
    found = plan(state=TopicState([[1]]), configs={"a": "1"}, delete_configs=["b"])
    assert found.steps == [SetConfigStep(name="a", value="1"), DeleteConfigStep(name="b")]


def test_a_topic_that_does_not_exist() -> None:
    assert plan(state=None, partitions=3).error == "UNKNOWN_TOPIC_OR_PARTITION"


def test_there_are_two_readings() -> None:
    with pytest.raises(ValueError, match="'first' or 'second'"):
        plan(mistyped("third"))


# The second draft.


def test_second_only_increases() -> None:
    for partitions in (0, 1, 2):
        assert plan("second", partitions=partitions).error == "DecreasePartitionsNotAllowed"
    assert plan("second", partitions=-2).error == "InvalidArgumentPartitions"
    (step,) = plan("second", partitions=3).steps
    assert isinstance(step, AddPartitionsStep)


def test_second_without_partitions_the_assignment_is_not_looked_at() -> None:
    found = plan("second", partitions=-1, assignment={0: [3]})
    assert found.steps == []
    assert found.notes == ["the assignment is ignored: no number of partitions is given"]


def test_second_an_assignment_is_that_of_the_new_partitions() -> None:
    found = plan("second", partitions=3, assignment={2: [3, 1]})
    assert found.steps == [AddPartitionsStep(current=2, count=3, assignments=[[3, 1]])]
    assert plan("second", partitions=3, assignment={0: [1, 2], 2: [3, 1]}).steps == found.steps
    for other in ({0: [2, 1], 2: [3, 1]}, {2: [3, 1], 3: [1, 2]}, {0: [1, 2]}, {2: [1, 1]}):
        refused = plan("second", partitions=3, assignment=other)
        assert refused.error == "InvalidArgumentReplicaAssignment"


def test_second_one_thing_at_once() -> None:
    for asked in (
        {"partitions": 3, "replication_factor": 3},
        {"partitions": 3, "configs": {"a": "1"}},
        {"replication_factor": 3, "delete_configs": ["retention.ms"]},
    ):
        assert plan("second", **asked).error == "MultipleInstructionsForOneTopic"
    both = plan("second", configs={"segment.ms": "5"}, delete_configs=["retention.ms"])
    assert len(both.steps) == 2
    assert len(after(STATE, plan("second", replication_factor=3))[0]) == 3


def test_second_errors_are_those_of_the_draft() -> None:
    assert plan("second", replication_factor=9).error == "InvalidArgumentReplicationFactor"
    moving = TopicState([[1, 2]], reassigning=frozenset({0}))
    found = plan("second", state=moving, partitions=2)
    assert found.error == "ReassignPartitionsInProgress"
    for name in (
        "DecreasePartitionsNotAllowed", "MultipleInstructionsForOneTopic",
        "InvalidArgumentReplicationFactor", "ReassignPartitionsInProgress",
        "InvalidArgumentReplicaAssignment", "InvalidArgumentPartitions",
        "InvalidArgumentTopicConfig",
    ):  # fmt: skip
        assert error_code(name, dialect="kip-4").name == name


# Whatever is asked.


@given(st.integers(0, 2**32), st.sampled_from(["first", "second"]))
def test_steps_lead_to_what_was_asked(seed: int, reading: DraftReading) -> None:
    draw = random.Random(seed)
    brokers = draw.randint(1, 6)
    racks: dict[int, str | None] = {broker: draw.choice("ab") for broker in range(brokers)}
    factor = draw.randint(1, brokers)
    state = TopicState([draw.sample(range(brokers), factor) for _ in range(draw.randint(1, 6))])
    asked = TopicAlteration(
        "t",
        partitions=draw.choice([None, -1, draw.randint(1, 12)]),
        replication_factor=draw.choice([None, -1, draw.randint(1, brokers)]),
    )
    found = plan_topic(asked, state, racks, reading=reading)
    assert found == plan_topic(asked, state, racks, reading=reading)
    if found.error is not None:
        assert found.steps == []
        return
    replicas = after(state, found)
    assert found.moves == count_moves(state.replicas, replicas[: len(state.replicas)])
    if asked.wanted_partitions is not None:
        assert len(replicas) == asked.wanted_partitions
    if asked.wanted_factor is not None:
        assert {len(each) for each in replicas} == {asked.wanted_factor}
        if asked.wanted_factor != factor:
            assert all(is_spread(racks, each) for each in replicas)
            if len({*racks.values()}) == 1:
                assert difference(replica_counts(replicas), racks) <= 1
                assert difference(leader_counts(replicas), racks) <= 1
    # A second run finds all as asked.
    again = plan_topic(asked, TopicState(replicas), racks, reading="first")
    assert again.steps == []


# The page says what is tested here.


def test_each_row_of_the_page_is_what_a_plan_does() -> None:
    """| asked | plan or error |, with the topic of two partitions that the page describes."""
    rows = re.findall(r"^\| `(first|second)` \| `(.*?)` \| (.*?) \|$", DOC.read_text("utf-8"), re.M)
    assert len(rows) >= 12
    for reading, asked, expected in rows:
        found = plan(reading, **eval(f"dict({asked})"))
        errors = re.findall(r"`(\w+)`", expected)
        if found.error is not None:
            assert errors == [found.error], (reading, asked)
        else:
            kinds = [type(step).__name__ for step in found.steps]
            names = {
                "AddPartitionsStep": "add", "ReassignStep": "reassign",
                "SetConfigStep": "set", "DeleteConfigStep": "delete",
            }  # fmt: skip
            said = re.findall(r"\b(add|reassign|set|delete|nothing)\b", expected)
            wanted = [names[kind] for kind in dict.fromkeys(kinds)] or ["nothing"]
            assert said == wanted, (reading, asked, found)
