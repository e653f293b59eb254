"""A standalone Spark cluster on loopback: a master and a worker, each a JVM of its own.

They run in a folder of their own, so that a relative path of the driver's means nothing there.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark

_SPARK = Path(pyspark.__file__).parent
_MASTER = re.compile(r"Starting Spark master at (spark://\S+)")
_REGISTERED = re.compile(r"Successfully registered with master")
_TIMEOUT_S = 60
_JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
#: Settings of a driver: the worker has memory for its executors, which have few rows.
EXECUTORS = {
    "spark.executor.memory": "512m",
    "spark.executor.extraJavaOptions": _JAVA_OPTIONS,
    "spark.sql.shuffle.partitions": "4",
}
_DAEMONS = {
    "SPARK_LOCAL_IP": "127.0.0.1",
    "SPARK_DAEMON_MEMORY": "256m",
    "SPARK_DAEMON_JAVA_OPTS": _JAVA_OPTIONS,
}


@contextmanager
def standalone(folder: Path) -> Iterator[str]:
    """The URL of a master in ``folder`` that a worker has registered with."""
    with _daemon(folder, "master.Master", _MASTER) as said:
        own = ["--cores", "2", "--memory", "1g", "--work-dir", str(folder / "work")]
        with _daemon(folder, "worker.Worker", _REGISTERED, *own, said[1]):
            yield said[1]


@contextmanager
def _daemon(
    folder: Path, name: str, started: re.Pattern[str], *arguments: str
) -> Iterator[re.Match[str]]:
    """A process of Spark's own; what it logs when it has started."""
    log = folder / f"{name}.log"
    # Nothing of the tests' environment: the interpreter of the workers is what the driver asks for.
    env = {name: os.environ[name] for name in ("PATH", "HOME", "JAVA_HOME") if name in os.environ}
    loopback = ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0"]
    with log.open("w") as to:
        process = subprocess.Popen(
            [_SPARK / "bin" / "spark-class", f"org.apache.spark.deploy.{name}", *loopback,
             *arguments],
            cwd=folder, stdin=subprocess.DEVNULL, stdout=to, stderr=to,
            env=env | _DAEMONS,
        )  # fmt: skip
    try:
        yield _waited_for(log, started, process)
    finally:
        process.terminate()
        process.wait(30)


def _waited_for(
    log: Path, pattern: re.Pattern[str], process: subprocess.Popen[bytes]
) -> re.Match[str]:
    deadline = time.monotonic() + _TIMEOUT_S
    while time.monotonic() < deadline and process.poll() is None:
        if found := pattern.search(log.read_text()):
            return found
        time.sleep(0.1)
    raise AssertionError(log.read_text()[-3000:])
