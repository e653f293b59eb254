"""Properties of assignments, on drawn clusters and beside every assignment of small ones."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.errors import PlacementError
from kafka_admin_proto.placement import count_moves, place_new, place_with_fenced, regenerate
from kafka_admin_proto.placement.cycle_canceling import CycleCanceling
from kafka_admin_proto.placement.racks import rack_bounds
from tests.helpers.profile import EXHAUSTIVE
from tests.placement.clusters import (
    Assignment,
    Racks,
    difference,
    draw_racks,
    is_spread,
    leader_counts,
    replica_counts,
    spread_sets,
    squares,
)

SEEDS = st.integers(0, 2**32)
#: Clusters that are drawn in one test.
DRAWN = 1500 if EXHAUSTIVE else 100
#: Seeds of draws where moves from loaded brokers straight to lighter ones are not enough.
CYCLES = (286, 407, 461, 495, 507, 723, 917)


def draw_current(random: random.Random, brokers: list[int], partitions: int) -> list[list[int]]:
    """Replicas that somebody chose by hand, some on brokers that are gone."""
    known = [*brokers, *random.sample(range(1000, 1010), random.randint(0, 2))]
    most = random.randint(1, len(brokers))
    skew = random.random() < 0.5
    return [
        random.sample(known[: most + 1] if skew else known, random.randint(1, most))
        if random.random() < 0.2
        else random.sample(known, most)
        for _ in range(partitions)
    ]


def check_valid(racks: Racks, assignment: Assignment, counts: list[int]) -> None:
    assert [len(replicas) for replicas in assignment] == counts
    for replicas in assignment:
        assert len({*replicas}) == len(replicas)
        assert {*replicas} <= {*racks}
        assert is_spread(racks, replicas), (racks, replicas)


@given(SEEDS)
def test_new_partitions_are_spread_and_depend_on_the_arguments_only(seed: int) -> None:
    draw = random.Random(seed)
    racks = draw_racks(draw, draw.randint(1, 12))
    factor = draw.randint(1, len(racks))
    partitions = draw.randint(1, 40)
    found = place_new(racks, partitions, factor, seed=seed)
    check_valid(racks, found, [factor] * partitions)
    assert found == place_new(dict(reversed(racks.items())), partitions, factor, seed=seed)
    if len({*racks.values()}) == 1:
        assert difference(replica_counts(found), racks) <= 1
        assert difference(leader_counts(found), racks) <= 1


@given(SEEDS)
def test_what_is_the_best_already_stays(seed: int) -> None:
    draw = random.Random(seed)
    racks = draw_racks(draw, draw.randint(1, 8))
    found = place_new(racks, draw.randint(1, 20), draw.randint(1, len(racks)), seed=seed)
    assert regenerate(racks, found, seed=seed + 1) == found


@given(SEEDS)
def test_new_partitions_beside_others_even_out_what_those_leave_uneven(seed: int) -> None:
    draw = random.Random(seed)
    brokers = list(range(draw.randint(2, 6)))
    first = draw.randint(1, len(brokers) - 1)
    old = [[draw.randrange(first)] for _ in range(draw.randint(1, 10))]
    new = place_new(dict.fromkeys(brokers), 60, 1, fixed=old, seed=seed)
    assert difference(replica_counts([*old, *new]), brokers) <= 1
    assert difference(leader_counts([*old, *new]), brokers) <= 1


def best(
    racks: Racks, current: Assignment, counts: list[int], fixed: Assignment = ()
) -> tuple[int, int]:
    """The least sum of squares, and the fewest moves that it takes, of all assignments."""
    options = [spread_sets(racks, count) for count in counts]
    base = replica_counts(fixed)
    found = {(0, 0, *(base[broker] for broker in sorted(racks)))}
    # Brokers' counts and moves are all that matters of the partitions before.
    for replicas, sets in zip(current, options, strict=True):
        deltas = {
            (len(each - {*replicas}), *(int(broker in each) for broker in sorted(racks)))
            for each in sets
        }
        found = {
            (0, row[1] + delta[0], *map(sum, zip(row[2:], delta[1:], strict=True)))
            for row, delta in product(found, deltas)
        }
        fewest: dict[tuple[int, ...], int] = {}
        for row in found:
            fewest[row[2:]] = min(row[1], fewest.get(row[2:], row[1]))
        found = {(0, moves, *counted) for counted, moves in fewest.items()}
    return min((sum(each * each for each in row[2:]), row[1]) for row in found)


@pytest.mark.exhaustive
def test_no_assignment_is_more_even_and_none_as_even_takes_fewer_moves() -> None:
    for seed in (*range(DRAWN), *CYCLES):
        draw = random.Random(seed)
        racks = draw_racks(draw, draw.randint(1, 6))
        current = draw_current(draw, [*racks], draw.randint(1, 7))
        factor = draw.choice([None, draw.randint(1, len(racks))])
        counts = [len(each) if factor is None else factor for each in current]
        found = regenerate(racks, current, replication_factor=factor, seed=seed)
        check_valid(racks, found, counts)
        measured = squares(replica_counts(found)), count_moves(current, found)
        assert measured == best(racks, current, counts), (seed, racks, current, found)


def best_leaders(found: Assignment, brokers: list[int]) -> int:
    """The least difference of leaders with the same replicas."""
    rows: set[tuple[int, ...]] = {(0,) * len(brokers)}
    for replicas in found:
        rows = {
            tuple(count + (broker == leader) for count, broker in zip(row, brokers, strict=True))
            for row in rows
            for leader in replicas
        }
    return min(max(row) - min(row) for row in rows)


def test_leaders_are_as_even_as_the_replicas_let_them() -> None:
    for seed in range(DRAWN):
        draw = random.Random(seed)
        racks = draw_racks(draw, draw.randint(1, 5))
        current = draw_current(draw, [*racks], draw.randint(1, 8))
        found = regenerate(racks, current, seed=seed)
        least = best_leaders(found, sorted(racks))
        assert difference(leader_counts(found), racks) == least, (seed, racks, current, found)


def test_replicas_that_stay_keep_their_order() -> None:
    found = regenerate(dict.fromkeys(range(1, 7)), [[1, 2, 3], [4, 5, 6]], replication_factor=3)
    assert found == [[1, 2, 3], [4, 5, 6]]
    for seed in range(20):
        (replicas,) = regenerate({1: None, 2: None, 4: None, 5: None}, [[1, 3, 2]], seed=seed)
        assert replicas[:2] == [1, 2]
        assert replicas[2] in {4, 5}


def test_of_equally_good_brokers_the_one_with_fewer_replicas_elsewhere_is_taken() -> None:
    for seed in range(10):
        racks = {broker: None for broker in range(5)}
        assert place_new(racks, 1, 1, elsewhere={0: 9, 1: 9, 2: 3, 3: 9, 4: 9}, seed=seed) == [[2]]


def test_the_partitions_of_a_broker_are_spread_over_all_others() -> None:
    found = place_new(dict.fromkeys(range(6)), 60, 3)
    together = Counter(
        frozenset((one, other)) for replicas in found for one in replicas for other in replicas
    )
    assert len([pair for pair in together if len(pair) == 2]) == 15
    after = Counter((replicas[0], replicas[1]) for replicas in found)
    for leader in range(6):
        assert len({second for first, second in after if first == leader}) >= 4


@pytest.mark.parametrize(
    ("partitions", "factor", "error"),
    [
        (0, 1, "INVALID_PARTITIONS"),
        (1, 0, "INVALID_REPLICATION_FACTOR"),
        (1, 3, "INVALID_REPLICATION_FACTOR"),
    ],
)
def test_what_cannot_be_placed(partitions: int, factor: int, error: str) -> None:
    with pytest.raises(PlacementError) as refused:
        place_new({1: None, 2: None}, partitions, factor)
    assert refused.value.error == error


def test_new_partitions_of_a_topic_without_partitions_need_a_replication_factor() -> None:
    with pytest.raises(PlacementError, match="replication factor"):
        regenerate({1: None}, [], new_partitions=1)


def test_two_steps_of_a_cycle_that_are_in_each_others_way_make_two_cycles() -> None:
    """Partition 0 has one replica more than its fewest in the rack of brokers 0, 1 and 2."""
    bounds = rack_bounds([3, 3], 3)
    canceling = CycleCanceling(
        [{0, 1, 3}, {0, 3, 4}, {1, 3, 5}],
        home=[frozenset({3, 4, 5}), frozenset({0, 3, 4}), frozenset({0, 1, 3})],
        allowed=[range(6)] * 3,
        rack_of=[0, 0, 0, 1, 1, 1],
        bounds=[bounds] * 3,
        load=[2, 2, 0, 3, 1, 1],
    )
    cycle = [(0, 0, 4), (4, 1, 1), (1, 0, 5), (5, 2, 0)]
    assert canceling._uncrossed(cycle) == [(0, 0, 5), (5, 2, 0)]
    backwards = [*cycle[2:], *cycle[:2]]
    assert canceling._uncrossed(backwards) == [(5, 2, 0), (0, 0, 5)]


@given(SEEDS)
def test_fenced_brokers_get_replicas_where_live_ones_are_too_few(seed: int) -> None:
    draw = random.Random(seed)
    racks = {broker: draw.choice([None, "a", "b"]) for broker in range(draw.randint(2, 7))}
    live = {each: racks[each] for each in draw.sample(sorted(racks), draw.randint(1, len(racks)))}
    fenced = {each: rack for each, rack in racks.items() if each not in live}
    partitions, factor = draw.randint(1, 12), draw.randint(1, len(racks))
    placed = place_with_fenced(live, fenced, partitions, factor, seed=seed)
    assert [len(replicas) for replicas in placed] == [factor] * partitions
    for replicas in placed:
        assert len({*replicas}) == factor
        assert replicas[0] in live
        for rack in {*racks.values()}:  # a rack's fenced brokers come behind all its live ones
            taken = {each for each in replicas if racks[each] == rack}
            if taken & {*fenced}:
                assert {each for each in live if racks[each] == rack} <= taken
    if len({*racks.values()}) == 1:
        leaders = Counter(replicas[0] for replicas in placed)
        assert max(leaders.values()) - min(leaders[each] for each in live) <= 1


def test_a_factor_above_all_brokers_and_no_live_broker_are_refused() -> None:
    with pytest.raises(PlacementError, match="a partition of 4 replicas needs 4 brokers"):
        place_with_fenced({1: None}, {2: None, 3: None}, 1, 4)
    with pytest.raises(PlacementError, match="all brokers are fenced"):
        place_with_fenced({}, {2: None, 3: None}, 1, 2)
