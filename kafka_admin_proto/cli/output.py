"""Tables on a terminal and plain text elsewhere; text from the wire made safe to print."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Self

import click
import msgspec

from kafka_admin_proto.cli.interrupted import uninterrupted
from kafka_admin_proto.cli.tables import StyledText, TableColumn, print_rows
from kafka_admin_proto.render.text import compact_json, printable, printable_json

if TYPE_CHECKING:
    from rich.console import Console

__all__ = [
    "JsonArray",
    "compact_json",
    "output_option",
    "print_table",
    "printable",
    "printable_json",
    "terminal",
    "utc_text",
    "write_json_array",
    "write_json_lines",
    "write_tsv",
    "written_to",
]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

output_option = click.option(
    "--output",
    "-o",
    type=click.Choice(["table", "json", "tsv"]),
    default="table",
    show_default=True,
)


@contextlib.contextmanager
def written_to(option: str) -> Iterator[None]:
    """Raise click.UsageError for the option's file, if it cannot be written: not a closed pipe."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        where = error.filename or "the file"
        raise click.UsageError(f"{option}: cannot write {where}: {reason}") from None


def terminal() -> Console | None:
    """The terminal that standard output is, None where it is something else."""
    if not sys.stdout.isatty():
        return None
    from rich.console import Console

    return Console()


def print_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    title: str = "",
    cut: Sequence[str] = (),
    whole: Sequence[str] = (),
    header: bool = True,
) -> bool:
    """A table: with rules and colour on a terminal, padded columns where piped.

    On a narrow terminal cells wrap; those of the columns ``cut`` lose their ends, which a mark
    says: the command has to say where they are whole. Words of the columns ``whole``, such as names
    of apis, do not break. Of a table that comes in pieces the first has the ``header``. Returns
    whether it is a table: where not even that fits, rows are paragraphs, which have no header.
    Without columns only the title is printed.
    """
    if not columns:
        if title:
            click.echo(title)
        return False
    console = terminal()
    if console is not None:
        if title:
            console.print(title, markup=False, highlight=False)
        heads = [TableColumn(name, cut=name in cut, whole=name in whole) for name in columns]
        texts = [[StyledText(cell) for cell in row] for row in rows]
        return print_rows(console, heads, texts, header=header)
    if title:
        click.echo(title)
    table = [columns, *rows]
    *others, _ = zip(*table, strict=True)
    widths = [min(max(map(len, cells)), _WIDEST) for cells in others]
    lines = [
        "  ".join([*map(str.ljust, row, widths), row[-1]]).rstrip()
        for row in (table if header else rows)
    ]
    if lines:
        click.echo("\n".join(lines))
    return True


#: Where piped, no cell is padded beyond this: one long cell must not widen every row.
_WIDEST = 48


def utc_text(micros: int | None, timespec: str = "microseconds") -> str | None:
    """Microseconds since 1970 as ``2026-01-31T12:00:00.000000Z``, None for None.

    With the ``timespec`` "auto" whole seconds have no fraction. What no calendar has, as a damaged
    capture may say, stays a number.
    """
    if micros is None:
        return None
    second, fraction = divmod(micros, 1_000_000)
    try:
        text = _utc_second(second)
    except OverflowError:
        return f"{micros} µs since 1970"
    if timespec == "seconds" or (timespec == "auto" and not fraction):
        return f"{text}Z"
    if timespec == "milliseconds":
        return f"{text}.{fraction // 1000:03}Z"
    return f"{text}.{fraction:06}Z"


@lru_cache(maxsize=64)
def _utc_second(second: int) -> str:
    """``2026-01-31T12:00:00``: the same for all frames of a second."""
    return (_EPOCH + timedelta(seconds=second)).isoformat().removesuffix("+00:00")


class JsonArray:
    """Writes lines of JSON as one array, which is whole whatever happens."""

    def __init__(self) -> None:
        self._separator = b"[\n"

    def add_lines(self, lines: bytes | bytearray) -> None:
        """Items more: whole lines."""
        write = sys.stdout.buffer.write
        with uninterrupted():
            write(self._separator)
            write(memoryview(lines.replace(b"\n", b",\n"))[:-2])
            self._separator = b",\n"

    def __enter__(self) -> Self:
        sys.stdout.flush()
        return self

    def __exit__(self, *_: object) -> None:
        sys.stdout.buffer.write(b"[]\n" if self._separator == b"[\n" else b"\n]\n")
        sys.stdout.buffer.flush()


def write_json_array(records: Iterable[dict[str, Any]], array: JsonArray | None = None) -> None:
    """One JSON array, safe on a terminal; others may add to the ``array`` as records are taken."""
    with array or JsonArray() as array:
        for line in _json_lines(records):
            array.add_lines(line)


def write_json_lines(records: Iterable[dict[str, Any]]) -> None:
    """JSON lines, in UTF-8, as fast as they come; safe on a terminal as all JSON here."""
    sys.stdout.flush()
    write = sys.stdout.buffer.write
    for line in _json_lines(records):
        write(line)
    sys.stdout.buffer.flush()


def _json_lines(records: Iterable[dict[str, Any]]) -> Iterator[bytearray]:
    """A line for each record, to be taken before the next one."""
    encode_into = msgspec.json.Encoder().encode_into
    line = bytearray()  # one for all lines: it has grown to the size of the longest
    for record in records:
        try:
            encode_into(record, line)
        except (UnicodeEncodeError, OverflowError):  # text that no bytes stand behind
            line[:] = _dumps(record).encode()
        # Of ASCII an encoder leaves one such character; what is beyond is seldom there.
        if not line.isascii() or b"\x7f" in line:
            line[:] = printable_json(line.decode()).encode()
        line += b"\n"
        yield line


def write_tsv(records: Iterable[dict[str, Any]]) -> None:
    """Tab-separated values without a header: the values of each record, in its order."""
    write = sys.stdout.write
    for record in records:
        write("\t".join(map(tsv_cell, record.values())) + "\n")


def _dumps(record: dict[str, Any]) -> str:
    # The body may be JSON text already, as a msgspec.Raw.
    text = json.dumps(
        record, ensure_ascii=False, separators=(",", ":"), default=msgspec.json.decode
    )
    return printable_json(text)


def tsv_cell(value: Any) -> str:
    """A TSV cell: no tab, no line end; nothing for null, JSON for what has parts.

    A backslash in text is doubled, as a backslash begins the escapes of tabs and the like.
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return printable(value.replace("\\", "\\\\"))
    return str(value) if type(value) is int else compact_json(value)
