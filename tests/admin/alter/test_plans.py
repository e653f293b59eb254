"""Plans as text and as JSON."""

from __future__ import annotations

import msgspec

from kafka_admin_proto.admin.alter import (
    AddPartitionsStep,
    AlterPlan,
    DeleteConfigStep,
    ReassignStep,
    SetConfigStep,
    TopicPlan,
    render_plan,
)

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
