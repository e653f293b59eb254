"""``kap report``: what the pipeline's tables say, as one page or as the rows of one question."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from kafka_admin_proto.cli.captures.filters import Instant
from kafka_admin_proto.cli.output import (
    compact_json,
    print_table,
    printable,
    utc_text,
    write_json_array,
    write_tsv,
)
from kafka_admin_proto.errors import MissingExtraError, UnknownReleaseError
from kafka_admin_proto.protocol.releases import release, releases

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kafka_admin_proto.spark.report.current_tables import CurrentTables

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
#: Rows of a table on a terminal; JSON and TSV have all.
_MOST_ROWS = 1000
_QUERIES = (
    "upgrade", "audit", "audit-totals", "errors", "rates", "latencies", "leaders", "elections",
    "clients", "problems",
)  # fmt: skip


@click.command()
@click.argument("folder", metavar="DIR")
@click.option(
    "--out",
    default="report.html",
    show_default=True,
    type=click.Path(dir_okay=False, allow_dash=True),
    help="The page, which needs nothing else; - is standard output.",
)
@click.option(
    "--release",
    "target",
    default=lambda: releases()[-1].name,
    show_default="the newest that is known",
    help="Upgrade readiness is for this release of Kafka, as in 4.0.",
)
@click.option("--since", type=Instant(), help="Leave out what is before this time (UTC).")
@click.option("--until", type=Instant(), help="Leave out what is from this time on (UTC).")
@click.option("--query", type=click.Choice(_QUERIES), help="Print the rows of one question.")
@click.option(
    "--output",
    type=click.Choice(["table", "json", "tsv"]),
    default="table",
    show_default=True,
    help="How --query prints them.",
)
@click.option("--master", default="local[*]", show_default=True, help="Where Spark runs.")
def report(
    folder: str,
    out: str,
    target: str,
    since: int | None,
    until: int | None,
    query: str | None,
    output: str,
    master: str,
) -> None:
    """Report what the tables in DIR say, which kap pipeline wrote there.

    One page for a browser: which clients an upgrade would break (KIP-896), who administered which
    topic, errors, request rates, latencies, leader changes, elections, and what could not be read.

    \b
    Examples:
      kap report tables --release 4.0
      kap report tables --since 2026-01-31 --until 2026-02-01 --out january-31.html
      kap report tables --query upgrade --output json

    \b
    Exit codes: 0 fine, 1 Spark could not answer, 2 usage.
    """
    try:
        release(target)
    except UnknownReleaseError as error:
        raise click.BadParameter(str(error), param_hint="--release") from None
    from kafka_admin_proto.spark.session import NoJavaError, spark_session

    try:
        spark = spark_session(master, settings=_LOCAL if master.startswith("local") else None)
    except (NoJavaError, MissingExtraError) as error:
        raise click.ClickException(str(error)) from None
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    from kafka_admin_proto.spark.queries import read_tables
    from kafka_admin_proto.spark.report.current_tables import CurrentTables, TablesReplacedError

    def read() -> dict[str, DataFrame]:
        found = read_tables(spark, folder, since=_when(since), until=_when(until))
        if not found:
            raise click.UsageError(
                f"{folder} has none of the pipeline's tables; make them with "
                "kap pipeline CAPTURES… --out DIR"
            )
        return found

    tables = CurrentTables(folder, read)
    try:
        if query is not None:
            _print_rows(tables, query, target, output)
        else:
            _write_page(tables, folder, out, target, since, until)
    except TablesReplacedError as error:
        raise click.ClickException(str(error)) from None
    except PySparkException as error:
        raise click.ClickException(f"Spark could not answer: {_first_line(error)}") from None
    except Py4JJavaError as error:
        cause = error.java_exception
        while cause.getCause() is not None:
            cause = cause.getCause()
        raise click.ClickException(
            f"Spark could not answer: {_first_line(cause.getMessage())}"
        ) from None


#: What is shuffled is summed up before: Spark's own 200 parts are for clusters.
_LOCAL = {"spark.sql.shuffle.partitions": "16"}


def _first_line(said: object) -> str:
    return printable(str(said).strip().partition("\n")[0])


def _when(micros: int | None) -> datetime | None:
    return None if micros is None else _EPOCH + timedelta(microseconds=micros)


def _write_page(
    tables: CurrentTables,
    folder: str,
    out: str,
    target: str,
    since: int | None,
    until: int | None,
) -> None:
    from kafka_admin_proto.render.plots import moment
    from kafka_admin_proto.render.report import Section, report_page
    from kafka_admin_proto.spark.report.sections import sections

    found: list[Section] = []
    for make in sections(target):
        section = tables.ask(make)
        found.append(section)
        click.echo(printable(f"{section.title}: {section.headline}"), err=True)
    about = ["All times are UTC."]
    if since is not None or until is not None:
        about.append(f"Only from {moment(since) or 'the start'} to {moment(until) or 'the end'}.")
    name = os.path.basename(folder.rstrip("/")) or folder
    text = "".join(report_page(f"Kafka traffic: {name}", about, found))
    try:
        with click.open_file(out, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise click.UsageError(f"--out: {error}") from None
    if out != "-":
        click.echo(f"written: {out}")


def _print_rows(tables: CurrentTables, query: str, target: str, output: str) -> None:
    asked = tables.ask(partial(_rows_of, query=query, target=target, all=output != "table"))
    if output == "json":
        write_json_array(_records(asked))
    elif output == "tsv":
        write_tsv(_records(asked))
    else:
        rows = [[_text(value) for value in row.values()] for row in _records(asked)]
        print_table(asked.columns, rows[:_MOST_ROWS])
        if len(rows) > _MOST_ROWS:
            click.echo(f"more than {_MOST_ROWS} rows; --output json or tsv has all", err=True)


def _rows_of(tables: Mapping[str, DataFrame], query: str, target: str, all: bool) -> DataFrame:
    """The rows of a question, which Spark keeps: what is printed cannot be asked again."""
    from kafka_admin_proto.spark.queries import QUERIES

    table, question = QUERIES[query]
    if table not in tables:
        raise click.UsageError(f"there is no table {table}, which {query} is a question to")
    asked = question(tables[table], target) if query == "upgrade" else question(tables[table])
    return (asked if all else asked.limit(_MOST_ROWS + 1)).localCheckpoint()


def _records(question: DataFrame) -> Iterator[dict[str, Any]]:
    """The rows one by one, times as text in UTC."""
    from pyspark.sql.types import TimestampType

    from kafka_admin_proto.spark.report.answers import in_micros

    times = {f.name for f in question.schema if isinstance(f.dataType, TimestampType)}
    for row in in_micros(question).toLocalIterator():
        record = row.asDict(recursive=True)
        for name in times:
            record[name] = utc_text(record[name], "auto")
        yield record


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return printable(", ".join(map(str, value)))
    return printable(value) if isinstance(value, str) else compact_json(value)
