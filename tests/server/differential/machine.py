"""A state machine of Hypothesis' whose steps are requests to a cluster, or to two at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, Protocol

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    rule,
    run_state_machine_as_test,
)

from tests.server.differential.requests import EVERY_REQUEST, RAW_REQUEST
from tests.server.differential.requests.drawing import Draws, RandomDraws, Step, steps
from tests.server.differential.requests.topics import first_topics

_STEPS_OF_EXAMPLE = 30


class Sides(Protocol):
    """Whom steps are for: ``take`` gives what is wrong after one, ``existing`` are the topics.

    ``versions`` are those of requests by api key; ``users`` ask where a step does not say who, and
    none are for clusters without security.
    """

    nodes: int
    versions: Mapping[int, tuple[int, int]]
    users: Sequence[str]

    @property
    def existing(self) -> Sequence[str]: ...
    def take(self, step: Step) -> list[str]: ...
    def reset(self) -> None: ...


#: Called with a step and what is wrong after it.
Report = Callable[[Step, list[str]], None]


Maker = Callable[[Draws], Step]


def _clusters(
    requests: Sequence[Maker], first: Maker
) -> Callable[[Sides, Report], RuleBasedStateMachine]:
    """Each step is a request; an example starts with sides that were reset, and a few topics."""

    class Clusters(RuleBasedStateMachine):
        def __init__(self, sides: Sides, report: Report) -> None:
            super().__init__()
            self.sides = sides
            self._report = report
            sides.reset()

        @initialize(step=steps([first]))
        def begin(self, step: Step) -> None:
            self.take(step)

        @rule(step=steps(requests))
        def take(self, step: Step) -> None:
            lines = self.sides.take(step)
            if lines:
                self._report(step, lines)

    return Clusters


def fail(step: Step, lines: list[str]) -> None:
    """The report of tests."""
    raise AssertionError("\n   ".join([repr(step), *lines]))


def run_steps(
    sides: Sides,
    steps: int,
    report: Report = fail,
    drawn_seed: int | None = None,
    requests: Sequence[Maker] = EVERY_REQUEST,
    first: Maker = first_topics,
) -> None:
    """About so many drawn steps; ``report`` gets those after which something is wrong.

    Without a seed the steps are the same in each run. With ``fail`` Hypothesis looks for the fewest
    and plainest steps after which something is wrong. With another report an error, of a node that
    does not start for one, ends the run: looking for fewer steps would end and start nodes for
    hours.
    """

    clusters = _clusters(requests, first)

    def machine() -> RuleBasedStateMachine:
        return clusters(sides, report)

    # Hypothesis only calls it, and its types ask for a class.
    factory: Any = machine if drawn_seed is None else seed(drawn_seed)(machine)
    run_state_machine_as_test(
        factory,
        settings=settings(
            max_examples=max(1, steps // _STEPS_OF_EXAMPLE),
            stateful_step_count=min(steps, _STEPS_OF_EXAMPLE),
            derandomize=drawn_seed is None,
            deadline=None,
            database=None,
            phases=(Phase.generate, Phase.shrink) if report is fail else (Phase.generate,),
            suppress_health_check=list(HealthCheck),
        ),
    )


def run_independent(
    sides: Sides,
    count: int,
    report: Report = fail,
    drawn_seed: int | None = None,
    make: Maker = RAW_REQUEST,
    first: Maker = first_topics,
) -> None:
    """So many steps of random numbers, which share no more than the topics that are there.

    Of Hypothesis' steps only a quarter are new ones: it varies those that it has taken. Where a
    single step is at fault, as it is for raw requests, nothing is gained by that.
    """
    random = Random(drawn_seed or 0)
    for number in range(count):
        if begins := number % _STEPS_OF_EXAMPLE == 0:
            sides.reset()
        draws = RandomDraws(random, sides.nodes, sides.versions, sides.existing)
        step = first(draws) if begins else make(draws)
        if step.user is None and sides.users:
            step.user = draws.one(sides.users)
        if lines := sides.take(step):
            report(step, lines)
