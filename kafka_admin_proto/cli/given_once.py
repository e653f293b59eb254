"""Options of one value are given once, as those of Kafka's tools; click takes the last of them."""

from __future__ import annotations

from collections import Counter

import click


class GivenOnceCommand(click.Command):
    """The base of all commands: refuses an option that another one makes ineffective."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not ctx.resilient_parsing:
            self._check_given_once(ctx, args)
        return super().parse_args(ctx, args)

    def _check_given_once(self, ctx: click.Context, args: list[str]) -> None:
        """Raise UsageError for a value given twice, and for flags that say opposite things."""
        order = self.make_parser(ctx).parse_args(list(args))[2]
        if any(each.is_eager for each in order):  # --help, which may stand behind a mistake
            return
        times = Counter(each for each in order if isinstance(each, click.Option))
        for option, count in times.items():
            if option.multiple or option.count:
                continue
            if option.is_flag:
                named = [each for each in (*option.opts, *option.secondary_opts) if each in args]
                if set(named) & set(option.opts) and set(named) & set(option.secondary_opts):
                    raise click.UsageError(f"{' and '.join(named)} exclude each other", ctx)
            elif count > 1:
                often = "twice" if count == 2 else f"{count} times"
                raise click.UsageError(
                    f"{option.opts[0]} is given {often}, and takes one value", ctx
                )
