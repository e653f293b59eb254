"""The answer to a command line that cannot run: for scripts one object, as for any failure."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from kafka_admin_proto.cli.admin.common import failures
from kafka_admin_proto.cli.admin.common.answer import Answer, Row, write

if TYPE_CHECKING:
    from kafka_admin_proto.cli.admin.common.live import ShellState

#: Outputs that have an answer on standard output even where the command did not run.
_STRUCTURED = ("json", "jsonl", "yaml")
#: Options of one letter that take no value, of all commands for a cluster: -yojson is -y -o json.
FLAGS = "fhyZ"


def write_failure(
    output: str, name: str, error: click.ClickException, items: str | None = None
) -> None:
    """The object for scripts, with an empty list of ``items``; people get the message of click."""
    if output in _STRUCTURED:
        message = error.format_message()
        if isinstance(error, click.exceptions.NoArgsIsHelpError) and error.ctx is not None:
            message = f"name a command: {error.ctx.command_path} --help lists them"
        document: Row = {} if items is None else {items: []}
        answer = Answer(document=document, tables=(), errors=[failures.entry(name, message)])
        write(answer, output, items)


def output_of(args: Sequence[str], shell: ShellState | None, default: str = "table") -> str:
    """The output that arguments ask for which could not be parsed, or else the usual one."""
    usual = os.environ.get("KAP_OUTPUT") if shell is None else shell.settings.output
    return _asked(args) or usual or default


def _asked(args: Sequence[str]) -> str:
    output = ""
    for place, argument in enumerate(args):
        name, _, value = argument.partition("=")
        following = "".join(args[place + 1 : place + 2])
        if name == "--output":
            output = value or following
        elif argument.startswith("-") and not argument.startswith("--"):
            letters = argument[1:].lstrip(FLAGS)
            if letters.startswith("o"):
                output = letters[1:] or following
    return output
