"""Every code block of every page is run by a test, or says in front of it why it is not."""

from __future__ import annotations

import ast

import pytest

from kafka_admin_proto import admin
from kafka_admin_proto.schema.catalog import catalog
from tests.docs.pages import DOCS, ROOT
from tools.site.pages.code_blocks import RUN, code_blocks

#: Pages whose blocks are run by a test that is not ``run_page``'s, and how many these are.
RUN_BY: dict[str, tuple[str, int]] = {
    "drafts.md": ("tests/cli/admin/test_drafts.py", 3),
    "kafka-shell.md": ("tests/cli/admin/test_docs.py", 8),
    "real-broker.md": ("tests/docs/test_start.py", 3),
    "server-brokers.md": ("tests/server/brokers/test_docs.py", 1),
    "server-faults.md": ("tests/server/faults/test_docs.py", 1),
    "server.md": ("tests/server/arguments/test_addresses.py", 1),
    "server-security.md": (
        "tests/docs/test_server_security.py tests/server/security/test_signed_tokens.py",
        4,
    ),
    "spark.md": ("tests/spark/test_docs.py", 2),
    "tables.md": ("tests/spark/test_docs.py", 11),
}
#: Pages that ``run_page`` runs from their first block to their last.
RUN_WHOLE = {
    "admin.md", "command-line.md", "connection.md", "dumps.md", "index.md", "proxy.md", "python.md",
    "server-records.md", "simulation.md", "start.md",
}  # fmt: skip
#: What value classes are called, where the client has no class of that name.
VALUE_CLASSES = {
    "value_class",
    *(struct for name in catalog().names() for struct in catalog().spec(name).structs()),
} - set(dir(admin))
PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))


def calls_of(name: str) -> list[ast.Call]:
    """The calls in the Python blocks of a page."""
    blocks = code_blocks((DOCS / name).read_text("utf-8"))
    trees = [ast.parse(each.text) for each in blocks if each.language == "python"]
    return [each for tree in trees for each in ast.walk(tree) if isinstance(each, ast.Call)]


@pytest.mark.parametrize("name", PAGES)
def test_every_block_is_accounted_for(name: str) -> None:
    blocks = [
        each for each in code_blocks((DOCS / name).read_text("utf-8")) if each.language in RUN
    ]
    left = [each for each in blocks if not each.reason]
    if name in RUN_WHOLE or name.startswith("recipes/"):
        return
    tests, count = RUN_BY.get(name, ("", 0))
    assert len(left) == count, [each.line for each in left]
    assert all((ROOT / test).is_file() for test in tests.split())


@pytest.mark.parametrize("name", ["../README.md", *PAGES])
def test_values_are_made_with_keywords(name: str) -> None:
    """A version may lack a field, so that counting arguments by a page of it shifts the others."""
    by_place = [ast.unparse(each.func) for each in calls_of(name) if each.args]
    assert [each for each in by_place if each.rpartition(".")[2] in VALUE_CLASSES] == []


@pytest.mark.parametrize("name", ["../README.md", *PAGES])
def test_numbers_are_given_by_keyword(name: str) -> None:
    """Nobody sees what two numbers in a row are of."""
    for call in calls_of(name):
        numbers = [a for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, int)]
        own = ast.unparse(call.func) != "range"
        assert not own or len(numbers) < 2, ast.unparse(call)


def test_reasons_are_words() -> None:
    for name in PAGES:
        for block in code_blocks((DOCS / name).read_text("utf-8")):
            assert not block.reason or len(block.reason.split()) > 3, (name, block.line)
