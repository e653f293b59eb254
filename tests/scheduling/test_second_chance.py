"""Tests that fail beside others, and what a run of their own says of them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.scheduling import second_chance
from tests.scheduling.group_order import plain_name
from tests.scheduling.second_chance import MOST

ROOT = Path(__file__).parents[2]
VARIABLES = {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
CONFTEST = """
import pathlib
from tests.scheduling.second_chance import FailedTests
from tests.scheduling.time_budget import FileTimes, ProcessorTimes

def pytest_addoption(parser):
    parser.addoption("--failures", type=pathlib.Path)
    parser.addoption("--run-alone", action="store_true")
    parser.addoption("--file-budget", type=float)

def pytest_configure(config):
    if hasattr(config, "workerinput") or not config.getoption("--failures"):
        return
    times = FileTimes(config.getoption("--file-budget"))
    config.pluginmanager.register(times)
    config.pluginmanager.register(ProcessorTimes())
    alone = config.getoption("--run-alone")
    config.pluginmanager.register(FailedTests(config.getoption("--failures"), alone, times))
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
    done = subprocess.run(
        command, cwd=folder, env=os.environ | VARIABLES,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout


@pytest.mark.exhaustive
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


@pytest.mark.exhaustive
def test_what_fails_twice_fails_the_run(tmp_path: Path) -> None:
    """Wherever the test is when it fails."""
    elsewhere = "def test_bad(monkeypatch):\n    monkeypatch.chdir('/')\n    assert 1 == 2\n"
    code, output = run(tmp_path, f"{ONCE}\n{elsewhere}")
    assert code == 1, output
    assert output.count("passed only when run alone: ") == 2
    assert "FAILED test_it.py::test_bad - assert 1 == 2" in output.splitlines()[-2]


@pytest.mark.parametrize(
    ("statuses", "failed", "code"),
    [((1, 0), 1, 0), ((1, 1), MOST, 1), ((1,), MOST + 1, 1), ((1,), 0, 1), ((2,), 1, 2)],
)
def test_how_many_get_a_second_chance(
    statuses: tuple[int, ...], failed: int, code: int,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """None behind an end, an error of collection, or more failures than a busy machine makes."""
    listing = tmp_path / "failed.txt"
    listing.write_text("tests/a.py::test_b\n" * failed)
    monkeypatch.setattr(second_chance, "PATH", listing)
    runs: list[list[str]] = []

    def pytest_run(options: list[str]) -> int:
        runs.append(options)
        return statuses[len(runs) - 1]

    monkeypatch.setattr(second_chance, "_pytest", pytest_run)
    assert second_chance.main(["-n", "2"]) == code
    assert len(runs) == len(statuses)
    assert runs[1:] in ([], [[f"--failures={listing}", "--run-alone", f"@{listing}"]])


@pytest.mark.explore
def test_a_run_of_pytest_within_a_test_leaves_the_list(tmp_path: Path) -> None:
    within = """
def test_within():
    import subprocess, sys
    subprocess.run([sys.executable, "-m", "pytest", "test_it.py::test_good"], check=True)
"""
    code, output = run(tmp_path, f"def test_bad():\n    assert 1 == 2\n{ONCE}{within}")
    assert code == 1, output
    assert "FAILED test_it.py::test_bad - assert 1 == 2" in output.splitlines()[-2]
    assert output.count("passed only when run alone: ") == 2


@pytest.mark.exhaustive
def test_an_end_from_outside_ends_the_tests(tmp_path: Path) -> None:
    """As of a `make test` that takes too long: nothing of it goes on."""
    (tmp_path / "conftest.py").write_text(CONFTEST)
    source = "def test_long():\n    import os, pathlib, time\n"
    source += "    pathlib.Path('pid').write_text(f'{os.getpid()} ')\n    time.sleep(60)\n"
    (tmp_path / "test_it.py").write_text(source)
    pid = tmp_path / "pid"
    with subprocess.Popen(
        [sys.executable, "-m", "tests.scheduling.second_chance"], cwd=tmp_path,
        env=os.environ | VARIABLES, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        while not (pid.exists() and pid.read_text().endswith(" ")):
            assert process.poll() is None
            time.sleep(0.02)
        process.terminate()
        assert process.wait(timeout=30) == 143
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


@pytest.mark.exhaustive
def test_a_file_over_its_budget_has_no_second_chance(tmp_path: Path) -> None:
    slow = "def test_slow():\n    sum(range(10_000_000))\n"
    code, output = run(tmp_path, f"{ONCE}\n{slow}", "--file-budget=0.01")
    assert code == 1
    assert "run alone" not in output


@pytest.mark.explore
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
