"""What all members of a group shall have: the target of an epoch (``TargetAssignmentBuilder``)."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping

from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.groups.records import CoordinatorRecord
from kafka_admin_proto.server.groups.shard import Shard
from kafka_admin_proto.server.groups.streams.assignor import assign_tasks
from kafka_admin_proto.server.groups.streams.group import StreamsGroup
from kafka_admin_proto.server.groups.streams.members import NO_TASKS, StreamsMember, Tasks
from kafka_admin_proto.server.groups.streams.records import target_record
from kafka_admin_proto.server.groups.streams.topology import unexpected

#: A config of assignments, as they keep it.
REPLICAS = "num.standby.replicas"
#: Bytes of a task in a record, that of its partition's number.
_TASK_BYTES = 4


def known_target(group: StreamsGroup, member: StreamsMember) -> dict[str, Tasks]:
    """What members shall have; one that replaces a static member has what that one shall have."""
    replaced = group.replaced_by(member)
    if replaced == member.id:
        return group.target
    known = {name: tasks for name, tasks in group.target.items() if name != replaced}
    if replaced in group.target:
        known[member.id] = group.target[replaced]
    return known


def rename_settled(group: StreamsGroup, old: str, new: str) -> None:
    epoch, target = group.settled
    if old in target:
        group.settled = (epoch, {(new if name == old else name): target[name] for name in target})


def new_target(
    shard: Shard,
    group: StreamsGroup,
    epoch: int,
    members: Mapping[str, StreamsMember],
    known: Mapping[str, Tasks],
    configs: Mapping[str, str],
) -> tuple[dict[str, Tasks], list[CoordinatorRecord]]:
    """What members shall have from an epoch on, and its records.

    Raises ApiFailure for so many new tasks that their records would be too large for the log, were
    they not compressed: nothing else bounds them, for each of many subtopologies may read a topic
    of many partitions.
    """
    configured = group.configured
    if configured is None or configured.problem is not None:
        targets = dict.fromkeys(members, NO_TASKS)
    else:
        subtopologies = {
            name: (each.tasks, bool(each.changelogs))
            for name, each in (configured.subtopologies or {}).items()
        }
        tasks = sum(count for count, _ in subtopologies.values())
        new = tasks - sum(len(each.active) for each in known.values())
        if new * _TASK_BYTES > shard.most_bytes:
            raise unexpected()
        replicas = int(configs.get(REPLICAS, 0))
        targets = assign_tasks(subtopologies, members, group.offsets, replicas)
    records = [
        target_record(group.name, name, tasks)
        for name, tasks in targets.items()
        if known.get(name) != tasks
    ]
    records.append(group.target_epoch_record(epoch, shard.now_ms))
    return targets, records


def assign_later(shard: Shard, name: str) -> None:
    """Assign to the members that have come within the delay."""
    group = shard.streams_groups.get(name)
    if group is None or not group.members or group.configured is None:
        return
    if group.epoch > group.target_epoch:
        members = group.in_order()
        with contextlib.suppress(ApiFailure):  # the next heartbeat gets it
            _, records = new_target(shard, group, group.epoch, members, group.target, group.configs)
            shard.append(records)
