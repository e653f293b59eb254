"""``docs/simulation-runs.md`` names what there is: scenarios, pictures, mutants, requests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kafka_admin_proto.simulation.scenarios import SCENARIOS
from tests.helpers.kap import ended, run_kap
from tests.simulation.quorum.mutants import MUTANTS
from tests.simulation.quorum.test_real_controller import DEADLY
from tools.site.pictures.simulation_runs import pictures

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "simulation-runs.md").read_text("utf-8")


def rows_below(head: str) -> list[str]:
    """The first cells of the table with that head."""
    table = re.search(rf"^\| {head} \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", TEXT, re.MULTILINE)
    assert table is not None, head
    return [line.split("|")[1].strip() for line in table[1].splitlines()]


def test_scenarios_have_pictures() -> None:
    drawn = pictures()
    links = dict(re.findall(r"^\| \[([a-z-]+)\]\((pictures/.*?)\)", TEXT, re.MULTILINE))
    assert set(links) == set(SCENARIOS) - {"random"}
    for name, file in links.items():
        svg = (DOCS / file).read_text("utf-8")
        assert file == f"pictures/simulation-{name}.svg"
        assert svg == drawn[f"simulation-{name}.svg"], "tools.site.pictures.simulation_runs"
        assert len(svg) < 100_000


def test_broken_rules_and_deadly_requests() -> None:
    assert rows_below("broken rule") == list(MUTANTS)
    assert rows_below("request") == list(DEADLY)


def test_the_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    block = re.search(r"```\n(kap simulate.*?)```", TEXT, re.DOTALL)
    assert block is not None
    monkeypatch.chdir(tmp_path)
    for line in block[1].splitlines():
        ended(run_kap(line.removeprefix("kap ")))
