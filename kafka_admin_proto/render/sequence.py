"""A sequence diagram: nodes as columns, messages as arrows between them, in rows.

``sequence_page`` is one page for a browser, ``page/sequence.html`` with its style and script put
into it; without the script it has the diagram, but no fields at the pointer.
``sequence_svg`` is the diagram alone, as a picture for a document. Positions are percentages, so
that a diagram fits any width; letters keep their size.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import msgspec

from kafka_admin_proto.counts import with_commas
from kafka_admin_proto.render.markup import escaped, page_file, page_template, script_json
from kafka_admin_proto.render.text import printable

_TITLE = "<!-- title -->"
#: The most rows of a page and of a picture; a sentence says how many are left out.
MOST_ROWS = 3000
#: Heights in pixels.
_ROW, _HEAD, _LINE = 26, 30, 18
#: Per cent of the width, on the left, for the times.
_TIMES = 8.0
#: Characters of a note, and of a line of a picture's sentences.
_NOTE, _SENTENCE = 64, 100
_PICTURE_WIDTH = 860

#: - ``step``: a sentence across all columns
#: - ``message``: an arrow from one column to another; ``lost`` ones end halfway
#: - ``note``: a text beside a column; ``event``: a note of a change of the node, such as a crash
RowKind = Literal["step", "message", "lost", "note", "event"]


class SequenceRow(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the diagram.

    ``colour`` is a number from 0 to 8; ``answer`` arrows are dashed, ``bad`` ones are marked.
    ``up`` are the columns that have a line here. ``title`` and ``fields`` are shown at the pointer;
    ``states`` are what columns know from this row on.
    """

    kind: RowKind
    at: str
    text: str
    column: int = 0
    to: int = 0
    colour: int = 8
    answer: bool = False
    bad: bool = False
    up: frozenset[int] = frozenset()
    title: str = ""
    fields: Sequence[tuple[str, str]] = ()
    states: Sequence[tuple[int, Sequence[tuple[str, str]]]] = ()


class Diagram(msgspec.Struct, frozen=True, kw_only=True):
    """A diagram: title, a sentence about it, names of the columns, meanings of the colours.

    The first ``start_up`` rows are the nodes' start, which a page folds.
    """

    title: str
    about: Sequence[str]
    columns: Sequence[str]
    colours: Sequence[str]
    rows: Sequence[SequenceRow]
    start_up: int = 0


def sequence_page(diagram: Diagram) -> Iterator[str]:
    """The text of the page, piece by piece.

    Nothing in a value can become markup or script: texts are escaped, the data is JSON without
    ``<``, and the page's own policy lets only its own script run and nothing be loaded.
    """
    rows = diagram.rows[:MOST_ROWS]
    about = [*diagram.about, *_left_out(diagram)]
    parts = {
        "about": "".join(f"<p>{escaped(line)}</p>\n" for line in about),
        "legend": _legend(diagram.colours),
        "columns": _svg_row("head", _HEAD, _names(diagram.columns)),
        "rows": _page_rows(diagram, rows),
        "data": _data(diagram.columns, rows),
    }
    rest = page_template("sequence", "diagram").replace(_TITLE, escaped(diagram.title))
    for place, text in parts.items():
        before, _, rest = rest.partition(f"<!-- {place} -->")
        yield before
        yield text
    yield rest


def sequence_svg(diagram: Diagram) -> str:
    """The diagram as a picture of its own, light or dark as its reader's screen.

    A message that is repeated between two notes is drawn once, with its count.
    """
    y = 0
    parts = []
    for row in _folded(diagram.rows[:MOST_ROWS]):
        if row.kind == "step":
            lines = textwrap.wrap(printable(row.text), _SENTENCE)
            height = _LINE * len(lines) + 14
            parts.append(
                f'<rect class="band" y="{y + 2}" width="100%" height="{height - 4}"/>'
                + "".join(
                    f'<text class="step" x="8" y="{y + 19 + _LINE * at}">{escaped(line)}</text>'
                    for at, line in enumerate(lines)
                )
            )
        else:
            height = _ROW
            drawn = _lifelines(row, len(diagram.columns), _ROW) + _drawn(row, len(diagram.columns))
            parts.append(f'<svg y="{y}" height="{_ROW}">{drawn}</svg>')
        y += height
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_PICTURE_WIDTH}" height="{y + _HEAD}" '
        f'role="img" aria-label="{escaped(diagram.title)}">\n'
        f"<style>{page_file('diagram.css')}</style>\n"
        f'<rect class="ground" width="100%" height="100%"/>{_MARKERS}\n'
        f"{_names(diagram.columns)}\n"
        f'<svg y="{_HEAD}">' + "\n".join(parts) + "</svg>\n</svg>\n"
    )


def _folded(rows: Sequence[SequenceRow]) -> Iterator[SequenceRow]:
    run: dict[tuple[str, str, int, int, bool], list[SequenceRow]] = {}
    for row in rows:
        if row.kind in ("message", "lost"):
            run.setdefault((row.kind, row.text, row.column, row.to, row.answer), []).append(row)
            continue
        yield from map(_counted, run.values())
        run.clear()
        yield row
    yield from map(_counted, run.values())


def _counted(rows: list[SequenceRow]) -> SequenceRow:
    if len(rows) == 1:
        return rows[0]
    return msgspec.structs.replace(rows[0], text=f"{rows[0].text} ×{len(rows)}")


#: The heads of arrows, once in a page or picture.
_MARKERS = "<defs>" + "".join(
    f'<marker id="{name}" class="{name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
    f'markerHeight="8" markerUnits="userSpaceOnUse" orient="auto">{shape}</marker>'
    for name, shape in (
        *((f"head{each}", '<path d="M0 0 8 4 0 8z"/>') for each in (*range(9), "bad")),
        ("lost", '<path d="M1 1 7 7M7 1 1 7"/>'),
    )
) + "</defs>"  # fmt: skip


