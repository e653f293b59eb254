"""Arguments by position are few: nobody sees which of ten values is which field."""

from __future__ import annotations

import ast
from collections import Counter

from tests.package.sources import modules, of_all_sources, parsed

pytestmark = of_all_sources

_MOST = 8
_HOT = "it is called for each packet or frame, and names cost time there"
#: The room in which nearly all is.
HOT_ROOM = "kafka_admin_proto/capture/"
#: What other rooms call with more arguments by position → why.
MORE = {
    "Request": _HOT,
    "Response": _HOT,
    "_Entry": _HOT,
    "self._conversation.segment": _HOT,
    "flow.segment": _HOT,
    "_openssl": "words of a command",
    "cells": "any number of cells",
    "together": "any number of options",
}


def called_by_position(source: str) -> Counter[str]:
    """The most arguments by position that each function is called with in a module."""
    found = Counter[str]()
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Call):
            count = sum(not isinstance(each, ast.Starred) for each in node.args)
            name = ast.unparse(node.func)
            if count > _MOST and not name.endswith(".pack"):
                found[name] = max(found[name], count)
    return found


def test_long_lists_of_arguments_have_names() -> None:
    found = {
        f"{path}: {name}, {count} arguments"
        for path, source in modules().items()
        if "/messages/" not in path and not path.startswith(HOT_ROOM)
        for name, count in called_by_position(source).items()
        if name not in MORE
    }
    assert found == set()


def test_a_long_list_is_noticed() -> None:
    numbers = [*map(str, range(_MOST))]
    assert not called_by_position(f"f({', '.join(numbers)})")
    assert called_by_position(f"f({', '.join(numbers)}, 8)") == {"f": _MOST + 1}
    assert not called_by_position(f"f({', '.join(numbers)}, eight=8, *others)")
