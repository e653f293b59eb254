"""Ranges: each member of a topic gets neighbouring partitions, the same ones of equal topics."""

from __future__ import annotations

from collections import Counter

from kafka_admin_proto.server.groups.consumer.assignors.model import Partitions, Subscribers


class _Ranges:
    """The ranges of one topic, cut for its members in turn."""

    def __init__(self, partitions: int, members: int) -> None:
        self._quota, self._extra = divmod(partitions, members)
        self._next = 0

    def cut(self) -> list[int]:
        """The next member's range."""
        size = self._quota + (self._extra > 0)
        self._extra -= self._extra > 0
        start = self._next
        self._next += size
        return list(range(start, self._next))


def assign_ranges(given: Subscribers) -> dict[str, Partitions]:
    """Assign ranges to the members in the order of their names, static ones first."""
    names = sorted(given.members, key=lambda each: _order(given, each))
    topics = {name: given.members[name].topics for name in names}
    if given.are_equal:  # those of the first: others may have changed since that was found
        topics = dict.fromkeys(names, topics[names[0]])
    subscribers = Counter(topic for each in topics.values() for topic in each)
    ranges = {topic: _Ranges(given.counts[topic], count) for topic, count in subscribers.items()}
    assigned: dict[str, Partitions] = {}
    for name in names:
        cut = {topic: ranges[topic].cut() for topic in topics[name]}
        assigned[name] = {topic: numbers for topic, numbers in cut.items() if numbers}
    return assigned


def _order(given: Subscribers, name: str) -> tuple[bool, bytes]:
    """Java compares texts by their UTF-16."""
    instance_id = given.members[name].instance_id
    text = name if instance_id is None else instance_id
    return instance_id is None, text.encode("utf-16-be", "surrogatepass")
