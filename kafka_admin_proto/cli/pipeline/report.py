"""``kap report``: what the pipeline's tables say, as one page or as the rows of one question."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import click
import msgspec

from kafka_admin_proto.cli.given_once import GivenOnceCommand
from kafka_admin_proto.cli.output import (
    compact_json,
    print_table,
    printable,
    utc_text,
    write_json_array,
    write_tsv,
    written_to,
)
from kafka_admin_proto.cli.times import TableTime, Time, TimeOfDay, window
from kafka_admin_proto.cli.without_effect import refuse
from kafka_admin_proto.counts import with_commas
from kafka_admin_proto.errors import MissingExtraError, UnknownReleaseError
from kafka_admin_proto.protocol.releases import release, releases

if TYPE_CHECKING:
    import pyarrow as pa

    from kafka_admin_proto.tables.queries.stored_tables import StoredTable
    from kafka_admin_proto.tables.report.current_tables import CurrentTables

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
#: Rows of a table on a terminal; JSON and TSV have all.
_MOST_ROWS = 1000
#: Rows that are made text at once.
_BATCH_ROWS = 4096
_QUERIES = (
    "upgrade", "audit", "audit-totals", "errors", "rates", "latencies", "leaders", "elections",
    "clients", "problems",
)  # fmt: skip


@click.command(cls=GivenOnceCommand)
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
@click.option(
    "--since",
    type=TableTime(),
    help="Leave out what is before this time (UTC): a date and time, or a time of the first day.",
)
@click.option("--until", type=TableTime(), help="Leave out what is from this time on (UTC).")
@click.option("--query", type=click.Choice(_QUERIES), help="Print the rows of one question.")
@click.option(
    "--output",
    "-o",
    type=click.Choice(["table", "json", "tsv"]),
    default="table",
    show_default=True,
    help="How --query prints them.",
)
def report(
    folder: str,
    out: str,
    target: str,
    since: Time | None,
    until: Time | None,
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
    Exit codes: 0 fine, 1 the tables could not be read (or, with --query upgrade, the answer is
    not "ready"), 2 usage: an option, a folder without tables of the pipeline, or a page that
    cannot be written.
    """
    try:
        release(target)
    except UnknownReleaseError as error:
        raise click.BadParameter(str(error), param_hint="--release") from None
    if query is None:
        refuse("a page, but with --query", "output")
    else:
        refuse("--query", "out")
        if query != "upgrade":
            refuse(f"--query {query}", "target")
    if importlib.util.find_spec("pyarrow") is None:
        raise click.UsageError(
            "the report needs pyarrow: pip install 'kafka-admin-proto[cli,report]'"
        )
    import pyarrow as pa

    from kafka_admin_proto.tables.queries import QUERIES
    from kafka_admin_proto.tables.report.current_tables import CurrentTables, TablesReplacedError
    from kafka_admin_proto.tables.store_errors import store_reason

    tables = CurrentTables(folder, partial(_read, folder))
    about = "frames" if query is None else QUERIES[query][0]
    try:
        start, end = tables.ask(partial(_window, since=since, until=until))
        if (start, end) != (None, None):
            whole, tables = tables, CurrentTables(folder, partial(_read, folder, start, end))
            if tables.ask(lambda found: about in found and not found[about].count()):
                click.echo(whole.ask(partial(_what_there_is, name=about)), err=True)
        if query is not None:
            _print_rows(tables, query, target, output)
            if query == "upgrade":
                _leave_with_verdict(tables, target)
        else:
            _write_page(tables, folder, out, target, start, end)
    except (TablesReplacedError, MissingExtraError) as error:
        raise click.ClickException(str(error)) from None
    except BrokenPipeError:
        raise  # of the output: the reader has enough
    except (OSError, ValueError, pa.ArrowException) as error:
        said = printable(store_reason(str(error)))
        raise click.ClickException(f"the tables could not be read: {said}") from None


