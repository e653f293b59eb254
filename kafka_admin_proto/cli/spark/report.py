"""``kap report``: what the pipeline's tables say, as one page or as the rows of one question."""

from __future__ import annotations

import importlib.util
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
    import pyarrow as pa

    from kafka_admin_proto.spark.queries.stored_tables import StoredTable
    from kafka_admin_proto.spark.report.current_tables import CurrentTables

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
#: Rows of a table on a terminal; JSON and TSV have all.
_MOST_ROWS = 1000
#: Rows that are made text at once.
_BATCH_ROWS = 4096
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
    default=releases()[-1].name,
    show_default=f"{releases()[-1].name}, the newest that is known",
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
def report(
    folder: str,
    out: str,
    target: str,
    since: int | None,
    until: int | None,
    query: str | None,
    output: str,
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
    Exit codes: 0 fine, 1 the tables could not be read, 2 usage: an option, a folder
    without tables of the pipeline, or a page that cannot be written.
    """
    try:
        release(target)
    except UnknownReleaseError as error:
        raise click.BadParameter(str(error), param_hint="--release") from None
    if importlib.util.find_spec("pyarrow") is None:
        raise click.UsageError(
            "the report needs pyarrow: pip install 'kafka-admin-proto[cli,report]'"
        )
    import pyarrow as pa

    from kafka_admin_proto.spark import queries
    from kafka_admin_proto.spark.report.current_tables import CurrentTables, TablesReplacedError
    from kafka_admin_proto.spark.store_errors import store_reason

    def read() -> dict[str, StoredTable]:
        found = queries.read_tables(folder, since=_when(since), until=_when(until))
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
    except (TablesReplacedError, MissingExtraError) as error:
        raise click.ClickException(str(error)) from None
    except BrokenPipeError:
        raise  # of the output: the reader has enough
    except (OSError, ValueError, pa.ArrowException) as error:
        said = printable(store_reason(str(error)))
        raise click.ClickException(f"the tables could not be read: {said}") from None


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
    from kafka_admin_proto.spark.ingest.files import split_options
    from kafka_admin_proto.spark.report.sections import sections

    found: list[Section] = []
    for make in sections(target):
        section = tables.ask(make)
        found.append(section)
        click.echo(printable(f"{section.title}: {section.headline}"), err=True)
    about = ["All times are UTC."]
    if since is not None or until is not None:
        about.append(f"Only from {moment(since) or 'the start'} to {moment(until) or 'the end'}.")
    place, _ = split_options(folder)
    name = os.path.basename(place.rstrip("/")) or folder
    text = "".join(report_page(f"Kafka traffic: {name}", about, found))
    try:
        with click.open_file(out, "w", encoding="utf-8") as file:
            file.write(text)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise click.UsageError(f"--out: {error}") from None
    if out != "-":
        click.echo(f"written: {out}")


def _print_rows(tables: CurrentTables, query: str, target: str, output: str) -> None:
    answer = tables.ask(partial(_rows_of, query=query, target=target))
    if output == "json":
        write_json_array(_records(answer))
    elif output == "tsv":
        write_tsv(_records(answer))
    else:
        shown = answer.slice(0, _MOST_ROWS)
        rows = [[_text(value) for value in row.values()] for row in _records(shown)]
        print_table(answer.column_names, rows)
        if answer.num_rows > _MOST_ROWS:
            click.echo(f"more than {_MOST_ROWS} rows; --output json or tsv has all", err=True)


def _rows_of(tables: Mapping[str, StoredTable], query: str, target: str) -> pa.Table:
    from kafka_admin_proto.spark.queries import QUERIES

    table, question = QUERIES[query]
    if table not in tables:
        raise click.UsageError(f"there is no table {table}, which {query} is a question to")
    return question(tables[table], target) if query == "upgrade" else question(tables[table])


def _records(answer: pa.Table) -> Iterator[dict[str, Any]]:
    """The rows one by one, times as text in UTC."""
    import pyarrow as pa

    from kafka_admin_proto.spark.queries.grouping import records

    times = [field.name for field in answer.schema if pa.types.is_timestamp(field.type)]
    for batch in answer.to_batches(_BATCH_ROWS):
        for record in records(pa.Table.from_batches([batch])):
            for name in times:
                record[name] = utc_text(record[name], "auto")
            yield record


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return printable(", ".join(map(str, value)))
    return printable(value) if isinstance(value, str) else compact_json(value)
