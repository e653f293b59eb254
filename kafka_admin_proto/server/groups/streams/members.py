"""The members of streams groups and their tasks (``StreamsGroupMember`` in Kafka)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol, Self

import msgspec

from kafka_admin_proto.messages.streams_group_current_member_assignment_value import (
    StreamsGroupCurrentMemberAssignmentValue,
    TaskIds,
)
from kafka_admin_proto.messages.streams_group_member_metadata_value import (
    Endpoint,
    StreamsGroupMemberMetadataValue,
)
from kafka_admin_proto.server.groups.modern import UNKNOWN, RevokingMember, known_state

#: The first state's number in records (``streams.MemberState``), where consumers have 0.
_STABLE = 1
#: A task: the id of its subtopology, and the number of a partition.
Task = tuple[str, int]


class _Row(Protocol):
    """A row of tasks, as several messages have them."""

    subtopology_id: str
    partitions: list[int]


class Tasks(msgspec.Struct, frozen=True):
    """Tasks of each role; ``active`` ones with the epoch in which each was assigned.

    What a member shall have, or says that it has, has no epochs: they are 0.
    """

    active: Mapping[Task, int] = {}
    standby: frozenset[Task] = frozenset()
    warmup: frozenset[Task] = frozenset()

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self.active or self.standby or self.warmup)

    def shares_any(self, other: Tasks) -> bool:
        """Whether a task is in both, in the same role."""
        return bool(
            self.active.keys() & other.active.keys()
            or self.standby & other.standby
            or self.warmup & other.warmup
        )

    def has_all(self, other: Tasks) -> bool:
        """Whether all tasks of the other one are here, in the same roles."""
        return (
            other.active.keys() <= self.active.keys()
            and other.standby <= self.standby
            and other.warmup <= self.warmup
        )

    def is_same(self, other: Tasks) -> bool:
        """Whether both have the same tasks, whatever their epochs are."""
        return self.has_all(other) and other.has_all(self)


NO_TASKS = Tasks()


def tasks_of(rows: Iterable[_Row]) -> frozenset[Task]:
    """The tasks in rows of a message."""
    return frozenset((row.subtopology_id, number) for row in rows for number in row.partitions)


def by_subtopology(tasks: Iterable[Task]) -> dict[str, list[int]]:
    """Numbers of partitions by subtopology, all in order, as rows of messages have them."""
    found: dict[str, list[int]] = {}
    for subtopology, number in sorted(tasks):
        found.setdefault(subtopology, []).append(number)
    return found


class StreamsMember(RevokingMember, frozen=True):
    """A member, the process that it is a thread of, and its tasks."""

    previous_epoch: int = 0
    topology_epoch: int = -1
    process_id: str = ""
    endpoint: Endpoint | None = None
    tags: Mapping[str, str] = {}
    assigned: Tasks = NO_TASKS
    #: What it has to give back.
    revoked: Tasks = NO_TASKS

    @property
    def state_number(self) -> int:
        """The state as records have it."""
        return self.state if self.state == UNKNOWN else self.state + _STABLE

    def assignment_epoch(self, task: Task) -> int | None:
        """The epoch in which an active task was assigned that the member has or gives back."""
        epoch = self.assigned.active.get(task)
        return self.revoked.active.get(task) if epoch is None else epoch

    def with_metadata(self, value: StreamsGroupMemberMetadataValue) -> Self:
        return msgspec.structs.replace(
            self,
            instance_id=value.instance_id,
            rack_id=value.rack_id,
            rebalance_timeout_ms=value.rebalance_timeout_ms,
            client_id=value.client_id,
            client_host=value.client_host,
            topology_epoch=value.topology_epoch,
            process_id=value.process_id,
            endpoint=value.user_endpoint,
            tags={each.key: each.value for each in value.client_tags},
        )

    def with_assignment(self, value: StreamsGroupCurrentMemberAssignmentValue) -> Self:
        return msgspec.structs.replace(
            self,
            epoch=value.member_epoch,
            previous_epoch=value.previous_member_epoch,
            state=known_state(value.state - _STABLE),
            assigned=Tasks(
                _epochs(value.active_tasks, value.member_epoch),
                tasks_of(value.standby_tasks),
                tasks_of(value.warmup_tasks),
            ),
            revoked=Tasks(
                _epochs(value.active_tasks_pending_revocation, value.member_epoch),
                tasks_of(value.standby_tasks_pending_revocation),
                tasks_of(value.warmup_tasks_pending_revocation),
            ),
        )


def _epochs(rows: Iterable[TaskIds], default: int) -> dict[Task, int]:
    found = {}
    for row in rows:
        epochs = row.assignment_epochs
        if epochs is None or len(epochs) != len(row.partitions):
            epochs = [default] * len(row.partitions)
        for number, epoch in zip(row.partitions, epochs, strict=True):
            found[row.subtopology_id, number] = epoch
    return found
