"""What a member has next, on its way to what it shall have (``CurrentAssignmentBuilder``).

A member gives back first what it shall not have any more. Then it goes to the epoch of the target,
and gets what nobody else has. A task whose role alone changes at the member stays there meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from kafka_admin_proto.server.groups.modern import (
    STABLE,
    UNKNOWN,
    UNRELEASED,
    UNREVOKED,
    check_known,
    moved,
)
from kafka_admin_proto.server.groups.streams.members import StreamsMember, Task, Tasks


class Processes(msgspec.Struct):
    """Which processes have a task now, or have not given it back yet."""

    active: dict[Task, str] = {}
    standby: dict[Task, set[str]] = {}
    warmup: dict[Task, set[str]] = {}

    def add(self, tasks: Tasks, process_id: str) -> None:
        """A process has tasks."""
        self.active.update(dict.fromkeys(tasks.active, process_id))
        for here, role in ((self.standby, tasks.standby), (self.warmup, tasks.warmup)):
            for task in role:
                here.setdefault(task, set()).add(process_id)

    def remove(self, tasks: Tasks, process_id: str) -> None:
        """A process has tasks no more."""
        for task in tasks.active:
            if self.active.get(task) == process_id:
                del self.active[task]
        for here, role in ((self.standby, tasks.standby), (self.warmup, tasks.warmup)):
            for task in role:
                here.get(task, set()).discard(process_id)


class Reconciliation(msgspec.Struct, frozen=True):
    """The target of a member, and what it says that it has: None if that has not changed."""

    processes: Processes
    target_epoch: int
    target: Tasks
    owned: Tasks | None

    def next(self, member: StreamsMember) -> StreamsMember:
        """The member with what it has next. Raises ApiFailure."""
        if member.state == UNREVOKED:
            if self._owns(member.revoked):
                return member
            return self._advanced(member, member.epoch + 1)
        if member.state == UNKNOWN:
            check_known("streams", self.owned is not None and not self.owned, "tasks")
            return self._advanced(member, self.target_epoch)
        if member.state == UNRELEASED or member.epoch != self.target_epoch:
            return self._advanced(member, member.epoch)
        return member

    def _owns(self, revoked: Tasks) -> bool:
        """Whether the member may still have one of these tasks."""
        return self.owned is None or self.owned.shares_any(revoked)

    def _advanced(self, member: StreamsMember, epoch: int) -> StreamsMember:
        had, target = member.assigned, self.target
        active = {task: since for task, since in had.active.items() if task in target.active}
        lost = {task: since for task, since in had.active.items() if task not in target.active}
        wanted = [task for task in target.active if task not in active]
        new = [task for task in wanted if not self._is_run(member, task)]
        has_unreleased = len(new) < len(wanted)

        standby, no_standby = had.standby & target.standby, had.standby - target.standby
        wanted_standby = target.standby - standby
        new_standby = {task for task in wanted_standby if not self._has_standby(member, task)}
        warmup, no_warmup = had.warmup & target.warmup, had.warmup - target.warmup
        wanted_warmup = target.warmup - warmup
        new_warmup = {task for task in wanted_warmup if not self._has_warmup(member, task)}
        has_unreleased |= len(new_standby) < len(wanted_standby)
        has_unreleased |= len(new_warmup) < len(wanted_warmup)

        # The member has these already, in another role.
        standby |= new_standby & (had.active.keys() | had.warmup)
        warmup |= new_warmup & had.standby
        no_standby -= new_warmup | target.active.keys()
        no_warmup -= new_standby | target.active.keys()
        revoked = Tasks(lost, no_standby, no_warmup)
        is_revoking = bool(revoked) and self._owns(revoked)
        kept = target.active.keys() - (() if is_revoking else new)
        standby |= had.standby & kept
        warmup |= had.warmup & kept
        if is_revoking:
            assigned = Tasks(active, frozenset(standby), frozenset(warmup))
            return moved(member, UNREVOKED, epoch, assigned, revoked)
        assigned = Tasks(
            {**active, **dict.fromkeys(new, self.target_epoch)},
            frozenset(standby | new_standby),
            frozenset(warmup | new_warmup),
        )
        state = UNRELEASED if has_unreleased else STABLE
        return moved(member, state, self.target_epoch, assigned, Tasks())

    def _is_run(self, member: StreamsMember, task: Task) -> bool:
        """Whether a task runs somewhere, or another thread of the process has it in any role."""
        return (
            task in self.processes.active
            or self._holds(self.processes.standby, member, task, member.assigned.standby)
            or self._holds(self.processes.warmup, member, task, member.assigned.warmup)
        )

    def _has_standby(self, member: StreamsMember, task: Task) -> bool:
        processes = self.processes
        is_here = processes.active.get(task) == member.process_id
        return (
            (is_here and task not in member.assigned.active)
            or member.process_id in processes.standby.get(task, ())
            or self._holds(processes.warmup, member, task, member.assigned.warmup)
        )

    def _has_warmup(self, member: StreamsMember, task: Task) -> bool:
        processes = self.processes
        return (
            processes.active.get(task) == member.process_id
            or self._holds(processes.standby, member, task, member.assigned.standby)
            or member.process_id in processes.warmup.get(task, ())
        )

    @staticmethod
    def _holds(
        processes: Mapping[Task, set[str]], member: StreamsMember, task: Task, own: frozenset[Task]
    ) -> bool:
        """Whether another member of the process has a task in a role."""
        return member.process_id in processes.get(task, ()) and task not in own
