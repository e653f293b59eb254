"""``kap decode``: captured bytes in, requests and responses out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import click

from kafka_admin_proto.capture.frames import DecodedFrame
from kafka_admin_proto.capture.record import frame_record
from kafka_admin_proto.cli.captures.filters import FilteredFrames
from kafka_admin_proto.cli.captures.inputs import Inputs, with_inputs
from kafka_admin_proto.cli.captures.notices import Notices
from kafka_admin_proto.cli.captures.summary import summarise
from kafka_admin_proto.cli.captures.upgrade import KafkaRelease, show_upgrade
from kafka_admin_proto.cli.logs.segments import decode_segments
from kafka_admin_proto.cli.output import (
    compact_json,
    print_table,
    printable,
    utc_text,
    write_json_array,
    write_json_lines,
    write_tsv,
)
from kafka_admin_proto.errors import TrailingBytesError
from kafka_admin_proto.protocol.error_codes import error_label
from kafka_admin_proto.wire.engine import compiled
from kafka_admin_proto.wire.secrets import MASK

#: Rows of a table that are laid out together: a long capture does not wait for its end.
_PAGE = 1000
#: What a summary calls bytes without an api, and how many kinds of them its table explains.
_NO_FRAME = "(no frame)"
_KINDS = 5


@click.command()
@with_inputs
@click.option(
    "--output",
    type=click.Choice(["table", "json", "jsonl", "tsv"]),
    default="table",
    show_default=True,
    help="How to write it. TSV has stable columns and no header.",
)
@click.option("--body/--no-body", default=True, help="Decode bodies, or stay at the headers.")
@click.option("--records", is_flag=True, help="Decode the record batches in bodies as well.")
@click.option("--topic", help="The topic of a log segment whose folder does not say it.")
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
    topic: str | None,
    summary: bool,
    upgrade: str | None,
    raw: bool,
    show_secrets: bool,
) -> None:
    """Decode bytes of Kafka's protocol from FILES or standard input.

    The input is a capture (pcap, pcapng, compressed or not), a broker's request log, hex text
    (plain, xxd, hexdump -C, Wireshark's copy as hex), base64 or raw bytes; packets with their
    Ethernet, IP and TCP headers are recognised. Several capture files are one capture. In a dump a
    response is understood when its request came before it, or with --response. Log segments
    (*.log, *.checkpoint) of any topic are shown record by record.

    A table cuts bodies at the end of the line (…): the other outputs and kap explain --only N have
    them whole. N is the number in front of a table's row, and "number" in the other outputs.

    \b
    Examples:
      kap decode admin.pcap --api CreateTopics,DeleteTopics
      kap decode rotated.pcap* --errors-only --since 2026-01-31T02:00 --output jsonl
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
    Exit codes: 0 fine, 1 something did not decode (or, with --upgrade, a client has to change, or
    there is no request to tell by), 2 usage.
    """
    if upgrade is not None:
        alone = {
            "--summary": summary, "--raw": raw, "--no-body": not body, "--records": records,
            "--errors-only": inputs.errors_only,  # requests have no errors
        }  # fmt: skip
        if chosen := [name for name, given in alone.items() if given]:
            raise click.UsageError(f"{chosen[0]} does not go with --upgrade")
    segments = inputs.segments()
    if segments:
        flags = {
            "--summary": summary, "--upgrade": upgrade, "--raw": raw, "--no-body": not body,
        }  # fmt: skip
        chosen = [*inputs.filters(), *(name for name, given in flags.items() if given)]
        if chosen:
            raise click.UsageError(f"{chosen[0]} does not go with log segments")
        decode_segments(segments, output, topic=topic, mask=not show_secrets)
    if topic is not None:
        raise click.UsageError("--topic goes with log segments")
    frames = inputs.frames(
        mask=not show_secrets,
        bodies=body and upgrade is None,
        silent=summary or upgrade is not None,
    )
    if upgrade is not None:
        show_upgrade(frames, upgrade, output)
    elif summary:
        _SUMMARIES[output](summarise(frames))
    else:
        options = {"mask": not show_secrets, "raw": raw, "body": body, "records": records}
        _WRITERS[output](frames, options)
    frames.finish()


_Options = dict[str, bool]


def _row(number: int, frame: DecodedFrame, options: _Options) -> dict[str, Any]:
    """The frame record, and what the command line alone knows of the frame or says of it.

    ``number`` is what --only takes, ``time`` is ``ts`` for people to read. Error codes are those of
    each body that was read, also where the bodies themselves are not asked for: --errors-only
    --no-body reads them all.
    """
    row = frame_record(frame, **options)
    if not options["body"]:
        row["error_codes"] = frame.error_names()
    row["number"] = number
    row["time"] = utc_text(frame.ts)
    return row


def _rows(frames: FilteredFrames, options: _Options) -> Iterator[dict[str, Any]]:
    return (_row(number, frame, options) for number, frame in frames)


def _write_json(frames: FilteredFrames, options: _Options) -> None:
    write_json_array(_rows(frames, options))


def _write_jsonl(frames: FilteredFrames, options: _Options) -> None:
    # With the engine, bodies become text without builtins in between.
    write_json_lines(_rows(frames, options | {"json_body": compiled is not None}))


def _write_tsv(frames: FilteredFrames, options: _Options) -> None:
    write_tsv(_rows(frames, options))


def _write_table(frames: FilteredFrames, options: _Options) -> None:
    page: list[tuple[int, DecodedFrame]] = []
    is_empty, has_header = True, False
    notices = Notices()

    def show() -> None:
        nonlocal is_empty, has_header
        if page:
            has_header |= _write_page(page, options, notices, header=not has_header)
            is_empty = False
            page.clear()

    frames.on_wait = show
    for each in frames:
        page.append(each)
        if len(page) == _PAGE:
            show()
    show()
    if is_empty:
        _write_page([], options, notices, header=True)
    notices.finish()


def _write_page(
    page: list[tuple[int, DecodedFrame]], options: _Options, notices: Notices, *, header: bool
) -> bool:
    columns = ["#", "at", "what", "api", "size", "id", "client", "errors", "body"]
    of_capture = any(frame.ts is not None or frame.connection for _, frame in page)
    names = ["#", "time", "connection", *columns[2:6], "ms", *columns[6:]]
    rows = [_table_row(number, frame, of_capture, options) for number, frame in page]
    is_table = print_table(
        names if of_capture else columns, rows, cut=("body",), whole=("api",), header=header
    )
    for number, frame in page:
        if frame.error is not None:
            notices.say(number, str(frame.error))
    return is_table


def _table_row(number: int, frame: DecodedFrame, of_capture: bool, options: _Options) -> list[str]:
    record = frame_record(frame, **(options | {"raw": False}))
    api = frame.api or ("" if frame.api_key is None else f"key {frame.api_key}")
    version = "" if frame.api_version is None else f" v{frame.api_version}"
    if frame.body is not None and options["body"]:
        body = compact_json(record["body"])
    elif isinstance(frame.error, TrailingBytesError):
        body = MASK  # it was read, and may hold a secret in any field
    elif frame.is_token:
        body = "(SASL token)"
    else:
        body = "(not decoded)" if options["body"] or frame.error is not None else ""
    latency = "" if frame.latency_us is None else f"{frame.latency_us / 1000:.1f}"
    errors = ", ".join(error_label(code, dialect=frame.dialect) for code in frame.error_codes())
    what = f"{frame.direction} (forwarded)" if frame.forwarded else frame.direction
    place = [_time(frame.ts), frame.connection or ""] if of_capture else [_place(frame)]
    cells = [
        number, *place, what, api + version, record["size"], _or_empty(frame.correlation_id),
        *([latency] if of_capture else []), _or_empty(record["client_id"]), errors, body,
    ]  # fmt: skip
    return [printable(str(cell)) for cell in cells]


def _summary_table(rows: list[dict[str, Any]]) -> None:
    counts = ("requests", "responses", "forwarded", "bytes")
    columns = ["api", *counts, "p50 ms", "p90", "p99", "max", "errors", "problems"]
    cells = []
    for row in rows:
        api = row["api"] or (_NO_FRAME if row["api_key"] is None else f"key {row['api_key']}")
        version = "" if row["api_version"] is None else f" v{row['api_version']}"
        latencies = [row[f"latency_{name}_us"] for name in ("p50", "p90", "p99", "max")]
        errors = ", ".join(f"{name} {count}" for name, count in row["errors"].items())
        cells.append([
            api + version, *(str(row[name]) for name in counts),
            *("" if each is None else f"{each / 1000:.1f}" for each in latencies),
            errors, str(row["problems"] or ""),
        ])  # fmt: skip
    print_table(columns, cells, whole=("api",))
    for row, (name, *_) in zip(rows, cells, strict=True):
        _explain_not_decoded(name, row["not_decoded"])


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


_WRITERS: dict[str, Callable[[FilteredFrames, _Options], None]] = {
    "table": _write_table,
    "json": _write_json,
    "jsonl": _write_jsonl,
    "tsv": _write_tsv,
}
_SUMMARIES: dict[str, Callable[[list[dict[str, Any]]], None]] = {
    "table": _summary_table,
    "json": write_json_array,
    "jsonl": write_json_lines,
    "tsv": write_tsv,
}


def _time(ts: int | None) -> str:
    """The time of day in UTC, to the microsecond; records have the whole of it."""
    if ts is None:
        return ""
    try:
        return datetime.fromtimestamp(ts / 1_000_000, UTC).strftime("%H:%M:%S.%f")
    except (OverflowError, ValueError, OSError):
        return str(ts)


def _place(frame: DecodedFrame) -> str:
    """Where the frame is: its offset in raw bytes; in a dump the line of its block, "+" offset."""
    if not frame.line:
        return str(frame.stream_offset)
    return f"{frame.line}+{frame.stream_offset}" if frame.stream_offset else str(frame.line)


def _or_empty(value: Any) -> Any:
    return "" if value is None else value
