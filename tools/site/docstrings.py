"""Docstrings of the code as the site shows them: in Markdown."""

from __future__ import annotations

from typing import Any

import griffe

from tools.site.markdown import docstring


class MarkdownDocstrings(griffe.Extension):
    """Changes each docstring when its object is read."""

    def on_object(self, *, obj: griffe.Object, loader: griffe.GriffeLoader, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = docstring(obj.docstring.value)
