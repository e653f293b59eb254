"""Changes of a partition's replicas, in-sync replicas and leader, as one record each.

The rules are those of Kafka's ``PartitionChangeBuilder`` and of what it calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from uuid import UUID

from kafka_admin_proto.messages.partition_change_record import PartitionChangeRecord
from kafka_admin_proto.records.cluster_state import Partition
from kafka_admin_proto.server.assignments import directory_of
from kafka_admin_proto.server.state import TOPIC_RESOURCE, State, is_reassigning

_NO_LEADER = -1
_SAME_LEADER = -2
_RECOVERING = 1


class Election(Enum):
    """How a leader is chosen."""

    #: The leader stays as long as it can; else any replica that is in sync.
    ONLINE = "online"
    #: The first replica leads if it can.
    PREFERRED = "preferred"
    #: A replica that is not in sync leads where no other can; records may be lost.
    UNCLEAN = "unclean"


def change_partition(
    state: State,
    topic_id: UUID,
    number: int,
    *,
    in_sync: Sequence[int] | None = None,
    replicas: Sequence[int] | None = None,
    removing: Sequence[int] | None = None,
    adding: Sequence[int] | None = None,
    election: Election = Election.ONLINE,
) -> PartitionChangeRecord | None:
    """The record that makes a partition so; None where nothing would change.

    What is left out stays. A reassignment whose new replicas are all in sync is completed.
    """
    now = state.cluster.topics[topic_id].partitions[number]
    wanted = _completed(
        list(now.isr if in_sync is None else in_sync),
        list(now.replicas if replicas is None else replicas),
        list(now.removing_replicas if removing is None else removing),
        list(now.adding_replicas if adding is None else adding),
    )
    isr, new_replicas, new_removing, new_adding = wanted
    record = PartitionChangeRecord(partition_id=number, topic_id=topic_id)
    leader, unclean = _elected(state, now, isr, new_replicas, election)
    if leader != now.leader:
        record.leader = leader
        if unclean:
            isr = [leader]
            record.leader_recovery_state = _RECOVERING
    elif set(now.replicas) - set(new_replicas):
        record.leader = now.leader  # a new epoch, so that the replicas that went are fenced
    if isr != now.isr:
        record.isr = isr
    if new_replicas != now.replicas:
        record.replicas = new_replicas
        known = dict(zip(now.replicas, now.directories, strict=True))
        record.directories = [known.get(each) or directory_of(state, each) for each in new_replicas]
    if new_removing != now.removing_replicas:
        record.removing_replicas = new_removing
    if new_adding != now.adding_replicas:
        record.adding_replicas = new_adding
    unchanged = PartitionChangeRecord(partition_id=number, topic_id=topic_id)
    return None if record == unchanged else record


def catch_up(state: State) -> None:
    """Let the new replicas of all reassignments be in sync, and append what follows from it."""
    reassigned, state.reassigned = state.reassigned, []
    for topic_id, number in dict.fromkeys(reassigned):
        topic = state.topic_by_id(topic_id)
        partition = None if topic is None else topic.partitions.get(number)
        if partition is None or not is_reassigning(partition):
            continue
        joining = [
            each
            for each in partition.replicas
            if each not in partition.isr and state.is_active(each)
        ]
        record = change_partition(state, topic_id, number, in_sync=[*partition.isr, *joining])
        if record is not None:
            state.append([record])


def unclean_allowed(state: State, topic: str) -> bool:
    """Whether a replica that is not in sync may lead a topic's partitions."""
    name = "unclean.leader.election.enable"
    own = state.configs(TOPIC_RESOURCE, topic)
    return (own.get(name) or state.broker_value(name)) == "true"


def _completed(
    isr: list[int], replicas: list[int], removing: list[int], adding: list[int]
) -> tuple[list[int], list[int], list[int], list[int]]:
    """The target, with its reassignment done where all that stay are in sync."""
    if removing or adding:
        staying = [each for each in replicas if each not in removing]
        in_sync = [each for each in isr if each not in removing]
        if staying and in_sync and set(staying) <= set(in_sync):
            return in_sync, staying, [], []
    return isr, replicas, removing, adding


def _elected(
    state: State, now: Partition, isr: list[int], replicas: list[int], election: Election
) -> tuple[int, bool]:
    """(leader, whether the election is unclean)."""

    def can_lead(broker: int) -> bool:
        return broker in isr and state.is_active(broker)

    first = [replicas[0], now.leader] if election is Election.PREFERRED else [now.leader]
    for each in [*first, *replicas]:
        if can_lead(each):
            return each, False
    if election is Election.UNCLEAN:
        for each in replicas:
            if state.is_active(each):
                return each, True
    return _NO_LEADER, False
