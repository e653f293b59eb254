"""The state of topics that an alteration is planned from: configs, partitions, moves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from kafka_admin_proto.admin.alter.instructions import TopicAlteration
from kafka_admin_proto.admin.alter.planning import TopicState
from kafka_admin_proto.admin.alter.plans import AddPartitionsStep, ReassignStep, TopicPlan
from kafka_admin_proto.admin.errors import BrokerError
from kafka_admin_proto.admin.operations.common.failures import failure
from kafka_admin_proto.admin.operations.common.metadata import metadata_of_names
from kafka_admin_proto.admin.operations.configs.overrides import read_overrides
from kafka_admin_proto.admin.operations.partitions.moves import MovePartitions
from kafka_admin_proto.admin.retry import Deadline
from kafka_admin_proto.errors import UnsupportedVersionError
from kafka_admin_proto.messages.metadata_response import MetadataResponseTopic


async def topic_states(
    caller: MovePartitions, batch: list[TopicAlteration], deadline: Deadline
) -> dict[str, TopicState | TopicPlan]:
    """The topics as they are, or a plan with the error that keeps one from being read."""
    names = [each.name for each in batch]
    topics = await metadata_of_names(caller, names, timeout=deadline.left)
    with_configs = [
        each.name for each in batch if each.name in topics and (each.configs or each.delete_configs)
    ]
    configs = await read_overrides(caller, with_configs, timeout=deadline.left)
    moving = await moving_partitions(caller, topics, deadline)
    states: dict[str, TopicState | TopicPlan] = {}
    for name, topic in topics.items():
        if topic.error_code:
            states[name] = TopicPlan(name, **failure(topic.error_code))
            continue
        partitions = sorted(topic.partitions, key=lambda each: each.partition_index)
        own = moving.get(name, {})
        states[name] = TopicState(
            replicas=[
                own.get(each.partition_index, list(each.replica_nodes)) for each in partitions
            ],
            configs=configs.get(name),
            reassigning=frozenset(own),
        )
    return states


async def moving_partitions(
    caller: MovePartitions, topics: Mapping[str, MetadataResponseTopic], deadline: Deadline
) -> dict[str, dict[int, list[int]]]:
    """Partitions that move, by topic, and the replicas that they will have."""
    asked = [
        (name, each.partition_index) for name, topic in topics.items() for each in topic.partitions
    ]
    moving: dict[str, dict[int, list[int]]] = {}
    if not asked:
        return moving
    try:
        ongoing = await caller.list_partition_reassignments(asked, timeout=deadline.left)
    except UnsupportedVersionError:  # before 2.4 clients do not move replicas
        return moving
    except BrokerError as refused:
        # It takes a right to the cluster, which adding partitions and setting configs does not.
        if refused.error != "CLUSTER_AUTHORIZATION_FAILED":
            raise
        return moving
    for each in ongoing:
        moving.setdefault(each.topic, {})[each.partition] = each.target
    return moving


def broker_load(states: Iterable[TopicState | TopicPlan | None]) -> Counter[int]:
    """How many replicas the topics have on each broker."""
    return Counter(
        broker
        for state in states
        if isinstance(state, TopicState)
        for replicas in state.replicas
        for broker in replicas
    )


def state_after(state: TopicState | None, plan: TopicPlan) -> TopicState | None:
    if state is None:
        return None
    replicas = [list(each) for each in state.replicas]
    for step in plan.steps:
        if isinstance(step, AddPartitionsStep):
            replicas += step.assignments
        elif isinstance(step, ReassignStep):
            replicas[step.partition] = step.replicas
    return TopicState(replicas)
