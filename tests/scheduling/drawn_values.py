"""A digest of all that Hypothesis drew in a run, by which two runs are compared.

The quick and the ci profile draw the same values each time. pytest's summary has a digest over all
tests; the file ``build/drawn.txt`` has one for each test, so that ``diff`` shows which one differs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis.internal.conjecture import providers
from hypothesis.internal.conjecture.data import ConjectureData
from hypothesis.internal.constants_ast import Constants

from tests.scheduling.group_order import plain_name

#: Key of the property in which a test says what was drawn.
DRAWN = "drawn"
PATH = Path("build/drawn.txt")


def take_no_constants_of_modules() -> None:
    """Let values be drawn from the seed alone.

    Hypothesis also draws constants out of the modules that are loaded at that moment, which depends
    on the tests that ran before in the same worker. No setting of its says otherwise. To look for
    them in two thousand modules takes each worker half a second, too.
    """
    none = Constants()
    providers._get_local_constants = lambda: none


class DrawnByTest:
    """In the process that runs tests: adds to each one's report the digest of what it drew."""

    def __init__(self) -> None:
        self._drawn = hashlib.sha256()
        self._cases = 0
        ConjectureData.freeze = self._noting(ConjectureData.freeze)  # type: ignore[method-assign,assignment]

    def _noting(self, freeze: Callable[[ConjectureData], None]) -> Callable[[ConjectureData], None]:
        """What ends the drawing of one example, and notes what was drawn."""

        def frozen(data: ConjectureData) -> None:
            if not data.frozen:
                self._cases += 1
                self._drawn.update(repr(data.choices).encode())
            freeze(data)

        return frozen

    @pytest.hookimpl(wrapper=True, trylast=True)  # inside Hypothesis' own
    def pytest_runtest_call(self, item: pytest.Item) -> object:
        self._drawn, self._cases = hashlib.sha256(), 0
        _draw_by_plain_name(item)
        try:
            return (yield)
        finally:
            if self._cases:
                item.user_properties.append((DRAWN, self._drawn.hexdigest()[:16]))


def _draw_by_plain_name(item: pytest.Item) -> None:
    """Have a test draw by itself what it draws beside others, where a group is behind its name.

    Hypothesis adds the name to the seed of a test with parameters.
    """
    handle = getattr(getattr(item, "obj", None), "hypothesis", None)
    if handle is not None and hasattr(handle.inner_test, "_hypothesis_internal_add_digest"):
        handle.inner_test._hypothesis_internal_add_digest = plain_name(item.nodeid).encode()


class DrawnInRun:
    """In the process that reports: the digests of all tests."""

    def __init__(self) -> None:
        self.by_test: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            for key, value in report.user_properties:
                if key == DRAWN:
                    self.by_test[plain_name(report.nodeid)] = str(value)

    def digest(self) -> str:
        """One digest over those of all tests, in whichever order they ended."""
        return hashlib.sha256(self._text().encode()).hexdigest()[:16]

    def _text(self) -> str:
        return "".join(f"{test} {drawn}\n" for test, drawn in sorted(self.by_test.items()))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.by_test:
            PATH.parent.mkdir(exist_ok=True)
            PATH.write_text(self._text(), "utf-8")
            line = f"drawn values: {self.digest()} over {len(self.by_test)} tests, each in {PATH}"
            terminalreporter.write_line(line)
