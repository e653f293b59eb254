"""``kap pipeline`` with the compiled engine writes the rows that plain Python writes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.requirements import skip_or_fail
from tests.spark.needs import require
from tests.speed.compiled import speed

pytestmark = pytest.mark.xdist_group("spark processes")


def test_all_tables_row_by_row(tmp_path: Path) -> None:
    speed()
    require("pyspark")
    from kafka_admin_proto.spark.session import NoJavaError, check_java

    try:
        check_java()
    except NoJavaError as error:
        skip_or_fail(str(error))
    from tests.spark.traffic import LOG, write_mixed

    captures = [*write_mixed(tmp_path / "captures"), *sorted(LOG.glob("*.log"))]
    plain, compiled = (tables(captures, tmp_path / pure, pure) for pure in ("1", "0"))
    assert all(plain.values())
    assert compiled == plain


def tables(captures: list[Path], out: Path, pure: str) -> dict[str, list[str]]:
    """Table → its rows, in no order but that of their texts: files are written by any task."""
    import pyarrow.parquet as pq

    from kafka_admin_proto.spark.tables.schemas import TABLES

    command = [
        sys.executable, "-m", "kafka_admin_proto", "pipeline", *captures, "--out", out,
        "--master", "local[2]",
    ]  # fmt: skip
    run = subprocess.run(
        [str(each) for each in command],
        env=os.environ | {"KAFKA_ADMIN_PROTO_PURE": pure},
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-3000:]
    return {name: sorted(map(str, pq.read_table(out / name).to_pylist())) for name in TABLES}
