"""Altering topics and reassigning partitions by a draft's AlterTopic.

The plan is the instruction itself: what it means is up to the cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from kafka_admin_proto.admin.alter.instructions import Duplicates, TopicAlteration, once_each
from kafka_admin_proto.admin.alter.planning import DraftReading
from kafka_admin_proto.admin.alter.plans import AlterPlan, AlterTopicStep, TopicPlan
from kafka_admin_proto.admin.config_values import same_value
from kafka_admin_proto.admin.drafts.caller import DraftCaller
from kafka_admin_proto.admin.drafts.topics import lacking_partitions
from kafka_admin_proto.admin.errors import InstructionError
from kafka_admin_proto.admin.operations.common.failures import unanswered
from kafka_admin_proto.admin.operations.common.timeouts import waiting_time
from kafka_admin_proto.admin.operations.common.topic_partitions import by_topic
from kafka_admin_proto.admin.operations.common.waiting import Missing, missing_in_partition
from kafka_admin_proto.admin.operations.partitions.moves import PartitionResult
from kafka_admin_proto.admin.operations.topics.alteration import AlteredTopic
from kafka_admin_proto.admin.operations.topics.descriptions import TopicDescription
from kafka_admin_proto.counts import counted
from kafka_admin_proto.messages import kip_4a, kip_4b
from kafka_admin_proto.messages.kip_4a import alter_topic_request as first
from kafka_admin_proto.messages.kip_4b import alter_topic_request as second

_NOTHING = -1
#: Which of the two readings of ``admin.alter`` a draft is.
_READINGS: Mapping[str, DraftReading] = {"kip-4a": "first", "kip-4b": "second"}
#: What the admin schema says of an assignment alone, against its own table of commands.
_ASSIGNMENT_ALONE = "kip-4b does not take an assignment into account that comes without partitions"


class AlterDraftTopics(DraftCaller):
    """AlterTopic."""

    async def plan_alter_topics(
        self,
        alterations: Iterable[TopicAlteration],
        *,
        reading: DraftReading | None = None,
        duplicates: Duplicates = "refuse",
        seed: int | None = None,
        timeout: float | None = None,
    ) -> AlterPlan:
        """One step for each topic, its AlterTopic; the cluster's draft is the reading.

        Raises InstructionError for what the draft's message has no place for, or does not look at.
        """
        if reading not in (None, _READINGS[self.dialect]):
            raise InstructionError(
                f"{self.dialect} is itself the {_READINGS[self.dialect]} draft: leave the reading "
                f"{reading!r} out"
            )
        if seed is not None:
            raise InstructionError(
                f"with {self.dialect} the cluster generates assignments: leave the seed out"
            )
        batch = once_each(alterations, lambda each: each.name, duplicates=duplicates)
        plans: list[TopicPlan] = []
        for alteration in batch:
            if ignored := _ignored(self.dialect, alteration):
                raise InstructionError(f"topic {alteration.name!r}: {ignored}")
            plans.append(TopicPlan(alteration.name, steps=[alter_topic_step(alteration)]))
        return AlterPlan(_READINGS[self.dialect], plans)

    async def run_alter_plan(
        self, plan: AlterPlan, *, timeout: float | None = None, validate_only: bool = False
    ) -> list[AlteredTopic]:
        """Send the batch; with a ``timeout`` above 0, see on all brokers that it is done.

        With ``validate_only`` nothing is sent: the drafts validate nothing beforehand.
        """
        results = {
            each.name: AlteredTopic(name=each.name, steps=each.steps) for each in plan.topics
        }
        if validate_only or not results:
            return list(results.values())
        timeout, deadline = waiting_time(self, timeout)
        steps = {each.name: _step(each) for each in plan.topics}
        answers = await self.ask_draft(self._request(steps), deadline)
        for name, result in results.items():
            why = answers.get(name) or unanswered("topic")
            results[name] = msgspec.structs.replace(result, **why, done=int(why["error"] is None))
        if timeout > 0:

            def missing(name: str, topic: TopicDescription) -> Iterator[Missing]:
                return _missing(name, steps[name], topic)

            results = await self.on_every_broker(results, missing, deadline)
        return list(results.values())

    def _request(
        self, steps: Mapping[str, AlterTopicStep]
    ) -> kip_4a.AlterTopicRequest | kip_4b.AlterTopicRequest:
        if self.dialect == "kip-4a":
            return kip_4a.AlterTopicRequest(
                [
                    first.AlterTopicRequestItem(
                        name,
                        step.partitions,
                        step.replication_factor,
                        [first.ReplicaAssignment(*each) for each in step.assignment.items()],
                    )
                    for name, step in steps.items()
                ]
            )
        return kip_4b.AlterTopicRequest(
            [
                second.AlterTopicRequestItem(
                    name,
                    step.partitions,
                    step.replication_factor,
                    [second.ReplicaAssignment(*each) for each in step.assignment.items()],
                    [second.AddedConfigEntry(*each) for each in step.configs.items()],
                    list(step.delete_configs),
                )
                for name, step in steps.items()
            ]
        )


class ReassignByDraft(AlterDraftTopics):
    """The table's reassign-partitions: a batch of AlterTopic with assignments."""

    async def alter_partition_reassignments(
        self,
        replicas: Mapping[tuple[str, int], Sequence[int] | None],
        *,
        allow_replication_factor_change: bool = True,
        timeout: float | None = None,
    ) -> list[PartitionResult]:
        """As ``MovePartitions.alter_partition_reassignments``; the drafts cancel nothing.

        A code is that of the topic, and so of all its partitions here.
        """
        if not allow_replication_factor_change or None in replicas.values():
            raise InstructionError(
                f"{self.dialect} can neither cancel a reassignment nor hold the replication factor"
            )
        timeout, deadline = waiting_time(self, timeout)
        steps = {
            topic: AlterTopicStep(
                assignment={number: list(replicas[topic, number] or ()) for number in numbers}
            )
            for topic, numbers in by_topic(replicas).items()
        }
        answers = await self.ask_draft(self._request(steps), deadline) if steps else {}
        note = _ASSIGNMENT_ALONE if self.dialect == "kip-4b" else None
        results = []
        for topic, partition in replicas:
            why = answers.get(topic) or unanswered("partition")
            why = why | {"message": why["message"] or note}
            results.append(PartitionResult(topic=topic, partition=partition, **why))
        return results


