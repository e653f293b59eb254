"""Plans as text and as JSON, and one instruction for each topic of a batch."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.admin.alter import (
    AddPartitionsStep,
    AlterPlan,
    DeleteConfigStep,
    ReassignStep,
    SetConfigStep,
    TopicAlteration,
    TopicPlan,
    once_each,
    render_plan,
)
from kafka_admin_proto.admin.errors import InstructionError
from tests.helpers.mistyped import mistyped

PLAN = AlterPlan(
    "first",
    [
        TopicPlan(
            "orders",
            steps=[
                AddPartitionsStep(current=1, count=3, assignments=[[2, 3], [3, 1]]),
                ReassignStep(partition=0, current=[1, 2], replicas=[3, 1]),
                ReassignStep(partition=1, current=[2, 3], replicas=[3, 2]),
                SetConfigStep(name="retention.ms", value="1000", current="5"),
                SetConfigStep(name="sasl.jaas.config", value="hidden", current="hidden too"),
                DeleteConfigStep(name="segment.ms", current="7"),
            ],
            moves=1,
            notes=["a note"],
        ),
        TopicPlan("same"),
        TopicPlan("none", error="UNKNOWN_TOPIC_OR_PARTITION", message="it does not exist"),
    ],
)

TEXT = """\
orders: 6 steps, 1 replica to copy
  add partitions: 1 -> 3
    partition 1: [2, 3]
    partition 2: [3, 1]
  reassign partition 0: [1, 2] -> [3, 1] (+3 -2)
  reassign partition 1: [2, 3] -> [3, 2] (another order)
  set config retention.ms=1000 (was 5)
  set config sasl.jaas.config=******** (was ********)
  delete config segment.ms (was 7)
  (a note)
same: nothing to do
none: UNKNOWN_TOPIC_OR_PARTITION: it does not exist
"""


def test_text() -> None:
    assert render_plan(PLAN) == TEXT


def test_json_has_all_of_it() -> None:
    assert PLAN.changes
    assert not AlterPlan("first", PLAN.topics[1:]).changes
    built = msgspec.to_builtins(PLAN)
    assert built["topics"][0]["steps"][1] == {
        "step": "reassign", "partition": 0, "current": [1, 2], "replicas": [3, 1],
    }  # fmt: skip
    assert msgspec.convert(built, AlterPlan) == PLAN
    assert "hidden" not in repr(PLAN)


NAMES = st.sampled_from("abc")


@given(st.lists(st.tuples(NAMES, st.integers())))
def test_the_last_instruction_of_each_topic_counts(batch: list[tuple[str, int]]) -> None:
    found = once_each(batch, lambda item: item[0], duplicates="last")
    assert dict(found) == dict(batch)
    assert [name for name, _ in found] == list(dict.fromkeys(name for name, _ in batch))


@given(st.lists(NAMES))
def test_several_instructions_for_a_topic_are_refused(names: list[str]) -> None:
    if len({*names}) == len(names):
        assert once_each(names, str) == names
    else:
        with pytest.raises(InstructionError, match="several instructions to delete"):
            once_each(names, str, what="delete")


def test_duplicates_are_refused_or_the_last_counts() -> None:
    with pytest.raises(ValueError, match="'refuse' or 'last'"):
        once_each([], str, duplicates=mistyped("first"))


def test_no_value_of_a_credential_is_shown() -> None:
    shown = repr(TopicAlteration("a", configs={"sasl.jaas.config": "hidden", "retention.ms": "1"}))
    assert "hidden" not in shown
    assert "'retention.ms': '1'" in shown
