"""``kap decode``: captured bytes in, requests and responses out."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from kafka_admin_proto.capture.frame_records import DecodedFrame, FrameDecoder
from kafka_admin_proto.capture.readers import READERS, read_blocks
from kafka_admin_proto.cli.output import compact_json, print_table, printable
from kafka_admin_proto.codec import load_schemas
from kafka_admin_proto.errors import DumpError, SchemaError, UnknownMessageError
from kafka_admin_proto.protocol.error_codes import error_label, is_error_field
from kafka_admin_proto.protocol.frames import DEFAULT_FRAME_LIMIT
from kafka_admin_proto.render.fields import FieldRow
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.wire.blobs import readable

#: On a terminal a field shows this many of its bytes, and as many characters of its value.
_SHOWN_BYTES = 8
_SHOWN_VALUE = 60


def complete_api(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Api names for the shell: those with "Request" left off first, then all messages."""
    names = catalog().names()
    apis = [name.removesuffix("Request") for name in names if name.endswith("Request")]
    return [CompletionItem(n) for n in [*apis, *names] if n.lower().startswith(incomplete.lower())]


@click.command()
@click.argument("files", nargs=-1, type=click.Path(allow_dash=True))
@click.option(
    "--input-format",
    type=click.Choice(["auto", *READERS]),
    default="auto",
    show_default=True,
    help="What the input is written in.",
)
@click.option(
    "--unit",
    type=click.Choice(["frames", "payload", "body"]),
    default="frames",
    show_default=True,
    help="What a block of the input is: frames with their size in front, one header and body "
    "without the size, or a body alone (needs --api and --version).",
)
@click.option("--request", "direction", flag_value="request", help="All frames are requests.")
@click.option(
    "--response",
    "direction",
    flag_value="response",
    help="All frames are responses (needs --api and --version).",
)
@click.option("--api", shell_complete=complete_api, help="As in CreateTopics, or a message name.")
@click.option("--version", type=int, help="Version of the api.")
@click.option("--dialect", default="kafka", help="Definitions to read by, as in kip-516.")
@click.option(
    "--schemas",
    type=click.Path(exists=True, file_okay=False),
    help="A folder of definitions to read by, as of a newer release.",
)
@click.option(
    "--output",
    type=click.Choice(["table", "json", "jsonl", "tsv", "fields"]),
    default="table",
    show_default=True,
    help="fields shows each field with its offset, bytes and value.",
)
@click.option("--only", type=click.IntRange(1), help="Show the frame of this number alone.")
@click.option("--raw", is_flag=True, help="Give the bytes of each frame in JSON and TSV.")
@click.option("--show-secrets", is_flag=True, help="Do not mask passwords, tokens and keys.")
@click.option(
    "--max-frame-bytes",
    type=click.IntRange(0),
    default=DEFAULT_FRAME_LIMIT,
    show_default=True,
    help="A larger frame is an error; a broker's socket.request.max.bytes.",
)
def decode(
    files: tuple[str, ...],
    input_format: str,
    unit: str,
    direction: str | None,
    api: str | None,
    version: int | None,
    dialect: str,
    schemas: str | None,
    output: str,
    only: int | None,
    raw: bool,
    show_secrets: bool,
    max_frame_bytes: int,
) -> None:
    """Decode bytes of Kafka's protocol from FILES or standard input.

    The input is hex text (plain, xxd, hexdump -C, Wireshark's copy as hex), base64 or raw bytes.
    Requests say themselves what they are; a response is understood when its request came before
    it, or with --response.

    \b
    Examples:
      kap decode dump.hex
      kap decode dump.hex --output fields --only 3
      xxd -r -p stream.txt | kap decode -
      echo 00000000000bb800 | kap decode --unit body --api CreateTopics --version 1
      kap decode answer.bin --response --api Metadata --version 12 --output json
      kap decode dump.hex --schemas newer-release/message

    \b
    Exit codes: 0 fine, 1 something did not decode, 2 usage.
    """
    if (unit == "body" or direction == "response") and (api is None or version is None):
        option = "--unit body" if unit == "body" else "--response"
        raise click.UsageError(f"{option} needs --api and --version")
    if unit != "body" and direction != "response" and (api is not None or version is not None):
        raise click.UsageError("--api and --version go with --response or --unit body")
    if schemas is not None and dialect != "kafka":
        raise click.UsageError("--schemas and --dialect exclude each other")
    try:
        if schemas is not None:
            dialect = load_schemas(schemas, dialect=f"definitions in {schemas}")
        catalog().names(dialect)  # here, and not frame by frame, is an unknown one refused
        decoder = FrameDecoder(
            unit=unit,  # type: ignore[arg-type]  # click.Choice has checked it
            direction=direction or "auto",  # type: ignore[arg-type]  # one of two flag values
            api=api,
            version=version,
            limit=max_frame_bytes,
            dialect=dialect,
        )
    except (UnknownMessageError, SchemaError) as error:
        raise click.UsageError(str(error)) from None
    if not files and sys.stdin is None:
        raise click.UsageError("there is no standard input; name a file")
    if not files and sys.stdin.isatty():
        click.echo("Paste a dump and end it with Ctrl-D (--help shows other ways).", err=True)
    frames = _Counted(_all_frames(files or ("-",), decoder, input_format), only)
    _WRITERS[output](frames, mask=not show_secrets, raw=raw)
    if only is not None and frames.count < only:
        raise click.UsageError(f"there is no frame {only}; the input has {frames.count}")
    sys.exit(1 if frames.problems else 0)


