"""What ``kap pipeline`` says of a job that failed in a worker."""

from __future__ import annotations

import os
from contextlib import nullcontext
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import Result
from pyspark.sql import SparkSession

from kafka_admin_proto.capture.connection.state import STATE_VERSION
from tests.capture.packets import conversation, pcap
from tests.capture.test_captures import USUAL
from tests.helpers.kap import run_kap

pytestmark = pytest.mark.xdist_group("spark")
OTHER_VERSION = STATE_VERSION + 1


def stream(spark: SparkSession, folder: Path, out: Path) -> Result:
    with patch("kafka_admin_proto.cli.pipeline.pipeline._session", lambda *_: nullcontext(spark)):
        return run_kap("pipeline", str(folder), "--out", str(out), "--streaming", "--every", "0")


def written_by_another_version(out: Path) -> None:
    """Make the state of open connections that of another release."""
    for file in out.glob(".checkpoint/flows/*/*.parquet"):
        rows = pq.ParquetFile(file).read()
        states = [
            each and OTHER_VERSION.to_bytes(2, "big") + each[2:]
            for each in rows["state"].to_pylist()
        ]
        rows = rows.set_column(rows.schema.get_field_index("state"), "state", pa.array(states))
        for name in ("ts", "watermark"):  # Spark has written nanoseconds, and does not read them
            column = rows[name].cast(pa.timestamp("us", "UTC"))
            rows = rows.set_column(rows.schema.get_field_index(name), name, column)
        pq.write_table(rows, file)
        (file.parent / f".{file.name}.crc").unlink()


@pytest.mark.explore
def test_a_stream_of_another_version(spark: SparkSession, tmp_path: Path) -> None:
    folder, out = tmp_path / "captures", tmp_path / "out"
    folder.mkdir()
    for number in (1, 2):
        capture = folder / f"{number}.pcap"
        capture.write_bytes(pcap(conversation(USUAL[:1], size=10, farewell=False)[:-1]))
        os.utime(capture, (1e9 + number, 1e9 + number))
        result = stream(spark, folder, out)
        if number == 1:
            assert result.exit_code == 0, result.output
            written_by_another_version(out)
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1] == (
        f"Error: the job failed: the state of a connection has version {OTHER_VERSION} and this "
        f"release reads version {STATE_VERSION}: finish the stream with the release that began it, "
        "or start a new one"
    )
