"""Uniform and sticky: members get equally many partitions, and keep those that they have."""

from __future__ import annotations

from uuid import UUID

from kafka_admin_proto.server.groups.consumer.assignors.model import (
    Partitions,
    Subscriber,
    Subscribers,
)
from kafka_admin_proto.server.groups.consumer.assignors.uneven import assign_unevenly
from kafka_admin_proto.server.java import copied_table, number_order, uuid_order


def assign_uniformly(given: Subscribers) -> dict[str, Partitions]:
    """Assign to members of equal subscriptions, or of different ones."""
    if not given.members:
        return {}
    return _assign_evenly(given) if given.are_equal else assign_unevenly(given)


def _assign_evenly(given: Subscribers) -> dict[str, Partitions]:
    """Each member keeps as many as its quota allows, and what is left fills the others."""
    first = next(iter(given.members.values()))
    topics = uuid_order(first.topics, copied_table(first.wanted))
    if not topics:
        return {}
    free = [
        (topic, number)
        for topic in topics
        for number in range(given.counts[topic])
        if (topic, number) not in given.owners
    ]
    quota, extra = divmod(sum(given.counts[each] for each in topics), len(given.members))
    assigned: dict[str, Partitions] = {}
    unfilled: list[tuple[str, int]] = []
    for index, (name, member) in enumerate(given.members.items()):
        left = quota + (extra > 0)
        has_extra = extra > 0
        kept: Partitions = {}
        for topic in uuid_order(member.partitions):
            if topic not in topics:
                continue
            numbers = number_order(member.partitions[topic])
            if numbers[:left]:
                kept[topic] = numbers[:left]
            free += [(topic, number) for number in numbers[left:]]
            left -= min(left, len(numbers))
        if left > 0 and has_extra and len(given.members) - index > extra:
            left -= 1
            has_extra = False
        if left > 0:
            unfilled.append((name, left))
        extra -= has_extra
        assigned[name] = kept
    _fill(assigned, unfilled, free)
    return {name: _ordered(each, given.members[name]) for name, each in assigned.items()}


def _ordered(partitions: Partitions, member: Subscriber) -> Partitions:
    """Partitions in the order of Kafka's sets, which are copies of the last ones."""
    return {
        topic: number_order(numbers, copied_table(len(member.partitions.get(topic, ()))))
        for topic, numbers in partitions.items()
    }


def _fill(
    assigned: dict[str, Partitions], unfilled: list[tuple[str, int]], free: list[tuple[UUID, int]]
) -> None:
    start = 0
    for name, count in unfilled:
        for topic, number in free[start : start + count]:
            assigned[name].setdefault(topic, []).append(number)
        start += count
