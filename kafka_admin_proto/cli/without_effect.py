"""Options that have no effect on what was asked for are refused where they are given."""

from __future__ import annotations

import click
from click.core import ParameterSource


def refuse(form: str, *names: str) -> None:
    """Raise click.UsageError if one of the options is given: "--raw does not go with a table".

    ``names`` are those of the command's parameters. The value of a default counts as not given.
    """
    context = click.get_current_context()
    for option in context.command.params:
        name = option.name or ""
        if name not in names or context.get_parameter_source(name) is ParameterSource.DEFAULT:
            continue
        value = context.params[name]
        values = value if isinstance(value, tuple) else (value,)
        is_other_flag = (
            isinstance(option, click.Option)
            and option.is_flag
            and not any(each in (True, False, option.flag_value) for each in values)
        )
        if value != option.default and not is_other_flag:
            flags = option.secondary_opts if value is False else option.opts
            raise click.UsageError(f"{flags[0]} does not go with {form}")
