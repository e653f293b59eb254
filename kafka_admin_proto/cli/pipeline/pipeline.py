"""``kap pipeline``: captures in, tables of Parquet or Delta out, on Spark or without it."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import click

from kafka_admin_proto.capture.sources import PCAP, REQUEST_LOG
from kafka_admin_proto.cli.given_once import GivenOnceCommand
from kafka_admin_proto.cli.interrupted import INTERRUPTED
from kafka_admin_proto.cli.logs.segments import SEGMENT
from kafka_admin_proto.cli.numbers import WholeNumber
from kafka_admin_proto.cli.output import print_table, printable
from kafka_admin_proto.cli.pipeline.arguments import (
    Days,
    RunnerName,
    Setting,
    Size,
    check_out,
    inputs_of,
    refuse_logs,
    runner_of,
    segments_of,
    without,
)
from kafka_admin_proto.cli.pipeline.failures import for_people
from kafka_admin_proto.cli.pipeline.inputs import UnopenedInputs, name_unreadable
from kafka_admin_proto.cli.pipeline.interruptible import Interrupt, Stopped
from kafka_admin_proto.cli.pipeline.job_progress import JobProgress
from kafka_admin_proto.counts import with_commas
from kafka_admin_proto.tables.ingest.uris import is_uri
from kafka_admin_proto.tables.processes import Processes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kafka_admin_proto.tables.ingest.unopened import Unopened
    from kafka_admin_proto.tables.runner import Runner
    from kafka_admin_proto.tables.sinks.sink import Mode, TableSink

_STREAM_GOES_ON = "the next start of the stream goes on from here"
_NEXT_BATCH = "the next batch or start of the stream tries again where nothing was read"
_NOT_IN_TABLES = (
    "the tables lack what workers could not open; let all of them see captures by the same path, "
    "and run it again"
)


@click.command(cls=GivenOnceCommand)
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
    "--runner",
    type=click.Choice(["spark", "processes"]),
    help="What does the work: Spark, or processes on all cores of this machine, which need neither "
    "Spark nor Java and make no streams. Unless given, Spark where it is installed.",
)
@click.option(
    "--master", help="Where Spark runs, as a master URL; local[*], this machine, unless given."
)
@click.option("--streaming", is_flag=True, help="Go on with the files that appear later.")
@click.option(
    "--every",
    type=WholeNumber(0),
    default=60,
    show_default=True,
    help="With --streaming: seconds between batches; 0 reads what is there and ends. Files that "
    "changed in the last ten seconds wait for the next batch.",
)
@click.option(
    "--end", is_flag=True, help="With --every 0: nothing comes any more, open connections end."
)
@click.option(
    "--retain",
    type=Days(),
    help="With --streaming: forget rows older than this, as in 30d, every 8 batches.",
)
@click.option(
    "--input-format",
    type=click.Choice(["auto", PCAP, REQUEST_LOG, SEGMENT]),
    default="auto",
    show_default=True,
    help="What all of CAPTURES are written in.",
)
@click.option("--overwrite", is_flag=True, help="Replace the tables of other captures.")
@click.option(
    "--split-size",
    type=Size(),
    default="128m",
    show_default=True,
    help="How much of a large capture file one task reads.",
)
@click.option(
    "--set",
    "settings",
    type=Setting(),
    multiple=True,
    help="A setting of Spark's; may be given more than once.",
)
def pipeline(
    captures: tuple[str, ...],
    out: str,
    table_format: str,
    work: Path | None,
    runner: RunnerName | None,
    master: str | None,
    streaming: bool,
    every: int,
    end: bool,
    retain: timedelta | None,
    input_format: str,
    overwrite: bool,
    split_size: int,
    settings: tuple[tuple[str, str], ...],
) -> None:
    """Turn CAPTURES into tables of Parquet or Delta: on this machine, or on a cluster by Spark.

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
      kap pipeline captures/ --out tables --runner processes
      kap pipeline captures/*.pcap.gz /var/kafka/__cluster_metadata-0 --out tables
      kap pipeline s3://bucket/2026-01 --out /shared/tables --master spark://host:7077
      kap pipeline captures/ --out tables --streaming --retain 30d
      kap pipeline captures/ --out s3://bucket/tables --format delta
      kap pipeline captures/ --out tables --set spark.driver.memory=4g

    \b
    Inputs that cannot be read are named on standard error; the others make the tables. A file that
    a worker cannot open is named too, and tried again by the next run or batch. Ctrl-C ends a
    stream after the batch that it is at, and breaks any other run off: the tables stay as they
    were. The second Ctrl-C waits for nothing.

    \b
    Exit codes: 0 fine (a stream that Ctrl-C ended, too), 1 the job failed, a file could not be
    opened or no input could be read, 2 usage, 130 stopped by Ctrl-C before all was read.
    """
    of_spark = {
        "--master": master is not None, "--set": bool(settings), "--streaming": streaming
    }  # fmt: skip
    runner = runner_of(runner, of_spark, table_format)
    if retain is not None and not streaming:
        raise click.UsageError("--retain goes with --streaming")
    if end and (not streaming or every):
        raise click.UsageError("--end goes with --streaming --every 0")
    if overwrite and streaming:
        raise click.UsageError("--overwrite does not go with --streaming: name another folder")
    if streaming and input_format == SEGMENT:
        raise click.UsageError(f"--input-format {SEGMENT} does not go with --streaming")
    from kafka_admin_proto.tables.ingest.unopened import UnopenedError

    start = time.monotonic()
    mode: Mode = "streaming" if streaming else "batch"
    interrupt = Interrupt()
    with for_people(), ExitStack() as opened:
        check_out(captures, out, table_format, work, streaming)
        names = inputs_of(captures, streaming)
        segments = segments_of(names, input_format)
        if streaming:
            refuse_logs([*captures, *segments])
        packets = without(names, segments)
        of_packets = "auto" if input_format == SEGMENT else input_format
        unreadable: Collection[str] = ()
        if not streaming:
            if not (packets or segments):
                raise click.UsageError(f"there are no files in {', '.join(captures)}")
            unreadable = name_unreadable(packets, segments, of_packets, out)
        unopened = UnopenedInputs(unreadable)

        def make_tables() -> Mapping[str, int]:
            if streaming:
                from kafka_admin_proto.spark.runner import SparkRunner

                with _session(master, dict(settings)) as spark:
                    interrupt.started()
                    progress.watch(SparkRunner(spark.sparkContext).tasks)
                    _stream(
                        spark, captures, sink, every=every, end=end, split_size=split_size,
                        input_format=of_packets, retain=retain, unopened=unopened,
                        progress=progress, interrupt=interrupt,
                    )  # fmt: skip
                    progress.step("counting")
                    return sink.count_rows()
            on_spark = runner == "spark"
            with _spark(master, dict(settings)) if on_spark else _processes() as (started, stop):
                interrupt.started(started.cancel)
                progress.watch(started.tasks)
                not_opened = _batch(
                    started, packets, segments, unreadable, sink, split_size=split_size,
                    input_format=of_packets, progress=progress, interrupt=interrupt, stop=stop,
                )  # fmt: skip
                unopened.take(not_opened)
                progress.step("counting")
                return sink.count_rows()

        try:
            sink = _sink(out, table_format, work, mode, captures, overwrite, opened)
            with JobProgress("starting Spark" if runner == "spark" else "") as progress:
                rows = interrupt.run(make_tables)
        except (KeyboardInterrupt, Stopped) as stopped:
            if interrupt.has_begun and isinstance(stopped, KeyboardInterrupt):
                opened.pop_all()  # the work may go on in these until this process ends
                raise
            kept = _STREAM_GOES_ON if streaming else f"{out} is as it was before"
            click.echo(f"stopped by Ctrl-C: {kept}", err=True)
            raise click.exceptions.Exit(INTERRUPTED) from None
        except UnopenedError as error:
            unopened.take(error.unopened)
            unopened.check(f"{out} is as it was before")
    if streaming and interrupt.event.is_set():
        click.echo(f"stopped by Ctrl-C: {_STREAM_GOES_ON}", err=True)
    print_table(("table", "rows"), [[name, f"{count:,}"] for name, count in rows.items()])
    frames = with_commas(rows["frames"], "frames")
    click.echo(f"{out}: {frames} in {time.monotonic() - start:.1f} s")
    unopened.check(_NEXT_BATCH if streaming else _NOT_IN_TABLES)


def _batch(
    runner: Runner, packets: Sequence[str], segments: Sequence[str],
    unreadable: Collection[str], sink: TableSink, *, split_size: int,
    input_format: str, progress: JobProgress, interrupt: Interrupt, stop: Callable[[], None],
) -> Unopened:  # fmt: skip
    from kafka_admin_proto.tables.pipeline import run_batch

    def step(name: str) -> None:
        interrupt.check()
        progress.step(name)

    return run_batch(
        runner, packets, sink, segments=segments, unreadable=unreadable, split_size=split_size,
        input_format=input_format, step=step, after_jobs=stop,
    )  # fmt: skip


def _stream(
    spark: SparkSession, captures: Sequence[str], sink: TableSink, *, every: int, end: bool,
    split_size: int, input_format: str, retain: timedelta | None, unopened: UnopenedInputs,
    progress: JobProgress, interrupt: Interrupt,
) -> None:  # fmt: skip
    """Run the stream. Raises Stopped where Ctrl-C came before it had read what it was to read."""
    from kafka_admin_proto.spark.stream.tables import run_stream

    pause = with_commas(every, "seconds") if every else None
    whole = run_stream(
        spark, captures, sink, every=pause, end=end, step=progress.step, split_size=split_size,
        input_format=input_format, retain=retain, unopened=unopened.take, stop=interrupt.event,
    )  # fmt: skip
    if not every and not whole:
        raise Stopped


def _sink(
    out: str, table_format: str, work: Path | None, mode: Mode, inputs: Sequence[str],
    overwrite: bool, opened: ExitStack,
) -> TableSink:  # fmt: skip
    """The tables of this run; ``opened`` closes them."""
    from kafka_admin_proto.tables.ingest.locations import absolute
    from kafka_admin_proto.tables.schemas import REPLACED_BY_DAY, TABLES

    sink: TableSink
    inputs = list(map(absolute, inputs))
    if table_format == "parquet":
        from kafka_admin_proto.tables.sinks.parquet import ParquetSink

        sink = ParquetSink(
            Path(out), TABLES, mode=mode, inputs=inputs, overwrite=overwrite,
            replaced_by_day=REPLACED_BY_DAY,
        )  # fmt: skip
    else:
        from kafka_admin_proto.tables.sinks.delta import DeltaSink

        if work is None and is_uri(out):
            work = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="kap-pipeline-")))
        sink = DeltaSink(
            out, TABLES, work=work or Path(f"{out.rstrip('/')}.work"), mode=mode, inputs=inputs,
            overwrite=overwrite, replaced_by_day=REPLACED_BY_DAY,
        )  # fmt: skip
    opened.push(sink)  # Ctrl-C may come before the next line has noted that it is entered
    opened.enter_context(sink)
    return sink


@contextmanager
def _session(master: str | None, settings: dict[str, str]) -> Iterator[SparkSession]:
    from kafka_admin_proto.spark.session import spark_session

    spark = spark_session(master, settings=settings)
    try:
        yield spark
    finally:
        spark.stop()


@contextmanager
def _spark(
    master: str | None, settings: dict[str, str]
) -> Iterator[tuple[Runner, Callable[[], None]]]:
    """A Spark without SQL, and what has it stop while the caller goes on."""
    from kafka_admin_proto.spark.session import NoSparkError, spark_context

    try:
        context = spark_context(master, settings=settings)
    except NoSparkError as error:
        raise click.UsageError(
            printable(f"{error}; or make the tables without Spark: --runner processes")
        ) from None
    from kafka_admin_proto.spark.runner import SparkRunner

    stopping = Thread(target=context.stop)
    try:
        yield SparkRunner(context), stopping.start
    finally:
        if stopping.ident is None:
            stopping.start()
        stopping.join()


@contextmanager
def _processes() -> Iterator[tuple[Runner, Callable[[], None]]]:
    with Processes() as processes:
        yield processes, processes.close
