"""What a member says in a heartbeat: which tasks it has, and where it is in their changelogs."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from kafka_admin_proto.messages import StreamsGroupHeartbeatRequest
from kafka_admin_proto.messages.streams_group_heartbeat_request import TaskIds, TaskOffset
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.groups.streams.group import StreamsGroup
from kafka_admin_proto.server.groups.streams.members import Task, Tasks, tasks_of
from kafka_admin_proto.server.groups.streams.topology import Configured, unexpected


class Beat(msgspec.Struct, frozen=True):
    """A heartbeat of a version, and who sent it."""

    request: StreamsGroupHeartbeatRequest
    version: int
    client_id: str
    client_host: str

    @property
    def owned(self) -> Tasks | None:
        """What the member says that it has; None if that has not changed. Raises ApiFailure."""
        request = self.request
        roles = (request.active_tasks, request.standby_tasks, request.warmup_tasks)
        if any(rows is None for rows in roles):
            return None
        for rows in roles:
            if len({row.subtopology_id for row in rows or ()}) < len(rows or ()):
                raise unexpected()
        active, standby, warmup = (tasks_of(rows or ()) for rows in roles)
        return Tasks(dict.fromkeys(active, 0), standby, warmup)

    def check_tasks(self, configured: Configured) -> None:
        """Raises ApiFailure if the member says that it has a task that there is not."""
        request = self.request
        roles = (request.active_tasks, request.standby_tasks, request.warmup_tasks)
        for row in (row for rows in roles for row in rows or ()):
            _check_row(configured, row)

    def note_offsets(self, group: StreamsGroup) -> None:
        """Keep where the member is in changelogs. Raises ApiFailure."""
        request = self.request
        if request.task_offsets is None and request.task_end_offsets is None:
            return
        found = []
        for rows, known in (
            (request.task_offsets, group.offsets),
            (request.task_end_offsets, group.end_offsets),
        ):
            found.append(known.get(request.member_id, {}) if rows is None else _offsets(rows))
            for gone in known.keys() - group.members.keys():  # they could not join
                del known[gone]
        group.offsets[request.member_id], group.end_offsets[request.member_id] = found


def _check_row(configured: Configured, row: TaskIds) -> None:
    known = (configured.subtopologies or {}).get(row.subtopology_id)
    if known is None:
        text = f"Subtopology {row.subtopology_id} does not exist in the topology."
        raise ApiFailure(codes.INVALID_REQUEST, text)
    for number in row.partitions:
        if not 0 <= number < known.tasks:
            raise ApiFailure(
                codes.INVALID_REQUEST,
                f"Task {number} for subtopology {row.subtopology_id} is invalid. Number of tasks "
                f"for this subtopology: {known.tasks}",
            )


def _offsets(rows: Iterable[TaskOffset]) -> dict[Task, int]:
    found: dict[Task, int] = {}
    for each in rows:
        if (each.subtopology_id, each.partition) in found:
            raise ApiFailure(
                codes.INVALID_REQUEST,
                f"Task offsets contain a duplicate entry for subtopology {each.subtopology_id} and "
                f"partition {each.partition}.",
            )
        found[each.subtopology_id, each.partition] = each.offset
    return found
