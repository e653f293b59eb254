"""The assignor of streams groups (``StickyTaskAssignor`` in Kafka): tasks in balance.

Members keep active tasks that they have, then get those that they have as a standby, and the rest
goes to the process with the least load. Of several it is the one that comes first in Kafka's heaps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafka_admin_proto.server.groups.streams.members import StreamsMember, Task, Tasks
from kafka_admin_proto.server.java import Heap, computed_order, hash_order

#: The offsets of tasks that a member has state of.
Offsets = Mapping[Task, int]


class _Process:
    """A process with its members, how many tasks each has, and which ones."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self._tasks: set[Task] = set()
        self._count = 0
        self._by_load: Heap[list[int]] | None = None
        self._names: list[str] = []

    @property
    def load(self) -> float:
        return self._count / len(self.counts)

    def has(self, task: Task) -> bool:
        return task in self._tasks

    def add(self, member: str, task: Task) -> int:
        """Give a member a task; returns how many it has then."""
        self._by_load = None
        return self._add(member, task)

    def _add(self, member: str, task: Task) -> int:
        self._count += 1
        self._tasks.add(task)
        self.counts[member] += 1
        return self.counts[member]

    def add_to_least(self, task: Task) -> tuple[str, int]:
        """Give a task to the member with the fewest; returns its id, and how many it has then."""
        if self._by_load is None:
            self._names = hash_order(self.counts)
            self._by_load = Heap(lambda each: each[0])
            for index, name in enumerate(self._names):
                self._by_load.add([self.counts[name], index])
        least = self._by_load.poll()
        name = self._names[least[1]]
        least[0] = self._add(name, task)
        self._by_load.add(least)
        return name, least[0]


