"""Applying a list of wanted topics: those that are missing are created, others altered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from kafka_admin_proto.admin.alter.instructions import TopicAlteration, once_each
from kafka_admin_proto.admin.alter.plans import AlterPlan, TopicPlan
from kafka_admin_proto.admin.caller import call_deadline
from kafka_admin_proto.admin.config_values import same_value
from kafka_admin_proto.admin.operations.common.failures import error_name
from kafka_admin_proto.admin.operations.common.timeouts import waiting_time, waiting_time_left
from kafka_admin_proto.admin.operations.topics.alteration import AlteredTopic, AlterOperations
from kafka_admin_proto.admin.operations.topics.creation import CreatedTopic, CreateTopics, NewTopic
from kafka_admin_proto.admin.operations.topics.descriptions import DescribeTopics, TopicDescription
from kafka_admin_proto.protocol import codes


class AppliedTopic(msgspec.Struct, frozen=True):
    """What became of one topic.

    ``action`` is "none" where the topic is as wanted, or could not be described; ``result`` is its
    description then. Of a topic to alter it is a TopicPlan where its steps were only validated.
    """

    name: str
    action: Literal["create", "alter", "none"]
    result: CreatedTopic | AlteredTopic | TopicPlan | TopicDescription

    @property
    def error(self) -> str | None:
        return self.result.error

    @property
    def message(self) -> str | None:
        return self.result.message


class ApplyPlan(msgspec.Struct, frozen=True):
    """The topics as they are, and what makes them the wanted ones."""

    described: Sequence[TopicDescription]
    create: Sequence[NewTopic]
    alter: AlterPlan


class ApplyTopics(CreateTopics, DescribeTopics, AlterOperations):
    """DescribeTopics, CreateTopics and the requests of ``alter_topics``."""

    async def plan_apply_topics(
        self, topics: Iterable[NewTopic], *, timeout: float | None = None
    ) -> ApplyPlan:
        """How the cluster's topics become the wanted ones; nothing is changed.

        A topic that does not exist is to be created. Of one that does, what is -1 or not named
        stays as it is, and a config whose value is None is unset. No topic is deleted. Raises
        InstructionError for a topic named twice.
        """
        wanted = {each.name: each for each in once_each(topics, lambda each: each.name)}
        deadline = call_deadline(self, timeout)
        described = await self.describe_topics(wanted, configs=True, timeout=deadline.left)
        changes = [
            _alteration_to(wanted[str(each.name)], each) for each in described if each.error is None
        ]
        alterations = [each for each in changes if each is not None]
        unknown = error_name(codes.UNKNOWN_TOPIC_OR_PARTITION)
        return ApplyPlan(
            described,
            [_without_unset(wanted[str(each.name)]) for each in described if each.error == unknown],
            await self.plan_alter_topics(alterations, timeout=deadline.left),
        )

    async def run_apply_plan(
        self, plan: ApplyPlan, *, timeout: float | None = None, validate_only: bool = False
    ) -> list[AppliedTopic]:
        """Create and alter the topics of a plan, each on its own; in the order of the call.

        ``timeout`` is as in ``create_topics`` and ``run_alter_plan``. With ``validate_only`` the
        controller validates what it can, and nothing is changed.
        """
        timeout, deadline = waiting_time(self, timeout)
        created = await self.create_topics(
            plan.create, timeout=timeout, validate_only=validate_only
        )
        left = waiting_time_left(timeout, deadline)
        altered: Sequence[AlteredTopic | TopicPlan]
        if validate_only or not plan.alter.changes:
            altered = (await self.check_alter_plan(plan.alter, timeout=left)).topics
        else:
            altered = await self.run_alter_plan(plan.alter, timeout=left)
        results = {each.name: AppliedTopic(each.name, "create", each) for each in created}
        results |= {each.name: AppliedTopic(each.name, "alter", each) for each in altered}
        names = {str(each.name): each for each in plan.described}
        return [
            results.get(name) or AppliedTopic(name, "none", each) for name, each in names.items()
        ]


def _without_unset(topic: NewTopic) -> NewTopic:
    """The topic to create: a config that is to be unset has no value to be created with."""
    configs = {name: value for name, value in topic.configs.items() if value is not None}
    return msgspec.structs.replace(topic, configs=configs)


def _alteration_to(wanted: NewTopic, described: TopicDescription) -> TopicAlteration | None:
    """The alteration of a topic that exists into the wanted one; None where nothing differs."""
    now = {each.partition: each.replicas for each in described.partitions}
    own = described.configs or {}
    count, factor = wanted.partitions, wanted.replication_factor
    alteration = TopicAlteration(
        name=wanted.name,
        partitions=count if count not in (-1, len(now)) else None,
        replication_factor=factor
        if factor != -1 and any(len(each) != factor for each in now.values())
        else None,
        assignment=wanted.assignment if wanted.assignment != now else None,
        configs={
            name: value
            for name, value in wanted.configs.items()
            if value is not None and not same_value(own.get(name), value)
        },
        delete_configs=[
            name for name, value in wanted.configs.items() if value is None and name in own
        ],
    )
    return None if alteration == TopicAlteration(wanted.name) else alteration
