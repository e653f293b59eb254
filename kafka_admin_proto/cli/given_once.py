"""Options of one value are given once, as those of Kafka's tools; click takes the last of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import click

from kafka_admin_proto.counts import counted


class GivenOnceCommand(click.Command):
    """The base of all commands: an option of one value is refused where it is given twice."""

    def make_parser(self, ctx: click.Context) -> Any:
        """click's parser, whose list of what was given is looked at before its values are."""
        parser: Any = super().make_parser(ctx)
        parse = parser.parse_args

        def parse_args(args: list[str]) -> tuple[Any, list[str], list[click.Parameter]]:
            values, rest, given = parse(args)
            if not ctx.resilient_parsing:
                _check_given_once(ctx, given)
            return values, rest, given

        parser.parse_args = parse_args
        return parser


def _check_given_once(ctx: click.Context, given: Sequence[click.Parameter]) -> None:
    """Raise UsageError for an option of one value that is given several times.

    A flag says the same each time, unless it has an opposite.
    """
    if any(parameter.is_eager for parameter in given):  # --help, which may stand behind a mistake
        return
    times = Counter(option for option in given if isinstance(option, click.Option))
    for option, count in times.items():
        is_mere_flag = option.is_flag and not option.secondary_opts
        if count == 1 or option.multiple or is_mere_flag:
            continue
        name = "/".join((option.opts[0], *option.secondary_opts))
        often = "twice" if count == 2 else counted(count, "times")
        raise click.UsageError(f"{name} is given {often}, and takes one value", ctx)
