"""Runs of other projects' tests: what they make of a suite."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.peers import __main__ as peers
from tools.peers.suite import Command, Suite


def test_a_suite_without_tests_has_not_passed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None are listed where they cannot be collected."""
    suite = Suite(
        name="none", version="1", nodes=1, prepare=lambda _: None, tests=lambda _: [],
        command=lambda *_: Command([], tmp_path), result=lambda *_: "passed",
    )  # fmt: skip
    monkeypatch.setattr("tools.peers.suite.cache_folder", lambda: tmp_path)
    monkeypatch.setattr(peers, "_RESULTS", tmp_path)
    monkeypatch.setattr(peers, "_SUITES", {"none": suite})
    monkeypatch.setattr("sys.argv", ["peers", "none"])
    with pytest.raises(SystemExit, match="none: no tests were found"):
        peers.main()
