"""The assignor of share groups (``SimpleAssignor`` in Kafka): partitions and members in balance.

Each partition has a member at least, and with more members than partitions several. Members keep
what they have as far as that leaves them in balance. Of members that could have a partition as
well, Kafka takes the first of a HashMap, this one the first of their ids.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping
from uuid import UUID

from kafka_admin_proto.server.groups.modern import Target

_Place = tuple[UUID, int]


def assign_shares(
    topics: Mapping[str, Collection[UUID]],
    before: Mapping[str, Target],
    partitions: Mapping[UUID, Iterable[int]],
    *,
    are_equal: bool,
) -> dict[str, dict[UUID, list[int]]]:
    """The partitions of each member, of the ``topics`` that it subscribes.

    ``before`` is what members had, ``partitions`` are those that may be assigned. ``are_equal``:
    all subscribe the same topics, those that are missing too. A member that has lost all partitions
    of such a topic has none of it, but still the topic, as in Kafka.
    """
    sets = {name: frozenset(each) for name, each in topics.items()}
    assigned: dict[str, set[_Place]] = {name: set() for name in topics}
    wanted = set[UUID]().union(*sets.values())
    for group in [wanted] if are_equal else [{each} for each in sorted(wanted)]:
        places = [
            (topic, number)
            for topic in sorted(group)
            for number in sorted(partitions.get(topic, ()))
        ]
        names = sorted(name for name, each in sets.items() if group <= each)
        had = {
            name: {
                (topic, number)
                for topic, numbers in before.get(name, {}).items()
                for number in numbers
            }.intersection(places)
            for name in names
        }
        for name, each in _balanced(places, had).items():
            assigned[name] |= each
    return {
        name: {
            **{topic: [] for topic in before.get(name, ()) if topic in sets[name]},
            **_by_topic(each),
        }
        for name, each in assigned.items()
    }


def _balanced(places: list[_Place], had: Mapping[str, set[_Place]]) -> dict[str, set[_Place]]:
    """The places of each member, in balance, with as many as possible of those that it had."""
    if not places or not had:
        return {}
    sharing = -(-len(had) // len(places))
    total = sharing * len(places)
    ends = [-(-total * count // len(had)) for count in range(len(had) + 1)]
    wanted = dict(zip(had, (end - ends[index] for index, end in enumerate(ends[1:])), strict=True))
    assigned = {
        name: set(sorted(each)[max(0, len(each) - wanted[name]) :]) for name, each in had.items()
    }
    owners = {place: [name for name, each in assigned.items() if place in each] for place in places}
    for place, names in owners.items():
        for name in names[: max(0, len(names) - sharing)]:
            assigned[name].remove(place)
            names.remove(name)
    unfilled = deque(name for name, each in assigned.items() if len(each) < wanted[name])
    for place, names in owners.items():
        for _ in range(len(unfilled)):
            if len(names) >= sharing:
                break
            name = unfilled.popleft()
            if place not in assigned[name]:
                assigned[name].add(place)
                names.append(name)
            if len(assigned[name]) < wanted[name]:
                unfilled.append(name)
    return assigned


def _by_topic(places: Iterable[_Place]) -> dict[UUID, list[int]]:
    numbers: dict[UUID, list[int]] = {}
    for topic, number in sorted(places):
        numbers.setdefault(topic, []).append(number)
    return numbers
