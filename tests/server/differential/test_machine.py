"""Drawn steps: differences are reported and the run goes on; an error ends it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from tests.server.differential.machine import run_steps
from tests.server.differential.requests import outages
from tests.server.differential.requests.drawing import Step

#: Hypothesis takes the steps of a run that failed again, to report them.
_RUNS_OF_ERROR = 3
_STEPS = 30


class Sides:
    """Clusters that differ after each step, and break down at one."""

    nodes = 3
    versions: Mapping[int, tuple[int, int]] = dict.fromkeys(range(100), (0, 20))
    users: Sequence[str] = ()
    existing: Sequence[str] = ("a", "b")

    def __init__(self, breaks_at: int = -1) -> None:
        self._breaks_at = breaks_at
        self._of_run = 0
        self.steps = 0
        self.runs = 0

    def take(self, step: Step) -> list[str]:
        self.steps += 1
        self._of_run += 1
        if self._of_run == self._breaks_at:
            raise ConnectionRefusedError("node 2 does not start")
        return ["something differs"]

    def reset(self) -> None:
        self.runs += 1
        self._of_run = 0


def run(sides: Sides) -> list[str]:
    found = list[str]()

    def report(step: Step, lines: list[str]) -> None:
        found.extend(lines)

    run_steps(sides, _STEPS, report, 3, outages.REQUESTS, outages.first_topics)
    return found


def test_differences_do_not_end_a_run() -> None:
    sides = Sides()
    assert len(run(sides)) == sides.steps >= _STEPS / 2


def test_an_error_ends_a_run() -> None:
    sides = Sides(breaks_at=8)
    with pytest.raises(ConnectionRefusedError, match="node 2 does not start"):
        run(sides)
    assert sides.runs <= _RUNS_OF_ERROR
