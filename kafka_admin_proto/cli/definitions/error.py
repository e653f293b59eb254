"""``kap error``: what an error code is called and means."""

from __future__ import annotations

import json
import re
from typing import Any

import click
import msgspec
from click.shell_completion import CompletionItem

from kafka_admin_proto.cli.given_once import GivenOnceCommand
from kafka_admin_proto.cli.output import output_option, print_table
from kafka_admin_proto.errors import UnknownErrorCodeError
from kafka_admin_proto.protocol.error_codes import all_errors, error_code


def complete_error(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Names of the dialect's errors for the shell."""
    try:
        names = [error.name for error in all_errors(context.params.get("dialect") or "kafka")]
    except UnknownErrorCodeError:
        return []
    start = incomplete.casefold()
    return [CompletionItem(name) for name in names if name.casefold().startswith(start)]


# Unknown options are arguments here, as -1 is an error code.
@click.command(cls=GivenOnceCommand, context_settings={"ignore_unknown_options": True})
@click.argument("error", required=False, shell_complete=complete_error)
@click.option(
    "--dialect",
    default="kafka",
    show_default=True,
    help="Whose errors: kafka's, or those of the drafts kip-4, kip-4a and kip-4b (the same).",
)
@output_option
def error(error: str | None, dialect: str, output: str) -> None:
    """Explain an error by its code or name, or list all.

    \b
    Examples:
      kap error 44
      kap error policy_violation
      kap error --output json
    """
    try:
        found = all_errors(dialect) if error is None else [error_code(_key(error), dialect=dialect)]
    except UnknownErrorCodeError as unknown:
        raise click.UsageError(str(unknown)) from None
    rows = [msgspec.structs.asdict(each) for each in found]
    if output == "json":
        listed: Any = rows if error is None else rows[0]
        click.echo(json.dumps(listed, indent=2, ensure_ascii=False))
    elif output == "tsv":
        for row in rows:
            click.echo("\t".join(_cell(value) for value in row.values()))
    else:
        # Requests are a draft's, whether to retry is Kafka's: no column for what is not said.
        columns = [name for name in rows[0] if any(_cell(row[name]) for row in rows)]
        cells = [[_cell(row[name]) for name in columns] for row in rows]
        print_table(columns, cells)


def _key(text: str) -> int | str:
    return int(text) if re.fullmatch(r"[+-]?[0-9]{1,9}", text) else text


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(value) if isinstance(value, tuple) else str(value)
