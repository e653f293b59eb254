"""Cells and tables in Markdown."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

#: What Markdown would read as a mark, as its entity.
_MARKS = str.maketrans({mark: f"&#{ord(mark)};" for mark in "|*_`[]\\$"})


def cell(text: str) -> str:
    """Text in one line in which nothing is a mark."""
    return html.escape(" ".join(text.split()), quote=False).translate(_MARKS)


def code(text: str) -> str:
    """The same as code."""
    return f"<code>{cell(text)}</code>"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table; the cells are Markdown already."""
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    return lines + [f"| {' | '.join(row)} |" for row in rows]
