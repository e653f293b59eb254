"""``kap pipeline``: captures in, tables of Parquet or Delta out, on Spark."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import click

from kafka_admin_proto.cli.output import print_table, printable
from kafka_admin_proto.cli.spark.arguments import (
    Days,
    Setting,
    Size,
    check_installed,
    check_out,
    is_uri,
    listed,
    refuse_logs,
    segments_of,
    without,
)
from kafka_admin_proto.cli.spark.failures import INTERRUPTED, for_people
from kafka_admin_proto.cli.spark.interruptible import Interrupt, Stopped
from kafka_admin_proto.cli.spark.job_progress import JobProgress

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    from kafka_admin_proto.spark.sinks.sink import Mode, TableSink

#: Inputs that cannot be read which are named; the others are counted.
_NAMED_INPUTS = 5
_STREAM_GOES_ON = "the next start of the stream goes on from here"


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
    Inputs that cannot be read are named on standard error; the others make the tables. Ctrl-C ends
    a stream after the batch that it is at, and breaks any other run off: the tables stay as they
    were. The second Ctrl-C waits for nothing.

    \b
    Exit codes: 0 fine (a stream that Ctrl-C ended, too), 1 the job failed or no input could be
    read, 2 usage, 130 stopped by Ctrl-C before all was read.
    """
    check_installed(table_format)
    if retain is not None and not streaming:
        raise click.UsageError("--retain goes with --streaming")
    if end and (not streaming or every):
        raise click.UsageError("--end goes with --streaming --every 0")
    if overwrite and streaming:
        raise click.UsageError("--overwrite does not go with --streaming: name another folder")
    start = time.monotonic()
    mode: Mode = "streaming" if streaming else "batch"
    interrupt = Interrupt()
    with for_people(), ExitStack() as opened:
        check_out(captures, out, table_format, work, streaming)
        names = listed(captures, streaming)
        segments = segments_of(names)
        if streaming:
            refuse_logs([*captures, *segments])
        packets = without(names, segments)
        if not streaming:
            if not (packets or segments):
                raise click.UsageError(f"there are no files in {', '.join(captures)}")
            _refuse_unreadable(packets, segments, out)

        sink = _sink(out, table_format, work, mode, captures, overwrite, opened)

        def make_tables() -> Mapping[str, int]:
            if streaming:
                with _session(master, dict(settings)) as spark:
                    interrupt.spark_started(spark.sparkContext, cancel=False)
                    progress.watch(spark.sparkContext)
                    _stream(
                        spark, captures, sink, every, end, split_size, retain, progress, interrupt
                    )
                    progress.step("counting")
                    return sink.count_rows()
            with _context(master, dict(settings)) as (context, stop):
                interrupt.spark_started(context, cancel=True)
                progress.watch(context)
                _batch(context, packets, segments, sink, split_size, progress, interrupt, stop)
                progress.step("counting")
                return sink.count_rows()

        try:
            with JobProgress() as progress:
                rows = interrupt.run(make_tables)
        except KeyboardInterrupt:
            opened.pop_all()  # the work may go on in these until this process ends
            raise
        except Stopped:
            kept = _STREAM_GOES_ON if streaming else f"{out} is as it was before"
            click.echo(f"stopped by Ctrl-C: {kept}", err=True)
            raise click.exceptions.Exit(INTERRUPTED) from None
    if streaming and interrupt.event.is_set():
        click.echo(f"stopped by Ctrl-C: {_STREAM_GOES_ON}", err=True)
    print_table(("table", "rows"), [[name, f"{count:,}"] for name, count in rows.items()])
    frames = f"{rows['frames']:,} frame{'' if rows['frames'] == 1 else 's'}"
    click.echo(f"{out}: {frames} in {time.monotonic() - start:.1f} s")


def _refuse_unreadable(captures: Sequence[str], segments: Sequence[str], out: str) -> None:
    """Name the inputs that cannot be read. Ends the command where that is all of them."""
    from kafka_admin_proto.spark.ingest.unreadable import unreadable

    found = unreadable(captures, segments)
    for name, reason in list(found.items())[:_NAMED_INPUTS]:
        click.echo(printable(f"{name} could not be read: {reason}"), err=True)
    if len(found) > _NAMED_INPUTS:
        click.echo(f"{len(found) - _NAMED_INPUTS} more could not be read", err=True)
    if len(found) == len(captures) + len(segments):
        raise click.ClickException(f"no input could be read; {out} is as it was before")


def _batch(
    context: SparkContext, packets: Sequence[str], segments: Sequence[str], sink: TableSink,
    split_size: int, progress: JobProgress, interrupt: Interrupt, stop: Callable[[], None],
) -> None:  # fmt: skip
    from kafka_admin_proto.spark.tables.pipeline import run_batch

    def step(name: str) -> None:
        interrupt.check()
        progress.step(name)

    run_batch(
        context, packets, sink, segments=segments, split_size=split_size, step=step,
        after_jobs=stop,
    )  # fmt: skip


def _stream(
    spark: SparkSession, captures: Sequence[str], sink: TableSink, every: int, end: bool,
    split_size: int, retain: timedelta | None, progress: JobProgress, interrupt: Interrupt,
) -> None:  # fmt: skip
    """Run the stream. Raises Stopped where Ctrl-C came before it had read what it was to read."""
    from kafka_admin_proto.spark.stream.tables import run_stream

    pause = f"{every} seconds" if every else None
    whole = run_stream(
        spark, captures, sink, every=pause, end=end, step=progress.step, split_size=split_size,
        retain=retain, stop=interrupt.event,
    )  # fmt: skip
    if not every and not whole:
        raise Stopped


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

        if work is None and is_uri(out):
            work = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="kap-pipeline-")))
        sink = DeltaSink(
            out, TABLES, work=work or Path(f"{out.rstrip('/')}.work"), mode=mode, inputs=inputs,
            overwrite=overwrite, replaced_by_day=REPLACED_BY_DAY,
        )  # fmt: skip
    opened.enter_context(sink)
    return sink


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
