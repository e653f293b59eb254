"""Cells, tables and docstrings in Markdown."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

#: Each character that Markdown would read as a mark → its entity.
_MARKS = str.maketrans({mark: f"&#{ord(mark)};" for mark in "|*_`[]\\$"})
#: ``:class:`Block``` and the like of Sphinx, and ``::`` in front of a block of code.
_ROLE = re.compile(r":\w+:`~?([\w.]+)`")
_CODE_FOLLOWS = re.compile(r"^(.*?)::$", re.MULTILINE)
#: A paragraph that is wrong on the site, since it says what the file in a checkout lacks.
_CHECKOUT_ONLY = re.compile(r"^<!-- checkout only -->\n(?:.+\n?)+\n*", re.MULTILINE)


def without_checkout_notes(page: str) -> str:
    """A page without the paragraphs below ``<!-- checkout only -->``."""
    return _CHECKOUT_ONLY.sub("", page)


def docstring(text: str) -> str:
    """A docstring with Sphinx's marks as Markdown has them."""
    text = _ROLE.sub(r"``\1``", text)
    return _CODE_FOLLOWS.sub(lambda match: f"{match[1]}:" if match[1] else "", text)


def cell(text: str) -> str:
    """Text in one line, its characters safe from being read as marks."""
    return html.escape(" ".join(text.split()), quote=False).translate(_MARKS)


def code(text: str) -> str:
    """The same, as code."""
    return f"<code>{cell(text)}</code>"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table; the cells are Markdown already."""
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    return lines + [f"| {' | '.join(row)} |" for row in rows]


def field_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table whose rows become paragraphs on a phone: the last cell is a line of its own."""
    return ['<div class="fields" markdown>', "", *table(head, rows), "", "</div>"]
