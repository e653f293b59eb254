"""Where Spark looks: on this machine, whatever the cluster's file system, in the folder named."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from kafka_admin_proto.spark.paths import to_read, to_write
from kafka_admin_proto.spark.reading import read_tables
from kafka_admin_proto.spark.runner import SparkRunner
from kafka_admin_proto.tables.schemas import TABLES
from tests.spark.stream.test_tables import stream
from tests.tables.test_pipeline import by_one_process, frames_in, make
from tests.tables.traffic import CONTROLLER, LOG

pytestmark = pytest.mark.xdist_group("spark")


@pytest.fixture
def on_a_cluster(spark: SparkSession) -> Iterator[SparkSession]:
    """A session whose file system is one that nobody serves."""
    spark.conf.set("fs.defaultFS", "hdfs://127.0.0.1:1")
    yield spark
    spark.conf.unset("fs.defaultFS")


@pytest.mark.exhaustive
def test_paths_are_of_this_machine(on_a_cluster: SparkSession, tmp_path: Path) -> None:
    out = tmp_path / "out[1] {a,b} 50%"
    (tmp_path / "out1").mkdir()
    make(
        SparkRunner(on_a_cluster.sparkContext),
        out,
        [CONTROLLER],
        segments=[str(each) for each in LOG.glob("*.log")],
    )
    assert frames_in(out) == by_one_process([CONTROLLER])
    found = read_tables(on_a_cluster, str(out), TABLES)
    assert set(found) == set(TABLES)
    assert found["frames"].count() == len(by_one_process([CONTROLLER]))
    assert {each.name for each in tmp_path.iterdir()} == {out.name, "out1"}


@pytest.mark.explore
def test_a_stream_is_on_this_machine(on_a_cluster: SparkSession, tmp_path: Path) -> None:
    folder, out = tmp_path / "captures", tmp_path / "out[1]"
    folder.mkdir()
    capture = Path(shutil.copy(CONTROLLER, folder))
    stream(on_a_cluster, folder, out)
    stream(on_a_cluster, folder, out, end=True)
    assert frames_in(out) == by_one_process([capture])


def test_what_spark_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert to_write(Path("a b[1]%20")) == f"file://{tmp_path}/a b[1]%20"
    assert to_read(Path("/a b[1]*")) == r"file:///a b\[1\]\*"
