"""An archive of the classes that Spark loads, with which its Java starts in half the time.

``make spark-archive`` runs this.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tools.oracles.java import archive_options, make_archive

_SAMPLES = Path(__file__).parents[2] / "samples"
#: What spark-submit gives to Java, besides the options of the session.
_OPTIONS = "SPARK_SUBMIT_OPTS"
#: A stream has most of what a batch has, too.
_PROGRAM = """
import sys
from pathlib import Path
from kafka_admin_proto.spark.session import spark_session
from kafka_admin_proto.spark.stream.tables import run_stream
from kafka_admin_proto.tables.schemas import REPLACED_BY_DAY, TABLES
from kafka_admin_proto.tables.sinks.parquet import ParquetSink

samples, out = sys.argv[1], Path(sys.argv[2])
sink = ParquetSink(
    out, TABLES, mode="streaming", inputs=[samples], replaced_by_day=REPLACED_BY_DAY
)
with sink:
    run_stream(spark_session("local[2]"), [samples], sink, min_file_age_s=0, end=True)
"""


def start_from_archive() -> None:
    """Let all that this process starts use the archive, where there is one."""
    if shutil.which("java") and (options := archive_options(_jars())):
        os.environ[_OPTIONS] = " ".join(options)


def _jars() -> list[Path]:
    spark = importlib.util.find_spec("pyspark")
    return sorted(Path(spark.origin).parent.glob("jars/*.jar")) if spark and spark.origin else []


def _stream(options: Sequence[str], folder: Path) -> None:
    subprocess.run(
        [sys.executable, "-c", _PROGRAM, _SAMPLES, folder / "out"],
        env=os.environ | {_OPTIONS: " ".join(options)},
        stdout=subprocess.PIPE,  # which Java keeps open until it has written the archive
        check=True,
    )


if __name__ == "__main__":
    make_archive(_jars(), _stream)
