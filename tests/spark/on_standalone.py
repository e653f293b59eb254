"""What a driver does on a standalone cluster, in one session, as JSON: see `test_standalone`.

    python -m tests.spark.on_standalone spark://127.0.0.1:34567

The current folder has captures in ``captures``, and in ``hidden`` some that are reached by links
through ``/proc/self/cwd``: the driver's folder has them, and that of a worker has not.
"""

from __future__ import annotations

import json
import shutil
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

from kafka_admin_proto.spark.frames import read_frames
from kafka_admin_proto.spark.runner import SparkRunner
from kafka_admin_proto.spark.session import spark_session
from tests.helpers.kap import run_kap
from tests.spark.standalone import EXECUTORS

LINK = Path("captures/link.pcap.gz")


def main(master: str) -> None:
    spark = spark_session(master, settings=EXECUTORS)
    runner = nullcontext((SparkRunner(spark.sparkContext), lambda: None))

    def pipeline(*arguments: str) -> dict[str, Any]:
        with (
            patch(
                "kafka_admin_proto.cli.pipeline.pipeline._session", lambda *_: nullcontext(spark)
            ),
            patch("kafka_admin_proto.cli.pipeline.pipeline._spark", lambda *_: runner),
        ):
            result = run_kap("pipeline", *arguments)
        return {"exit_code": result.exit_code, "errors": result.stderr}

    done: dict[str, Any] = {}
    stream = ("captures", "--streaming", "--every", "0", "--out", "streamed")
    packets = spark.read.format("kafka_capture")
    done["folder"] = pipeline("captures", "--out", "folder")
    done["pattern"] = pipeline("captures/*.gz", "--out", "pattern")
    done["read_frames"] = read_frames(spark, "captures/*").where("problem IS NULL").count()
    done["load"] = packets.load("captures").where("problem IS NULL").count()
    done["stream"] = pipeline(*stream)
    LINK.symlink_to("/proc/self/cwd/hidden/link.pcap.gz")
    done["one unopened"] = pipeline("captures", "--out", "folder")
    done["all unopened"] = pipeline(str(LINK), "--out", "folder", "--overwrite")
    try:
        done["read unopened"] = read_frames(spark, "captures").count()
    except Exception as error:
        done["read unopened"] = str(error)
    done["stream of unopened"] = pipeline(*stream)
    done["stream of unopened again"] = pipeline(*stream)
    LINK.unlink()
    shutil.copy2("hidden/link.pcap.gz", LINK)
    done["stream of all"] = pipeline(*stream)
    spark.stop()
    json.dump(done, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1])
