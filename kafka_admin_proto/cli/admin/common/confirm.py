"""Confirmation before data is destroyed: asked for on a terminal, refused without one."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from kafka_admin_proto.cli.output import printable

_LISTED = 10


class DeclinedError(click.ClickException):
    """Somebody answered no: nothing was done."""

    exit_code = 1

    def __init__(self) -> None:
        super().__init__("not confirmed, nothing was done")


def on_terminal() -> bool:
    """Whether there is somebody to ask."""
    return bool(sys.stdin and sys.stdin.isatty() and sys.stderr and sys.stderr.isatty())


def confirm(question: str, *, yes: bool, names: Sequence[str] = ()) -> None:
    """Return when the answer is yes. ``names`` are listed above the question.

    Raises DeclinedError, and click.UsageError where there is no terminal to ask on.
    """
    if yes:
        return
    if not on_terminal():
        raise click.UsageError(
            f"{question} There is no terminal to ask on, so nothing was done; --yes says yes"
        )
    for name in names[:_LISTED]:
        click.echo(f"  {printable(name)}", err=True)
    if len(names) > _LISTED:
        click.echo(f"  … and {len(names) - _LISTED} more", err=True)
    if not click.confirm(question, err=True):
        raise DeclinedError
