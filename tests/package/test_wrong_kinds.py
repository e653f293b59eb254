"""A public function says which argument is of a wrong kind; none fails somewhere inside with it."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Callable, Iterator
from importlib import import_module
from inspect import Parameter
from pathlib import Path
from typing import Any

import pytest

import kafka_admin_proto
from kafka_admin_proto.errors import KafkaAdminProtoError

#: Values that hardly any argument takes.
WRONG: list[Any] = [None, True, -5, 1.5, "\ud800", b"\xff", [1], {"a": None}, object(), str]
_NAMED = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)


def public_functions() -> dict[str, Callable[..., Any]]:
    """The functions in ``__all__`` of all packages but Spark's, by their names.

    Queries are left out: what they take is made by ``read_tables`` alone.
    """
    prefix = f"{kafka_admin_proto.__name__}."
    names = [
        each.name
        for each in pkgutil.walk_packages(kafka_admin_proto.__path__, prefix)
        if each.ispkg and each.name.split(".")[1] not in ("cli", "messages", "spark")
    ]
    return {
        f"{name}.{each}".removeprefix(prefix): function
        for name in [kafka_admin_proto.__name__, *names]
        for module in [import_module(name)]
        for each in getattr(module, "__all__", ())
        if inspect.isfunction(function := getattr(module, each))
        if "StoredTable" not in str(inspect.signature(function))
    }


FUNCTIONS = public_functions()


def required(function: Callable[..., Any]) -> Iterator[str]:
    """The parameters without a default."""
    for name, each in inspect.signature(function).parameters.items():
        if each.default is Parameter.empty and each.kind in _NAMED:
            yield name


def called(function: Callable[..., Any], given: dict[str, Any]) -> None:
    found = function(**given)
    if inspect.isawaitable(found):
        found.close()  # type: ignore[attr-defined]
    elif isinstance(found, Iterator):
        next(found, None)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_wrong_kind_is_said(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # a text may be taken for a path to write to
    function = FUNCTIONS[name]
    for wrong in WRONG:
        given = dict.fromkeys(required(function), wrong)
        try:
            called(function, given)
        except (TypeError, ValueError, LookupError, OSError, KafkaAdminProtoError) as error:
            # Python's own sentence about a value inside: "'int' object is not iterable".
            assert "has no attribute" not in str(error)
