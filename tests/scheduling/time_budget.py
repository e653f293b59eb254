"""Where the time of a test run goes: seconds of each file, and a budget that fails the run.

``--file-budget SECONDS`` (which ``make test`` gives) fails a run in which the tests of one file
took longer, all workers added up. The seconds are those of the processor, since what else runs
beside the tests is no fault of theirs, and of a usual machine: on a slow one a fixed piece of work
takes longer, and the budget grows by the same factor.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Generator
from typing import cast

import pytest

#: Key of the property in which a test says how many layouts stood for how many versions.
LAYOUTS = "layouts"
#: Key of the property with the seconds of the processor that a test took, its processes included.
PROCESSOR = "processor"
#: Seconds that the fixed piece of work takes on a usual machine.
_USUAL = 0.07
#: No machine counts as slower than this.
_SLOWEST = 5.0
#: Seconds from which on a file is named in the summary.
_NAMED_S = 3.0


class ProcessorTimes:
    """Says in each worker what its tests took of the processor."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, None, None]:
        start = os.times()
        try:
            return (yield)
        finally:
            seconds = sum(os.times()[:4]) - sum(start[:4])
            item.user_properties.append((PROCESSOR, seconds))


class FileTimes:
    """Adds up the durations that the tests of each file report."""

    def __init__(self, budget: float | None) -> None:
        self.slowness = 1.0 if budget is None else slowness()
        self.budget = budget if budget is None else budget * self.slowness
        self.seconds: dict[str, float] = {}
        self.processor: dict[str, float] = {}
        #: Seconds of fixtures that the file's tests were the first to need: brokers, Spark.
        self.fixtures: dict[str, float] = {}
        #: Test function → layouts drawn for, versions that they stand for.
        self.layouts: dict[str, tuple[int, int]] = {}

    def over_budget(self) -> list[str]:
        """The files that took more of the processor than the budget, slowest first."""
        if self.budget is None:
            return []
        slowest = sorted(self.processor.items(), key=lambda item: -item[1])
        return [file for file, seconds in slowest if seconds > self.budget]

    def slowest(self) -> list[tuple[str, float]]:
        """Each file with its seconds, slowest first."""
        return sorted(self.seconds.items(), key=lambda item: -item[1])

    def _named(self) -> list[str]:
        """A line for each file that takes time, slowest first with its fixtures."""
        both = {
            file: (seconds + self.fixtures.get(file, 0.0), self.fixtures.get(file, 0.0))
            for file, seconds in self.seconds.items()
        }
        return [
            f"{whole:6.1f} s  {file}" + (f" (fixtures {of_them:.1f} s)" if of_them >= 1 else "")
            for file, (whole, of_them) in sorted(both.items(), key=lambda item: -item[1][0])
            if whole >= _NAMED_S
        ]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        file, _, name = report.nodeid.partition("::")
        if report.when != "call":  # fixtures that capture real brokers or start Spark do not count
            self.fixtures[file] = self.fixtures.get(file, 0.0) + report.duration
            return
        self.seconds[file] = self.seconds.get(file, 0.0) + report.duration
        for key, value in report.user_properties:
            if key == LAYOUTS:
                function = f"{file}::{name.partition('[')[0]}"
                more = cast(tuple[int, int], value)
                layouts, versions = self.layouts.get(function, (0, 0))
                self.layouts[function] = layouts + more[0], versions + more[1]
            elif key == PROCESSOR:
                self.processor[file] = self.processor.get(file, 0.0) + cast(float, value)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.over_budget() and not session.exitstatus:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section("time by file")
        if self.budget is not None:
            line = f"budget of a file: {self.budget:.0f} s, {self.slowness:.1f} times the usual"
            terminalreporter.write_line(line)
        for line in self._named():
            terminalreporter.write_line(line)
        for function, (layouts, versions) in sorted(self.layouts.items()):
            line = f"{function}: {layouts} layouts stood for {versions} versions"
            terminalreporter.write_line(line)
        for file in self.over_budget():
            took = f"{file} took {self.processor[file]:.1f} s of the processor"
            fault = f"{took}, more than {self.budget:.0f} s"
            remedy = "draw less in the quick profile"
            terminalreporter.write_line(f"{fault}; {remedy}", red=True)


def slowness() -> float:
    """How many times as long as on a usual machine a fixed piece of work takes here; 1 at least."""
    seconds = statistics.median(_work() for _ in range(3))
    return min(max(seconds / _USUAL, 1.0), _SLOWEST)


def _work() -> float:
    """Seconds of the fixed piece of work."""
    start = time.perf_counter()
    total = 0
    for number in range(1_000_000):
        total += number * number
    return time.perf_counter() - start
