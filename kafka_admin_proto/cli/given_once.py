"""Options of one value are given once, as those of Kafka's tools; click takes the last of them."""

from __future__ import annotations

from collections import Counter

import click

from kafka_admin_proto.counts import counted


class GivenOnceCommand(click.Command):
    """The base of all commands: an option of one value is refused where it is given twice."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not ctx.resilient_parsing:
            self._check_given_once(ctx, args)
        return super().parse_args(ctx, args)

    def _check_given_once(self, ctx: click.Context, args: list[str]) -> None:
        """Raise UsageError for an option of one value that is given several times.

        A flag says the same each time, unless it has an opposite.
        """
        order = self.make_parser(ctx).parse_args(list(args))[2]
        if any(each.is_eager for each in order):  # --help, which may stand behind a mistake
            return
        times = Counter(each for each in order if isinstance(each, click.Option))
        for option, count in times.items():
            is_mere_flag = option.is_flag and not option.secondary_opts
            if count == 1 or option.multiple or is_mere_flag:
                continue
            name = "/".join((option.opts[0], *option.secondary_opts))
            often = "twice" if count == 2 else counted(count, "times")
            raise click.UsageError(f"{name} is given {often}, and takes one value", ctx)
