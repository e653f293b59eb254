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
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    title: str = "",
    cut: str = "",
    wrap: Sequence[str] = (),
) -> None:
    """A table: with rules and colour on a terminal, padded columns where piped.

    On a narrow terminal the column ``cut`` loses the ends of its cells and the columns ``wrap``
    take several lines; the others stay whole.
    """
    if sys.stdout.isatty():
        _rich_table(columns, rows, title, cut, wrap)
        return
    if title:
        click.echo(title)
    lengths = [max(len(row[i]) for row in [columns, *rows]) for i in range(len(columns))]
    widths = [min(length, _WIDEST) for length in lengths]
    for row in [columns, *rows]:
        cells = [cell.ljust(width) for cell, width in zip(row[:-1], widths[:-1], strict=True)]
        click.echo("  ".join([*cells, row[-1]]).rstrip())


#: Where piped, no cell is padded beyond this: one long cell must not widen every row.
_WIDEST = 48
#: A cell that is cut shows at least this much, even if the table then is wider than the terminal.
_LEAST = 8


def _rich_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    title: str,
    cut: str,
    wrap: Sequence[str],
) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    table = Table(
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        title=Text(title) if title else None,
        title_justify="left",
    )
    widths = [max(cell_len(row[i]) for row in [columns, *rows]) for i in range(len(columns))]
    for column, width in zip(columns, widths, strict=True):
        least = width if column != cut and column not in wrap else None
        table.add_column(column, overflow="fold", no_wrap=column not in wrap, min_width=least)
    # Each column has a space and a divider after it, the box an edge on either side.
    taken = sum(width + 2 for column, width in zip(columns, widths, strict=True) if column != cut)
    room = max(console.width - taken - 4, _LEAST)
    for row in rows:
        cells = [Text(cell) for cell in row]
        for column, cell in zip(columns, cells, strict=True):
            if column == cut:
                cell.truncate(room, overflow="ellipsis")
        table.add_row(*cells)
    console.print(table)
