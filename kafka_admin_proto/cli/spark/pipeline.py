"""``kap pipeline``: captures in, tables of Parquet or Delta out, on Spark."""

from __future__ import annotations

import importlib.util
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import click

from kafka_admin_proto.cli.logs.segments import is_segment
from kafka_admin_proto.cli.output import print_table, printable
from kafka_admin_proto.cli.spark.job_progress import JobProgress
from kafka_admin_proto.errors import KafkaAdminProtoError
from kafka_admin_proto.records.metadata.records import METADATA_TOPIC
from kafka_admin_proto.records.segments.segments import topic_of

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    from kafka_admin_proto.spark.sinks.sink import Mode, TableSink

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
#: The names of files that lie beside segments in the folder of a log.
_BESIDE_SEGMENTS = re.compile(
    r"(\.(index|timeindex|txnindex|snapshot|part)|"
    r"/(partition\.metadata|leader-epoch-checkpoint|quorum-state))$"
)

#: A line that names an error: of a traceback of Python's, or of Java's.
_ERROR = re.compile(r"\s*(?:Caused by: |: )?([A-Za-z_][\w.$]*(?:Error|Exception)): (\S.*)")
_SQLSTATE = re.compile(r"\.? SQLSTATE: \w+$")


class _Size(click.ParamType[int]):
    name = "size"

    def convert(self, value: Any, param: Any, context: Any) -> int:
        found = re.fullmatch(r"(\d{1,9})([kmg]?)b?", str(value).lower())
        if found is None or not int(found[1]):
            self.fail(f"{value!r} is no size, as in 64m", param, context)
        return int(found[1]) * _UNITS[found[2]]


class _Days(click.ParamType[timedelta]):
    name = "days"

    def convert(self, value: Any, param: Any, context: Any) -> timedelta:
        found = re.fullmatch(r"(\d{1,5})d", str(value))
        if found is None or not int(found[1]):
            self.fail(f"{value!r} is no number of days, as in 30d", param, context)
        return timedelta(days=int(found[1]))


class _Setting(click.ParamType[tuple[str, str]]):
    name = "name=value"

    def convert(self, value: Any, param: Any, context: Any) -> tuple[str, str]:
        name, found, said = str(value).partition("=")
        if not found or not name.startswith("spark."):
            self.fail(f"{value!r} is none of Spark's, as in spark.driver.memory=4g", param, context)
        return name, said


