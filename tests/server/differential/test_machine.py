"""Drawn steps are different ones; differences do not end a run, and an error does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from tests.server.differential.machine import Maker, run_steps
from tests.server.differential.requests import EVERY_REQUEST, RAW_REQUEST, records, security, shares
from tests.server.differential.requests.drawing import Step

_STEPS = 40


class Sides:
    """Clusters that differ after each step, and break down at one."""

    nodes = 3
    versions: Mapping[int, tuple[int, int]] = dict.fromkeys(range(100), (0, 20))
    users: Sequence[str] = ()
    existing: Sequence[str] = ("a", "b")

    def __init__(self, breaks_at: int = -1) -> None:
        self._breaks_at = breaks_at
        self.steps: list[Step] = []
        self.runs = 0

    def take(self, step: Step) -> list[str]:
        self.steps.append(step)
        if len(self.steps) == self._breaks_at:
            raise ConnectionRefusedError("node 2 does not start")
        return ["something differs"]

    def reset(self) -> None:
        self.runs += 1


def run(sides: Sides, requests: Sequence[Maker] = EVERY_REQUEST) -> list[str]:
    found = list[str]()

    def report(step: Step, lines: list[str]) -> None:
        found.extend(lines)

    run_steps(sides, _STEPS, report, 3, requests)
    return found


@pytest.mark.parametrize(
    "requests", [EVERY_REQUEST, [RAW_REQUEST], records.REQUESTS, security.REQUESTS, shares.REQUESTS]
)
def test_steps_are_different_ones(requests: Sequence[Maker]) -> None:
    """One request again and again would prove little, and the same in each run of CI."""
    sides = Sides()
    run(sides, requests)
    assert len({*map(repr, sides.steps)}) > 0.9 * _STEPS


def test_differences_do_not_end_a_run() -> None:
    sides = Sides()
    assert len(run(sides)) == len(sides.steps) == _STEPS
    assert sides.runs == 2


def test_an_error_ends_a_run() -> None:
    sides = Sides(breaks_at=8)
    with pytest.raises(ConnectionRefusedError, match="node 2 does not start"):
        run(sides)
    assert len(sides.steps) == 8


def test_a_difference_fails_with_the_steps_before_it() -> None:
    sides = Sides()
    with pytest.raises(AssertionError) as failed:
        run_steps(sides, _STEPS)
    assert str(failed.value) == f"{sides.steps[0]!r}\n   something differs"
