"""Docstrings of the code as the site shows them: in Markdown."""

from __future__ import annotations

import re
from typing import Any

import griffe

#: ``:class:`Block``` and the like of Sphinx, and ``::`` in front of a block of code.
_ROLE = re.compile(r":\w+:`~?([\w.]+)`")
_CODE_FOLLOWS = re.compile(r"^(.*?)::$", re.MULTILINE)


def markdown(text: str) -> str:
    """The text with Sphinx's marks as Markdown has them."""
    text = _ROLE.sub(r"``\1``", text)
    return _CODE_FOLLOWS.sub(lambda match: f"{match[1]}:" if match[1] else "", text)


class MarkdownDocstrings(griffe.Extension):
    """Changes each docstring when its object is read."""

    def on_object(self, *, obj: griffe.Object, loader: griffe.GriffeLoader, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = markdown(obj.docstring.value)