class _Counted:
    """Numbers the frames from 1, gives those to show, and counts the problems among them."""

    def __init__(self, frames: Iterator[DecodedFrame], only: int | None) -> None:
        self._frames = frames
        self._only = only
        self.count = 0
        self.problems = 0

    def __iter__(self) -> Iterator[tuple[int, DecodedFrame]]:
        for frame in self._frames:
            self.count += 1
            if self._only in (None, self.count):
                self.problems += frame.error is not None
                yield self.count, frame


def _all_frames(
    files: tuple[str, ...], decoder: FrameDecoder, input_format: str
) -> Iterator[DecodedFrame]:
    """Every frame of every file; a file that cannot be read is a frame with that problem."""
    for file in files:
        name = readable(file)
        try:
            data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
            blocks = read_blocks(data, input_format)
        except (DumpError, OSError) as caught:
            error = caught if isinstance(caught, DumpError) else DumpError(str(caught))
            yield DecodedFrame(
                capture=name,
                line=error.line,
                stream_offset=0,
                direction="data",
                data=b"",
                error=error,
            )
            continue
        for block in blocks:
            yield from decoder.decode(block, name)


def _write_json(frames: Iterable[tuple[int, DecodedFrame]], *, mask: bool, raw: bool) -> None:
    separator = "["
    try:
        for _, frame in frames:
            click.echo(f"{separator}\n{_dumps(frame.record(mask=mask, raw=raw))}", nl=False)
            separator = ","
    finally:  # whatever happens, what was written so far is JSON
        click.echo("[]" if separator == "[" else "\n]")


def _write_jsonl(frames: Iterable[tuple[int, DecodedFrame]], *, mask: bool, raw: bool) -> None:
    for _, frame in frames:
        click.echo(_dumps(frame.record(mask=mask, raw=raw)))


def _write_tsv(frames: Iterable[tuple[int, DecodedFrame]], *, mask: bool, raw: bool) -> None:
    for _, frame in frames:
        record = frame.record(mask=mask, raw=raw)
        click.echo("\t".join(_cell(value) for value in record.values()))


def _write_table(frames: Iterable[tuple[int, DecodedFrame]], *, mask: bool, raw: bool) -> None:
    columns = ["#", "at", "what", "api", "size", "id", "client", "errors", "body"]
    rows = []
    problems = []
    for number, frame in frames:
        record = frame.record(mask=mask)
        api = frame.api or ("" if frame.api_key is None else f"key {frame.api_key}")
        version = "" if frame.api_version is None else f" v{frame.api_version}"
        if frame.body is not None:
            body = compact_json(record["body"])
        else:
            body = "(SASL token)" if frame.is_token else "(not decoded)"
        cells = (
            number, _place(frame), frame.direction, api + version,
            record["size"], _or_empty(frame.correlation_id), _or_empty(record["client_id"]),
            ", ".join(error_label(code) for code in record["error_codes"]), body,
        )  # fmt: skip
        rows.append([printable(str(cell)) for cell in cells])
        if frame.error is not None:
            problems.append(f"frame {number}: {frame.problem}")
    print_table(columns, rows, cut=("errors", "body"))
    for problem in problems:
        click.echo(printable(problem), err=True)


def _write_fields(frames: Iterable[tuple[int, DecodedFrame]], *, mask: bool, raw: bool) -> None:
    columns = ["offset", "bytes", "field", "type", "value"]
    terminal = sys.stdout.isatty()
    for _, frame in frames:
        rows = []
        for row in frame.field_rows(mask=mask):
            data = frame.data[row.start : row.end]
            size = _SHOWN_BYTES if terminal else len(data)
            shown = "**" if row.secret else data[:size].hex(" ")
            if size < len(data) and not row.secret:
                shown += f" … {len(data)} bytes"
            value = _shown_value(row)
            if terminal and len(value) > _SHOWN_VALUE:
                value = value[: _SHOWN_VALUE - 1] + "…"
            rows.append([str(row.start), shown, row.path, row.type, value])
        version = "" if frame.api_version is None else f" v{frame.api_version}"
        title = f"{frame.api or 'unknown'}{version} {frame.direction}, {len(frame.data)} bytes"
        print_table(columns, rows, title=title, wrap=("bytes", "type", "value"))
        if frame.error is not None:
            click.echo(printable(f"{title}: {frame.problem}"), err=True)


def _shown_value(row: FieldRow) -> str:
    if row.type == "":  # bytes that are no field are shown as bytes alone
        return ""
    return error_label(row.value) if is_error_field(row.path) else compact_json(row.value)


_WRITERS: dict[str, Callable[..., None]] = {
    "table": _write_table,
    "json": _write_json,
    "jsonl": _write_jsonl,
    "tsv": _write_tsv,
    "fields": _write_fields,
}


def _place(frame: DecodedFrame) -> str:
    """Where the frame is: its offset in raw bytes; in a dump the line of its block, "+" offset."""
    if not frame.line:
        return str(frame.stream_offset)
    return f"{frame.line}+{frame.stream_offset}" if frame.stream_offset else str(frame.line)


def _dumps(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False)


def _cell(value: Any) -> str:
    """A TSV cell: no tab, no line end; nothing for null, JSON for what has parts."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else compact_json(value)
    return printable(text)


def _or_empty(value: Any) -> Any:
    return "" if value is None else value
