"""What the pages on Spark show is run."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from kafka_admin_proto.spark.runner import SparkRunner
from tests.docs.pages import DOCS, ROOT, run_page
from tests.spark.needs import require
from tests.tables.test_pipeline import make

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.exhaustive]


def test_the_page(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "spark.md").read_text(), re.DOTALL)
    assert len(blocks) == 2
    names: dict[str, Any] = {}
    exec(compile("\n".join(blocks), "docs/spark.md", "exec"), names)
    assert names["spark"] is spark
    assert names["frames"].count() > 400


def test_the_page_of_tables(spark: SparkSession, tmp_path: Path) -> None:
    require("duckdb")
    deltalake = require("deltalake")
    captures = sorted((ROOT / "samples").glob("*.pcap.gz"))
    make(
        SparkRunner(spark.sparkContext),
        tmp_path / "tables",
        [Path(os.path.relpath(each, ROOT)) for each in captures],
    )
    deltalake.write_deltalake(tmp_path / "delta/frames", pq.read_table(tmp_path / "tables/frames"))
    # Java is not in the folder of the page.
    run_page(DOCS / "tables.md", tmp_path, {'parquet("tables/': f'parquet("{tmp_path}/tables/'})
