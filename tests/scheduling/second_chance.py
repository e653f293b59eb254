"""Tests that failed beside others are run once more, one after another with nothing beside them.

Run as ``python -m tests.scheduling.second_chance OPTIONS OF PYTEST``, as ``make test`` does. A test
that fails again fails the run; one that passes is named ("passed only when run alone"), since it
waits for a time in place of a state, and is to be mended.

Only the second run explains its assertions: to rewrite those of all tests takes each worker of the
first one a quarter of a minute. That one shows what the variables were.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.scheduling.group_order import plain_name
from tests.scheduling.time_budget import FileTimes

#: The names of the tests that failed, a line each, as they fail.
PATH = Path("build/failed.txt")
#: For the first run.
UNEXPLAINED = ("--assert=plain", "--showlocals")
#: More failures than this come from a fault, not from a busy machine.
MOST = 40


class FailedTests:
    """In the process that reports: writes the names of failed tests to a file.

    Only where ``--failures`` names one: runs of pytest within tests leave the list as it is.
    """

    def __init__(self, path: Path, alone: bool, times: FileTimes) -> None:
        self._path = path.absolute()  # tests may be elsewhere when they fail
        self._alone = alone
        self._times = times
        self.failed: dict[str, None] = {}
        self.passed: dict[str, None] = {}
        path.parent.mkdir(exist_ok=True)
        path.write_text("")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        name = plain_name(report.nodeid)
        if report.failed and name not in self.failed:
            self.failed[name] = None
            with self._path.open("a", encoding="utf-8") as file:
                file.write(f"{name}\n")
        elif report.when == "call" and report.passed:
            self.passed[name] = None

    def pytest_sessionfinish(self) -> None:
        """A file over its budget fails the run, whatever its tests do when they are run alone."""
        if self._times.over_budget():
            self._path.write_text("")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._alone:
            for name in self.passed.keys() - self.failed.keys():
                terminalreporter.write_line(f"passed only when run alone: {name}")


def main(options: Sequence[str]) -> int:
    listing = f"--failures={PATH}"
    status = _pytest([listing, *UNEXPLAINED, *options])
    if status != pytest.ExitCode.TESTS_FAILED:
        return status
    failed = PATH.read_text("utf-8").splitlines()
    if not 0 < len(failed) <= MOST:
        return status
    print(f"\n{len(failed)} failed beside others and are run alone:", flush=True)
    return _pytest([listing, "--run-alone", f"@{PATH}"])


def _pytest(options: Sequence[str]) -> int:
    """The status of a run; SIGTERM, which make and CI send to this process alone, ends it too."""
    with subprocess.Popen([sys.executable, "-m", "pytest", *options]) as run:
        before = signal.signal(signal.SIGTERM, lambda *_: run.terminate())
        try:
            status = run.wait()
        finally:
            signal.signal(signal.SIGTERM, before)
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
