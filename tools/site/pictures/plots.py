"""Bars beside the tables of the benchmark pages, drawn from the tables themselves.

A column of numbers becomes a group of bars when the build finds its table: `PLOTS` says on which
page, by which head, and what the bars are called. The longest bar of a group is as wide as the
plot; where a group has rows of very different size, each part of it has its own scale.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

import msgspec

from tools.site.pictures.svg import Picture, text_width

_WIDTH, _BAR, _STEP, _SIZE = 440, 14, 19, 12
_NUMBER = re.compile(r"-?[\d,]+(?:\.\d+)?")


class Plot(msgspec.Struct, frozen=True):
    """A plot of the table with such a head; ``group`` is the column that parts the bars.

    ``label`` are the columns that name a bar, ``columns`` those that are drawn, each as a plot of
    its own. Without ``label`` each row is a group, and its bars have the names of all columns that
    have one.
    """

    page: str
    head: str
    label: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    group: str | None = None


#: The beginnings of the names of this package's bars.
_OURS = ("kafka_admin_proto", "kap ", "engine", "fused code")
_CODECS = ("| workload | codec | decode µs |", ("codec",), ("decode µs", "encode µs"), "workload")
PLOTS = (
    Plot("benchmarks.md", *_CODECS),
    Plot("benchmarks-speed.md", *_CODECS),
    Plot("benchmarks-captures.md", "| program | s |", ("program",), ("frames/s", "MB, whole")),
    Plot(
        "benchmarks-spark.md", "| program | cores | captures |", ("program", "cores"),
        ("frames/s",), "captures",
    ),
    Plot("benchmarks-server.md", "| | `kap serve` |", group=""),
    Plot("benchmarks-records.md", "| | `kap serve` |", group=""),
    Plot("benchmarks-admin.md", "| call | client |", ("client",), ("start to answer",), "call"),
)  # fmt: skip


class Bar(msgspec.Struct, frozen=True):
    """A bar: its group, its name, and the number with the text that the table has of it."""

    group: str
    name: str
    number: float
    text: str


def with_plots(page: str, markdown: str) -> str:
    """The page with its plots behind the tables that they are drawn from."""
    for plot in PLOTS:
        if plot.page == page:
            for table in reversed(list(_tables(markdown, plot.head))):
                drawn = [(column, bars(table[0], plot, column)) for column in plot.columns]
                if not plot.label:
                    drawn = [("", across(table[0], plot))]
                svgs = [draw(found, column) for column, found in drawn]
                shown = "\n\n".join(f'<div class="drawing">{each.svg()}</div>' for each in svgs)
                markdown = f"{markdown[: table[1]]}\n{shown}\n\n{markdown[table[1] :]}"
    return markdown


def _tables(markdown: str, head: str) -> Iterator[tuple[list[list[str]], int]]:
    """The cells of each table with that head, and where the table ends."""
    for start in (found.start() for found in re.finditer(re.escape(head), markdown)):
        end = markdown.find("\n\n", start)
        end = len(markdown) if end < 0 else end + 1
        lines = markdown[start:end].strip().splitlines()
        yield [[cell.strip() for cell in line.strip("|").split("|")] for line in lines], end


def bars(cells: list[list[str]], plot: Plot, column: str) -> list[Bar]:
    """The bars of one column; cells without a number have none."""
    head, rows = cells[0], cells[2:]
    found = []
    for row in rows:
        # Reversed, so that the first of two equal names counts.
        named = dict(reversed(list(zip(head, row, strict=True))))
        number = _NUMBER.search(named[column])
        if number is not None:
            name = ", ".join(
                named[each] if each == plot.label[0] else f"{named[each]} {each}"
                for each in plot.label
            )
            group = "" if plot.group is None else named[plot.group]
            value = float(number[0].replace(",", ""))
            found.append(Bar(group.strip("`"), name.replace("`", ""), value, named[column]))
    return found


def across(cells: list[list[str]], plot: Plot) -> list[Bar]:
    """The bars of a table whose rows are compared column by column; shares have none."""
    columns = {name: bars(cells, plot, name) for name in cells[0] if name}
    together = zip(*columns.values(), strict=True)
    return [
        Bar(f"{bar.group}: {_better(bar.group)}", name.strip("`"), bar.number, bar.text)
        for row in together
        for name, bar in zip(columns, row, strict=True)
        if "%" not in bar.text
    ]


def _better(what: str) -> str:
    more = "/s" in what or "per processor second" in what
    return "longer bars are better" if more else "shorter bars are better"


def draw(found: list[Bar], column: str) -> Picture:
    """The bars, group by group, each group on its own scale."""
    picture = Picture(f"{column or 'Bars'}, as in the table")
    left = max(text_width(bar.name, _SIZE) for bar in found) + 12
    y = 2.0
    if column:
        picture.text(2, _SIZE + 2, f"{column}: {_better(column)}", size=14)
        y += 24
    for group, members in groupby(found, key=lambda bar: bar.group):
        listed = list(members)
        if group:
            picture.text(2, y + _SIZE, group, size=_SIZE, kind="faint")
            y += _STEP
        most = max(bar.number for bar in listed) or 1
        for bar in listed:
            kind = "first" if bar.name.startswith(_OURS) else "box"
            picture.text(left - 6, y + _SIZE - 1, bar.name, size=_SIZE, anchor="end")
            picture.box(left, y, max(1, bar.number / most * _WIDTH), _BAR, kind)
            end = left + max(1, bar.number / most * _WIDTH) + 6
            picture.text(end, y + _SIZE - 1, bar.text, size=_SIZE, kind="faint")
            y += _STEP
        y += 8
    return picture
