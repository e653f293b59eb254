"""Altering topics: a plan is made, and carried out with the requests that Kafka ships."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from kafka_admin_proto.admin.alter.instructions import Duplicates, TopicAlteration, once_each
from kafka_admin_proto.admin.alter.planning import DraftReading, check_reading, plan_topic
from kafka_admin_proto.admin.alter.plans import (
    AddPartitionsStep,
    AlterPlan,
    DeleteConfigStep,
    ReassignStep,
    SetConfigStep,
    Step,
    TopicPlan,
)
from kafka_admin_proto.admin.caller import call_deadline
from kafka_admin_proto.admin.operations.common.failures import NONE, Failure, failure_of
from kafka_admin_proto.admin.operations.common.timeouts import (
    LEAST_S,
    waiting_time,
    waiting_time_left,
)
from kafka_admin_proto.admin.operations.common.waiting import (
    Missing,
    in_metadata,
    leaders_of,
    missing_in_partition,
    missing_partitions,
    wait_for_results,
)
from kafka_admin_proto.admin.operations.configs.altering import AlterConfigs, ConfigChange
from kafka_admin_proto.admin.operations.configs.overrides import in_configs
from kafka_admin_proto.admin.operations.configs.resources import ConfigResource
from kafka_admin_proto.admin.operations.partitions.creation import (
    CreatePartitions,
    NewPartitions,
    send_new_partitions,
)
from kafka_admin_proto.admin.operations.partitions.moves import MovePartitions
from kafka_admin_proto.admin.operations.topics.alteration_states import (
    broker_load,
    state_after,
    topic_states,
)
from kafka_admin_proto.admin.retry import Deadline
from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import KafkaAdminProtoError
from kafka_admin_proto.messages.metadata_response import MetadataResponseTopic


class AlteredTopic(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one topic.

    ``steps`` are those of the plan, ``done`` counts those that the controller has taken; with an
    ``error`` the ones behind it were not sent. ``complete`` says whether every broker had all as
    asked in time, None where that was not waited for; ``missing`` names what was not there then.
    """

    name: str
    steps: list[Step] = []
    notes: list[str] = []
    done: int = 0
    error: str | None = None
    message: str | None = None
    complete: bool | None = None
    missing: list[Missing] = []


class AlterOperations(AlterConfigs, CreatePartitions, MovePartitions):
    """Alter topics as KIP-4's drafts have it; docs/alter-topic.md has the tables."""

    async def plan_alter_topics(
        self,
        alterations: Iterable[TopicAlteration],
        *,
        reading: DraftReading | None = None,
        duplicates: Duplicates = "refuse",
        seed: int | None = None,
        timeout: float | None = None,
    ) -> AlterPlan:
        """The steps that would alter the topics; nothing is changed.

        ``reading`` chooses the draft, the first one otherwise. Several instructions for one topic
        raise InstructionError, or with ``duplicates="last"`` the last one counts. Assignments that
        are not given are generated for the live brokers, the same ones for the same ``seed``;
        without one the topic's name decides.
        """
        reading = "first" if reading is None else reading
        check_reading(reading)
        batch = once_each(alterations, lambda each: each.name, duplicates=duplicates)
        deadline = call_deadline(self, timeout)
        live = await self.brokers(refresh=True, timeout=deadline.left)
        racks = {broker.id: broker.rack for broker in live.values()}
        states = await topic_states(self, batch, deadline)
        plans = []
        load = broker_load(states.values())
        for alteration in batch:
            state = states.get(alteration.name)
            if isinstance(state, TopicPlan):
                plans.append(state)
                continue
            own = broker_load([state])
            plan = plan_topic(
                alteration, state, racks, reading=reading, seed=seed, elsewhere=load - own
            )
            plans.append(plan)
            load = load - own + broker_load([state_after(state, plan)])
        return AlterPlan(reading, plans)

    async def run_alter_plan(
        self, plan: AlterPlan, *, timeout: float | None = None, validate_only: bool = False
    ) -> list[AlteredTopic]:
        """Carry out a plan, each topic on its own; nothing is undone when a step fails.

        Configs and new partitions are validated by the controller before anything is changed, and
        with ``validate_only`` that is all (replicas that move cannot be validated by a request).
        With a ``timeout`` (seconds) above 0 the call waits until every live broker has replicas,
        numbers of partitions and configs as asked, or says what was missing when the time was over:
        copying replicas may take longer, and goes on. With 0 or less it returns when the
        controller has taken the steps.
        """
        timeout, deadline = waiting_time(self, timeout)
        run = _PlanRun(self, plan, deadline, timeout)
        await run.validate()
        if not validate_only:
            await run.carry_out()
            if timeout > 0:
                await run.wait()
        return list(run.results.values())

    async def check_alter_plan(self, plan: AlterPlan, *, timeout: float | None = None) -> AlterPlan:
        """The plan with the errors that the controller would answer its steps with.

        It validates configs and new partitions; no request validates replicas that move.
        """
        if not plan.changes:
            return plan
        checked = await self.run_alter_plan(plan, timeout=timeout, validate_only=True)
        topics = [
            msgspec.structs.replace(topic, error=result.error, message=result.message)
            for topic, result in zip(plan.topics, checked, strict=True)
        ]
        return AlterPlan(plan.reading, topics)

    async def alter_topics(
        self,
        alterations: Iterable[TopicAlteration],
        *,
        reading: DraftReading | None = None,
        duplicates: Duplicates = "refuse",
        seed: int | None = None,
        timeout: float | None = None,
        dry_run: bool = False,
    ) -> list[AlteredTopic]:
        """Plan, and carry the plan out; ``dry_run`` changes nothing and validates what it can."""
        timeout, deadline = waiting_time(self, timeout)
        plan = await self.plan_alter_topics(
            alterations, reading=reading, duplicates=duplicates, seed=seed, timeout=deadline.left
        )
        left = waiting_time_left(timeout, deadline)
        return await self.run_alter_plan(plan, timeout=left, validate_only=dry_run)


