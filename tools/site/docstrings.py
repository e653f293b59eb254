"""Docstrings of the code as the site shows them: in Markdown.

Methods of ``SyncCluster`` that are made of a cluster's own are shown as what they are made of.
"""

from __future__ import annotations

import copy
from typing import Any

import griffe

from tools.site.markdown import docstring

#: The class, and what makes its methods of another class's.
_CLASS, _MAKER = "server.sync.SyncCluster", "_in_loop"


class MarkdownDocstrings(griffe.Extension):
    """Changes each docstring when its object is read, and made methods when all are."""

    def on_object(self, *, obj: griffe.Object, loader: griffe.GriffeLoader, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = docstring(obj.docstring.value)

    def on_package(self, *, pkg: griffe.Module, loader: griffe.GriffeLoader, **_: Any) -> None:
        if pkg.name != "kafka_admin_proto":
            return
        shown = pkg[_CLASS]
        for name, each in list(shown.attributes.items()):
            call = each.value
            if isinstance(call, griffe.ExprCall) and str(call.function) == _MAKER:
                (model,) = call.arguments
                assert isinstance(model, griffe.Expr)
                made = copy.copy(loader.modules_collection[model.canonical_path])
                made.lineno = each.lineno
                shown.set_member(name, made)
