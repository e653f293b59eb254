"""The registry of rules, class of a metadata record → the function that applies it to the state.

Those of topics and partitions are here, and `rules` adds the others.

The rules are those of Kafka's ``TopicsDelta``, ``TopicDelta`` and ``PartitionRegistration``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar
from uuid import UUID

from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import MetadataReplayError
from kafka_admin_proto.messages import (
    ClearElrRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from kafka_admin_proto.records.metadata.cluster_state import ClusterState
from kafka_admin_proto.records.metadata.entities import Partition, Topic
from kafka_admin_proto.records.metadata.names import TOPIC_RESOURCE
from kafka_admin_proto.schema.scalars import ZERO_UUID
from kafka_admin_proto.topic_ids import topic_id_to_text
from kafka_admin_proto.values import Message

M = TypeVar("M", bound=Message)


class Rules(dict[type[Message], Callable[[ClusterState, Any], None]]):
    """Rules by class of record. A rule that raises has changed nothing."""

    def rule(
        self, record: type[M]
    ) -> Callable[[Callable[[ClusterState, M], None]], Callable[[ClusterState, M], None]]:
        """A decorator that registers the rule of a class of records."""

        def register(apply: Callable[[ClusterState, M], None]) -> Callable[[ClusterState, M], None]:
            self[record] = apply
            return apply

        return register


def refused(message: Message, fault: str) -> MetadataReplayError:
    """The error for a record that does not fit the state."""
    return MetadataReplayError(fault, record=message.message_name)


#: The values of a PartitionChangeRecord's fields that leave the partition's as they are.
_SAME_LEADER = -2
_SAME_RECOVERY_STATE = -1
_RECOVERY_STATES = (0, 1)

RULES = Rules()
T = TypeVar("T")


@RULES.rule(TopicRecord)
def _topic(state: ClusterState, record: TopicRecord) -> None:
    state.topics[record.topic_id] = Topic(record.name, record.topic_id)


@RULES.rule(RemoveTopicRecord)
def _remove_topic(state: ClusterState, record: RemoveTopicRecord) -> None:
    topic = state.topics.pop(record.topic_id, None)
    if topic is None:
        raise refused(record, f"there is no topic with id {topic_id_to_text(record.topic_id)}")
    state.configs.pop((TOPIC_RESOURCE, topic.name), None)


@RULES.rule(PartitionRecord)
def _partition(state: ClusterState, record: PartitionRecord) -> None:
    topic = _topic_of(state, record)
    _check_directories(record)
    directories = _directories(record, record.directories, len(record.replicas))
    _check_recovery_state(record, record.leader_recovery_state)
    topic.partitions[record.partition_id] = Partition(
        replicas=record.replicas,
        directories=directories,
        isr=record.isr,
        removing_replicas=record.removing_replicas,
        adding_replicas=record.adding_replicas,
        leader=record.leader,
        leader_recovery_state=record.leader_recovery_state,
        leader_epoch=record.leader_epoch,
        partition_epoch=record.partition_epoch,
        elr=record.eligible_leader_replicas or [],
        last_known_elr=record.last_known_elr or [],
    )


@RULES.rule(PartitionChangeRecord)
def _change_partition(state: ClusterState, record: PartitionChangeRecord) -> None:
    topic = _topic_of(state, record)
    old = topic.partitions.get(record.partition_id)
    if old is None:
        raise refused(record, f"topic {topic.name!r} has no partition {record.partition_id}")
    topic.partitions[record.partition_id] = merged(old, record)


def merged(old: Partition, record: PartitionChangeRecord) -> Partition:
    """A partition after a change of it; raises MetadataRecordError for one that cannot be."""
    _check_directories(record)
    replicas = _new(record.replicas, old.replicas)
    directories = _directories(record, _new(record.directories, old.directories), len(replicas))
    recovery_state = record.leader_recovery_state
    if recovery_state == _SAME_RECOVERY_STATE:
        recovery_state = old.leader_recovery_state
    _check_recovery_state(record, recovery_state)
    elects = record.leader != _SAME_LEADER
    return Partition(
        replicas=replicas,
        directories=directories,
        isr=_new(record.isr, old.isr),
        removing_replicas=_new(record.removing_replicas, old.removing_replicas),
        adding_replicas=_new(record.adding_replicas, old.adding_replicas),
        leader=record.leader if elects else old.leader,
        leader_recovery_state=recovery_state,
        leader_epoch=_int32(old.leader_epoch + elects),
        partition_epoch=_int32(old.partition_epoch + 1),
        elr=_new(record.eligible_leader_replicas, old.elr),
        last_known_elr=_new(record.last_known_elr, old.last_known_elr),
    )


@RULES.rule(ClearElrRecord)
def _clear_elr(state: ClusterState, record: ClearElrRecord) -> None:
    """Clear the eligible leader replicas of one topic; of all topics if the record names none."""
    topics = [t for t in state.topics.values() if record.topic_name in ("", t.name)]
    if record.topic_name and not topics:
        raise refused(record, f"there is no topic {record.topic_name!r}")
    cleared = PartitionChangeRecord(eligible_leader_replicas=[], last_known_elr=[])
    for topic in topics:
        for number, partition in topic.partitions.items():
            if partition.elr or partition.last_known_elr:
                topic.partitions[number] = merged(partition, cleared)


def _topic_of(state: ClusterState, record: PartitionRecord | PartitionChangeRecord) -> Topic:
    topic = state.topics.get(record.topic_id)
    if topic is None:
        raise refused(record, f"there is no topic with id {topic_id_to_text(record.topic_id)}")
    return topic


def _new(changed: T | None, old: T) -> T:
    return old if changed is None else changed


def _check_directories(record: PartitionRecord | PartitionChangeRecord) -> None:
    replicas, directories = record.replicas, record.directories
    if replicas is not None and directories and len(directories) != len(replicas):
        raise refused(
            record,
            f"it has {counted(len(replicas), 'replicas')} and "
            f"{counted(len(directories), 'directories')}",
        )


def _directories(record: Message, directories: list[UUID], replicas: int) -> list[UUID]:
    """One directory for each replica; all have the zero id ("migrating") if none is known."""
    if all(each == ZERO_UUID for each in directories):
        return [ZERO_UUID] * replicas
    if len(directories) != replicas:
        raise refused(
            record,
            f"it has {counted(replicas, 'replicas')} and "
            f"{counted(len(directories), 'directories')}",
        )
    return directories


def _check_recovery_state(record: Message, state: int) -> None:
    if state not in _RECOVERY_STATES:
        raise refused(record, f"{state} is no leader recovery state; expected 0 or 1")


def _int32(number: int) -> int:
    """The number as an int32, which wraps around as Java's int does."""
    return (number + (1 << 31)) % (1 << 32) - (1 << 31)