def _left_out(diagram: Diagram) -> list[str]:
    more = len(diagram.rows) - MOST_ROWS
    return (
        [f"The last {more:,} of {with_commas(len(diagram.rows), 'rows')} are left out."]
        if more > 0
        else []
    )


def _x(column: int, count: int) -> float:
    return _TIMES + (column + 0.5) * (100 - _TIMES) / count


def _names(columns: Sequence[str]) -> str:
    cells = [
        f'<text class="name" x="{_x(each, len(columns)):.2f}%" y="20" text-anchor="middle">'
        f"{escaped(name)}</text>"
        for each, name in enumerate(columns)
    ]
    return '<text class="time" x="4" y="20">ms</text>' + "".join(cells)


def _page_rows(diagram: Diagram, rows: Sequence[SequenceRow]) -> str:
    texts = [_page_row(number, row, len(diagram.columns)) for number, row in enumerate(rows)]
    start_up = "".join(texts[: diagram.start_up])
    if start_up:
        words = f"The nodes start: {with_commas(min(diagram.start_up, len(texts)), 'rows')}"
        start_up = f'<details id="start-up"><summary>{words}</summary>\n{start_up}</details>\n'
    return start_up + "".join(texts[diagram.start_up :])


def _page_row(number: int, row: SequenceRow, count: int) -> str:
    tab = 0 if number == 0 else -1
    attributes = f'id="row-{number}" data-row="{number}" tabindex="{tab}"'
    if row.kind == "step":
        return f'<p class="row step" {attributes}>{escaped(row.text)}</p>\n'
    said = escaped(f"{row.at} ms: {row.title or row.text}")
    hit = f'<rect class="hit" width="100%" height="{_ROW}"/>'
    drawn = hit + _lifelines(row, count, _ROW) + _drawn(row, count)
    return (
        f'<svg class="row" role="img" aria-label="{said}" {attributes} height="{_ROW}">'
        f"{drawn}</svg>\n"
    )


def _svg_row(name: str, height: int, inside: str) -> str:
    return f'<svg class="{name}" height="{height}" aria-hidden="true">{_MARKERS}{inside}</svg>'


def _lifelines(row: SequenceRow, count: int, height: int) -> str:
    return "".join(
        f'<line class="life" x1="{_x(each, count):.2f}%" x2="{_x(each, count):.2f}%" '
        f'y1="0" y2="{height}"/>'
        for each in sorted(row.up)
    )


def _drawn(row: SequenceRow, count: int) -> str:
    time = f'<text class="time" x="4" y="18">{escaped(row.at)}</text>'
    if row.kind in ("note", "event") or row.column == row.to:
        return time + _note(row, count)
    start, end = _x(row.column, count), _x(row.to, count)
    inset = 0.4 if end > start else -0.4
    head = "bad" if row.bad else row.colour
    middle = (start + end) / 2
    if row.kind == "lost":
        end, marker = middle, "lost"
    else:
        end, marker = end - inset / 2, f"head{head}"
    classes = f"arrow k{head}" + (" answer" if row.answer else "")
    line = (
        f'<line class="{classes}" x1="{start:.2f}%" x2="{end:.2f}%" y1="20" y2="20" '
        f'marker-end="url(#{marker})"/>'
    )
    label = (
        f'<text class="label t{head}" x="{middle:.2f}%" y="15" text-anchor="middle">'
        f"{escaped(row.text)}</text>"
    )
    return f"{time}{line}{label}"


def _note(row: SequenceRow, count: int) -> str:
    """A text on the side of the column where there is more room, with a dot on its line."""
    x = _x(row.column, count)
    left = x <= 50
    said = f"to itself: {row.text}" if row.kind in ("message", "lost") else row.text
    text = said if len(said) <= _NOTE else f"{said[: _NOTE - 1]}…"
    dx, anchor = (8, "start") if left else (-8, "end")
    name = "note" if row.kind != "event" else "event bad" if row.bad else "event"
    return (
        f'<circle class="{name}" cx="{x:.2f}%" cy="14" r="4"/>'
        f'<text class="said {name}" x="{x:.2f}%" dx="{dx}" y="18" text-anchor="{anchor}">'
        f"{escaped(text)}</text>"
    )


def _legend(colours: Sequence[str]) -> str:
    keys = "".join(
        f'<li><svg class="key" width="26" height="10" aria-hidden="true"><line class="arrow '
        f'k{number}" x1="0" x2="24" y1="5" y2="5" marker-end="url(#head{number})"/></svg>'
        f"{escaped(name)}</li>"
        for number, name in enumerate(colours)
    )
    dashed = (
        '<li><svg class="key" width="26" height="10" aria-hidden="true"><line class="arrow k8 '
        'answer" x1="0" x2="24" y1="5" y2="5" marker-end="url(#head8)"/></svg>response</li>'
    )
    return f'<ul class="legend">{keys}{dashed}</ul>'


def _data(columns: Sequence[str], rows: Sequence[SequenceRow]) -> str:
    """The data for the script: of each row title, fields and the states that change there."""
    content: dict[str, Any] = {
        "columns": [printable(each) for each in columns],
        "rows": [
            {
                "at": row.at,
                "title": printable(row.title or row.text),
                "fields": [[printable(name), printable(value)] for name, value in row.fields],
                "states": [
                    [column, [[printable(name), printable(value)] for name, value in state]]
                    for column, state in row.states
                ],
            }
            for row in rows
        ],
    }
    return f'<script type="application/json" id="data">{script_json(content)}</script>'
