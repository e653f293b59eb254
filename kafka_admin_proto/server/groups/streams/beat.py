"""What a member says in a heartbeat, and what it hears.

It says which tasks it has, and where it is in their changelogs; it hears its tasks, who else has
which partitions, and what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import msgspec

from kafka_admin_proto.messages import StreamsGroupHeartbeatRequest
from kafka_admin_proto.messages.streams_group_heartbeat_request import TaskIds as OwnedTasks
from kafka_admin_proto.messages.streams_group_heartbeat_request import TaskOffset
from kafka_admin_proto.messages.streams_group_heartbeat_response import (
    Endpoint,
    EndpointToPartitions,
    Status,
    StreamsGroupHeartbeatResponse,
    TaskIds,
    TopicPartition,
)
from kafka_admin_proto.messages.streams_group_member_metadata_value import (
    Endpoint as KnownEndpoint,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.groups.shard import Shard
from kafka_admin_proto.server.groups.streams.group import StreamsGroup
from kafka_admin_proto.server.groups.streams.members import (
    StreamsMember,
    Task,
    Tasks,
    by_subtopology,
    tasks_of,
)
from kafka_admin_proto.server.groups.streams.topology import (
    MISSING_TAGS,
    SHUTDOWN,
    Configured,
    unexpected,
)
from kafka_admin_proto.server.java import hash_order, list_text, trim


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


def _check_row(configured: Configured, row: OwnedTasks) -> None:
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


#: A config of assignments, as they keep it.
TAGS = "rack.aware.assignment.tags"
_COMMA = re.compile(r"[ \t\n\x0b\f\r]*,[ \t\n\x0b\f\r]*")
#: The first version of the request whose members know the status of missing tags.
_KNOWS_TAGS = 1


class Stayed(msgspec.Struct, frozen=True):
    """A member of a group as it was, and as it is once its heartbeat's records are in the log.

    ``gone`` is the id of a static member whose place it has taken; ``statuses`` are those that are
    known already.
    """

    shard: Shard
    group: StreamsGroup
    beat: Beat
    before: StreamsMember
    member: StreamsMember
    gone: str | None
    configured: Configured
    configs: Mapping[str, str]
    statuses: list[Status]

    def response(self) -> StreamsGroupHeartbeatResponse:
        """The answer. Raises ApiFailure."""
        shard, group, member, request = self.shard, self.group, self.member, self.beat.request
        limits = shard.limits
        response = StreamsGroupHeartbeatResponse(
            member_id=member.id,
            member_epoch=member.epoch,
            heartbeat_interval_ms=limits.of_group(group.name, "streams").heartbeat_ms,
            task_offset_interval_ms=limits.of_streams(group.name, "task.offset.interval.ms"),
            acceptable_recovery_lag=limits.of_streams(group.name, "acceptable.recovery.lag"),
        )
        assigned = member.assigned
        has_changed = assigned != self.before.assigned
        if request.member_epoch == 0 or has_changed:
            response.active_tasks = _rows(assigned.active)
            response.standby_tasks = _rows(assigned.standby)
            response.warmup_tasks = _rows(assigned.warmup)
        moves = member.endpoint != self.before.endpoint
        if moves or (has_changed and member.endpoint is not None):
            group.endpoint_epoch += 1
        if group.endpoint_epoch != request.endpoint_information_epoch:
            gone = (member.id, self.gone)
            members = [each for each in group.members.values() if each.id not in gone]
            response.partitions_by_user_endpoint = [
                self._at_endpoint(each, each.endpoint)
                for each in (*members, member)
                if each.endpoint is not None
            ]
        if shard.has_group(group.name):
            response.endpoint_information_epoch = group.endpoint_epoch
        if self.configured.problem is not None:
            self.statuses.append(Status(*self.configured.problem))
        if group.ended_by is not None:
            text = (
                f"Streams group member {group.ended_by} encountered a fatal error and requested a "
                "shutdown for the entire application."
            )
            self.statuses.append(Status(SHUTDOWN, text))
        tags = trim(self.configs.get(TAGS, ""))
        missing = [each for each in _COMMA.split(tags) if tags and each not in member.tags]
        if missing and self.beat.version >= _KNOWS_TAGS:
            text = (
                f"Missing required client tags for rack-aware standby assignment: "
                f"{list_text(missing)}. Configure them via 'client.tag.<tagKey>' in your Streams "
                "config."
            )
            self.statuses.append(Status(MISSING_TAGS, text))
        response.status = self.statuses
        return response

    def _at_endpoint(self, member: StreamsMember, endpoint: KnownEndpoint) -> EndpointToPartitions:
        """The partitions of a member's tasks. Raises ApiFailure without their topics."""
        assigned = member.assigned
        return EndpointToPartitions(
            Endpoint(endpoint.host, endpoint.port),
            self._partitions(assigned.active),
            self._partitions(assigned.standby | assigned.warmup),
        )

    def _partitions(self, tasks: Iterable[Task]) -> list[TopicPartition]:
        subtopologies, rows = self.configured.subtopologies, []
        if subtopologies is None:
            raise unexpected()
        found = by_subtopology(tasks)
        for name in hash_order(found):
            if name not in subtopologies:
                raise unexpected()
            for topic in subtopologies[name].inputs:
                count = self.shard.topics.count(topic)
                if count is None:
                    raise unexpected()
                numbers = [number for number in found[name] if number < count]
                if numbers:
                    rows.append(TopicPartition(topic, numbers))
        return rows


def _rows(tasks: Iterable[Task]) -> list[TaskIds]:
    """Rows of tasks, in the order of Kafka's table."""
    found = by_subtopology(tasks)
    return [TaskIds(name, found[name]) for name in hash_order(found)]
