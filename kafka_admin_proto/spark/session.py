"""Start a Spark session with the right Python, after a check of Java, and without noise."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from kafka_admin_proto.errors import KafkaAdminProtoError, MissingExtraError
from kafka_admin_proto.spark.cluster import require_master

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

#: The oldest Java that Spark 4 runs on.
OLDEST_JAVA = 17
_LOGGING = Path(__file__).with_name("log4j2.properties")
_HOW = (
    f"Spark needs Java {OLDEST_JAVA} or newer: install it (Debian: apt install "
    f"openjdk-{OLDEST_JAVA}-jre-headless; macOS: brew install openjdk@{OLDEST_JAVA}; "
    "any system: Eclipse Temurin) or let JAVA_HOME name one"
)


class NoSparkError(KafkaAdminProtoError):
    """Spark cannot be started here; the message says what it lacks."""


class NoJavaError(NoSparkError):
    """No suitable Java was found; the message says what was found and how to get another."""


def spark_session(
    master: str | None = None,
    *,
    app: str = "kafka_admin_proto",
    settings: dict[str, str] | None = None,
) -> SparkSession:
    """The session of this process, with the data source ``kafka_capture`` registered.

    ``master`` is this machine's cores unless given. Under spark-submit, the master and settings
    given there hold. ``settings`` are Spark's own and come last. What the environment or they say
    of the workers' Python stays; otherwise it is the one that runs this. Raises NoJavaError,
    NoSparkError for a SPARK_HOME that is not there, ClusterError where no master answers, and
    MissingExtraError without pyspark. A session that runs already is used as it is.
    """
    with _missing_extra():
        from pyspark.sql import SparkSession
    from kafka_admin_proto.spark.ingest.source import KafkaCapture

    active = SparkSession.getActiveSession()
    if active is None:
        builder = SparkSession.builder
        wanted = _wanted(master, app, settings)
        for name, value in wanted.items():
            builder = builder.config(name, value)
        _start_java(wanted)
        active = builder.getOrCreate()
    # The data source takes filters; without this setting Spark 4 raises an error for that.
    active.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    active.dataSource.register(KafkaCapture)
    session: SparkSession = active
    return session


def spark_context(
    master: str | None = None,
    *,
    app: str = "kafka_admin_proto",
    settings: dict[str, str] | None = None,
) -> SparkContext:
    """The Spark of this process without its SQL, which takes as long again to start.

    That is enough for `run_batch`. Arguments and errors are those of `spark_session`.
    """
    with _missing_extra():
        from pyspark import SparkConf, SparkContext
    if SparkContext._active_spark_context is not None:
        return SparkContext.getOrCreate()
    wanted = _wanted(master, app, settings)
    _start_java(wanted)
    return SparkContext.getOrCreate(SparkConf().setAll(list(wanted.items())))


@contextmanager
def _missing_extra() -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError:
        raise MissingExtraError(
            "the pipeline needs Spark: pip install 'kafka-admin-proto[spark]'"
        ) from None


def _wanted(master: str | None, app: str, settings: dict[str, str] | None) -> dict[str, str]:
    """The settings of a Spark that is started now, after checks of its Java and its master."""
    require_master(master or "")
    check_java()
    check_spark_home()
    wanted = dict(settings or {})
    if not _is_submitted():
        master = master or "local[*]"
        if master.startswith("local"):
            # Nothing of a session on one machine is for the network.
            os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        # Spark's own setting for this is only heeded by spark-submit.
        python = wanted.get("spark.pyspark.python", sys.executable)
        os.environ.setdefault("PYSPARK_PYTHON", python)
        wanted = {"spark.app.name": app} | _SETTINGS | wanted
    if master is not None:
        wanted = {"spark.master": master} | wanted
    return wanted


def _is_submitted() -> bool:
    """Whether spark-submit started Java before this; what is set here would replace its options."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


# The work is Python's: the second of Java's compilers takes seconds and earns nothing back.
_JAVA_OPTIONS = (
    f"-Dlog4j2.configurationFile={_LOGGING.as_uri()} -XX:+UseParallelGC -XX:TieredStopAtLevel=1"
)
_SETTINGS = {
    "spark.driver.extraJavaOptions": _JAVA_OPTIONS,
    "spark.driver.memory": "1g",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    # Tables of one machine: a job to list a few thousand files takes longer than listing them.
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "10000",
    # Chunks of packets and frames are wide rows: few at a time.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "4096",
    "spark.sql.execution.arrow.maxBytesPerBatch": "4m",
    # Tasks of Python start slowly, so that small shuffles have few, and decode slowly, so that
    # large ones have many more than there are cores.
    "spark.sql.shuffle.partitions": "64",
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": "16m",
    "spark.sql.adaptive.coalescePartitions.parallelismFirst": "false",
}


def check_java() -> None:
    """Raise NoJavaError unless the Java that Spark is going to start is new enough."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    if java is None:
        raise NoJavaError(f"there is no java on the PATH, and JAVA_HOME is not set. {_HOW}")
    said = _VERSION.search(_release_file(java)) or _VERSION.search(_version_text(java))
    if said is None:
        raise NoJavaError(f"{java} does not say its version. {_HOW}")
    version = int(said[1]) if said[1] != "1" else int(said[2] or 0)
    if version < OLDEST_JAVA:
        raise NoJavaError(f"{java} is Java {version}. {_HOW}")


def check_spark_home() -> None:
    """Raise NoSparkError where the environment names a Spark that is not there."""
    home = os.environ.get("SPARK_HOME")
    if home and not Path(home, "bin").is_dir():
        raise NoSparkError(
            f"SPARK_HOME is {home}, where there is no Spark (its folder bin): let it name one, or "
            "unset it, for the Spark that the package pyspark has"
        )


#: As `java -version` prints it, and as it is in the file `release` of a JDK or JRE.
_VERSION = re.compile(r'(?:version |JAVA_VERSION=)"(\d+)(?:\.(\d+))?')


def _release_file(java: str) -> str:
    """The file that says the version of a Java, without a start of it; "" where there is none."""
    if not os.access(java, os.X_OK):
        return ""
    try:
        return (Path(java).resolve().parents[1] / "release").read_text("utf-8", "replace")
    except OSError:
        return ""


def _version_text(java: str) -> str:
    """What a Java prints of its version. Raises NoJavaError where it does not start."""
    try:
        run = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoJavaError(f"{java} does not start ({error}). {_HOW}") from None
    return run.stderr + run.stdout


def _start_java(wanted: dict[str, str]) -> None:
    """Start Java for a Spark with these settings, unless it runs already.

    It has a session of its own, so that Ctrl-C on a terminal is for this process alone: the signal
    would end the workers that Java starts in the middle of their tasks. Java ends when its standard
    input does, which is a pipe from this process.
    """
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    if SparkContext._gateway is not None:
        return
    reading, writing = os.pipe()
    Thread(target=_pass_on, args=(reading,), daemon=True).start()
    try:
        gateway = launch_gateway(  # type: ignore[no-untyped-call]
            SparkConf().setAll(list(wanted.items())),
            popen_kwargs={"start_new_session": True, "stderr": writing},
        )
    finally:
        os.close(writing)
    SparkContext._ensure_initialized(gateway=gateway)


def _pass_on(errors: int) -> None:
    """Pass on what Java and its workers write to standard error, now and later.

    But for a line about modules that Spark asks for, with which Java starts; no option stops it.
    """
    with os.fdopen(errors, "rb") as lines:
        for line in lines:
            if b"jdk.incubator.vector" not in line:
                os.write(2, line)
