"""``kap produce``: records from the lines of standard input or of a file."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

import kafka_admin_proto.admin as admin
from kafka_admin_proto.cli.admin.common import completion, failures
from kafka_admin_proto.cli.admin.common.answer import Answer, Row, listed
from kafka_admin_proto.cli.admin.common.command import ClusterCommand
from kafka_admin_proto.cli.admin.common.live import Live
from kafka_admin_proto.cli.admin.common.parameters import KeyValue
from kafka_admin_proto.cli.numbers import WholeNumber
from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import KafkaAdminProtoError
from kafka_admin_proto.records.batches.model import COMPRESSIONS

if TYPE_CHECKING:
    from io import BufferedReader

    from kafka_admin_proto.records.batches.model import CompressionName

#: Bytes of input that are read at once; a pipe may have fewer by then, which are sent at once.
_READ_BYTES = 1 << 20


@click.command(
    "produce", cls=ClusterCommand, items="partitions",
    operations=("records.producing:ProduceOperations",),
)  # fmt: skip
@click.argument("topic", shell_complete=completion.topics)
@click.option(
    "--file", "-l", "file", default="-", metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    help="Read the lines of a file, not of standard input.",
)  # fmt: skip
@click.option("--key", "-k", help="The key of all records.")
@click.option(
    "--key-delimiter", "-K", metavar="TEXT", help="In each line the key stands before this text."
)
@click.option(
    "--header", "-H", "headers", type=KeyValue(), multiple=True, metavar="NAME=VALUE",
    help="A header of all records; repeatable.",
)  # fmt: skip
@click.option("--partition", "-p", type=WholeNumber(0), help="Of all records; by key otherwise.")
@click.option("--null", "-Z", "null", is_flag=True, help="Empty keys and values are null.")
@click.option("--compression", "-z", type=click.Choice(COMPRESSIONS), default="none")
def produce(
    live: Live,
    topic: str,
    file: str,
    key: str | None,
    key_delimiter: str | None,
    headers: tuple[tuple[str, str], ...],
    partition: int | None,
    null: bool,
    compression: CompressionName,
) -> Answer:
    """Produce a record for each line of standard input: each once, on all replicas in sync.

    Lines are sent as they come; --timeout is for each piece that is sent.

    \b
    Examples:
      echo 'hello' | kap produce orders
      kap produce orders --key-delimiter : --header source=import -l orders.txt
      kap consume orders --format '%k:%s\\n' | kap produce copy --key-delimiter :
    """
    if key is not None and key_delimiter is not None:
        raise click.UsageError("--key is the key of all records: it goes without --key-delimiter")
    if key_delimiter == "":
        raise click.UsageError("--key-delimiter: expected at least one character")
    fixed = tuple((name, os.fsencode(value)) for name, value in headers)
    delimiter = None if key_delimiter is None else os.fsencode(key_delimiter)

    rows: dict[int, Row] = {}

    def record(number: int, line: bytes) -> admin.NewRecord:
        own: bytes | None = None if key is None else os.fsencode(key)
        value: bytes | None = line
        if delimiter is not None:
            own, sign, value = line.partition(delimiter)
            if not sign:
                shown = line[:60].decode(errors="backslashreplace")
                done = sum(cast("int", each["records"]) for each in rows.values())
                before = f"; {counted(done, 'records')} produced from the lines before" * bool(done)
                raise click.UsageError(f"line {number} has no delimiter of keys: {shown!r}{before}")
        if null:
            own, value = own or None, value or None
        return admin.NewRecord(value=value, key=own, headers=fixed, partition=partition)

    numbers = count(1)
    errors: list[Row] = []
    for lines in _lines(file):
        records = [record(next(numbers), line) for line in lines]
        try:
            found = _produce(live, topic, records, compression)
        except KafkaAdminProtoError as error:
            if not rows:
                raise
            errors.append(failures.of_exception(error))  # beside what was produced before
            break
        for each in found:
            _add(rows, each)
        if any(each.error for each in found):
            break
    items = [rows[number] for number in sorted(rows)]
    errors += failures.partition_entries(items)
    return listed("partitions", items, errors, [] if items else ["no lines"])


def _produce(
    live: Live, topic: str, records: list[admin.NewRecord], compression: CompressionName
) -> list[admin.ProducedRecords]:
    return live.ask_one_of_many(
        lambda client: client.produce(topic, records, compression=compression)
    )


def _lines(file: str) -> Iterator[list[bytes]]:
    """The lines that have arrived, without their ends, whenever there are any."""
    with contextlib.ExitStack() as stack:
        source = cast("BufferedReader", sys.stdin.buffer)
        if file != "-":
            source = stack.enter_context(Path(file).open("rb"))
        begun: list[bytes] = []  # the pieces of a line whose end has not come
        while data := source.read1(_READ_BYTES):
            whole, end, rest = data.rpartition(b"\n")
            if end:
                lines = b"".join([*begun, whole]).split(b"\n")
                yield [line.removesuffix(b"\r") for line in lines]
                begun.clear()
            begun.append(rest)
        if any(begun):
            yield [b"".join(begun)]


def _add(rows: dict[int, Row], produced: admin.ProducedRecords) -> None:
    row = rows.setdefault(
        produced.partition,
        {"topic": produced.topic, "partition": produced.partition, "records": 0,
         "first_offset": None, "error": None, "message": None},
    )  # fmt: skip
    if produced.error is None:
        row["records"] += produced.records
        if row["first_offset"] is None:
            row["first_offset"] = produced.offset
    else:
        row["error"], row["message"] = produced.error, produced.message
