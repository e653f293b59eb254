"""docs/simulation.md has the code's rules and mutants, and each scenario with its picture."""

from __future__ import annotations

import re
from pathlib import Path

from kafka_admin_proto.simulation.scenarios import SCENARIOS
from tests.docs.pages import run_page
from tests.docs.simulation_page import (
    DOCS,
    MUTANTS_HEAD,
    PAGE,
    RULES_HEAD,
    mutant_row,
    rows_below,
    rules_rows,
)
from tests.simulation.mutants import LIMIT, MUTANTS

TEXT = PAGE.read_text("utf-8")


def test_the_table_of_rules_is_the_codes() -> None:
    assert rows_below(TEXT, RULES_HEAD) == rules_rows()


def test_the_table_of_mutants_is_the_codes() -> None:
    rows = rows_below(TEXT, MUTANTS_HEAD)
    runs = [int(row.rsplit("|", 2)[1]) for row in rows]
    assert rows == [mutant_row(name, count) for name, count in zip(MUTANTS, runs, strict=True)]
    assert all(0 < count <= LIMIT for count in runs)


def test_each_scenario_has_its_section_and_picture() -> None:
    for name in SCENARIOS:
        assert f"kap simulate {name}" in TEXT, name
    shown = re.findall(r"pictures/simulation-([\w-]+)\.svg", TEXT)
    assert set(shown) == set(SCENARIOS) - {"random"}
    for name in shown:
        assert (DOCS / "pictures" / f"simulation-{name}.svg").exists()


def test_the_page_runs(tmp_path: Path) -> None:
    run_page(PAGE, tmp_path)
