"""Random steps, each a request to a cluster, or to two at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Protocol

from tests.server.differential.requests import EVERY_REQUEST
from tests.server.differential.requests.drawing import Draws, Step
from tests.server.differential.requests.topics import first_topics


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


def run_steps(
    sides: Sides,
    count: int,
    report: Report | None = None,
    drawn_seed: int = 0,
    requests: Sequence[Maker] = EVERY_REQUEST,
    first: Sequence[Maker] = (first_topics,),
    reset_every: int = 30,
) -> None:
    """So many steps; at first and each 30 of them sides are reset, and the ``first`` ones taken.

    ``report`` gets those after which something is wrong. Without one the first of them raises
    AssertionError, with the steps since the sides were reset. An error of a step, such as a node
    that does not start, ends the run. The same seed draws the same steps, as far as the sides
    have the same topics; almost all of them are different ones.
    """
    random = Random(drawn_seed)
    taken: list[Step] = []
    for number in range(count):
        place = number % reset_every
        if place == 0:
            sides.reset()
            taken.clear()
        draws = Draws(random, sides.nodes, sides.versions, sides.existing)
        maker = first[place] if place < len(first) else draws.one(requests)
        step = maker(draws)
        if step.user is None and sides.users:
            step.user = draws.one(sides.users)
        taken.append(step)
        if not (lines := sides.take(step)):
            continue
        if report is None:
            raise AssertionError("\n   ".join([*map(repr, taken), *lines]))
        report(step, lines)
