"""Tests that fail beside others, and what a run of their own says of them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.scheduling.group_order import plain_name
from tests.scheduling.second_chance import MOST

ROOT = Path(__file__).parents[2]
CONFTEST = """
from tests.scheduling.second_chance import FailedTests

def pytest_addoption(parser):
    parser.addoption("--run-alone", action="store_true")

def pytest_configure(config):
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(FailedTests(config.getoption("--run-alone")))
"""
ONCE = """
import pathlib, pytest

@pytest.mark.xdist_group("some group")
@pytest.mark.parametrize("text", ["a@b", "[c]"])
def test_once(text):
    mark = pathlib.Path(text)
    if not mark.exists():
        mark.touch()
        raise AssertionError

def test_good():
    pass
"""


def run(folder: Path, source: str, *options: str) -> tuple[int, str]:
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "test_it.py").write_text(source)
    command = [sys.executable, "-m", "tests.scheduling.second_chance", *options]
    variables = {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        command, cwd=folder, env=os.environ | variables,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    "options", [(), ("-p", "xdist", "-n", "2", "--dist", "loadgroup")], ids=["one", "two"]
)
def test_what_fails_once_is_named_and_fails_nothing(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    code, output = run(tmp_path, ONCE, *options)
    assert code == 0, output
    assert "passed only when run alone: test_it.py::test_once[a@b]\n" in output
    assert "passed only when run alone: test_it.py::test_once[[c]]\n" in output
    assert "test_good\n" not in output
    assert " 2 passed" in output.splitlines()[-1]


def test_what_fails_twice_fails_the_run(tmp_path: Path) -> None:
    code, output = run(tmp_path, f"{ONCE}\ndef test_bad():\n    assert 1 == 2\n")
    assert code == 1
    assert output.count("passed only when run alone: ") == 2
    assert "FAILED test_it.py::test_bad - assert 1 == 2" in output.splitlines()[-2]


@pytest.mark.parametrize(
    ("source", "code"),
    [
        (f"import pytest\n@pytest.mark.parametrize('n', range({MOST + 1}))\n"
         "def test_bad(n):\n    assert 0\n", 1),
        ("def test_bad(:\n", 2),
        ("", 5),
    ],
    ids=["many", "syntax", "none"],
)  # fmt: skip
def test_no_second_chance(tmp_path: Path, source: str, code: int) -> None:
    found, output = run(tmp_path, source)
    assert found == code
    assert "run alone" not in output


@pytest.mark.parametrize(
    ("nodeid", "name"),
    [
        ("tests/a.py::test_b", "tests/a.py::test_b"),
        ("tests/a.py::test_b@live one", "tests/a.py::test_b"),
        ("tests/a.py::test_b[x@y]", "tests/a.py::test_b[x@y]"),
        ("tests/a.py::test_b[x@y]@live one", "tests/a.py::test_b[x@y]"),
    ],
)
def test_names_without_groups(nodeid: str, name: str) -> None:
    assert plain_name(nodeid) == name
