"""Assignments for new partitions, and for existing ones on other brokers or with more replicas."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from operator import gt
from typing import TypeVar

from kafka_admin_proto.arguments import listed
from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import PlacementError
from kafka_admin_proto.placement.cycle_canceling import CycleCanceling
from kafka_admin_proto.placement.racks import RackBounds, rack_bounds

#: The broker ids of a partition's replicas; the first one is the preferred leader.
Replicas = list[int]

_T = TypeVar("_T")

_NOTHING: Mapping[int, int] = {}


def place_new(
    racks: Mapping[int, str | None],
    partitions: int,
    replication_factor: int,
    *,
    fixed: Sequence[Sequence[int]] = (),
    elsewhere: Mapping[int, int] = _NOTHING,
    seed: int = 0,
) -> list[Replicas]:
    """Replicas for new partitions, on the brokers that are the keys of ``racks``.

    A broker without a rack is in the rack None. ``fixed`` are the replicas of partitions that the
    topic has already: they stay, and the new ones even out what they leave uneven. ``elsewhere``
    counts a broker's replicas of other topics; of equally good brokers the one with fewer is taken.

    Raises PlacementError for a number of partitions or a replication factor that is not positive,
    and for a replication factor above the number of brokers.
    """
    if partitions <= 0:
        raise PlacementError(
            f"{counted(partitions, 'partitions')} cannot be placed; name one or more",
            error="INVALID_PARTITIONS",
        )
    homes: list[Sequence[int]] = [()] * partitions
    there = listed(fixed, "fixed")
    _check(racks, [replication_factor])
    return _assign(racks, homes, [replication_factor] * partitions, there, elsewhere, seed)


def place_with_fenced(
    live: Mapping[int, str | None],
    fenced: Mapping[int, str | None],
    partitions: int,
    replication_factor: int,
    *,
    seed: int = 0,
) -> list[Replicas]:
    """Replicas for new partitions where the live brokers are too few, as Kafka places them.

    Each partition goes round the racks, beginning with a live broker, which leads it. A rack
    gives its live brokers first, then its fenced ones (Kafka's StripedReplicaPlacer).

    Raises PlacementError for a replication factor above the number of brokers, and without a
    live broker.
    """
    _check({**live, **fenced}, [replication_factor])
    if not live:
        raise PlacementError(
            "all brokers are fenced; a partition needs a live broker that leads it",
            error="INVALID_REPLICATION_FACTOR",
        )
    names = list(dict.fromkeys([*live.values(), *fenced.values()]))
    by_rack = [[_in_rack(brokers, name) for brokers in (live, fenced)] for name in names]
    placed = []
    for turn in range(seed, seed + partitions):
        racks = [
            [broker for brokers in rack for broker in _rotated(brokers, turn // len(names))]
            for rack in _rotated(by_rack, turn)
        ]
        leading = next(each for each in racks if each[0] in live)
        replicas = [leading.pop(0)]
        racks.append(racks.pop(racks.index(leading)))
        while len(replicas) < replication_factor:
            replicas += [each.pop(0) for each in racks if each]
        placed.append(replicas[:replication_factor])
    return placed


def _in_rack(brokers: Mapping[int, str | None], name: str | None) -> list[int]:
    return sorted(each for each, rack in brokers.items() if rack == name)


def _rotated(values: Sequence[_T], turn: int) -> list[_T]:
    at = turn % len(values) if values else 0
    return [*values[at:], *values[:at]]


def regenerate(
    racks: Mapping[int, str | None],
    current: Sequence[Sequence[int]],
    *,
    replication_factor: int | None = None,
    new_partitions: int = 0,
    elsewhere: Mapping[int, int] = _NOTHING,
    seed: int = 0,
) -> list[Replicas]:
    """Replicas for the partitions of one topic, and behind them for ``new_partitions`` more.

    ``current`` has the replicas of each partition as they are; those on brokers that are not in
    ``racks`` go elsewhere. Without a ``replication_factor`` each partition keeps its number of
    replicas, and a new one gets as many as the first.

    Raises PlacementError as place_new does.
    """
    current = listed(current, "current")
    counts = [
        len(replicas) if replication_factor is None else replication_factor for replicas in current
    ]
    added = counts[0] if counts and replication_factor is None else replication_factor
    if new_partitions and added is None:
        raise PlacementError(
            "new partitions of a topic without partitions have no replication factor; name one",
            error="INVALID_REPLICATION_FACTOR",
        )
    counts += [added or 0] * new_partitions
    homes = [*current, *([()] * new_partitions)]
    _check(racks, counts)
    return _assign(racks, homes, counts, (), elsewhere, seed)


def count_moves(current: Sequence[Sequence[int]], wanted: Sequence[Sequence[int]]) -> int:
    """How many replicas are new to their broker, and so have to be copied."""
    pairs = zip(listed(current, "current"), listed(wanted, "wanted"), strict=True)
    return sum(len({*new} - {*old}) for old, new in pairs)


def _check(racks: Mapping[int, str | None], counts: Sequence[int]) -> None:
    for count in counts:
        if count <= 0:
            raise PlacementError(
                f"a replication factor of {count} is not possible; it is 1 or more",
                error="INVALID_REPLICATION_FACTOR",
            )
        if count > len(racks):
            raise PlacementError(
                f"a partition of {counted(count, 'replicas')} needs "
                f"{counted(count, 'brokers')}, and there are "
                f"{len(racks)}; name a smaller replication factor or more brokers",
                error="INVALID_REPLICATION_FACTOR",
            )


def _assign(
    racks: Mapping[int, str | None],
    homes: Sequence[Sequence[int]],
    counts: Sequence[int],
    fixed: Sequence[Sequence[int]],
    elsewhere: Mapping[int, int],
    seed: int,
) -> list[Replicas]:
    if not homes:
        return []
    brokers = _Brokers(racks, elsewhere, seed)
    home = [
        frozenset([brokers.index[each] for each in replicas if each in brokers.index])
        for replicas in homes
    ]
    bounds_of = {count: rack_bounds(brokers.rack_sizes, count) for count in {*counts}}
    bounds = [bounds_of[count] for count in counts]
    load = brokers.count(fixed)
    chosen = _Filling(brokers, home, bounds, load).chosen
    everyone = range(len(brokers.ids))
    kept = sum(
        _most_kept(brokers, each, bound) for each, bound in zip(home, bounds, strict=True) if each
    )
    CycleCanceling(
        chosen, home=home, allowed=[everyone] * len(chosen), rack_of=brokers.rack_of,
        bounds=bounds, load=load,
    ).optimize(sum(counts) - kept)  # fmt: skip
    leaders = _leaders(brokers, homes, chosen, fixed)
    return _in_order(brokers, homes, chosen, leaders)


class _Brokers:
    """The brokers as indices, in an order that the seed decides."""

    def __init__(
        self, racks: Mapping[int, str | None], elsewhere: Mapping[int, int], seed: int
    ) -> None:
        self.ids = sorted(racks)
        random.Random(seed).shuffle(self.ids)
        self.index = {broker: index for index, broker in enumerate(self.ids)}
        names = {name: index for index, name in enumerate(dict.fromkeys(racks.values()))}
        self.rack_of = [names[racks[broker]] for broker in self.ids]
        self.rack_sizes = [0] * len(names)
        for rack in self.rack_of:
            self.rack_sizes[rack] += 1
        self.elsewhere = [elsewhere.get(broker, 0) for broker in self.ids]

    def count(self, assignment: Sequence[Sequence[int]]) -> list[int]:
        """How often each broker stands in the lists."""
        counts = [0] * len(self.ids)
        for replicas in assignment:
            for broker in replicas:
                if broker in self.index:
                    counts[self.index[broker]] += 1
        return counts


def _most_kept(brokers: _Brokers, home: frozenset[int], bounds: RackBounds) -> int:
    """How many of a partition's replicas may stay where they are."""
    counts = [0] * len(brokers.rack_sizes)
    for broker in home:
        counts[brokers.rack_of[broker]] += 1
    kept = sum(map(min, counts, bounds.fewest))
    above = sum(
        count > fewest and most > fewest
        for count, fewest, most in zip(counts, bounds.fewest, bounds.most, strict=True)
    )
    return kept + min(above, bounds.extra)


class _Filling:
    """A first assignment: it keeps as many replicas as it can, and adds to the lightest brokers.

    Of brokers with equally many replicas the one that shared the fewest partitions with those
    already chosen is taken, so that a broker's partitions are spread over all the others.
    """

    def __init__(
        self,
        brokers: _Brokers,
        home: Sequence[frozenset[int]],
        bounds: Sequence[RackBounds],
        load: list[int],
    ) -> None:
        self._brokers, self._load = brokers, load
        #: All brokers, those with fewer replicas of other topics first.
        self._in_turn = sorted(range(len(load)), key=brokers.elsewhere.__getitem__)
        self._shared = [[0] * len(load) for _ in load]
        self.chosen: list[set[int]] = [set() for _ in home]
        self._in_rack = [[0] * len(brokers.rack_sizes) for _ in home]
        # All replicas are counted where they are before any is placed: the first partitions would
        # otherwise take brokers for empty. Where a rack has too many of a partition, those on the
        # brokers with the most replicas are the ones that leave.
        for each in home:
            for broker in each:
                load[broker] += 1
        for partition, each in enumerate(home):
            for broker in each:
                load[broker] -= 1
            for broker in sorted(each, key=lambda index: (load[index], index)):
                self._choose(partition, broker, bounds[partition])
        for partition, bound in enumerate(bounds):
            self._fill(partition, bound)

    def _open_racks(self, partition: int, bounds: RackBounds) -> list[bool]:
        """The racks that may take one more replica of the partition."""
        counts = self._in_rack[partition]
        extra = bounds.extra - sum(map(gt, counts, bounds.fewest))
        most = bounds.most if extra > 0 else bounds.fewest
        return [*map(gt, most, counts)]

    def _choose(self, partition: int, broker: int, bounds: RackBounds) -> None:
        if self._open_racks(partition, bounds)[self._brokers.rack_of[broker]]:
            self._put(partition, broker)

    def _put(self, partition: int, broker: int) -> None:
        chosen, shared = self.chosen[partition], self._shared[broker]
        for other in chosen:
            self._shared[other][broker] += 1
            shared[other] += 1
        chosen.add(broker)
        self._in_rack[partition][self._brokers.rack_of[broker]] += 1
        self._load[broker] += 1

    def _fill(self, partition: int, bounds: RackBounds) -> None:
        """Add the replicas that a partition lacks."""
        chosen, rack_of = self.chosen[partition], self._brokers.rack_of
        missing = sum(bounds.fewest) + bounds.extra - len(chosen)
        candidates = self._in_turn
        while missing:
            open_racks = self._open_racks(partition, bounds)
            candidates = [
                broker
                for broker in candidates
                if open_racks[rack_of[broker]] and broker not in chosen
            ]
            best = candidates if len(candidates) == missing else [self._best(candidates, chosen)]
            for broker in best:
                self._put(partition, broker)
            missing -= len(best)

    def _best(self, candidates: list[int], chosen: set[int]) -> int:
        """The candidate that gets the next replica; of equal ones the first is taken."""
        if not chosen:
            return min(candidates, key=self._load.__getitem__)
        loads = [self._load[broker] for broker in candidates]
        least = min(loads)
        if loads.count(least) == 1:
            return candidates[loads.index(least)]
        lightest = [broker for broker, load in zip(candidates, loads, strict=True) if load == least]
        shared = [self._shared[other] for other in chosen]
        return min(lightest, key=lambda broker: sum([counts[broker] for counts in shared]))


def _leaders(
    brokers: _Brokers,
    homes: Sequence[Sequence[int]],
    chosen: Sequence[set[int]],
    fixed: Sequence[Sequence[int]],
) -> list[int]:
    """The leader of each partition, so that all brokers lead equally many."""
    load = brokers.count([replicas[:1] for replicas in fixed])
    leading: list[set[int]] = []
    home = []
    for replicas, candidates in zip(homes, chosen, strict=True):
        now = brokers.index.get(replicas[0]) if replicas else None
        stays = now is not None and now in candidates
        leader = now if stays and now is not None else min(sorted(candidates), key=load.__getitem__)
        load[leader] += 1
        leading.append({leader})
        # Where any leader is a new one, none of them costs more than another.
        home.append(frozenset({leader} if stays else candidates))
    if max(load) - min(load) > 1:  # otherwise the leaders are spread evenly already
        one = RackBounds((1,), (2,), 0)
        CycleCanceling(
            leading, home=home, allowed=[tuple(sorted(each)) for each in chosen],
            rack_of=[0] * len(brokers.ids), bounds=[one] * len(leading), load=load,
        ).optimize(0)  # fmt: skip
    return [leader for (leader,) in leading]


def _in_order(
    brokers: _Brokers,
    homes: Sequence[Sequence[int]],
    chosen: Sequence[set[int]],
    leaders: Sequence[int],
) -> list[Replicas]:
    """The leader first, then those that stay in their order, then the new ones.

    Kafka elects the next one in the list when the leader is gone: new ones are in the order that
    spreads the followers of each leader.
    """
    follows = [[0] * len(brokers.ids) for _ in brokers.ids]
    result = []
    for replicas, candidates, leader in zip(homes, chosen, leaders, strict=True):
        stay = [brokers.index[each] for each in replicas if each in brokers.index]
        ordered = [each for each in stay if each in candidates and each != leader]
        followed = follows[leader]
        ordered += sorted(sorted(candidates - {leader, *ordered}), key=followed.__getitem__)
        if ordered:
            followed[ordered[0]] += 1
        result.append([brokers.ids[each] for each in (leader, *ordered)])
    return result
