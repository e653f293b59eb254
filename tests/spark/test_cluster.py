"""On a cluster of several worker processes, with the package shipped by ``--py-files``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from kafka_admin_proto.spark.session import NoJavaError, check_java
from tests.helpers.requirements import skip_or_fail
from tests.spark.test_frames import ADMIN, CONTROLLER, as_text, by_one_process

ROOT = Path(__file__).parents[2]
#: Spark's processes end before the second of Java's compilers is worth its time.
_JVM_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
pytestmark = pytest.mark.xdist_group("spark processes")

_JOB = """
import sys, os
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
from kafka_admin_proto.spark.session import spark_session
from kafka_admin_proto.spark.frames import read_frames
from kafka_admin_proto.spark.functions import frame_header
assert spark_session() is spark
import kafka_admin_proto
assert ".zip" in kafka_admin_proto.__file__, kafka_admin_proto.__file__
found = read_frames(spark, *sys.argv[2:], splitSize="50000")
found.withColumn("ts", found.ts.cast("double")).write.json(sys.argv[1] + "/frames")
def where(batches):
    import pyarrow as pa
    yield pa.RecordBatch.from_pydict({"worker": [os.environ["SPARK_EXECUTOR_DIRS"]]})
workers = spark.range(8).repartition(8).mapInArrow(where, "worker string").distinct().count()
open(sys.argv[1] + "/workers", "w").write(str(workers))
"""


_ASKING = """
import sys
from kafka_admin_proto.spark.session import spark_session
spark = spark_session()
said = spark.sparkContext.master, spark.conf.get("spark.sql.shuffle.partitions")
open(sys.argv[1], "w").write(" ".join(said))
"""


@pytest.mark.explore
def test_what_spark_submit_was_told_holds(tmp_path: Path) -> None:
    """Of a job that leaves it to the package to get the session."""
    try:
        check_java()
    except NoJavaError as error:
        skip_or_fail(str(error))
    (tmp_path / "job.py").write_text(_ASKING)
    submit = Path(sys.executable).with_name("spark-submit")
    command = [
        submit, "--master", "local[1]", "--driver-java-options", _JVM_OPTIONS,
        "--conf", "spark.sql.shuffle.partitions=2000", "--conf", "spark.ui.enabled=false",
        tmp_path / "job.py", tmp_path / "said",
    ]  # fmt: skip
    python = {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    run = subprocess.run(
        [str(each) for each in command],
        cwd=tmp_path,
        env=os.environ | python | {"SPARK_LOCAL_IP": "127.0.0.1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    assert (tmp_path / "said").read_text() == "local[1] 2000"


@pytest.mark.explore
def test_workers_have_what_is_shipped(tmp_path: Path) -> None:
    try:
        check_java()
    except NoJavaError as error:
        skip_or_fail(str(error))
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path, ROOT]
    subprocess.run([str(each) for each in build], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    shipped = wheel.rename(tmp_path / "kafka_admin_proto.zip")
    # A Python with all that the package needs, and without the package.
    venv.create(tmp_path / "python", symlinks=True)
    python = tmp_path / "python" / "bin" / "python"
    (site,) = (tmp_path / "python" / "lib").glob("python*/site-packages")
    (site / "needed.pth").write_text(sysconfig.get_path("purelib"))
    (tmp_path / "job.py").write_text(_JOB)
    submit = Path(sys.executable).with_name("spark-submit")
    command = [
        submit, "--master", "local-cluster[2,1,1024]", "--conf", "spark.ui.enabled=false",
        "--driver-java-options", _JVM_OPTIONS,
        "--conf", f"spark.executor.extraJavaOptions={_JVM_OPTIONS}",
        "--conf", "spark.sql.shuffle.partitions=4",
        "--py-files", shipped, tmp_path / "job.py", tmp_path, ADMIN, CONTROLLER,
    ]  # fmt: skip
    env = os.environ | {
        "PYSPARK_PYTHON": str(python),
        "PYSPARK_DRIVER_PYTHON": str(python),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    run = subprocess.run(
        [str(each) for each in command],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    rows = []
    for file in (tmp_path / "frames").glob("*.json"):
        for line in file.read_text("utf-8").splitlines():
            row = json.loads(line)
            row["body"] = json.loads(row["body"]) if "body" in row else None
            rows.append(row)
    # Spark leaves out what is null.
    expected = [json.loads(text) for text in by_one_process(ADMIN, CONTROLLER)]
    for row in expected:
        row["ts"] = row["ts"] / 1e6
    kept = [{name: row.get(name) for name in expected[0]} for row in rows]
    assert as_text(kept) == as_text(expected)
    assert int((tmp_path / "workers").read_text()) == 2