class _PlanRun:
    """A plan that is carried out: the requests for its steps, and the result of each topic."""

    def __init__(
        self, caller: AlterOperations, plan: AlterPlan, deadline: Deadline, timeout: float
    ) -> None:
        self._caller, self._deadline, self._timeout = caller, deadline, timeout
        self.results = {
            topic.name: AlteredTopic(
                name=topic.name,
                steps=topic.steps,
                notes=topic.notes,
                error=topic.error,
                message=topic.message,
            )
            for topic in plan.topics
        }

    async def validate(self) -> None:
        for name, found in (await self._alter_configs(validate_only=True)).items():
            self._record(name, found, "configs", taken=0)
        for name, found in (await self._create_partitions(validate_only=True)).items():
            self._record(name, found, "new partitions", taken=0)

    async def carry_out(self) -> None:
        """New partitions, replicas, configs: in the order of the steps of a plan."""
        for name, why in (await self._create_partitions(validate_only=False)).items():
            self._record(name, why, "new partitions", taken=int(why["error"] is None))
        for name, (why, taken) in (await self._reassign()).items():
            self._record(name, why, "replicas", taken=taken)
        for name, why in (await self._alter_configs(validate_only=False)).items():
            steps = 0 if why["error"] else len(_config_steps(self.results[name]))
            self._record(name, why, "configs", taken=steps)

    def _record(self, name: str, why: Failure, what: str, *, taken: int) -> None:
        """Note the result of steps of one kind; after an error the topic's other steps are left."""
        message = why["message"]
        result = self.results[name]
        done = result.done + taken
        if why["error"] is not None:
            message = f"{what}: {message}"
            if done:
                message += f"; {done} of {counted(len(result.steps), 'steps')} had been taken"
        why = why | {"message": message or result.message}
        self.results[name] = msgspec.structs.replace(result, **why, done=done)

    def _without_error(self) -> Iterator[AlteredTopic]:
        """Topics with steps and without an error so far."""
        return (each for each in self.results.values() if each.error is None and each.steps)

    async def _alter_configs(self, *, validate_only: bool) -> dict[str, Failure]:
        changes = {
            each.name: ConfigChange(
                resource=ConfigResource("topic", each.name),
                set={
                    step.name: step.value
                    for step in _config_steps(each)
                    if isinstance(step, SetConfigStep)
                },
                delete=[
                    step.name for step in _config_steps(each) if not isinstance(step, SetConfigStep)
                ],
            )
            for each in self._without_error()
            if _config_steps(each)
        }
        if not changes:
            return {}
        try:
            answers = await self._caller.alter_configs(
                changes.values(), validate_only=validate_only, timeout=self._deadline.left
            )
        except KafkaAdminProtoError as failed:
            return {name: failure_of(failed) for name in changes}
        return {each.name: Failure(error=each.error, message=each.message) for each in answers}

    async def _create_partitions(self, *, validate_only: bool) -> dict[str, Failure]:
        wanted = {
            each.name: NewPartitions(each.name, step.count, step.assignments)
            for each in self._without_error()
            for step in each.steps
            if isinstance(step, AddPartitionsStep)
        }
        if not wanted:
            return {}
        try:
            answers = await send_new_partitions(
                self._caller, wanted, self._deadline, self._timeout, validate_only
            )
        except KafkaAdminProtoError as failed:
            return {name: failure_of(failed) for name in wanted}
        return {
            name: Failure(error=each.error, message=each.message) for name, each in answers.items()
        }

    async def _reassign(self) -> dict[str, tuple[Failure, int]]:
        moves = {
            (each.name, step.partition): step.replicas
            for each in self._without_error()
            for step in each.steps
            if isinstance(step, ReassignStep)
        }
        if not moves:
            return {}
        failures: dict[str, tuple[Failure, int]] = {}
        try:
            answers = await self._caller.alter_partition_reassignments(
                moves, timeout=max(self._deadline.left, LEAST_S)
            )
        except KafkaAdminProtoError as failed:
            return {name: (failure_of(failed), 0) for name, _ in moves}
        for answer in answers:
            failed_before, taken = failures.get(answer.topic, (NONE, 0))
            if answer.error is None:
                taken += 1
            elif failed_before["error"] is None:
                message = f"partition {answer.partition}: {answer.message}"
                failed_before = Failure(error=answer.error, message=message)
            failures[answer.topic] = failed_before, taken
        return failures

    async def wait(self) -> None:
        taken = {each.name: each for each in self._without_error()}
        moved = {name for name, each in taken.items() if len(_config_steps(each)) < len(each.steps)}
        wanted = {
            name: {
                step.name: step.value if isinstance(step, SetConfigStep) else None
                for step in _config_steps(each)
            }
            for name, each in taken.items()
            if _config_steps(each)
        }

        def missing(name: str, topic: MetadataResponseTopic | None) -> Iterator[Missing]:
            return _missing(taken[name], topic)

        metadata = in_metadata(self._caller, missing)
        configs = in_configs(self._caller, wanted)

        async def find(broker: int, asked: Sequence[str], left: float) -> dict[str, list[Missing]]:
            deadline = Deadline(left)
            found = await metadata(broker, [name for name in asked if name in moved], left)
            others = [name for name in asked if name in wanted]
            lacks = await configs(broker, others, deadline.left) if others else {}
            return {name: [*found.get(name, []), *lacks.get(name, [])] for name in asked}

        self.results |= await wait_for_results(self._caller, taken, find, self._deadline)


def _config_steps(topic: AlteredTopic) -> list[SetConfigStep | DeleteConfigStep]:
    return [step for step in topic.steps if isinstance(step, SetConfigStep | DeleteConfigStep)]


def _missing(result: AlteredTopic, topic: MetadataResponseTopic | None) -> Iterator[Missing]:
    """What a broker lacks of the new partitions and replicas."""
    counts = [step.count for step in result.steps if isinstance(step, AddPartitionsStep)]
    yield from missing_partitions(result.name, leaders_of(topic), max(counts, default=0))
    if topic is None:
        return
    there = {each.partition_index: list(each.replica_nodes) for each in topic.partitions}
    for step in result.steps:
        if isinstance(step, ReassignStep) and there.get(step.partition) != step.replicas:
            fault = f"has the replicas {there.get(step.partition)}, not yet {step.replicas}"
            yield missing_in_partition(result.name, step.partition, fault)
