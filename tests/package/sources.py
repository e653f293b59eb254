"""The sources of the package, parsed once for all tests of a worker that read them."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
#: Tests that read every module share a worker, and so the trees.
of_all_sources = pytest.mark.xdist_group("sources")


@cache
def parsed(source: str) -> ast.Module:
    return ast.parse(source)


@cache
def modules() -> dict[str, str]:
    """The path of each module of the package → its source."""
    return {
        path.relative_to(ROOT).as_posix(): path.read_text("utf-8")
        for path in (ROOT / "kafka_admin_proto").rglob("*.py")
    }
