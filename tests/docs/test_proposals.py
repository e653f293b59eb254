"""docs/proposals.md: each line of the texts, where it is served, and the tests that pass for it."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache

import msgspec
import pytest

from tests.docs.pages import DOCS, ROOT
from tools.site.pages.proposals import LINES, PROPOSALS, lines_of, with_links

PAGE = (DOCS / "proposals.md").read_text("utf-8")
DECISIONS = (DOCS / "decisions.md").read_text("utf-8")
#: What a docstring begins with that names lines.
_LINE = r"[abcpt]\d+(?:–[abcpt]\d+)?"
_NAMED = re.compile(rf"(?:{_LINE},\s+)*{_LINE}: ")
_READING = re.compile(r"\[read as\]\(decisions\.md#[\w-]+\)")


class Row(msgspec.Struct, frozen=True):
    """A row of the page; ``lines`` as it names them."""

    lines: str
    text: str
    served: str
    tests: frozenset[str]
    differs: str


def rows() -> Iterator[Row]:
    """The rows of all tables of the page."""
    for line in PAGE.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| ") and LINES.match(cells[0]):
            assert len(cells) == 5, line
            names, text, served, tests, differs = cells
            found = frozenset(re.findall(r"`(test_\w+)`", tests))
            yield Row(names, text, served.strip("`"), found, differs)


def numbers(text: str) -> set[tuple[str, int]]:
    """Letter and number of each line that a text names."""
    return {
        (match["letter"], number)
        for match in LINES.finditer(text)
        for number in range(int(match["first"]), int(match["last"] or match["first"]) + 1)
    }


@cache
def named_by_tests() -> dict[str, dict[str, str]]:
    """Lines as docstrings of tests name them → name of each such test → its pytest id."""
    found: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        text = path.read_text("utf-8")
        if not re.search(r'"""[abcpt]\d', text):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                names = _NAMED.match(ast.get_docstring(node) or "")
                for each in re.split(r",\s+", names[0].removesuffix(": ")) if names else ():
                    found[each][node.name] = f"{path.relative_to(ROOT)}::{node.name}"
    return found


def test_each_row_has_the_tests_that_name_its_lines() -> None:
    table = {row.lines: row.tests for row in rows()}
    assert table == {lines: frozenset(tests) for lines, tests in named_by_tests().items()}
    assert all(table.values())


@pytest.mark.explore
def test_each_test_of_a_row_passes() -> None:
    """They run by themselves: none is deselected, skipped, or expected to fail."""
    ids = sorted({each for tests in named_by_tests().values() for each in tests.values()})
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-rA",
        "-p",
        "no:cacheprovider",
        "-n",
        "0",
        *ids,
    ]
    environment = {**os.environ, "KAFKA_ADMIN_PROTO_PROFILE": "ci"}
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout[-3_000:]
    passed = set(re.findall(r"^PASSED ([^\[\s]+)", ran.stdout, re.MULTILINE))
    assert passed == set(ids)
    assert not re.search(r"^(SKIPPED|XFAIL|XPASS)", ran.stdout, re.MULTILINE)


def test_each_rule_is_served_somewhere() -> None:
    for row in rows():
        package = ROOT if row.served.startswith("schemas/") else ROOT / "kafka_admin_proto"
        assert (package / row.served).exists(), row


@pytest.mark.parametrize("letter", PROPOSALS)
def test_every_line_has_a_row_or_no_rule(letter: str) -> None:
    without = {
        each
        for paragraph in re.findall(
            r"^Without a rule: .*?(?:\n\n|\Z)", PAGE, re.MULTILINE | re.DOTALL
        )
        for each in numbers(paragraph)
    }
    named = {each for row in rows() for each in numbers(row.lines)}
    written = {(letter, number) for number, line in enumerate(lines_of(letter), 1) if line.strip()}
    assert not without & named
    assert {each for each in without | named if each[0] == letter} >= written
    last = (letter, len(lines_of(letter)))
    assert max(each for each in without | named if each[0] == letter) <= last


def test_rows_link_to_their_readings() -> None:
    """A row says "read as" where, and only where, docs/decisions.md has a reading of its lines."""
    readings = {
        each
        for line in DECISIONS.splitlines()
        if re.match(rf"\| {LINES.pattern}(, |( \|))", line)
        for each in numbers(line.split("|")[1])
    }
    assert len({letter for letter, _ in readings}) == len(PROPOSALS)
    for row in rows():
        assert bool(_READING.search(row.differs)) == bool(numbers(row.lines) & readings), row
    assert readings <= {each for row in rows() for each in numbers(row.lines)}


def test_lines_are_links_on_the_site() -> None:
    linked = with_links("proposals.md", PAGE)
    stem = PROPOSALS["a"][0]
    assert f"| [a40](proposals/{stem}.md#l40) | 1. an assignment" in linked
    assert with_links("server.md", PAGE) == PAGE
    for row in rows():
        assert f"| [{row.lines}](proposals/" in linked


def test_the_text_of_kip_516_repeats_itself() -> None:
    """t185–t246: the text on deletion and files stands there twice."""
    lines = lines_of("t")
    first, second = (
        [line for line in lines[begin - 1 : end] if line.strip()]
        for begin, end in ((36, 98), (185, 246))
    )
    assert first == second
