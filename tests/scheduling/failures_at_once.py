"""Failures of a long run, printed as they happen: one that is cut short has no summary."""

from __future__ import annotations

import pytest


class FailuresAtOnce:
    """Prints the name of each test that fails or is run again, and why."""

    def __init__(self, terminal: pytest.TerminalReporter) -> None:
        self.terminal = terminal

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.outcome in ("failed", "rerun"):
            lines = report.longreprtext.splitlines()
            why = next((line for line in lines if line.startswith("E  ")), "")
            self.terminal.ensure_newline()
            self.terminal.write_line(f"{report.outcome}: {report.nodeid}: {why}")
