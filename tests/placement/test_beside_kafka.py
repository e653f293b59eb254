"""The same drawn clusters through Kafka's own placers: ours is never less even, nor less spread."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from kafka_admin_proto.placement import count_moves, place_new, regenerate
from tests.helpers.java_tool import JavaTool
from tests.helpers.profile import EXHAUSTIVE
from tests.helpers.requirements import require_oracle
from tests.placement.clusters import (
    Assignment,
    Racks,
    difference,
    draw_racks,
    is_spread,
    leader_counts,
    replica_counts,
    squares,
)
from tools.kafka_releases import NEWEST
from tools.oracles.jars import fetch
from tools.oracles.libraries import SLF4J

#: One JVM for all.
pytestmark = pytest.mark.xdist_group("placers")

JAVA = Path(__file__).parents[1] / "java"
CLUSTERS = 1000 if EXHAUSTIVE else 80

Ask = Callable[[str, str, list["Drawn"]], list[Assignment]]


class Drawn(NamedTuple):
    """A cluster, and what is to be placed on it."""

    seed: int
    racks: Racks
    partitions: int
    factor: int

    def line(self) -> str:
        brokers = ",".join(f"{broker}:{rack or ''}" for broker, rack in self.racks.items())
        return f"{self.seed}\t{self.partitions}\t{self.factor}\t{brokers}"


def draw_clusters(seed: int) -> list[Drawn]:
    found = []
    for number in range(CLUSTERS):
        draw = random.Random(seed * 1000 + number)
        racks = draw_racks(draw, draw.randint(1, 20))
        partitions = draw.randint(1, draw.choice([10, 60]))
        factor = min(draw.choice([1, 2, 2, 3, 3, 3, 4, 5]), len(racks))
        found.append(Drawn(number, racks, partitions, factor))
    return found


@pytest.fixture(scope="module")
def place() -> Iterator[Ask]:
    """What a program of ``tests/java``, on a release's jars, answers to the clusters."""
    tools: dict[str, JavaTool] = {}

    def ask(program: str, release: str, clusters: list[Drawn]) -> list[Assignment]:
        require_oracle()
        if program not in tools:
            jars = fetch(
                release, ["kafka-clients", "kafka-metadata", "kafka-server-common", *SLF4J]
            )
            tools[program] = JavaTool(JAVA / program, jars)
        answers = tools[program].ask([drawn.line() for drawn in clusters])
        return [
            [[int(broker) for broker in replicas.split(",")] for replicas in answer.split(";")]
            for answer in answers
        ]

    yield ask
    for tool in tools.values():
        tool.close()


def check_beside(drawn: Drawn, ours: Assignment, theirs: Assignment) -> None:
    racks = drawn.racks
    assert difference(replica_counts(ours), racks) <= difference(replica_counts(theirs), racks)
    assert difference(leader_counts(ours), racks) <= difference(leader_counts(theirs), racks)
    for one, other in zip(ours, theirs, strict=True):
        assert is_spread(racks, one)
        assert len({racks[each] for each in one}) >= len({racks[each] for each in other})


def check_moves(current: Assignment, ours: Assignment, theirs: Assignment) -> None:
    """Theirs may move less only where it leaves more uneven."""
    if squares(replica_counts(theirs)) <= squares(replica_counts(ours)):
        assert count_moves(current, ours) <= count_moves(current, theirs)


@pytest.mark.exhaustive
def test_new_topics_are_as_even_as_those_of_a_controller(place: Ask) -> None:
    clusters = draw_clusters(1)
    for drawn, theirs in zip(clusters, place("PlacementTool.java", NEWEST, clusters), strict=True):
        ours = place_new(drawn.racks, drawn.partitions, drawn.factor, seed=drawn.seed)
        check_beside(drawn, ours, theirs)


@pytest.mark.exhaustive
def test_a_changed_replication_factor_is_as_even_as_a_new_topic(place: Ask) -> None:
    """What the controller placed, at another replication factor, beside what it would place."""
    clusters = draw_clusters(2)
    others = [
        drawn._replace(factor=random.Random(drawn.seed).randint(1, min(5, len(drawn.racks))))
        for drawn in clusters
    ]
    before = place("PlacementTool.java", NEWEST, clusters)
    after = place("PlacementTool.java", NEWEST, others)
    for drawn, current, theirs in zip(others, before, after, strict=True):
        ours = regenerate(drawn.racks, current, replication_factor=drawn.factor, seed=drawn.seed)
        check_beside(drawn, ours, theirs)
        check_moves(current, ours, theirs)


@pytest.mark.exhaustive
def test_a_topic_on_other_brokers_is_as_even_and_moves_no_more(place: Ask) -> None:
    """Brokers are added and removed, which is what a reassignment is generated for."""
    before, after = [], []
    for drawn in draw_clusters(3):
        draw = random.Random(drawn.seed)
        gone = draw.randint(0, len(drawn.racks) - drawn.factor)
        left = dict(draw.sample([*drawn.racks.items()], len(drawn.racks) - gone))
        names = [*drawn.racks.values()]
        new = {1000 + number: draw.choice(names) for number in range(draw.randint(0, 4))}
        before.append(drawn)
        after.append(drawn._replace(racks={**left, **new}))
    current = place("PlacementTool.java", NEWEST, before)
    proposed = place("PlacementTool.java", NEWEST, after)
    for drawn, now, theirs in zip(after, current, proposed, strict=True):
        ours = regenerate(drawn.racks, now, seed=drawn.seed)
        check_beside(drawn, ours, theirs)
        check_moves(now, ours, theirs)


@pytest.mark.exhaustive
def test_beside_the_placer_of_clusters_with_zookeeper(place: Ask) -> None:
    """It wants a rack of every broker or of none, and puts one replica into each rack at first.

    Behind that it does not look at racks again, so that it can be more even where racks have
    different sizes; there ours are compared by their spread alone.
    """
    clusters = [
        drawn for drawn in draw_clusters(4)
        if len({rack is None for rack in drawn.racks.values()}) == 1
        and len(drawn.racks) > 1
    ]  # fmt: skip
    assert len(clusters) > CLUSTERS / 2
    theirs = place("ZkPlacementTool.java", "3.9.2", clusters)
    compared = 0
    for drawn, other in zip(clusters, theirs, strict=True):
        ours = place_new(drawn.racks, drawn.partitions, drawn.factor, seed=drawn.seed)
        if all(is_spread(drawn.racks, replicas) for replicas in other):
            check_beside(drawn, ours, other)
            compared += 1
        else:
            assert all(is_spread(drawn.racks, replicas) for replicas in ours)
    assert compared > len(clusters) / 2