@click.command()
@click.argument("captures", nargs=-1, required=True)
@click.option(
    "--out",
    required=True,
    help="The folder for the tables: new, empty, or of an earlier run. All workers have to see it. "
    "With --format delta also a URI, as in s3://bucket/tables.",
)
@click.option(
    "--format",
    "table_format",
    type=click.Choice(["parquet", "delta"]),
    default="parquet",
    show_default=True,
    help="Folders of Parquet files, or Delta tables.",
)
@click.option(
    "--work",
    type=click.Path(file_okay=False, path_type=Path),
    help="With --format delta: a folder that all workers see, where a run works and a stream keeps "
    "how far it is. OUT.work unless given, which a stream needs when OUT is a URI.",
)
@click.option(
    "--master", default="local[*]", show_default=True, help="Where to run: Spark's master URL."
)
@click.option("--streaming", is_flag=True, help="Go on with the files that appear later.")
@click.option(
    "--every",
    type=click.IntRange(0),
    default=60,
    show_default=True,
    help="With --streaming: seconds between batches; 0 reads what is there and ends.",
)
@click.option(
    "--end", is_flag=True, help="With --every 0: nothing comes any more, open connections end."
)
@click.option(
    "--retain", type=_Days(), help="With --streaming: forget rows older than this, as in 30d."
)
@click.option("--overwrite", is_flag=True, help="Replace the tables of other captures.")
@click.option(
    "--split-size",
    type=_Size(),
    default="128m",
    show_default=True,
    help="How much of a large capture file one task reads.",
)
@click.option(
    "--set",
    "settings",
    type=_Setting(),
    multiple=True,
    help="A setting of Spark's; may be given more than once.",
)
def pipeline(
    captures: tuple[str, ...],
    out: str,
    table_format: str,
    work: Path | None,
    master: str,
    streaming: bool,
    every: int,
    end: bool,
    retain: timedelta | None,
    overwrite: bool,
    split_size: int,
    settings: tuple[tuple[str, str], ...],
) -> None:
    """Turn CAPTURES into tables of Parquet or Delta, on Spark: on this machine or on a cluster.

    CAPTURES are files, folders and patterns of packet captures (pcap, pcapng, compressed or not),
    request logs of brokers, and segments and snapshots of the metadata log
    (__cluster_metadata-0); also URIs, as in s3://bucket/captures.

    The tables are frames (what `kap decode` shows), admin_audit, clients, metadata_changes,
    quorum_events and problems. They are put in place when all are made, and replace those of an
    earlier run; a run that was killed leaves nothing behind when it is run again. Secrets are
    masked.

    \b
    Examples:
      kap pipeline captures/ --out tables
      kap pipeline captures/*.pcap.gz /var/kafka/__cluster_metadata-0 --out tables
      kap pipeline s3://bucket/2026-01 --out /shared/tables --master spark://host:7077
      kap pipeline captures/ --out tables --streaming --retain 30d
      kap pipeline captures/ --out s3://bucket/tables --format delta
      kap pipeline captures/ --out tables --set spark.driver.memory=4g

    \b
    Exit codes: 0 fine, 1 the job failed, 2 usage.
    """
    _check_installed(table_format)
    if retain is not None and not streaming:
        raise click.UsageError("--retain goes with --streaming")
    if end and (not streaming or every):
        raise click.UsageError("--end goes with --streaming --every 0")
    if overwrite and streaming:
        raise click.UsageError("--overwrite does not go with --streaming: name another folder")
    start = time.monotonic()
    with _for_people():
        _check_out(captures, out, table_format, work, streaming)
        names = _files(captures, streaming)
        segments = _segments(names)
        if streaming:
            _refuse_logs([*captures, *segments])
        packets = _without(names, segments)
        if not streaming and not (packets or segments):
            raise click.UsageError(f"there are no files in {', '.join(captures)}")
        mode: Mode = "streaming" if streaming else "batch"
        with ExitStack() as opened:
            sink = _sink(out, table_format, work, mode, captures, overwrite, opened)
            progress = opened.enter_context(JobProgress())
            if streaming:
                spark = opened.enter_context(_session(master, dict(settings)))
                progress.watch(spark.sparkContext)
                _stream(spark, captures, sink, every, end, split_size, retain, progress)
            else:
                context, stop = opened.enter_context(_context(master, dict(settings)))
                from kafka_admin_proto.spark.tables.pipeline import run_batch

                progress.watch(context)
                run_batch(
                    context, packets, sink, segments=segments, split_size=split_size,
                    step=progress.step, after_jobs=stop,
                )  # fmt: skip
            progress.step("counting")
            rows = sink.count_rows()
    print_table(("table", "rows"), [[name, f"{count:,}"] for name, count in rows.items()])
    click.echo(f"{out}: {rows['frames']:,} frames in {time.monotonic() - start:.1f} s")


def _stream(
    spark: SparkSession, captures: Sequence[str], sink: TableSink, every: int, end: bool,
    split_size: int, retain: timedelta | None, progress: JobProgress,
) -> None:  # fmt: skip
    from kafka_admin_proto.spark.stream.tables import run_stream

    pause = f"{every} seconds" if every else None
    try:
        run_stream(
            spark, captures, sink, every=pause, end=end, step=progress.step,
            split_size=split_size, retain=retain,
        )  # fmt: skip
    except KeyboardInterrupt:
        if not every:
            raise


def _check_installed(table_format: str) -> None:
    missing = [name for name in ("pyspark", "pyarrow") if importlib.util.find_spec(name) is None]
    if missing:
        raise click.UsageError(
            f"the pipeline needs {' and '.join(missing)}: pip install 'kafka-admin-proto[spark]'"
        )
    if table_format == "delta" and importlib.util.find_spec("deltalake") is None:
        raise click.UsageError(
            "--format delta needs deltalake: pip install 'kafka-admin-proto[delta]'"
        )


def _sink(
    out: str, table_format: str, work: Path | None, mode: Mode, inputs: Sequence[str],
    overwrite: bool, opened: ExitStack,
) -> TableSink:  # fmt: skip
    """The tables of this run; ``opened`` closes them."""
    from kafka_admin_proto.spark.tables.schemas import REPLACED_BY_DAY, TABLES

    sink: TableSink
    if table_format == "parquet":
        from kafka_admin_proto.spark.sinks.parquet import ParquetSink

        sink = ParquetSink(
            Path(out), TABLES, mode=mode, inputs=inputs, overwrite=overwrite,
            replaced_by_day=REPLACED_BY_DAY,
        )  # fmt: skip
    else:
        from kafka_admin_proto.spark.sinks.delta import DeltaSink

        if work is None and _is_uri(out):
            work = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="kap-pipeline-")))
        sink = DeltaSink(
            out, TABLES, work=work or Path(f"{out.rstrip('/')}.work"), mode=mode, inputs=inputs,
            overwrite=overwrite, replaced_by_day=REPLACED_BY_DAY,
        )  # fmt: skip
    opened.enter_context(sink)
    return sink


