"""How many replicas of one partition a rack gets."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec


class RackBounds(msgspec.Struct, frozen=True):
    """The fewest and the most replicas of a partition in each rack, by the rack's index.

    ``extra`` racks have one replica more than their fewest, the others exactly the fewest.
    """

    fewest: tuple[int, ...]
    most: tuple[int, ...]
    extra: int


def rack_bounds(sizes: Sequence[int], replicas: int) -> RackBounds:
    """The bounds for ``replicas`` replicas in racks of ``sizes`` brokers.

    The replicas fill the racks like water: a rack has fewer than another one only when all of its
    brokers have a replica, or when the last round does not reach every rack. ``replicas`` is at
    most the number of brokers. Kafka's StripedReplicaPlacer, which goes round the racks, has the
    same bounds.
    """
    rounds = 0
    while sum(min(size, rounds + 1) for size in sizes) <= replicas and rounds < replicas:
        rounds += 1
    fewest = tuple(min(size, rounds) for size in sizes)
    most = tuple(min(size, rounds + 1) for size in sizes)
    return RackBounds(fewest, most, replicas - sum(fewest))
