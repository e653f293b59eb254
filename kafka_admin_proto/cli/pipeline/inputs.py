"""Inputs that cannot be read: they are named on standard error, once each."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from kafka_admin_proto.cli.output import printable
from kafka_admin_proto.counts import counted

if TYPE_CHECKING:
    from kafka_admin_proto.tables.ingest.unopened import Unopened

#: Inputs that are named at a time; the others are counted.
_NAMED_INPUTS = 5


def name_inputs(problems: Sequence[str], what: str) -> None:
    """Print the first problems, and how many more inputs could not be ``what``."""
    for problem in problems[:_NAMED_INPUTS]:
        click.echo(printable(problem), err=True)
    if len(problems) > _NAMED_INPUTS:
        click.echo(f"{len(problems) - _NAMED_INPUTS} more could not be {what}", err=True)


def name_unreadable(
    captures: Sequence[str], segments: Sequence[str], input_format: str, out: str
) -> Collection[str]:
    """Name the inputs that cannot be read. Ends the command where that is all of them."""
    from kafka_admin_proto.tables.ingest.unreadable import unreadable

    reasons = unreadable(captures, segments, input_format)
    name_inputs([f"{name} could not be read: {reason}" for name, reason in reasons.items()], "read")
    if len(reasons) == len(captures) + len(segments):
        raise click.ClickException(f"no input could be read; {out} is as it was before")
    return reasons


class UnopenedInputs:
    """The inputs that the tasks of a run could not open, until a later batch opens them.

    ``named`` are those that were named before.
    """

    def __init__(self, named: Collection[str]) -> None:
        self._named = set(named)
        self._problems: dict[str, str] = {}

    def take(self, unopened: Unopened) -> None:
        """Name the inputs that a run or a batch of a stream could not open."""
        for name in unopened.files:
            self._problems.pop(name, None)
        self._problems.update(unopened.problems)
        new: Mapping[str, str] = {
            name: problem for name, problem in unopened.problems.items() if name not in self._named
        }
        self._named.update(new)
        name_inputs(list(new.values()), "opened")

    def check(self, consequence: str) -> None:
        """End the command with 1 where an input was not opened."""
        count = len(self._problems)
        if count:
            raise click.ClickException(
                f"{counted(count, 'inputs')} could not be opened: {consequence}"
            )