def _read(folder: str, start: int | None = None, end: int | None = None) -> dict[str, StoredTable]:
    """The tables with their rows of that time. Raises click.UsageError where there are none."""
    from kafka_admin_proto.tables.queries import clients_between, read_tables

    tables = read_tables(folder, since=_when(start), until=_when(end))
    if not tables:
        raise click.UsageError(
            f"{folder} has none of the pipeline's tables; make them with "
            "kap pipeline CAPTURES… --out DIR"
        )
    if (start, end) != (None, None) and {"clients", "frames"} <= tables.keys():
        tables["clients"] = clients_between(tables["frames"])  # the table itself has whole days
    return tables


def _window(
    tables: Mapping[str, StoredTable], since: Time | None, until: Time | None
) -> tuple[int | None, int | None]:
    """The instants of the options, of which times of day are those of the first frame's day."""
    first = 0
    if isinstance(since, TimeOfDay) or isinstance(until, TimeOfDay):
        span = tables["frames"].span() if "frames" in tables else None
        if span is None:
            raise click.UsageError("a time of day needs a date here: no frame has a time")
        first, _ = span
    return window(since, until, first)


def _what_there_is(tables: Mapping[str, StoredTable], name: str) -> str:
    """The sentence about a table of which no row is of the time, as `kap decode` says it."""
    table = tables[name]
    span = table.span()
    times = "no row has a time"
    if span is not None:
        times = f"times are {utc_text(span[0])} to {utc_text(span[1])}"
    count = table.count()
    return f"0 of {with_commas(count, 'rows')} of {name} match{'es' * (count == 1)}; {times}"


def _when(micros: int | None) -> datetime | None:
    return None if micros is None else _EPOCH + timedelta(microseconds=micros)


def _write_page(
    tables: CurrentTables, folder: str, out: str, target: str, since: int | None, until: int | None
) -> None:
    from kafka_admin_proto.render.plots import moment
    from kafka_admin_proto.render.report import Section, report_page
    from kafka_admin_proto.tables.ingest.locations import split_options
    from kafka_admin_proto.tables.report.head import page_head, sections

    made: list[Section] = []
    for make in sections(target):
        section = tables.ask(make)
        made.append(section)
        click.echo(printable(f"{section.title}: {section.headline}"), err=True)
    about = ["All times are UTC."]
    if since is not None or until is not None:
        about.append(f"Only from {moment(since) or 'the start'} to {moment(until) or 'the end'}.")
    place, _ = split_options(folder)
    name = os.path.basename(place.rstrip("/")) or folder
    head = tables.ask(partial(page_head, title=f"Kafka traffic: {name}", about=about))
    head = msgspec.structs.replace(head, answer=made[0].answer, bad=made[0].bad)
    text = "".join(report_page(head, made))
    with written_to("--out"), click.open_file(out, "w", encoding="utf-8") as file:
        file.write(text)
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


def _leave_with_verdict(tables: CurrentTables, target: str) -> None:
    """Say the answer on standard error; the exit code is that of ``kap decode --upgrade``."""
    from kafka_admin_proto.tables.queries.clients import upgrade_answer

    headline, is_ready = tables.ask(partial(upgrade_answer, target=target))
    click.echo(f"Upgrade to {target}: {headline}", err=True)
    if not is_ready:
        raise click.exceptions.Exit(1)


def _rows_of(tables: Mapping[str, StoredTable], query: str, target: str) -> pa.Table:
    from kafka_admin_proto.tables.queries import QUERIES

    table, question = QUERIES[query]
    if table not in tables:
        raise click.UsageError(f"there is no table {table}, which {query} is a question to")
    return question(tables[table], target) if query == "upgrade" else question(tables[table])


def _records(answer: pa.Table) -> Iterator[dict[str, Any]]:
    """The rows one by one, times as text in UTC."""
    import pyarrow as pa

    from kafka_admin_proto.tables.queries.grouping import records

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
