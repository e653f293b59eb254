"""The pages of simulations name what there is: rules, mutants, scenarios, pictures, requests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kafka_admin_proto.simulation.scenarios import SCENARIOS
from tests.docs.simulation_page import (
    DOCS,
    MUTANTS_HEAD,
    PAGE,
    RULES_HEAD,
    mutant_row,
    rows_below,
    rules_rows,
)
from tests.helpers.kap import ended, run_kap
from tests.simulation.mutants import LIMIT, MUTANTS
from tests.simulation.quorum.mutants import MUTANTS as QUORUM_MUTANTS
from tests.simulation.quorum.test_real_controller import DEADLY
from tools.site.pictures.simulation_runs import pictures

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


RUNS = (DOCS / "simulation-runs.md").read_text("utf-8")


def first_cells(head: str) -> list[str]:
    """The first cells of the table with that head."""
    table = re.search(rf"^\| {head} \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", RUNS, re.MULTILINE)
    assert table is not None, head
    return [line.split("|")[1].strip() for line in table[1].splitlines()]


def test_scenarios_have_pictures() -> None:
    drawn = pictures()
    links = dict(re.findall(r"^\| \[([a-z-]+)\]\((pictures/.*?)\)", RUNS, re.MULTILINE))
    assert set(links) == set(SCENARIOS) - {"random"}
    for name, file in links.items():
        svg = (DOCS / file).read_text("utf-8")
        assert file == f"pictures/simulation-{name}.svg"
        assert svg == drawn[f"simulation-{name}.svg"], "tools.site.pictures.simulation_runs"
        assert len(svg) < 100_000


def test_broken_rules_and_deadly_requests() -> None:
    assert first_cells("broken rule") == list(QUORUM_MUTANTS)
    assert first_cells("request") == list(DEADLY)


def test_the_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    block = re.search(r"```\n(kap simulate.*?)```", RUNS, re.DOTALL)
    assert block is not None
    monkeypatch.chdir(tmp_path)
    for line in block[1].splitlines():
        ended(run_kap(line.removeprefix("kap ")))
