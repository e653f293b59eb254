"""Explained frames as one page for a browser: no network, no other file, works from a disk.

The page is ``page/page.html`` with ``page.css`` and ``page.js`` put into it. Each frame is a block
of JSON of its own, which the page reads when the frame is chosen. What is too much for a browser
is left out, of a frame and of the page, and the page says so.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import msgspec

from kafka_admin_proto.counts import with_commas
from kafka_admin_proto.render.explain import ExplainedRow, Explanation, nodes_of
from kafka_admin_proto.render.markup import escaped, page_template, script_json
from kafka_admin_proto.render.meanings import size
from kafka_admin_proto.render.text import printable

#: Marks the place of the frames in the template.
_FRAMES = "<!-- frames -->"
#: The kinds of nodes, by the number that the script knows them by.
_KINDS = {"field": 0, "fault": 2, "rest": 3, "damage": 5}
_GROUP, _SECRET = 1, 4
#: Nodes of one frame that a browser shows without effort; the page says how many it leaves out.
MOST_BYTES = 4 << 20
MOST_ROWS = 400_000
#: Frames of a page, and characters of all of them: a browser holds both in memory.
MOST_FRAMES = 10_000
MOST_CHARACTERS = 64 << 20


class PageFrame(msgspec.Struct, frozen=True):
    """A frame of a page: its number in the input, a line about it, and how it is explained.

    The other texts are "" where there is none: what did not decode, the time, who sent the request,
    and the names of the errors in a response. ``explain`` is called for a frame that the page has.
    """

    number: int
    title: str
    explain: Callable[[], Explanation]
    problem: str = ""
    time: str = ""
    client: str = ""
    errors: str = ""


def html_page(
    frames: Iterable[PageFrame], notify: Callable[[str], object] | None = None
) -> Iterator[str]:
    """The text of the page, piece by piece: frames are taken one at a time.

    Nothing in a frame can become markup or script: JSON goes in with ``<`` escaped, attributes
    are quoted, and the page's own policy lets only its own script run and nothing be loaded.
    From `MOST_FRAMES` or `MOST_CHARACTERS` on, frames are only counted: the page says how many, and
    ``notify`` is called with that sentence.
    """
    before, _, after = page_template("page").partition(_FRAMES)
    yield before
    shown = characters = left_out = 0
    for frame in frames:
        if shown >= MOST_FRAMES or characters >= MOST_CHARACTERS:
            left_out += 1
            continue
        block = _frame_block(frame)
        shown += 1
        characters += len(block)
        yield block
    if left_out:
        said = (
            f"The page has the first {shown:,} of {with_commas(shown + left_out, 'frames')}, as a "
            "browser would "
            "be slow with all: choose some with --only, --api or --since."
        )
        yield f'<p id="frames-left-out" class="notice" role="note">{html.escape(said)}</p>\n'
        if notify is not None:
            notify(said)
    yield after


def _frame_block(frame: PageFrame) -> str:
    text = script_json(_content(frame.explain()))
    attributes = {
        "number": str(frame.number),
        "title": frame.title,
        "problem": frame.problem,
        "time": frame.time,
        "client": frame.client,
        "errors": frame.errors,
    }
    quoted = " ".join(f'data-{name}="{escaped(value)}"' for name, value in attributes.items())
    return f'<script type="application/json" class="frame" {quoted}>{text}</script>\n'


def _content(explanation: Explanation) -> dict[str, Any]:
    """The data of a frame for the script.

    ``nodes`` has four numbers for each node: how many bytes it has apart from those of the nodes
    in it, then its shape, and its value and meaning in ``texts``. ``shapes`` are depth, label,
    type (in ``texts``) and kind.
    """
    rows, left_out = _shortened(explanation.rows)
    count = len(explanation.data)
    if count > MOST_BYTES:
        left_out.append(f"{size(count - MOST_BYTES)}, those from byte {MOST_BYTES} on")
    texts: dict[str, int] = {"": 0}
    shapes: dict[tuple[int, str, str, int], int] = {}
    numbers: list[int] = []
    for node in nodes_of(rows):
        row = node.row
        if row is None:
            shape = (node.depth, node.label, "", _GROUP)
            own = value = meaning = 0
        else:
            kind = _SECRET if row.secret and row.kind == "field" else _KINDS[row.kind]
            shape = (node.depth, node.label, row.type, kind)
            own = row.end - row.start
            value = texts.setdefault(row.shown_value, len(texts))
            meaning = texts.setdefault(row.meaning, len(texts))
        numbers += (own, shapes.setdefault(shape, len(shapes)), value, meaning)
    shown = [
        (depth, *(texts.setdefault(text, len(texts)) for text in (label, type_)), kind)
        for depth, label, type_, kind in shapes
    ]
    return {
        "hex": explanation.hex()[: 2 * MOST_BYTES],
        "size": count,
        "left_out": "; ".join(left_out),
        "texts": [printable(text) for text in texts],
        "shapes": shown,
        "nodes": numbers,
    }


def _shortened(rows: tuple[ExplainedRow, ...]) -> tuple[Sequence[ExplainedRow], list[str]]:
    """The rows that a browser can hold, one of them for those left out, and their count in words.

    The place where decoding stopped stays.
    """
    if len(rows) <= MOST_ROWS:
        return rows, []
    last = next((at for at in range(MOST_ROWS, len(rows)) if rows[at].kind == "fault"), len(rows))
    gone = rows[MOST_ROWS:last]
    if not gone:
        return rows, []
    words = f"{len(gone)} of {with_commas(len(rows), 'fields')}"
    start, end = gone[0].start, gone[-1].end
    between = ExplainedRow(start, end, "(left out)", "", None, f"{words}, {size(end - start)}",
                           "rest", secret=any(row.secret for row in gone))  # fmt: skip
    return [*rows[:MOST_ROWS], between, *rows[last:]], [words]
