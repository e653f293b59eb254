"""``kap pipeline`` with the compiled engine writes the rows that plain Python writes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.spark.needs import require
from tests.speed.compiled import speed


@pytest.mark.exhaustive
def test_all_tables_row_by_row(tmp_path: Path) -> None:
    speed()
    require("pyarrow")
    from tests.tables.traffic import LOG, write_mixed

    captures = [*write_mixed(tmp_path / "captures"), *sorted(LOG.glob("*.log"))]
    runs = [(tmp_path / pure, start(captures, tmp_path / pure, pure)) for pure in ("1", "0")]
    plain, compiled = (tables(out, run) for out, run in runs)
    assert all(plain.values())
    assert compiled == plain


def start(captures: list[Path], out: Path, pure: str) -> subprocess.Popen[str]:
    command = [
        sys.executable, "-m", "kafka_admin_proto", "pipeline", *captures, "--out", out,
        "--runner", "processes",
    ]  # fmt: skip
    return subprocess.Popen(
        [str(each) for each in command],
        env=os.environ | {"KAFKA_ADMIN_PROTO_PURE": pure},
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def tables(out: Path, run: subprocess.Popen[str]) -> dict[str, list[str]]:
    """Table → its rows, in no order but that of their texts: files are written by any task."""
    import pyarrow.parquet as pq

    from kafka_admin_proto.tables.schemas import TABLES

    _, said = run.communicate(timeout=240)
    assert run.returncode == 0, said[-3000:]
    return {name: sorted(map(str, pq.read_table(out / name).to_pylist())) for name in TABLES}
