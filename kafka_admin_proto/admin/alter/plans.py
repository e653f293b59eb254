"""A plan: the steps for each topic, for programs as JSON and for people as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from kafka_admin_proto.arguments import check_kind
from kafka_admin_proto.counts import counted
from kafka_admin_proto.render.text import printable
from kafka_admin_proto.wire.secrets import MASK, MaskedStruct, is_secret_name

#: What the drafts send for what is not asked for.
_NOTHING = -1


class ReassignStep(msgspec.Struct, frozen=True, tag_field="step", tag="reassign"):
    """A partition that exists gets other replicas. ``adds`` are copied, ``removes`` deleted."""

    partition: int
    current: list[int]
    replicas: list[int]

    @property
    def adds(self) -> list[int]:
        return [broker for broker in self.replicas if broker not in self.current]

    @property
    def removes(self) -> list[int]:
        return [broker for broker in self.current if broker not in self.replicas]


class AddPartitionsStep(msgspec.Struct, frozen=True, tag_field="step", tag="add_partitions"):
    """New partitions. ``current`` is how many there are, ``count`` how many there will be.

    ``assignments`` has the replicas of each new one, in order.
    """

    current: int
    count: int
    assignments: list[list[int]]


class _ConfigStep(MaskedStruct, frozen=True):
    def _shown(self, field: str) -> Any:
        value = getattr(self, field)
        secret = field != "name" and value is not None and is_secret_name(getattr(self, "name", ""))
        return MASK if secret else value


class SetConfigStep(_ConfigStep, frozen=True, tag_field="step", tag="set_config"):
    """A config is set for the topic. ``current`` is its own value now, None if it has none."""

    name: str
    value: str
    current: str | None = None


class DeleteConfigStep(_ConfigStep, frozen=True, tag_field="step", tag="delete_config"):
    """The topic's own value of a config is deleted, so that the default holds."""

    name: str
    current: str | None = None


class AlterTopicStep(
    MaskedStruct, frozen=True, tag_field="step", tag="alter_topic", omit_defaults=True
):
    """A draft's AlterTopic: the cluster makes of it what the draft says. -1 is "not this"."""

    partitions: int = -1
    replication_factor: int = -1
    assignment: dict[int, list[int]] = {}
    configs: dict[str, str] = {}
    delete_configs: list[str] = []

    def _shown(self, field: str) -> Any:
        if field == "configs":
            return {name: _value(name, value) for name, value in self.configs.items()}
        return getattr(self, field)

    def words(self) -> Iterator[str]:
        """What is asked for, secrets masked."""
        if self.partitions != _NOTHING:
            yield f"partitions {self.partitions}"
        if self.replication_factor != _NOTHING:
            yield f"replication factor {self.replication_factor}"
        for partition, replicas in self.assignment.items():
            yield f"replicas of partition {partition} {_ids(replicas)}"
        for name, value in self.configs.items():
            yield f"config {name}={_value(name, value)}"
        for name in self.delete_configs:
            yield f"without config {name}"


Step = ReassignStep | AddPartitionsStep | SetConfigStep | DeleteConfigStep | AlterTopicStep


class TopicPlan(msgspec.Struct, frozen=True):
    """The steps for one topic, in the order in which they run; none where all is as asked.

    ``moves`` counts the replicas of existing partitions that have to be copied to another broker.
    ``notes`` say what of the instruction needs no step, or is ignored. With an ``error`` there are
    no steps.
    """

    name: str
    steps: list[Step] = []
    moves: int = 0
    notes: list[str] = []
    error: str | None = None
    message: str | None = None


class AlterPlan(msgspec.Struct, frozen=True):
    """A plan for a batch, by one of the two readings: "first" or "second"."""

    reading: str
    topics: list[TopicPlan]

    @property
    def changes(self) -> bool:
        """Whether there is anything to do."""
        return any(topic.steps for topic in self.topics)


def render_plan(plan: AlterPlan) -> str:
    """The plan for people, a paragraph for each topic, secrets masked."""
    check_kind(plan, AlterPlan, "render_plan: plan")
    lines = [printable(line) for topic in plan.topics for line in _topic_lines(topic)]
    return "\n".join(lines) + "\n"


def _topic_lines(topic: TopicPlan) -> Iterator[str]:
    if topic.error is not None:
        yield f"{topic.name}: {topic.error}: {topic.message}"
        return
    if not topic.steps:
        yield f"{topic.name}: nothing to do"
    else:
        copied = f", {counted(topic.moves, 'replicas')} to copy" if topic.moves else ""
        yield f"{topic.name}: {counted(len(topic.steps), 'steps')}{copied}"
    for step in topic.steps:
        yield from (f"  {line}" for line in _step_lines(step))
    for note in topic.notes:
        yield f"  ({note})"


def _step_lines(step: Step) -> Iterator[str]:
    if isinstance(step, ReassignStep):
        change = [f"+{broker}" for broker in step.adds] + [f"-{broker}" for broker in step.removes]
        note = " ".join(change) if change else "another order"
        yield (
            f"reassign partition {step.partition}: {_ids(step.current)} -> {_ids(step.replicas)} "
            f"({note})"
        )
    elif isinstance(step, AddPartitionsStep):
        yield f"add partitions: {step.current} -> {step.count}"
        for partition, replicas in enumerate(step.assignments, step.current):
            yield f"  partition {partition}: {_ids(replicas)}"
    elif isinstance(step, SetConfigStep):
        before = "" if step.current is None else f" (was {_value(step.name, step.current)})"
        yield f"set config {step.name}={_value(step.name, step.value)}{before}"
    elif isinstance(step, AlterTopicStep):
        yield f"send AlterTopic: {', '.join(step.words())}"
    else:
        before = "" if step.current is None else f" (was {_value(step.name, step.current)})"
        yield f"delete config {step.name}{before}"


def _ids(replicas: list[int]) -> str:
    return "[" + ", ".join(map(str, replicas)) + "]"


def _value(name: str, value: str | None) -> str:
    return MASK if value is not None and is_secret_name(name) else str(value)
