"""What the page on Spark shows is run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.xdist_group("spark")


@pytest.mark.exhaustive
def test_the_page(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "spark.md").read_text(), re.DOTALL)
    assert len(blocks) == 2
    names: dict[str, object] = {}
    exec(compile("\n".join(blocks), "docs/spark.md", "exec"), names)
    assert names["spark"] is spark
    assert names["frames"].count() > 400  # type: ignore[attr-defined]
