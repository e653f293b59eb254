"""Tables on a terminal and plain text elsewhere; text from the wire made safe to print."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import click
import msgspec

from kafka_admin_proto.render.text import compact_json, printable

__all__ = [
    "compact_json",
    "print_table",
    "printable",
    "write_json_array",
    "write_json_lines",
    "write_tsv",
]


def print_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    title: str = "",
    cut: Sequence[str] = (),
    wrap: Sequence[str] = (),
    header: bool = True,
) -> None:
    """A table: with rules and colour on a terminal, padded columns where piped.

    On a narrow terminal the columns ``cut`` lose the ends of their cells, the last one most, and
    the columns ``wrap`` take several lines; the others stay whole. Of a table that comes in pieces
    the first has the ``header``.
    """
    if sys.stdout.isatty():
        _rich_table(columns, rows, title, cut, wrap, header)
        return
    if title:
        click.echo(title)
    lengths = [max(len(row[i]) for row in [columns, *rows]) for i in range(len(columns))]
    widths = [min(length, _WIDEST) for length in lengths]
    for row in [columns, *rows] if header else rows:
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
    cut: Sequence[str],
    wrap: Sequence[str],
    header: bool,
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
        show_header=header,
    )
    widths = [max(cell_len(row[i]) for row in [columns, *rows]) for i in range(len(columns))]
    for column, width in zip(columns, widths, strict=True):
        least = width if column not in cut and column not in wrap else None
        table.add_column(column, overflow="fold", no_wrap=column not in wrap, min_width=least)
    # Each column has a space and a divider after it, the box an edge on either side.
    sizes = dict(zip(columns, widths, strict=True))
    room = console.width - 2 - sum(2 if name in cut else 2 + size for name, size in sizes.items())
    rooms = {}
    for left, column in zip(range(len(cut), 0, -1), cut, strict=True):
        rooms[column] = min(sizes[column], max(room // left, _LEAST))
        room -= rooms[column]
    for row in rows:
        cells = [Text(cell) for cell in row]
        for column, cell in zip(columns, cells, strict=True):
            if column in rooms:
                cell.truncate(rooms[column], overflow="ellipsis")
        table.add_row(*cells)
    console.print(table)


def write_json_array(records: Iterable[dict[str, Any]]) -> None:
    """One JSON array, whole whatever happens."""
    separator = "["
    try:
        for record in records:
            click.echo(f"{separator}\n{_dumps(record)}", nl=False)
            separator = ","
    finally:  # whatever happens, what was written so far is JSON
        click.echo("[]" if separator == "[" else "\n]")


def write_json_lines(records: Iterable[dict[str, Any]]) -> None:
    """JSON lines, in UTF-8, as fast as they come."""
    encode = msgspec.json.Encoder().encode
    write = sys.stdout.buffer.write
    sys.stdout.flush()
    for record in records:
        try:
            write(encode(record) + b"\n")
        except UnicodeEncodeError:  # text that no bytes stand behind
            write(_dumps(record).encode("ascii", "backslashreplace") + b"\n")
    sys.stdout.buffer.flush()


def write_tsv(records: Iterable[dict[str, Any]]) -> None:
    """Tab-separated values without a header: the values of each record, in its order."""
    write = sys.stdout.write
    for record in records:
        write("\t".join(map(_cell, record.values())) + "\n")


def _dumps(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False)


def _cell(value: Any) -> str:
    """A TSV cell: no tab, no line end; nothing for null, JSON for what has parts.

    A backslash in text is doubled, as one begins what stands for a tab or the like.
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return printable(value.replace("\\", "\\\\"))
    return str(value) if type(value) is int else compact_json(value)
