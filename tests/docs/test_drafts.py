"""docs/drafts.md has each command with its message, and each message with its key."""

from __future__ import annotations

from pathlib import Path

from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.server.apis import DIALECTS, handler_modules
from tests.admin.draft_commands import COMMANDS, METHODS

_ROOT = Path(__file__).parents[2]
_PAGE = (_ROOT / "docs" / "drafts.md").read_text("utf-8")


def rows(columns: int) -> list[list[str]]:
    """The cells of the tables with so many columns."""
    lines = [line for line in _PAGE.splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [each for each in cells if len(each) == columns]


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
    for index, dialect in enumerate(DIALECTS, 1):
        for api_key in handler_modules(dialect):
            name = catalog().name_of(api_key, "request", dialect) or ""
            entry = catalog().entry(name, dialect)
            key, *versions = table[name.removesuffix("Request")]
            assert (key, versions[index - 1]) == (str(entry.api_key), f"v{entry.versions}")
