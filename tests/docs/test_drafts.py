"""docs/drafts.md has each line of the texts that a test names, with all its tests, and no other."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

from kafka_admin_proto.admin.drafts import COMMANDS, METHODS
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.server.handlers.drafts import DRAFTS

_ROOT = Path(__file__).parents[2]
_PAGE = (_ROOT / "docs" / "drafts.md").read_text("utf-8")
_MODULES = (
    "server/handlers/drafts/test_kip_4a.py",
    "server/handlers/drafts/test_kip_4b.py",
    "admin/test_drafts.py",
    "cli/admin/test_drafts.py",
)
_LINES = re.compile(r"((?:[ab]\d+(?:–b\d+)?(?:, )?)+): ")


def named_by_tests() -> dict[str, set[str]]:
    """Line of a text → the tests whose docstrings begin with it."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for module in _MODULES:
        tree = ast.parse((_ROOT / "tests" / module).read_text("utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = _LINES.match(ast.get_docstring(node) or "")
                for line in lines[1].split(", ") if lines else ():
                    found[line].add(node.name)
    return found


def rows(columns: int) -> list[list[str]]:
    """The cells of the tables with so many columns."""
    lines = [line for line in _PAGE.splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [each for each in cells if len(each) == columns]


def test_each_line_has_its_tests() -> None:
    table = {
        line: set(re.findall(r"`(\w+)`", tests))
        for line, _, tests in rows(3)
        if re.fullmatch(r"[ab]\d+.*", line)
    }
    assert table == named_by_tests()
    assert all(table.values())


def test_each_command_has_its_message() -> None:
    table = {
        command: {"kip-4a": first, "kip-4b": second, "method": method.strip("`")}
        for command, method, _, first, second in rows(5)
        if command in METHODS
    }
    for command, cells in table.items():
        for dialect, commands in COMMANDS.items():
            assert cells[dialect] == commands.get(command, "")
        shown = {"alter-topic": "alter_topics"}.get(command, METHODS[command])
        assert cells["method"] == shown
    assert table.keys() == METHODS.keys()


def test_each_message_has_its_key() -> None:
    table = {row[0]: row[1:] for row in rows(4)}
    for index, (dialect, requests) in enumerate(DRAFTS.items(), 1):
        for name in requests:
            entry = catalog().entry(name, dialect)
            key, *versions = table[name.removesuffix("Request")]
            assert (key, versions[index - 1]) == (str(entry.api_key), f"v{entry.versions}")


def test_decisions_name_lines() -> None:
    text = (_ROOT / "docs" / "decisions.md").read_text("utf-8")
    section = text.split("## KIP-4's drafts, served")[1]
    lines = re.findall(r"^\| ([ab]\d[^|]*) \|", section, re.MULTILINE)
    assert len(lines) > 20
    assert all(re.fullmatch(r"[ab]\d+(, [ab]\d+)*", each) for each in lines)
