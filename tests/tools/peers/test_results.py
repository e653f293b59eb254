"""What suites of other projects are made into, and what is read out of their outputs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.peers import __main__ as peers
from tools.peers import go, librdkafka, python
from tools.peers.suite import Command, Result, Suite


@pytest.mark.parametrize(
    ("code", "output", "expected"),
    [
        (0, ".\n1 passed, 2 warnings in 0.1s", "passed"),
        (0, "s\n1 skipped in 0.1s", "skipped"),
        (1, "F\n1 failed in 0.1s", "failed"),
    ],
)
def test_results_of_pytest(code: int, output: str, expected: Result) -> None:
    assert python.result(code, output) == expected


@pytest.mark.parametrize(
    ("code", "output", "expected"),
    [
        (0, "=== RUN   TestA\n--- PASS: TestA (0.01s)\nPASS", "passed"),
        (0, "=== RUN   TestA\n--- SKIP: TestA (0.00s)\nPASS", "skipped"),
        (2, "panic: runtime error", "failed"),
    ],
)
def test_results_of_go(code: int, output: str, expected: Result) -> None:
    assert go.result(code, output) == expected


@pytest.mark.parametrize(
    ("row", "expected"),
    [("\x1b[32m 0002_a | PASSED | 1 s", "passed"), ("\x1b[33m 0002_a | SKIPPED | 0 s", "skipped")],
)
def test_results_of_librdkafka(row: str, expected: Result) -> None:
    """The row of all tests together passes without any of them."""
    assert librdkafka.SUITE.result(0, f"|\x1b[32m <MAIN> | PASSED | 1 s\n|{row}\n") == expected
    assert librdkafka.SUITE.result(134, "") == "failed"


def test_tests_of_a_go_file_are_its_functions_of_a_test(tmp_path: Path) -> None:
    file = tmp_path / "a_test.go"
    file.write_text(
        "func TestMain(m *testing.M) {\nfunc TestA(t *testing.T) {\nfunc testB(t *testing.T) {\n"
    )
    assert go.tests_in([file]) == ["TestA"]


def test_tests_of_librdkafka_are_those_that_ask_a_broker(tmp_path: Path) -> None:
    tests = tmp_path / "source" / "tests"
    tests.mkdir(parents=True)
    rows = "_TEST(0001_a, 0),\n_TEST(0002_b, TEST_F_LOCAL),\n_TEST(0097_tls, 0, TEST_BRKVER(1)),\n"
    (tests / "test.c").write_text(f"_TEST_DECL(0001_a);\nstruct test tests[] = {{\n{rows}}};\n")
    assert librdkafka.SUITE.tests(tmp_path) == ["0001_a"]


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