class _Share:
    """How many tasks each member may have while others still wait for theirs."""

    def __init__(self, tasks: int, members: int) -> None:
        self._tasks, self._members = tasks, members
        self._set()

    def _set(self) -> None:
        self.each = -(-self._tasks // self._members) if self._members else 0

    def taken(self, count: int) -> None:
        """A member has so many tasks now."""
        if count == self.each:
            self._members -= 1
            self._tasks -= count
            self._set()


class _Assignment:
    """An assignment that is being made."""

    def __init__(
        self,
        subtopologies: Mapping[str, tuple[int, bool]],
        members: Mapping[str, StreamsMember],
        offsets: Mapping[str, Offsets],
        replicas: int,
    ) -> None:
        self.tasks = [(name, number) for name, (count, _) in subtopologies.items()
                      for number in range(count)]  # fmt: skip
        stateful = [task for task in self.tasks if subtopologies[task[0]][1]]
        self.stateful: list[Task] = stateful if replicas else []
        self._members = members
        self._replicas = replicas
        self._active_share = _Share(len(self.tasks), len(members))
        self._share = _Share(len(self.tasks) + replicas * len(stateful), len(members))
        processes: dict[str, _Process] = {}
        self.active: dict[str, set[Task]] = {name: set() for name in members}
        self.standby: dict[str, set[Task]] = {name: set() for name in members}
        self._had_active: dict[Task, str] = {}
        candidates: dict[Task, list[tuple[int, int, str]]] = {}
        for name, member in members.items():
            process = processes.setdefault(member.process_id, _Process())
            process.counts[name] = 0
            self._had_active.update(dict.fromkeys(member.assigned.active, name))
            known = offsets.get(name, {})
            for task in member.assigned.standby:
                candidates.setdefault(task, []).append((0, -known.get(task, 0), name))
            for task, offset in known.items():
                if task not in member.assigned.standby:
                    candidates.setdefault(task, []).append((1, -offset, name))
        self._had_standby = {
            task: [name for *_, name in sorted(each, key=lambda one: one[:2])]
            for task, each in candidates.items()
        }
        # Kafka makes this table for as many processes as there are members.
        table = 1 << max(len(members) - 1, 0).bit_length()
        calls = [member.process_id for member in members.values()]
        self._processes = {name: processes[name] for name in computed_order(calls, table)}

    def _process(self, member: str) -> _Process:
        return self._processes[self._members[member].process_id]

    def _by_load(self) -> Heap[_Process]:
        heap = Heap[_Process](lambda each: each.load)
        for each in self._processes.values():
            heap.add(each)
        return heap

    def _least_loaded(self, names: Iterable[str], standby: Task | None = None) -> str | None:
        """The first member, or one whose load, and whose process' load, is less."""
        found, least = None, (0.0, 0)
        for name in names:
            process = self._process(name)
            if standby is not None and process.has(standby):
                continue
            load = process.load, process.counts[name]
            if found is None or (load[0] < least[0] and load[1] < least[1]):
                found, least = name, load
        return found

    def assign_active(self) -> None:
        """Give all tasks to members."""
        left = []
        for task in sorted(self.tasks, key=lambda task: (task[1], task[0])):
            if not self._activate(self._had_active.get(task), task):
                left.append(task)
        rest = []
        for task in left:
            if not self._activate(self._least_loaded(self._had_standby.get(task, ())), task):
                rest.append(task)
        heap = self._by_load()
        for task in sorted(rest):
            process = heap.poll()
            name, count = process.add_to_least(task)
            self._note_active(name, task, count)
            heap.add(process)

    def _activate(self, name: str | None, task: Task) -> bool:
        """Give a member an active task, if it may have more of them."""
        if name is None:
            return False
        process = self._process(name)
        if process.counts[name] >= self._active_share.each:
            return False
        self._note_active(name, task, process.add(name, task))
        return True

    def _note_active(self, name: str, task: Task, count: int) -> None:
        self.active[name].add(task)
        self._active_share.taken(count)
        self._share.taken(count)

    def assign_standby(self) -> None:
        """Give standbys of tasks with state to other processes."""
        left: list[tuple[Task, int]] = []
        for task in sorted(self.stateful, key=lambda task: (task[1], task[0]), reverse=True):
            for number in range(self._replicas):
                if not self._stand_by(task):
                    left.append((task, self._replicas - number))
                    break
        heap = self._by_load()
        for task, count in sorted(left, reverse=True):
            for _ in range(count):
                if not self._stand_by_least(heap, task):
                    break

    def _stand_by(self, task: Task) -> bool:
        """Give a standby to the member that had the task, or to one that had a standby of it."""
        before = self._had_active.get(task)
        if before is not None and self._process(before).has(task):
            before = None
        if before is None or not self._has_room(before):
            before = self._least_loaded(self._had_standby.get(task, ()), task)
        if before is None or not self._has_room(before):
            return False
        self.standby[before].add(task)
        self._share.taken(self._process(before).add(before, task))
        return True

    def _has_room(self, name: str) -> bool:
        return self._process(name).counts[name] < self._share.each

    def _stand_by_least(self, heap: Heap[_Process], task: Task) -> bool:
        """Give a standby to the process with the least load that has nothing of the task."""
        polled: list[_Process] = []
        is_given = False
        while heap and not is_given:
            process = heap.poll()
            polled.append(process)
            if not process.has(task):
                name, count = process.add_to_least(task)
                self.standby[name].add(task)
                self._share.taken(count)
                is_given = True
        for process in reversed(polled):
            heap.add(process)
        return is_given


def assign_tasks(
    subtopologies: Mapping[str, tuple[int, bool]],
    members: Mapping[str, StreamsMember],
    offsets: Mapping[str, Offsets],
    replicas: int,
) -> dict[str, Tasks]:
    """What each member shall have of subtopologies' tasks, in the order of the members.

    Of a subtopology it takes how many tasks it has, and whether these have state, of which there
    are so many ``replicas`` as standbys.
    """
    made = _Assignment(subtopologies, members, offsets, replicas)
    made.assign_active()
    made.assign_standby()
    return {
        name: Tasks(dict.fromkeys(sorted(made.active[name]), 0), frozenset(made.standby[name]))
        for name in members
    }
