"""``kap decode``: captured bytes in, requests and responses out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import click

from kafka_admin_proto.capture.frames import DecodedFrame
from kafka_admin_proto.capture.plain_rows import RowSink
from kafka_admin_proto.capture.record import RECORD_KEYS, frame_record
from kafka_admin_proto.cli.captures.filters import FilteredFrames
from kafka_admin_proto.cli.captures.frame_table import NOT_READ, FrameTable, Options, TableRow
from kafka_admin_proto.cli.captures.inputs import OF_FRAMES, Inputs, with_inputs
from kafka_admin_proto.cli.captures.summary import CountedRow, Summary, summarise
from kafka_admin_proto.cli.captures.upgrade import KafkaRelease, show_upgrade
from kafka_admin_proto.cli.given_once import GivenOnceCommand
from kafka_admin_proto.cli.logs.segments import decode_segments
from kafka_admin_proto.cli.output import (
    JsonArray,
    print_table,
    printable,
    tsv_cell,
    utc_text,
    write_json_array,
    write_json_lines,
    write_tsv,
)
from kafka_admin_proto.cli.without_effect import refuse
from kafka_admin_proto.protocol.error_codes import error_label
from kafka_admin_proto.wire.engine import compiled

#: What a summary calls bytes without an api, and how many kinds of them its table explains.
_NO_FRAME = "(no frame)"
_KINDS = 5


@click.command(cls=GivenOnceCommand)
@with_inputs
@click.option(
    "--output",
    "-o",
    type=click.Choice(["table", "json", "jsonl", "tsv"]),
    default="table",
    show_default=True,
    help="How to write it. TSV has stable columns and no header.",
)
@click.option("--body/--no-body", default=True, help="Decode bodies, or stay at the headers.")
@click.option("--records", is_flag=True, help="Decode the record batches in bodies as well.")
@click.option("--summary", is_flag=True, help="Count per api and version instead.")
@click.option(
    "--upgrade",
    type=KafkaRelease(),
    help="Say instead which clients this release of Kafka would break, as in 4.0 (KIP-896).",
)
@click.option("--raw", is_flag=True, help="Give the bytes of each frame in JSON and TSV.")
@click.option("--show-secrets", is_flag=True, help="Do not mask passwords, tokens and keys.")
def decode(
    inputs: Inputs,
    output: str,
    body: bool,
    records: bool,
    summary: bool,
    upgrade: str | None,
    raw: bool,
    show_secrets: bool,
) -> None:
    """Decode bytes of Kafka's protocol from FILES or standard input.

    The input is a capture (pcap, pcapng, compressed or not), a broker's request log, hex text
    (plain, xxd, hexdump -C, Wireshark's copy as hex), base64 or raw bytes; packets with their
    Ethernet, IP and TCP headers are recognised. Several capture files, or a folder of
    them, are one capture. In a dump a response is understood when its request came before it, or
    with --response. Log segments (*.log, *.checkpoint) of any topic are shown record by record, and
    the files beside them (*.index, *.timeindex, *.txnindex, *.snapshot, checkpoints) by entries.

    A table cuts bodies at the end of the line (…): the other outputs and kap explain --only N have
    them whole. N is the number in front of a table's row, and "number" in the other outputs.

    \b
    Examples:
      kap decode admin.pcap --api CreateTopics,DeleteTopics
      kap decode rotated.pcap* --errors-only --since 2026-01-31T02:00 --output jsonl
      kap decode captures/ --topic orders --slower-than 100 --with-requests
      kap decode admin.pcap --summary
      kap decode admin.pcap kafka-request.log --upgrade 4.0
      kap decode /var/kafka/__cluster_metadata-0/*.log --output jsonl
      tcpdump -i any -w - port 9092 | kap decode - --output jsonl
      kap decode dump.hex
      xxd -r -p stream.txt | kap decode -
      echo 00000000000bb800 | kap decode --unit body --api CreateTopics --version 1
      kap decode answer.bin --response --api Metadata --version 12 --output json
      kap decode dump.hex --schemas newer-release/message

    \b
    Exit codes: 0 fine, 1 something did not decode (or, with --upgrade, the answer is not "ready"),
    2 usage, 130 Ctrl-C.
    """
    segments = inputs.segments()
    if segments:
        refuse("log segments", *_OF_FRAMES)
        decode_segments(segments, output, topic=inputs.topic, mask=not show_secrets)
    if upgrade is not None:  # requests have no errors, and no latency
        refuse("--upgrade", *_OF_ROWS, "summary", "body", "errors_only", "slower_than")
    elif summary:
        refuse("--summary", *_OF_ROWS)
    elif output == "table":
        refuse("a table, which has no column for bytes", "raw")
    if not body:
        refuse("--no-body", "records")
    options = {"mask": not show_secrets, "raw": raw, "body": body, "records": records}
    counts = Summary()
    sink, write = counts_sink(counts), None
    if not summary and upgrade is None:
        sink, write = output_of(output, options)
    frames = inputs.frames(
        mask=not show_secrets,
        bodies=body and upgrade is None,
        silent=summary or upgrade is not None,
        sink=None if raw or records or upgrade is not None else sink,
    )  # fmt: skip
    if upgrade is not None:
        show_upgrade(frames, upgrade, output)
    elif write is None:
        _SUMMARIES[output](summarise(frames, counts))
    else:
        write(frames)
    frames.finish()


#: Options that change rows of frames, and counts of them do not have; and all about frames.
_OF_ROWS = ("raw", "records", "with_requests")
_OF_FRAMES = (*_OF_ROWS, "summary", "upgrade", "body", *OF_FRAMES)


def _row(number: int, frame: DecodedFrame, options: Options) -> dict[str, Any]:
    """The frame record, and what the command line alone knows of the frame or says of it.

    ``number`` is what --only takes, ``time`` is ``ts`` for people to read.
    """
    row = frame_record(frame, **options)
    row["number"] = number
    row["time"] = utc_text(frame.ts)
    return row


def output_of(output: str, options: Options) -> tuple[RowSink, Callable[[FilteredFrames], None]]:
    """Where the engine writes the rows of plain frames, as `_row` has them, and what writes others.

    That is called once, and takes the frames that have the sink.
    """
    if output == "table":
        table = FrameTable(options)
        sink = _sink(TableRow.__struct_fields__, table.add_rows, options)
        sink.error_text = error_label
        return sink, partial(_write_table, table)
    columns = (*RECORD_KEYS, "number", "time")
    if output == "tsv":
        sink = _sink(columns, lambda rows: sys.stdout.write(rows.decode()), options)
        sink.form = "tsv"
        return sink, lambda frames: write_tsv(_rows(frames, options))
    # With the engine, bodies become text without builtins in between.
    options = options | {"json_body": compiled is not None}
    if output == "json":
        array = JsonArray()
        sink = _sink(columns, array.add_lines, options)
        return sink, lambda frames: write_json_array(_rows(frames, options), array)
    sink = _sink(columns, sys.stdout.buffer.write, options)
    return sink, lambda frames: write_json_lines(_rows(frames, options))


def counts_sink(counts: Summary) -> RowSink:
    """Where the engine writes rows of plain frames for their counts."""
    columns = CountedRow.__struct_fields__
    return _sink(columns, counts.add_rows, {"mask": True, "body": False})


def _sink(columns: Sequence[str], write: Callable[[bytes], object], options: Options) -> RowSink:
    return RowSink(
        form="jsonl", columns=columns, mask=options["mask"], body=options["body"],
        write=write, second=_second, text_cell=tsv_cell,
    )  # fmt: skip


def _second(second: int) -> bytes | None:
    text = utc_text(second * 1_000_000, "seconds") or ""
    return text.removesuffix("Z").encode() if text.endswith("Z") else None


def _rows(frames: FilteredFrames, options: Options) -> Iterator[dict[str, Any]]:
    return (_row(number, frame, options) for number, frame in frames)


def _write_table(table: FrameTable, frames: FilteredFrames) -> None:
    frames.on_wait = table.show
    for number, frame in frames:
        table.add(number, frame)
    table.finish()


def _summary_table(rows: list[dict[str, Any]]) -> None:
    counts = ("requests", "responses", "forwarded", "bytes")
    columns = ["api", *counts, "p50 ms", "p90", "p99", "max", "slowest", "errors", "problems"]
    cells = []
    for row in rows:
        api = row["api"] or (_NO_FRAME if row["api_key"] is None else f"key {row['api_key']}")
        version = "" if row["api_version"] is None else f" v{row['api_version']}"
        latencies = [row[f"latency_{name}_us"] for name in ("p50", "p90", "p99", "max")]
        errors = NOT_READ
        if row["errors"] is not None:
            errors = ", ".join(f"{name} {count}" for name, count in row["errors"].items())
        cells.append([
            api + version, *(str(row[name]) for name in counts),
            *("" if each is None else f"{each / 1000:.1f}" for each in latencies),
            _slowest(row), errors, str(row["problems"] or ""),
        ])  # fmt: skip
    print_table(columns, cells, whole=("api",))
    for row, (name, *_) in zip(rows, cells, strict=True):
        _explain_not_decoded(name, row["not_decoded"])


def _slowest(row: dict[str, Any]) -> str:
    """The number and the client of the frame that ``max`` is of: "44 adminclient-1"."""
    return " ".join(str(row[name]) for name in ("slowest_number", "slowest_client_id") if row[name])


def _explain_not_decoded(name: str, kinds: dict[str, int]) -> None:
    """Say below the table what the frames were that a row counts and that were not read."""
    if not kinds:
        return
    if name == _NO_FRAME:
        name = f"{_NO_FRAME}, bytes that belong to no request or response that could be read"
    click.echo(f"{name}:")
    for kind, count in list(kinds.items())[:_KINDS]:
        click.echo(printable(f"  {count} × {kind}"))
    rest = sum(list(kinds.values())[_KINDS:])
    if rest:
        click.echo(f"  {rest} × something else; --output json has all")


_SUMMARIES: dict[str, Callable[[list[dict[str, Any]]], None]] = {
    "table": _summary_table,
    "json": write_json_array,
    "jsonl": write_json_lines,
    "tsv": write_tsv,
}
