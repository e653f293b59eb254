"""The digest of drawn values: the same for the same draws, and of what was drawn alone."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = """
import pytest
from hypothesis import given, strategies as st

CONSTANT = {constant}
pytestmark = pytest.mark.xdist_group("drawn")

@pytest.mark.parametrize("of", ["integers"])
@given(number=st.integers())
def test_integers(of, number):
    pass

@given(st.text())
def test_texts(text):
    pass
"""


def digest(folder: Path, constant: int, *words: str, **variables: str) -> str:
    """Of a run with the conftest of this project, in a folder of its own."""
    folder.mkdir()
    (folder / "conftest.py").write_text("from tests.conftest import *\n")
    (folder / "test_it.py").write_text(SOURCE.format(constant=constant))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "_hypothesis_pytestplugin", *words],
        cwd=folder, capture_output=True, text=True, check=True,
        env=os.environ | {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        | variables,
    )  # fmt: skip
    found = re.search(r"drawn values: (\w+) over 2 tests", done.stdout)
    assert found, done.stdout
    return found[1]


@pytest.mark.explore
def test_runs_draw_the_same_values_but_for_the_exhaustive_ones(tmp_path: Path) -> None:
    quick = digest(tmp_path / "a", 1, KAFKA_ADMIN_PROTO_PROFILE="quick")
    assert digest(tmp_path / "b", 987654321, KAFKA_ADMIN_PROTO_PROFILE="ci") == quick
    assert digest(tmp_path / "c", 1, KAFKA_ADMIN_PROTO_PROFILE="exhaustive") != quick
    workers = ("-p", "xdist", "-n", "1", "--dist", "loadgroup")
    assert digest(tmp_path / "d", 1, *workers, KAFKA_ADMIN_PROTO_PROFILE="quick") == quick
