"""The budget of a test file: what is added up, and when a run fails."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from tests.scheduling.time_budget import LAYOUTS, PROCESSOR, FileTimes, ProcessorTimes, slowness


def report(nodeid: str, seconds: float, when: str = "call", layouts: Any = None) -> Any:
    properties = [(PROCESSOR, seconds)] + ([] if layouts is None else [(LAYOUTS, layouts)])
    return SimpleNamespace(nodeid=nodeid, duration=seconds, when=when, user_properties=properties)


@pytest.fixture
def times(monkeypatch: pytest.MonkeyPatch) -> FileTimes:
    monkeypatch.setattr("tests.scheduling.time_budget.slowness", lambda: 1.0)
    found = FileTimes(20.0)
    for each in (
        report("tests/a.py::test_one", 12.0),
        report("tests/a.py::test_one", 9.0),
        report("tests/b.py::test_two[x]", 4.0, "setup"),
        report("tests/b.py::test_two[x]", 19.0, layouts=(2, 3)),
        report("tests/b.py::test_two[y]", 0.5, layouts=(1, 5)),
    ):
        found.pytest_runtest_logreport(each)
    return found


@pytest.mark.parametrize(("slow", "status"), [(1.0, 1), (1.2, 0)])
def test_a_slow_file_fails_the_run(
    slow: float, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a machine that is slower than usual the budget is larger."""
    monkeypatch.setattr("tests.scheduling.time_budget.slowness", lambda: slow)
    times = FileTimes(20.0)
    times.pytest_runtest_logreport(report("tests/b.py::test_two", 90.0, "setup"))
    times.pytest_runtest_logreport(report("tests/a.py::test_one", 12.0))
    times.pytest_runtest_logreport(report("tests/a.py::test_one", 9.0))
    session: Any = SimpleNamespace(exitstatus=0)
    times.pytest_sessionfinish(session)
    assert times.over_budget() == ["tests/a.py"] * status
    assert session.exitstatus == status


def test_waiting_takes_nothing_of_the_processor() -> None:
    item: Any = SimpleNamespace(user_properties=[])
    call = ProcessorTimes().pytest_runtest_call(item)
    next(call)
    subprocess.run([sys.executable, "-c", "import time; time.sleep(0.1); sum(range(10**6))"])
    with pytest.raises(StopIteration):
        call.send(None)
    ((key, seconds),) = item.user_properties
    assert key == PROCESSOR
    assert seconds > 0


def test_no_budget_fails_nothing(times: FileTimes) -> None:
    times.budget = None
    assert times.over_budget() == []


def test_the_summary_names_files_and_layouts(times: FileTimes) -> None:
    lines: list[str] = []
    terminal: Any = SimpleNamespace(
        section=lines.append, write_line=lambda line, **_: lines.append(line)
    )
    times.pytest_terminal_summary(terminal)
    assert lines[1] == "budget of a file: 20 s, 1.0 times the usual"
    assert lines[2].strip() == "23.5 s  tests/b.py (fixtures 4.0 s)"
    assert lines[3].strip() == "21.0 s  tests/a.py"
    assert "tests/b.py::test_two: 3 layouts stood for 8 versions" in lines
    assert any(line.startswith("tests/a.py took 21.0 s of the processor, more") for line in lines)


@pytest.mark.parametrize(("seconds", "expected"), [(0.01, 1.0), (0.14, 2.0), (60.0, 5.0)])
def test_how_slow_a_machine_is(
    seconds: float, expected: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One sample that the machine was too busy for does not count."""
    samples = iter([seconds, 100.0, seconds])
    monkeypatch.setattr("tests.scheduling.time_budget._work", lambda: next(samples))
    assert slowness() == pytest.approx(expected)
