"""A streams group (``StreamsGroup`` in Kafka): only its records change what is kept of it.

What its coordinator knows besides, of topics and of what members have told, it learns anew when
another broker coordinates the group.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, ClassVar

from kafka_admin_proto import messages as m
from kafka_admin_proto.server.groups.modern import GroupWithInstances, Kind, State
from kafka_admin_proto.server.groups.records import CoordinatorRecord
from kafka_admin_proto.server.groups.streams.members import StreamsMember, Task, Tasks, tasks_of
from kafka_admin_proto.server.groups.streams.reconcile import Processes
from kafka_admin_proto.server.groups.streams.records import epoch_record
from kafka_admin_proto.server.groups.streams.topology import Configured, inputs_of


def delay_key(group: str) -> Hashable:
    """The key of the timer of the first assignment of a group that had no members."""
    return "streams delay", group


class StreamsGroup(GroupWithInstances[StreamsMember, Tasks]):
    """The state of a group, with its topology and the tasks of its members."""

    kind: ClassVar[Kind] = "streams"
    target_epoch_value: ClassVar[type[Any]] = m.StreamsGroupTargetAssignmentMetadataValue
    keys: ClassVar[tuple[type[Any], ...]] = (
        m.StreamsGroupMetadataKey,
        m.StreamsGroupTargetAssignmentMetadataKey,
        m.StreamsGroupMemberMetadataKey,
        m.StreamsGroupCurrentMemberAssignmentKey,
        m.StreamsGroupTargetAssignmentMemberKey,
        m.StreamsGroupTopologyKey,
    )

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.topology: m.StreamsGroupTopologyValue | None = None
        #: The epoch of the topology whose topics were all there, -1 for none.
        self.validated_epoch: int = -1
        #: The configs that the last target was made with.
        self.configs: dict[str, str] = {}
        #: The epochs of topologies whose description another broker's plugin has, or could not.
        self.descriptions: tuple[int, int] = (-1, -1)
        self.processes: Processes = Processes()
        #: The topology beside the topics that there were when it was last compared.
        self.configured: Configured | None = None
        #: The epoch of a target, and the one that members went to in it.
        self.settled: tuple[int, dict[str, Tasks]] = (-1, {})
        #: Where each member is in its tasks' changelogs, and where these end.
        self.offsets: dict[str, dict[Task, int]] = {}
        self.end_offsets: dict[str, dict[Task, int]] = {}
        #: Counts changes of what members have at which addresses.
        self.endpoint_epoch: int = 0
        #: The member that has asked all others to end.
        self.ended_by: str | None = None

    @property
    def state(self) -> State:
        """The state, as its members and the topics of its topology make it."""
        is_valid = self.topology is not None and self.topology.epoch == self.validated_epoch
        return "NotReady" if self.members and not is_valid else super().state

    def apply(self, key: Any, value: Any, now_ms: int = 0) -> None:
        super().apply(key, value, now_ms)
        match key, value:
            case m.StreamsGroupMetadataKey(), m.StreamsGroupMetadataValue():
                self.validated_epoch = value.validated_topology_epoch
                self.configs = {
                    each.key: each.value for each in value.last_assignment_configs or ()
                }
                self.descriptions = (
                    value.stored_description_topology_epoch,
                    value.failed_description_topology_epoch,
                )
            case m.StreamsGroupTopologyKey(), m.StreamsGroupTopologyValue() | None:
                self.topology = value

    def _member(self, member_id: str) -> StreamsMember:
        return self.members.get(member_id) or StreamsMember(member_id)

    def _target_of(self, value: m.StreamsGroupTargetAssignmentMemberValue) -> Tasks:
        active = dict.fromkeys(tasks_of(value.active_tasks), 0)
        return Tasks(active, tasks_of(value.standby_tasks), tasks_of(value.warmup_tasks))

    def _put(self, member: StreamsMember) -> None:
        self._release(member.id)
        self._keep(member)
        for tasks in (member.assigned, member.revoked):
            self.processes.add(tasks, member.process_id)

    def _release(self, member_id: str) -> None:
        member = self.members.get(member_id)
        if member is not None:
            for tasks in (member.assigned, member.revoked):
                self.processes.remove(tasks, member.process_id)

    def _remove(self, member_id: str) -> None:
        self._release(member_id)
        self._forget_instance(self.members.pop(member_id, None))
        self.offsets.pop(member_id, None)
        self.end_offsets.pop(member_id, None)
        if not self.members:
            self.ended_by = None

    def subtopology_of(self, topic: str) -> str | None:
        """The id of the subtopology whose tasks read a topic."""
        for each in () if self.topology is None else self.topology.subtopologies:
            if topic in inputs_of(each):
                return each.subtopology_id
        return None

    def is_subscribed(self, topic: str) -> bool:
        """Whether members read a topic."""
        return bool(self.members) and self.subtopology_of(topic) is not None

    def next_epoch_record(self) -> CoordinatorRecord:
        """The record of the next epoch, in which nothing but members changes."""
        return epoch_record(
            self.name,
            self.epoch + 1,
            self.metadata_hash,
            self.validated_epoch,
            self.configs,
            self.descriptions,
        )

    def tombstones(self) -> list[CoordinatorRecord]:
        """The records that end the group, which has no members."""
        group, target_epoch, *_, topology = self.keys
        return [(key(self.name), None, 0) for key in (target_epoch, group, topology)]
