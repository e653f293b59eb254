"""Drawn clusters and assignments, and what is measured of an assignment."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

Racks = dict[int, str | None]
Assignment = Sequence[Sequence[int]]


def draw_racks(random: random.Random, brokers: int) -> Racks:
    """Brokers with ids of any size in racks: none, equal ones, or ones of any size."""
    ids = random.sample(range(1000), brokers)
    racks = random.randint(1, min(brokers, 5))
    kind = random.randrange(4)
    if kind == 0:
        return dict.fromkeys(ids)
    if kind == 1:
        return {broker: f"rack{index % racks}" for index, broker in enumerate(ids)}
    names = [f"rack{index}" for index in range(racks)]
    some: list[str | None] = [*names, None] if kind == 3 else [*names]
    return {broker: random.choice(some) for broker in ids}


def difference(counts: Counter[int], brokers: Sequence[int] | Mapping[int, object]) -> int:
    """The largest count of a broker less the smallest one."""
    numbers = [counts[broker] for broker in brokers]
    return max(numbers) - min(numbers)


def replica_counts(assignment: Assignment) -> Counter[int]:
    return Counter(broker for replicas in assignment for broker in replicas)


def leader_counts(assignment: Assignment) -> Counter[int]:
    return Counter(replicas[0] for replicas in assignment)


def squares(counts: Counter[int]) -> int:
    return sum(count * count for count in counts.values())


def rack_counts(racks: Mapping[int, str | None], replicas: Sequence[int]) -> dict[str | None, int]:
    counts = Counter(racks[broker] for broker in replicas)
    return {rack: counts[rack] for rack in dict.fromkeys(racks.values())}


def is_spread(racks: Mapping[int, str | None], replicas: Sequence[int]) -> bool:
    """Whether a rack has two replicas more than another one only where that one is full."""
    sizes = Counter(racks.values())
    counts = rack_counts(racks, replicas)
    return all(
        counts[one] <= counts[other] + 1 or counts[other] == sizes[other]
        for one in counts
        for other in counts
    )


def spread_sets(racks: Mapping[int, str | None], count: int) -> list[frozenset[int]]:
    """Every set of brokers that a partition may have."""
    return [
        frozenset(each) for each in combinations(sorted(racks), count) if is_spread(racks, each)
    ]
