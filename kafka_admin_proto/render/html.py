"""Explained frames as one page for a browser: no network, no other file, works from a disk.

The page is ``page/page.html`` with ``page.css`` and ``page.js`` put into it. Each frame is a block
of JSON of its own, which the page reads when the frame is chosen.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Iterable, Iterator
from importlib.resources import files

import msgspec

from kafka_admin_proto.render.explain import Explanation, Node
from kafka_admin_proto.render.text import printable

#: Stands in the template where the frames go.
_FRAMES = "<!-- frames -->"
#: What a node is, as the script numbers it.
_KINDS = {"field": 0, "fault": 2, "rest": 3, "damage": 5}
_GROUP, _SECRET = 1, 4


class PageFrame(msgspec.Struct, frozen=True):
    """A frame of a page: its number in the input, a line about it, and its problem, "" if none."""

    number: int
    title: str
    explanation: Explanation
    problem: str = ""


def html_page(frames: Iterable[PageFrame]) -> Iterator[str]:
    """The text of the page, piece by piece: frames are taken one at a time.

    Nothing in a frame can become markup or script: JSON goes in with ``<`` escaped, attributes
    are quoted, and the page's own policy lets only its own script run and nothing be loaded.
    """
    before, _, after = _template().partition(_FRAMES)
    yield before
    for frame in frames:
        yield _frame_block(frame)
    yield after


def _template() -> str:
    folder = files(__package__) / "page"
    page, style, script = (
        (folder / name).read_text("utf-8") for name in ("page.html", "page.css", "page.js")
    )
    hashes = {"STYLE_HASH": _hash(style), "SCRIPT_HASH": _hash(script)}
    for name, text in {**hashes, "STYLE": style, "SCRIPT": script}.items():
        page = page.replace(f"%{name}%", text)
    return page


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _frame_block(frame: PageFrame) -> str:
    content = {
        "hex": frame.explanation.hex(),
        "nodes": [_node(node) for node in frame.explanation.nodes()],
    }
    text = json.dumps(content, separators=(",", ":"))
    for character in "<>&":  # whatever a string says, no tag can end or begin
        text = text.replace(character, f"\\u{ord(character):04x}")
    attributes = {
        "data-number": str(frame.number),
        "data-title": printable(frame.title),
        "data-problem": printable(frame.problem),
    }
    quoted = " ".join(f'{name}="{html.escape(value)}"' for name, value in attributes.items())
    return f'<script type="application/json" class="frame" {quoted}>{text}</script>\n'


def _node(node: Node) -> list[int | str]:
    """Start, end, depth, label, type, value, meaning, kind."""
    row = node.row
    label = printable(node.label)
    if row is None:
        return [node.start, node.end, node.depth, label, "", "", "", _GROUP]
    kind = _SECRET if row.secret and row.kind == "field" else _KINDS[row.kind]
    return [
        node.start, node.end, node.depth, label, printable(row.type), row.shown_value,
        printable(row.meaning), kind,
    ]  # fmt: skip
