"""The data source in sessions that nobody has prepared."""

from __future__ import annotations

import os
import subprocess
import sys
from pkgutil import iter_modules

import pytest

from tests.helpers.requirements import skip_or_fail
from tests.spark.needs import require
from tests.tables.traffic import ADMIN

_PROGRAM = """
import sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
packets = spark.read.format("kafka_capture").load(sys.argv[1])
times = [packet.ts for packet in packets.select("ts").collect()]
print(len(times))
spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
packets = spark.read.format("kafka_capture").load(sys.argv[1])
print(len(packets.where(packets.ts > min(times)).collect()))
"""


def test_spark_finds_it_by_its_name() -> None:
    """As `pyspark.sql.worker.lookup_data_sources` looks for it."""
    require("pyspark")
    found = [each.name for each in iter_modules() if each.name.startswith("pyspark_")]
    assert "pyspark_kafka_capture" in found
    import pyspark_kafka_capture

    assert pyspark_kafka_capture.DefaultSource.name() == "kafka_capture"


@pytest.mark.exhaustive
@pytest.mark.xdist_group("spark processes")
def test_a_plain_session() -> None:
    """With Spark's own settings, and where filters are pushed."""
    require("pyspark")
    from kafka_admin_proto.spark.session import NoJavaError, check_java

    try:
        check_java()
    except NoJavaError as error:
        skip_or_fail(str(error))
    run = subprocess.run(
        [sys.executable, "-c", _PROGRAM, str(ADMIN)],
        capture_output=True, text=True, timeout=240,
        env=os.environ
        | {"PYSPARK_PYTHON": sys.executable, "JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1"},
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-3000:]
    whole, later = map(int, run.stdout.split())
    assert whole == later + 1
