"""A report as one page for a browser: sections of sentences, plots and tables, no network.

The page is ``page/report.html`` with ``report.css`` and ``report.js`` put into it. The page is
complete without the script, which adds the numbers at the pointer, keys, filters and sorting.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import msgspec

from kafka_admin_proto.counts import number, with_commas
from kafka_admin_proto.render.markup import escaped, page_template
from kafka_admin_proto.render.plots import lasting, moment
from kafka_admin_proto.render.text import compact_json

_SECTIONS, _CONTENTS, _TITLE = "<!-- sections -->", "<!-- contents -->", "<!-- title -->"
#: Characters of a cell; the rest is left out.
MOST_OF_A_CELL = 300
#: A table of more rows can be filtered.
_FILTERED = 8

_NUMBERS = ("count", "lasting")
Kind = Literal["text", "code", "count", "time", "lasting", "list", "status", "flag"]


class Column(msgspec.Struct, frozen=True):
    """A column's heading, and what its values are.

    Texts; code is set in one width; counts; times (microseconds since 1970) and lasting
    (microseconds); lists; a status is marked where it is one of ``bad``; a flag is its name or
    nothing. None and an empty list are an empty cell.
    """

    name: str
    kind: Kind = "text"
    bad: frozenset[str] = frozenset()


class Table(msgspec.Struct, frozen=True):
    """Rows under a heading: the first of ``total``; ``folded`` ones open on a click."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]
    total: int
    folded: bool = False


class Plot(msgspec.Struct, frozen=True):
    """An SVG with its caption."""

    caption: str
    svg: str


class Section(msgspec.Struct, frozen=True):
    """A part of the report. ``headline`` is the answer in a word, ``bad`` if it needs a look.

    ``answer`` is a sentence for the head of the page, "" for none.
    """

    id: str
    title: str
    headline: str
    bad: bool = False
    said: Sequence[str] = ()
    parts: Sequence[Plot | Table] = ()
    answer: str = ""


def report_page(head: Section, sections: Sequence[Section]) -> Iterator[str]:
    """The text of the page, piece by piece; ``head`` stands above the contents.

    Nothing in a value can become markup or script: all of it is escaped, and the page's own policy
    lets only its own script run and nothing be loaded.
    """
    page = page_template("report").replace(_TITLE, escaped(head.title))
    before, _, rest = page.partition(_CONTENTS)
    between, _, after = rest.partition(_SECTIONS)
    yield before
    if head.answer:
        bad = " bad" if head.bad else ""
        yield f'<p class="answer{bad}">{escaped(head.answer)}</p>\n'
    yield from _content(head)
    yield '<nav aria-label="Sections"><ul class="tiles">\n'
    for section in sections:
        bad = ' class="bad"' if section.bad else ""
        yield (
            f'<li{bad}><a href="#{section.id}"><span>{escaped(section.title)}</span> '
            f"<b>{escaped(section.headline)}</b></a></li>\n"
        )
    yield f"</ul></nav>\n{between}"
    for section in sections:
        yield from _section(section)
    yield after


def _section(section: Section) -> Iterator[str]:
    yield f'<section id="{section.id}" aria-labelledby="{section.id}-title">\n'
    yield f'<h2 id="{section.id}-title">{escaped(section.title)}</h2>\n'
    yield from _content(section)
    yield "</section>\n"


def _content(section: Section) -> Iterator[str]:
    for line in section.said:
        yield f"<p>{escaped(line)}</p>\n"
    for part in section.parts:
        if isinstance(part, Plot):
            yield f"<figure><figcaption>{escaped(part.caption)}</figcaption>{part.svg}</figure>\n"
        else:
            yield from _table(part)


def _table(table: Table) -> Iterator[str]:
    count = with_commas(table.total, "rows")
    if table.total > len(table.rows):
        count = f"first {number(len(table.rows))} of {with_commas(table.total, 'rows')}"
    heading = f"{escaped(table.title)} <small>{count}</small>"
    if table.folded:
        yield f"<details><summary>{heading}</summary>\n"
    else:
        yield f"<h3>{heading}</h3>\n"
    filtered = ' data-filter=""' if len(table.rows) > _FILTERED else ""
    # A box that scrolls has to be reached by keys as well.
    yield f'<div class="scroll" tabindex="0" role="region" aria-label="{escaped(table.title)}">'
    yield f"<table{filtered}><thead><tr>"
    for column in table.columns:
        right = ' class="number"' if column.kind in _NUMBERS else ""
        yield f'<th scope="col"{right}>{escaped(column.name)}</th>'
    yield "</tr></thead>\n<tbody>\n"
    for row in table.rows:
        cells = map(_cell, table.columns, row)
        yield f"<tr>{''.join(cells)}</tr>\n"
    yield "</tbody></table></div>\n"
    if table.folded:
        yield "</details>\n"


def _cell(column: Column, value: Any) -> str:
    if value is None or (column.kind == "list" and not value):
        right = " number" if column.kind in _NUMBERS else ""
        return f'<td class="none{right}">–</td>'
    if column.kind == "count":
        return f'<td class="number" data-sort="{value}">{number(value)}</td>'
    if column.kind == "lasting":
        return f'<td class="number" data-sort="{value}">{lasting(value)}</td>'
    if column.kind == "time":
        return f'<td class="time" data-sort="{value}">{moment(value)}</td>'
    if column.kind == "flag":
        return f"<td>{escaped(column.name)}</td>" if value else '<td class="none"></td>'
    text = ", ".join(map(str, value)) if column.kind == "list" else _text(value)
    if len(text) > MOST_OF_A_CELL:
        text = f"{text[:MOST_OF_A_CELL]}… ({with_commas(len(text), 'characters')})"
    kind = {"code": "code", "status": "bad" if text in column.bad else "good"}.get(column.kind)
    return f'<td class="{kind or "text"}">{escaped(text)}</td>'


def _text(value: Any) -> str:
    return value if isinstance(value, str) else compact_json(value)
