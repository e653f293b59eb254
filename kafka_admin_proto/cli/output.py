"""Tables on a terminal and plain text elsewhere; text from the wire made safe to print."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

import click


def printable(text: str) -> str:
    """The text with all that a terminal would obey or hide as an escape (``\\x1b``)."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def compact_json(value: Any) -> str:
    """One line of JSON, safe on a terminal; escapes inside strings stay valid JSON."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)


def print_table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], *, title: str = "", fold: str = ""
) -> None:
    """A table: with rules and colour on a terminal, padded columns where piped.

    The column ``fold`` is the one that gives way on a narrow terminal.
    """
    if sys.stdout.isatty():
        _rich_table(columns, rows, title, fold)
        return
    if title:
        click.echo(title)
    widths = [max(len(row[i]) for row in [columns, *rows]) for i in range(len(columns))]
    for row in [columns, *rows]:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        click.echo("  ".join(cells).rstrip())


def _rich_table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], title: str, fold: str
) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, title=Text(title) if title else None, title_justify="left")
    for column in columns:
        if column == fold:
            table.add_column(column, overflow="ellipsis", no_wrap=True, ratio=1)
        else:
            table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    Console().print(table)
