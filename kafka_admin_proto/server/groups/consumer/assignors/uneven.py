"""The uniform assignor for members that subscribe different topics.

What has no owner goes to the subscriber with the fewest partitions, the fullest topics first. Then
partitions of a topic move from the subscribers with the most to those with the fewest, topic after
topic, until none moves any more.
"""

from __future__ import annotations

from fractions import Fraction
from uuid import UUID

from kafka_admin_proto.server.groups.consumer.assignors.model import Partitions, Subscribers

#: So often all topics are looked at.
_MOST_ROUNDS = 16
_NOBODY = -1


def assign_unevenly(given: Subscribers) -> dict[str, Partitions]:
    """The partitions of each member; members of no topic there is get none."""
    builder = _Builder(given)
    builder.assign_free()
    builder.balance()
    return builder.assigned()


class _Builder:
    """Owners of partitions, as indices of members, and how many each member has."""

    def __init__(self, given: Subscribers) -> None:
        self._names = list(given.members)
        self._subscribers: dict[UUID, list[int]] = {}
        for index, member in enumerate(given.members.values()):
            for topic in member.topics:
                self._subscribers.setdefault(topic, []).append(index)
        self._sizes = [0] * len(self._names)
        self._owners = {topic: [_NOBODY] * given.counts[topic] for topic in self._subscribers}
        for index, member in enumerate(given.members.values()):
            for topic, numbers in member.partitions.items():
                if topic in member.topics:
                    self._sizes[index] += len(numbers)
                    for number in numbers:
                        self._owners[topic][number] = index

    def assigned(self) -> dict[str, Partitions]:
        """The partitions of each member."""
        assigned: dict[str, Partitions] = {each: {} for each in self._names}
        for topic, owners in self._owners.items():
            for number, index in enumerate(owners):
                if index != _NOBODY:
                    assigned[self._names[index]].setdefault(topic, []).append(number)
        return assigned

    def assign_free(self) -> None:
        """Give each partition without an owner to a member."""
        for topic in self._sorted():
            free = [n for n, owner in enumerate(self._owners[topic]) if owner == _NOBODY]
            if free:
                loads = _Loads(self._subscribers[topic], self._sizes)
                for number in free:
                    self._give(topic, number, loads.least())

    def balance(self) -> None:
        """Move partitions until no topic of several subscribers can be balanced any further."""
        topics = [each for each in self._sorted() if len(self._subscribers[each]) > 1]
        last = -1
        for _ in range(_MOST_ROUNDS):
            for index, topic in enumerate(topics):
                if index == last:
                    return
                if self._balance(topic) or last == -1:
                    last = index

    def _balance(self, topic: UUID) -> int:
        """Balance the subscribers of a topic; how many partitions have moved."""
        owners = self._owners[topic]
        loads = _Loads(self._subscribers[topic], self._sizes)
        if loads.imbalance <= 1:
            return 0
        #: The partitions of each member that may move, the last one first.
        movable: dict[int, list[int]] = {}
        for number, owner in enumerate(owners):
            movable.setdefault(owner, []).append(number)
        moved = 0
        while not loads.are_balanced():
            most = loads.most()
            while most != _NOBODY and not movable.get(most):
                loads.leave_out_most()
                most = loads.most()
            if most == _NOBODY:
                break
            number = movable[most].pop()
            least = loads.least()
            if loads.are_balanced():
                break
            self._sizes[most] -= 1
            self._give(topic, number, least)
            moved += 1
        return moved

    def _give(self, topic: UUID, number: int, index: int) -> None:
        self._owners[topic][number] = index
        self._sizes[index] += 1

    def _sorted(self) -> list[UUID]:
        """The topics, those with the most partitions for each subscriber first."""

        def order(topic: UUID) -> tuple[Fraction, int, int, int]:
            subscribers = len(self._subscribers[topic])
            high, low = topic.int >> 64, topic.int & (1 << 64) - 1
            return (
                -Fraction(len(self._owners[topic]), subscribers),
                subscribers,
                _signed(high),
                _signed(low),
            )

        return sorted(self._subscribers, key=order)


def _signed(bits: int) -> int:
    return bits - (1 << 64) if bits >> 63 else bits


class _Loads:
    """The subscribers of a topic by how many partitions they have, drawn from both ends.

    ``sizes`` change while members are drawn: those with the fewest are drawn in turns, each turn
    with all that have caught up, and so are those with the most.
    """

    def __init__(self, members: list[int], sizes: list[int]) -> None:
        self._sizes = sizes
        self._members = sorted(members, key=lambda each: (sizes[each], each))
        self.imbalance = sizes[self._members[-1]] - sizes[self._members[0]]
        self._least_end = 0
        self._least_size = sizes[self._members[0]] - 1
        self._next_least = 0
        self._most_start = self._most_end = len(self._members)
        self._most_size = sizes[self._members[-1]] + 1
        self._next_most = len(self._members) - 1

    def are_balanced(self) -> bool:
        """Whether both ends have met."""
        return self._most_size - self._least_size <= 1

    def least(self) -> int:
        """The next member with the fewest partitions."""
        if self._next_least >= self._least_end:
            self._least_size += 1
            while (
                self._least_end < len(self._members)
                and self._sizes[self._members[self._least_end]] == self._least_size
            ):
                self._least_end += 1
            self._next_least = 0
        self._next_least += 1
        return self._members[self._next_least - 1]

    def most(self) -> int:
        """The next member with the most partitions, or nobody."""
        if self._next_most < self._most_start:
            if self._most_end <= self._most_start and self._most_start > 0:
                self._most_size = self._sizes[self._members[self._most_start - 1]]
            else:
                self._most_size -= 1
            while (
                self._most_start > 0
                and self._sizes[self._members[self._most_start - 1]] == self._most_size
            ):
                self._most_start -= 1
            self._next_most = self._most_end - 1
        if self._next_most < 0:
            return _NOBODY
        self._next_most -= 1
        return self._members[self._next_most + 1]

    def leave_out_most(self) -> None:
        """Draw the last drawn member no more: it has nothing that could move."""
        place, last = self._next_most + 1, self._most_end - 1
        members = self._members
        members[place], members[last] = members[last], members[place]
        self._most_end -= 1
