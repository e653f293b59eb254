"""Problems of frames on standard error: the first of each kind, and counts at the end."""

from __future__ import annotations

import click
import msgspec

from kafka_admin_proto.capture.problem_kinds import kind_of
from kafka_admin_proto.render.text import printable

#: Numbers of frames that are listed, and kinds that are remembered.
_LISTED = 5
_MOST_KINDS = 1000


class _Kind(msgspec.Struct):
    first: int
    last: int
    count: int = 0
    numbers: list[int] = []


class Notices:
    """Says the first problem of each kind at once, and at the end which frames have the like."""

    def __init__(self) -> None:
        self._kinds: dict[str, _Kind] = {}

    def say(self, number: int, problem: str) -> None:
        """A problem of the frame of that number; frames come in order, each once for a kind."""
        kind = kind_of(problem)
        known = self._kinds.get(kind)
        if known is not None:
            if number == known.last:
                return
            known.last = number
            known.count += 1
            if len(known.numbers) < _LISTED:
                known.numbers.append(number)
            return
        if len(self._kinds) < _MOST_KINDS:
            self._kinds[kind] = _Kind(number, number)
        click.echo(printable(f"frame {number}: {problem}"), err=True)

    def finish(self) -> None:
        """Write how often each kind came again."""
        for kind in self._kinds.values():
            if kind.count:
                more = ", …" if kind.count > len(kind.numbers) else ""
                click.echo(
                    f"{kind.count} more like frame {kind.first}: "
                    f"{', '.join(map(str, kind.numbers))}{more}; kap decode --output json has each",
                    err=True,
                )
