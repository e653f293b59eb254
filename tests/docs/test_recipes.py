"""Every recipe is run, file by file and command by command."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.pages import DOCS, run_page
from tests.helpers.requirements import require_program
from tools.site.pages.code_blocks import code_blocks

RECIPES = sorted(path.name for path in (DOCS / "recipes").glob("*.md") if path.name != "index.md")
#: These start pytest, which takes seconds.
SLOW = {
    "groups-in-tests.md",
    "own-message.md",
    "provisioner-tests.md",
    "test-broker.md",
    "tls-in-tests.md",
    "topic-policy.md",
}
#: This one starts Spark: tests/spark/test_recipe.py runs it.
SPARK = "pipeline-on-a-cluster.md"


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.exhaustive] if name in SLOW else [])
        for name in RECIPES
        if name != SPARK
    ],
)
def test_the_recipe_runs(name: str, tmp_path: Path) -> None:
    if "\ntshark " in (DOCS / "recipes" / name).read_text("utf-8"):
        require_program("tshark")
    run_page(DOCS / "recipes" / name, tmp_path)


def test_each_recipe_is_listed_and_has_blocks() -> None:
    index = (DOCS / "recipes" / "index.md").read_text("utf-8")
    for name in RECIPES:
        assert f"]({name})" in index
        assert code_blocks((DOCS / "recipes" / name).read_text("utf-8"))
