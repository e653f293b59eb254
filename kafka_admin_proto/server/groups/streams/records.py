"""Streams groups as records of ``__consumer_offsets`` (``StreamsCoordinatorRecordHelpers``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafka_admin_proto import messages as m
from kafka_admin_proto.messages.streams_group_current_member_assignment_value import (
    TaskIds as CurrentTaskIds,
)
from kafka_admin_proto.messages.streams_group_member_metadata_value import (
    KeyValue,
    StreamsGroupMemberMetadataValue,
)
from kafka_admin_proto.messages.streams_group_metadata_value import (
    LastAssignmentConfig,
    StreamsGroupMetadataValue,
)
from kafka_admin_proto.messages.streams_group_target_assignment_member_value import (
    StreamsGroupTargetAssignmentMemberValue,
    TaskIds,
)
from kafka_admin_proto.server.groups.records import CoordinatorRecord
from kafka_admin_proto.server.groups.streams.members import (
    StreamsMember,
    Task,
    Tasks,
    by_subtopology,
)


def member_record(group: str, member: StreamsMember) -> CoordinatorRecord:
    """Who a member is."""
    value = StreamsGroupMemberMetadataValue(
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        client_id=member.client_id,
        client_host=member.client_host,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        topology_epoch=member.topology_epoch,
        process_id=member.process_id,
        user_endpoint=member.endpoint,
        client_tags=[KeyValue(*each) for each in sorted(member.tags.items())],
    )
    return m.StreamsGroupMemberMetadataKey(group, member.id), value, 0


def assignment_record(group: str, member: StreamsMember) -> CoordinatorRecord:
    """What a member has."""
    value = m.StreamsGroupCurrentMemberAssignmentValue(
        member_epoch=member.epoch,
        previous_member_epoch=member.previous_epoch,
        state=member.state_number,
        active_tasks=_active(member.assigned.active),
        standby_tasks=_others(member.assigned.standby),
        warmup_tasks=_others(member.assigned.warmup),
        active_tasks_pending_revocation=_active(member.revoked.active),
        standby_tasks_pending_revocation=_others(member.revoked.standby),
        warmup_tasks_pending_revocation=_others(member.revoked.warmup),
    )
    return m.StreamsGroupCurrentMemberAssignmentKey(group, member.id), value, 0


def _active(epochs: Mapping[Task, int]) -> list[CurrentTaskIds]:
    return [
        CurrentTaskIds(name, numbers, [epochs[name, number] for number in numbers])
        for name, numbers in by_subtopology(epochs).items()
    ]


def _others(tasks: Iterable[Task]) -> list[CurrentTaskIds]:
    return [CurrentTaskIds(*each) for each in by_subtopology(tasks).items()]


def target_record(group: str, member_id: str, tasks: Tasks) -> CoordinatorRecord:
    """What a member shall have."""
    active, standby, warmup = (
        [TaskIds(*each) for each in by_subtopology(role).items()]
        for role in (tasks.active, tasks.standby, tasks.warmup)
    )
    value = StreamsGroupTargetAssignmentMemberValue(active, standby, warmup)
    return m.StreamsGroupTargetAssignmentMemberKey(group, member_id), value, 0


def epoch_record(
    group: str,
    epoch: int,
    metadata_hash: int,
    validated_epoch: int,
    configs: Mapping[str, str],
    descriptions: tuple[int, int],
) -> CoordinatorRecord:
    """The epoch of a group, and what its last assignment was made of.

    ``descriptions`` are the epochs of topologies whose descriptions were stored, or could not be.
    """
    rows = [LastAssignmentConfig(*each) for each in sorted(configs.items())]
    value = StreamsGroupMetadataValue(epoch, metadata_hash, validated_epoch, rows, *descriptions)
    return m.StreamsGroupMetadataKey(group), value, 0


def topology_record(group: str, topology: m.StreamsGroupTopologyValue) -> CoordinatorRecord:
    """The topology of a group."""
    return m.StreamsGroupTopologyKey(group), topology, 0
