"""``kap consume``: the records of topics, once or as they come, without a group."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import click
import msgspec

from kafka_admin_proto.cli.admin.common import completion, failures
from kafka_admin_proto.cli.admin.common.answer import Answer, Row
from kafka_admin_proto.cli.admin.common.command import ClusterCommand
from kafka_admin_proto.cli.admin.common.live import Live
from kafka_admin_proto.cli.admin.common.parameters import Numbers
from kafka_admin_proto.cli.numbers import WholeNumber
from kafka_admin_proto.cli.output import (
    compact_json,
    print_table,
    printable,
    utc_text,
    write_json_lines,
    write_tsv,
)
from kafka_admin_proto.cli.times import Instant
from kafka_admin_proto.errors import KafkaAdminProtoError
from kafka_admin_proto.records.batches.records_json import record_json

if TYPE_CHECKING:
    from kafka_admin_proto.admin import FetchedRecords
    from kafka_admin_proto.admin.operations.partitions.records import IsolationLevel, LogEnd
    from kafka_admin_proto.records.batches.model import Record

#: Writes records of a topic's partition.
Show = Callable[[str, int, "Sequence[Record]"], None]

_OPERATIONS = ("records.fetching:FetchOperations",)
_OFFSET = re.compile(r"earliest|latest|-?\d+")
#: Partitions whose ends are named where nothing is shown.
_NAMED = 5
_COLUMNS = ("topic", "partition", "offset", "timestamp_ms", "key", "value", "headers")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "\\": "\\"}
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|.|$)", re.DOTALL)
_FIELD = re.compile(rb"%(.?)", re.DOTALL)


@click.command("consume", cls=ClusterCommand, items="records", operations=_OPERATIONS)
@click.argument("topics", nargs=-1, required=True, shell_complete=completion.topics)
@click.option("--partitions", "-p", "numbers", type=Numbers(), metavar="0,1", help="These alone.")
@click.option(
    "--offset", default=None, metavar="WHERE",
    help="earliest (the default), latest, a number, or -N: so many records before the end.",
)  # fmt: skip
@click.option(
    "--since", type=Instant(), metavar="WHEN",
    help="From the first record at or after a time like 2026-01-31T12:00:00.",
)  # fmt: skip
@click.option("--count", "-c", type=WholeNumber(1), help="End after so many records.")
@click.option("--follow", "-f", is_flag=True, help="Go on at the end, until Ctrl-C.")
@click.option("--read-committed", is_flag=True, help="Without open and aborted transactions.")
@click.option(
    "--format", "template", metavar="TEXT",
    help="For each record: %t topic, %p partition, %o offset, %T timestamp in ms, %k key, %s "
    "value, %K and %S their sizes (-1: null), %h headers, %% a percent sign; \\n, \\t, \\0, \\xHH.",
)  # fmt: skip
def consume(
    live: Live,
    topics: tuple[str, ...],
    numbers: list[int] | None,
    offset: str | None,
    since: int | None,
    count: int | None,
    follow: bool,
    read_committed: bool,
    template: str | None,
) -> Answer:
    """Show the records of topics up to their ends, or with --follow as they come.

    Kafka's own topics are decoded. Each partition is in order; several of them are not. --timeout
    is for each fetch.

    \b
    Examples:
      kap consume orders --offset -10
      kap consume orders --since 2026-01-31T12:00:00 --output jsonl
      kap consume orders --follow --format '%p %o %k: %s\\n'
    """
    if offset is not None and since is not None:
        raise click.UsageError("say where to begin once: --offset or --since")
    if template is not None and live.settings.output is not None:
        raise click.UsageError("--format is an output of its own: it goes without --output")
    if offset is not None and not _OFFSET.fullmatch(offset):
        raise click.UsageError(
            f"--offset {offset}: expected earliest, latest, an offset, or -N for so many records "
            "before the end"
        )
    if follow and live.output in ("json", "yaml"):
        raise click.UsageError(
            f"--output {live.output} is whole at its end, and --follow has none: take jsonl"
        )
    isolation: IsolationLevel = "read_committed" if read_committed else "read_uncommitted"
    rows: list[Row] = []
    show: Show
    if template is not None:
        show = _formatted(template)
    elif live.output in _WRITERS:
        show = _WRITERS[live.output]()
    else:
        show = _kept(rows)
    plan = live.ask(
        lambda client: client.plan_reading(
            topics,
            partitions=numbers,
            begin=_begin(offset),
            since_ms=None if since is None else since // 1000,
            isolation=isolation,
        )
    )
    errors = failures.partition_entries(msgspec.to_builtins(plan.failed))
    offsets, left, shown = plan.offsets, count, 0
    while left != 0 and (
        wanted := {each: at for each, at in offsets.items() if follow or at < plan.ends[each]}
    ):
        try:
            found = _fetch(live, wanted, isolation)
        except KafkaAdminProtoError as error:
            errors.append(failures.of_exception(error))  # beside what was read before
            break
        for fetched in found:
            place = fetched.topic, fetched.partition
            offsets[place] = fetched.next_offset
            if fetched.error is not None:
                errors += failures.partition_entries([msgspec.to_builtins(fetched)])
                del offsets[place]
            end = plan.ends[place]
            records = [each for each in fetched.records if follow or each.offset < end][:left]
            left = None if left is None else left - len(records)
            shown += len(records)
            show(fetched.topic, fetched.partition, records)
        sys.stdout.flush()
    notes = [] if shown or errors else [_what_there_is(plan.ends)]
    return Answer(document={"records": rows}, tables=[], errors=errors, notes=notes)


def _what_there_is(ends: Mapping[tuple[str, int], int]) -> str:
    """The note that nothing was shown, with the ends of the partitions that were asked for."""
    known = [f"{topic} {number} at {end}" for (topic, number), end in ends.items()]
    more = ", …" if len(known) > _NAMED else ""
    return f"no records from there to the ends: {', '.join(known[:_NAMED])}{more}"


def _fetch(
    live: Live, offsets: Mapping[tuple[str, int], int], isolation: IsolationLevel
) -> list[FetchedRecords]:
    return live.ask_one_of_many(lambda client: client.fetch(offsets, isolation=isolation))


def _begin(text: str | None) -> LogEnd | int:
    if text in (None, "earliest", "latest"):
        return "latest" if text == "latest" else "earliest"
    return int(text) or ("latest" if text.startswith("-") else 0)  # -0: none before the end


def _row(topic: str, partition: int, record: Record) -> Row:
    """A record as JSON; keys and values of Kafka's own topics are decoded."""
    shown = record_json(record, topic=topic)
    row: Row = {
        "topic": topic, "partition": partition, "offset": record.offset,
        "timestamp_ms": record.timestamp, "key": shown["key"], "value": shown["value"],
        "headers": shown["headers"],
    }  # fmt: skip
    return row if shown["problem"] is None else {**row, "problem": shown["problem"]}