def alter_topic_step(asked: TopicAlteration) -> AlterTopicStep:
    """The step that sends an instruction as it is."""
    return AlterTopicStep(
        partitions=_NOTHING if asked.partitions is None else asked.partitions,
        replication_factor=(
            _NOTHING if asked.replication_factor is None else asked.replication_factor
        ),
        assignment=asked.assignment or {},
        configs=asked.configs,
        delete_configs=asked.delete_configs,
    )


def _ignored(dialect: str, asked: TopicAlteration) -> str | None:
    """What of an instruction the draft's AlterTopic cannot say, or does not look at."""
    if dialect == "kip-4a" and (asked.configs or asked.delete_configs):
        return "kip-4a's AlterTopic has no configs; change them with a command for configs"
    if (
        dialect == "kip-4a"
        and asked.assignment
        and (asked.wanted_partitions or asked.wanted_factor)
    ):
        return (
            "kip-4a ignores the number of partitions and the replication factor beside an "
            "assignment; leave them out"
        )
    if dialect == "kip-4b" and asked.assignment and asked.wanted_partitions is None:
        return (
            f'{_ASSIGNMENT_ALONE} ("If Partitions value is empty (-1) ReplicaAssignment is not '
            'taken into account"); give a larger number of partitions with it, or move replicas '
            "without this dialect"
        )
    return None


def _step(plan: TopicPlan) -> AlterTopicStep:
    for step in plan.steps:
        if isinstance(step, AlterTopicStep):
            return step
    raise InstructionError(
        f"the plan for topic {plan.name!r} was made for Kafka's own requests; plan it anew"
    )


def _missing(name: str, step: AlterTopicStep, topic: TopicDescription) -> Iterator[Missing]:
    """What a broker lacks of what the instruction says."""
    yield from lacking_partitions(name, topic, 0 if step.assignment else step.partitions)
    replicas = {each.partition: each.replicas for each in topic.partitions}
    for partition, wanted in step.assignment.items():
        if replicas.get(partition) != wanted:
            fault = f"has the replicas {replicas.get(partition)}, not yet {wanted}"
            yield missing_in_partition(name, partition, fault)
    if step.replication_factor != _NOTHING and not step.assignment:
        for partition, own in replicas.items():
            if len(own) != step.replication_factor:
                fault = f"has {counted(len(own), 'replicas')}, not yet {step.replication_factor}"
                yield missing_in_partition(name, partition, fault)
    if step.assignment or step.replication_factor != _NOTHING:
        yield from _out_of_sync(name, topic)
    there = topic.configs or {}
    for key, value in step.configs.items():
        if not same_value(there.get(key), value):
            yield Missing(name, f"config {key} is not as asked")
    for key in step.delete_configs:
        if key in there:
            yield Missing(name, f"config {key} is still set")


def _out_of_sync(name: str, topic: TopicDescription) -> Iterator[Missing]:
    """Each replica whose lag is not known: it is not there yet.

    The topic commands' message has no lag, so that nobody sees that.
    """
    for partition in topic.partitions:
        for replica in partition.lag or ():
            if replica.lag is None:
                number = partition.partition
                text = f"replica {replica.broker} of partition {number} of topic {name!r} is not"
                yield Missing(name, f"{text} in sync", number)