@contextmanager
def _for_people() -> Iterator[None]:
    """What goes wrong as a sentence: exit code 2 where the user can do something about it."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (KafkaAdminProtoError, FileNotFoundError) as error:
        raise click.UsageError(str(error)) from None
    except (PySparkException, Py4JError) as error:
        raise click.ClickException(f"the job failed: {_short(str(error))}") from error


def _short(text: str) -> str:
    """What an error of Spark's comes from, out of the stacks of Python and Java that it brings.

    That is the last error of this package that it names, or else the last of any.
    """
    named = [found for found in map(_ERROR.fullmatch, text.splitlines()) if found]
    ours = [found for found in named if found[1].startswith("kafka_admin_proto.")]
    if ours:
        said = ours[-1][2]
    elif named:
        said = f"{named[-1][1].rpartition('.')[2]}: {named[-1][2]}"
    else:
        said = text.strip().partition("\n")[0]
    return printable(_SQLSTATE.sub("", said))


@contextmanager
def _session(master: str, settings: dict[str, str]) -> Iterator[SparkSession]:
    from kafka_admin_proto.spark.session import spark_session

    spark = spark_session(master, settings=settings)
    try:
        yield spark
    finally:
        spark.stop()


@contextmanager
def _context(
    master: str, settings: dict[str, str]
) -> Iterator[tuple[SparkContext, Callable[[], None]]]:
    """A Spark without SQL, and what has it stop while the caller goes on."""
    from kafka_admin_proto.spark.session import spark_context

    context = spark_context(master, settings=settings)
    stopping = Thread(target=context.stop)
    try:
        yield context, stopping.start
    finally:
        if stopping.ident is None:
            stopping.start()
        stopping.join()


def _is_uri(out: str) -> bool:
    return re.match(r"[a-z][a-z0-9+.-]+:/", out) is not None


def _check_out(
    captures: Sequence[str], out: str, table_format: str, work: Path | None, streaming: bool
) -> None:
    if table_format == "parquet" and work is not None:
        raise click.UsageError("--work goes with --format delta: Parquet is made beside its tables")
    if _is_uri(out):
        if table_format == "parquet":
            raise click.UsageError(
                f"--out {out} is a URI: tables go to a folder that all workers see, or to a store "
                "with --format delta"
            )
        if streaming and work is None:
            raise click.UsageError(
                f"--out {out} is a URI: name a folder with --work, where the stream keeps how far "
                "it is"
            )
        return
    if not out or Path(out).is_file():
        raise click.UsageError(f"--out {out!r} is no folder")
    inside = next((name for name in captures if _is_inside(out, name)), None)
    if inside is not None:
        raise click.UsageError(f"--out {out} is inside {inside}, and would be read as captures")


def _refuse_logs(names: Sequence[str]) -> None:
    """A stream does not read the metadata log: a broker goes on writing to the last segment."""
    for name in names:
        if is_segment(name) or Path(name).name.startswith(f"{METADATA_TOPIC}-"):
            raise click.UsageError(
                f"{name} is of a metadata log, which a stream does not read: leave it out, and run "
                "the pipeline on it without --streaming, into a folder of its own"
            )


def _files(captures: Sequence[str], streaming: bool) -> list[str]:
    from kafka_admin_proto.spark.ingest.files import listed_files

    try:
        found = listed_files(captures, more_to_come=streaming)
        return list(dict.fromkeys(each.name for each in found))
    except (OSError, ValueError) as error:
        raise click.UsageError(str(error)) from None


def _is_inside(out: str, name: str) -> bool:
    return "://" not in name and Path(out).resolve().is_relative_to(Path(name).resolve())


def _segments(names: Sequence[str]) -> list[str]:
    """The inputs that are segments. Raises click.UsageError for one of another topic."""
    found = [name for name in names if is_segment(name)]
    for name in found:
        topic = topic_of(name)
        if topic not in (None, METADATA_TOPIC):
            raise click.UsageError(
                f"{name} is of the topic {topic}; of logs the pipeline reads {METADATA_TOPIC}"
            )
    return found


def _without(names: Sequence[str], segments: Sequence[str]) -> list[str]:
    """The inputs that are neither segments nor files that a broker keeps beside them."""
    logs = {name.rpartition("/")[0] for name in segments}
    return [
        name
        for name in names
        if name not in set(segments)
        and not (name.rpartition("/")[0] in logs and _BESIDE_SEGMENTS.search(name))
    ]
