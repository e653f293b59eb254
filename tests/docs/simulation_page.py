"""Writes the two tables of docs/simulation.md that are made of the code.

python -m tests.docs.simulation_page        # counts runs for each mutant, a minute or two
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from kafka_admin_proto.simulation.rules import TABLE
from tests.simulation.mutants import LIMIT, MUTANTS, seeds_until_found

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "simulation.md"
RULES_HEAD = "| rule | question | the text | shipped | source |"
MUTANTS_HEAD = "| mutant | what it does | runs until found |"


def rules_rows() -> list[str]:
    """The table of rules, as the code has it."""
    return [
        f"| `{rule.name}` | {rule.question} | {rule.text.words} | {rule.shipped.words} "
        f"| {rule.source} |"
        for rule in TABLE
    ]


def mutant_row(name: str, runs: int) -> str:
    """A mutant's row."""
    return f"| `{name}` | {MUTANTS[name].what} | {runs} |"


def rows_below(page: str, head: str) -> list[str]:
    """The rows of the page's table with that head."""
    table = page.split(f"{head}\n", 1)[1]
    return table.split("\n\n", 1)[0].splitlines()[1:]


def _replaced(page: str, head: str, rows: Iterable[str]) -> str:
    start = page.index(head)
    rule = re.sub(r"[^|]+", "---", head)
    end = page.index("\n\n", start)
    return page[:start] + "\n".join([head, rule, *rows]) + page[end:]


def _write() -> None:
    page = PAGE.read_text("utf-8")
    page = _replaced(page, RULES_HEAD, rules_rows())
    found = {
        name: seeds_until_found(mutant, pytest.MonkeyPatch()) for name, mutant in MUTANTS.items()
    }
    lost = [name for name, runs in found.items() if runs is None]
    if lost:
        raise SystemExit(f"not found within {LIMIT} runs: {', '.join(lost)}")
    page = _replaced(
        page, MUTANTS_HEAD, [mutant_row(name, runs or 0) for name, runs in found.items()]
    )
    PAGE.write_text(page, "utf-8")


if __name__ == "__main__":
    _write()