def _kept(rows: list[Row]) -> Show:
    def show(topic: str, partition: int, records: Sequence[Record]) -> None:
        rows.extend(_row(topic, partition, each) for each in records)

    return show


def _json_lines() -> Show:
    def show(topic: str, partition: int, records: Sequence[Record]) -> None:
        write_json_lines(_row(topic, partition, each) for each in records)

    return show


def _tsv() -> Show:
    def show(topic: str, partition: int, records: Sequence[Record]) -> None:
        rows = (_row(topic, partition, each) for each in records)
        write_tsv({name: each[name] for name in _COLUMNS} for each in rows)

    return show


def _table() -> Show:
    header = True

    def show(topic: str, partition: int, records: Sequence[Record]) -> None:
        nonlocal header
        if not records:
            return
        cells = []
        for record in records:
            row = _row(topic, partition, record)
            time = (
                utc_text(record.timestamp * 1000, "milliseconds") if record.timestamp >= 0 else ""
            )
            names = [f"{name}={_text(value)}" for name, value in row["headers"]]
            texts = [topic, str(partition), str(record.offset), time or "", _text(row["key"]),
                     _text(row["value"]), printable(" ".join(names))]  # fmt: skip
            cells.append(texts)
        heads = [each.removesuffix("_ms") for each in _COLUMNS]
        print_table(heads, cells, header=header)
        header = False

    return show


def _text(value: Row | None) -> str:
    """A key or value as a cell: its text, base64, or the fields of Kafka's own records."""
    if value is None:
        return ""
    return printable(value["text"]) if value.keys() == {"text"} else compact_json(value)


def _formatted(template: str) -> Show:
    """Writes each record as kcat's ``-f`` does, its bytes as they are."""

    def unescaped(escape: re.Match[str]) -> str:
        text = escape[1]
        if len(text) == 3:
            return os.fsdecode(bytes.fromhex(text[1:]))
        if text not in _ESCAPES:
            raise click.UsageError(
                f"--format: nothing is written as {escape[0]}; there are \\n \\t \\r \\0 \\\\ \\xHH"
            )
        return _ESCAPES[text]

    if not template:
        raise click.UsageError("--format is empty; it says what to write of each record")
    parts = _FIELD.split(os.fsencode(_ESCAPE.sub(unescaped, template)))
    if unknown := set(parts[1::2]) - _FIELDS.keys():
        names = ", ".join(f"%{each.decode(errors='replace')}" for each in sorted(unknown))
        known = " ".join(f"%{each.decode()}" for each in _FIELDS)
        raise click.UsageError(f"--format: nothing is named {names}; there are {known}")
    write = sys.stdout.buffer.write

    def show(topic: str, partition: int, records: Sequence[Record]) -> None:
        for each in records:
            for index, part in enumerate(parts):
                write(_FIELDS[part](topic, partition, each) if index % 2 else part)

    return show


def _size(data: bytes | None) -> bytes:
    return b"-1" if data is None else b"%d" % len(data)


def _headers(record: Record) -> bytes:
    return b",".join(
        name.encode(errors="surrogateescape") + b"=" + (value or b"")
        for name, value in record.headers
    )


#: Letter → its text for a topic, a partition and a record.
_FIELDS: dict[bytes, Callable[[str, int, Record], bytes]] = {
    b"t": lambda topic, _, record: topic.encode(),
    b"p": lambda _, partition, record: b"%d" % partition,
    b"o": lambda _, partition, record: b"%d" % record.offset,
    b"T": lambda _, partition, record: b"%d" % record.timestamp,
    b"k": lambda _, partition, record: record.key or b"",
    b"s": lambda _, partition, record: record.value or b"",
    b"K": lambda _, partition, record: _size(record.key),
    b"S": lambda _, partition, record: _size(record.value),
    b"h": lambda _, partition, record: _headers(record),
    b"%": lambda _, partition, record: b"%",
}
_WRITERS: dict[str, Callable[[], Show]] = {"table": _table, "jsonl": _json_lines, "tsv": _tsv}
