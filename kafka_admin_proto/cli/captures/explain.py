"""``kap explain``: every byte of a frame beside the field that it belongs to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING

import click

from kafka_admin_proto.capture.frames import DecodedFrame
from kafka_admin_proto.capture.record import frame_field_rows
from kafka_admin_proto.capture.record_rows import with_records
from kafka_admin_proto.cli.captures.filters import FilteredFrames
from kafka_admin_proto.cli.captures.inputs import Inputs, with_inputs
from kafka_admin_proto.cli.captures.notices import Notices
from kafka_admin_proto.cli.given_once import GivenOnceCommand
from kafka_admin_proto.cli.output import terminal
from kafka_admin_proto.cli.tables import StyledText, TableColumn, print_rows, shortened
from kafka_admin_proto.counts import counted
from kafka_admin_proto.render.embedded import with_embedded
from kafka_admin_proto.render.explain import Explanation, Node, explain
from kafka_admin_proto.render.html import PageFrame, html_page
from kafka_admin_proto.render.plots import moment
from kafka_admin_proto.render.text import printable

if TYPE_CHECKING:
    from rich.console import Console

#: Bytes in a line where piped, and on a terminal of that width at least.
_PIPED_BYTES = 16
_TERMINAL_BYTES = ((150, 8), (0, 4))
#: On a terminal a field shows that many lines of its bytes, and so much of its value; a pipe gets
#: all of both.
_TERMINAL_LINES = 4
_TERMINAL_VALUE = 200
#: The names of fields take a third of the terminal's width at most.
_FIELD_SHARE = 3
#: Where piped, no cell is padded beyond this: one long cell must not widen every row.
_WIDEST = 40
#: The colour of each depth, from the outermost inwards; deeper ones start anew.
_COLOURS = ("cyan", "green", "yellow", "magenta", "blue", "bright_cyan", "bright_green")
_STOPPED = {"fault": "stopped here: ", "damage": "damaged: "}
_COLUMNS = ("offset", "bytes", "field", "type", "value", "meaning")


@click.command(cls=GivenOnceCommand, name="explain")
@with_inputs
@click.option(
    "--html",
    type=click.Path(dir_okay=False, allow_dash=True),
    help="Write one page for a browser, which needs nothing else; - is standard output.",
)
@click.option("--records", is_flag=True, help="Explain the record batches of Produce and Fetch.")
@click.option("--show-secrets", is_flag=True, help="Do not mask passwords, tokens and keys.")
def explain_command(inputs: Inputs, html: str | None, records: bool, show_secrets: bool) -> None:
    """Explain each frame of FILES or standard input, byte by byte.

    Each field has its offset, bytes, type and value, and what the value means: names of apis and
    errors, words for numbers, dates for timestamps. A frame that does not decode is explained as
    far as that goes, with the reason at the byte where it stops.

    \b
    Examples:
      kap explain dump.hex
      kap explain dump.hex --only 3
      kap explain dump.hex --html frames.html
      kap explain admin.pcap --api CreateTopics --errors-only
      kap explain admin.pcap --api Produce,Fetch --records
      echo 00000000000bb800 | kap explain --unit body --api CreateTopics --version 1

    \b
    Exit codes: 0 fine, 1 something did not decode, 2 usage.
    """
    if segments := inputs.segments():
        raise click.UsageError(
            f"{segments[0]} is a file of a log, which has no frames; kap decode shows what it has"
        )
    shown = inputs.frames(mask=not show_secrets)
    frames = _with_bytes(shown)

    def explained(frame: DecodedFrame) -> Explanation:
        return explanation_of(frame, mask=not show_secrets, records=records)

    if html is not None:
        pages = (
            page_frame(number, frame, mask=not show_secrets, records=records)
            for number, frame in frames
        )
        try:
            file = click.open_file(html, "w", encoding="utf-8")
        except OSError as error:
            raise click.UsageError(f"--html: {error}") from None
        with file:
            for part in html_page(pages, partial(click.echo, err=True)):
                file.write(part)
    else:
        console, notices = terminal(), Notices()
        for number, frame in frames:
            title = f"frame {number}: {_title(frame)}"
            if console is not None:  # the reason is in the table, where it stops
                write_terminal(console, title, explained(frame))
                continue
            _write_plain(title, explained(frame))
            if frame.error is not None:
                notices.say(number, str(frame.error))
        notices.finish()
    shown.finish()


def _with_bytes(frames: FilteredFrames) -> Iterator[tuple[int, DecodedFrame]]:
    """The frames, of which the first is read at once; raises click.UsageError for a request log."""

    def check(frames: Iterator[tuple[int, DecodedFrame]]) -> Iterator[tuple[int, DecodedFrame]]:
        for number, frame in frames:
            if frame.logged is not None:
                raise click.UsageError(
                    f"{frame.capture} is a request log, which has no bytes to explain; "
                    "see its requests with kap decode"
                )
            yield number, frame

    found = check(iter(frames))
    return chain(list(islice(found, 1)), found)


def explanation_of(frame: DecodedFrame, *, mask: bool, records: bool = False) -> Explanation:
    """The frame's rows with their meanings; ``records``: with those of its record batches."""
    frame = frame.shown(mask=mask)
    spec = None if frame.codec is None else frame.codec.spec
    name = "" if spec is None else spec.name
    rows = with_records(frame_field_rows(frame, mask=mask), frame, mask=mask, opened=records)
    return explain(
        with_embedded(name, rows, frame.data),
        frame.data,
        message=name,
        dialect="kafka" if spec is None else spec.dialect,
        error=frame.error,
        topic_names=frame.topic_names,
    )


def page_frame(number: int, frame: DecodedFrame, *, mask: bool, records: bool = False) -> PageFrame:
    """The frame for the page, with what its list of frames says of it."""
    frame = frame.shown(mask=mask)
    return PageFrame(
        number,
        _title(frame),
        partial(explanation_of, frame, mask=mask, records=records),
        problem=frame.problem or "",
        time=moment(frame.ts),
        client=", ".join(filter(None, (frame.client_id, frame.client))),
        errors=", ".join(frame.error_names()),
    )


def _title(frame: DecodedFrame) -> str:
    """What the frame is, in a line: "CreateTopics v4 request, 54 bytes, correlation id 1"."""
    name = frame.api or ("unknown" if frame.api_key is None else f"api key {frame.api_key}")
    version = "" if frame.api_version is None else f" v{frame.api_version}"
    what = "SASL token" if frame.is_token else f"{name}{version} {frame.direction}"
    if frame.forwarded:  # offsets count from its own first byte, as no size is before it
        what += " inside an Envelope"
    parts = [what, counted(len(frame.data), "bytes")]
    if frame.correlation_id is not None:
        parts.append(f"correlation id {frame.correlation_id}")
    return printable(", ".join(parts))


def _cells(node: Node) -> tuple[str, str, str, str]:
    """Field, type, value and meaning of a node."""
    label = "  " * node.depth + printable(node.label)
    row = node.row
    if row is None:
        return label, "", "", ""
    meaning = f"{_STOPPED.get(row.kind, '')}{row.meaning}"
    return label, row.type, row.shown_value, printable(meaning)


def _hex_lines(explanation: Explanation, node: Node, size: int) -> list[str]:
    found = [] if node.row is None else explanation.row_hex(node.row)
    return [" ".join(found[at : at + size]) for at in range(0, len(found), size)] or [""]


def _write_plain(title: str, explanation: Explanation) -> None:
    """Padded columns; a long run of bytes goes on in the lines below its field."""
    nodes = explanation.nodes()
    cells = [_cells(node) for node in nodes]
    widths = [max([len(_COLUMNS[i + 2]), *(len(c[i]) for c in cells)]) for i in range(4)]
    widths = [min(width, _WIDEST) for width in widths]
    longest = max([*(n.end - n.start for n in nodes if n.row), 2], default=2)
    bytes_width = 3 * min(longest, _PIPED_BYTES) - 1
    offset_width = max(len(str(len(explanation.data))), len(_COLUMNS[0]))

    def line(offset: str, data: str, rest: Iterable[str]) -> Iterator[str]:
        yield offset.ljust(offset_width)
        yield data.ljust(bytes_width)
        for cell, width in zip(rest, widths, strict=False):
            yield cell.ljust(width)

    click.echo(title)
    click.echo("  ".join(line(_COLUMNS[0], _COLUMNS[1], _COLUMNS[2:])).rstrip())
    for node, rest in zip(nodes, cells, strict=True):
        first, *more = _hex_lines(explanation, node, _PIPED_BYTES)
        offset = "" if node.row is None else str(node.start)
        click.echo("  ".join(line(offset, first, rest)).rstrip())
        for index, data in enumerate(more, 1):
            at = str(node.start + index * _PIPED_BYTES)
            click.echo("  ".join(line(at, data, ())).rstrip())
    click.echo()


def write_terminal(console: Console, title: str, explanation: Explanation) -> None:
    """A table as wide as the terminal, each depth in its colour; long bytes and values are cut."""
    room = max(1, console.width // _FIELD_SHARE)
    columns = [TableColumn(name, least=room if name == "field" else 0) for name in _COLUMNS]
    size = next(count for width, count in _TERMINAL_BYTES if console.width >= width)
    rows = []
    for node in explanation.nodes():
        fault = node.row is not None and node.row.kind in _STOPPED
        style = "bold red" if fault else _COLOURS[node.depth % len(_COLOURS)]
        lines = _hex_lines(explanation, node, size)
        if len(lines) > _TERMINAL_LINES:
            lines[_TERMINAL_LINES - 1 :] = [f"… {counted(node.end - node.start, 'bytes')}"]
        field, type_, value, meaning = _cells(node)
        rows.append([
            StyledText("" if node.row is None else str(node.start), "dim"),
            StyledText("\n".join(lines), style),
            StyledText(field, style),
            StyledText(type_, "dim"),
            StyledText(shortened(value, _TERMINAL_VALUE)),
            StyledText(meaning, style if fault else "italic"),
        ])  # fmt: skip
    console.print(title, style="bold", markup=False, highlight=False)
    print_rows(console, columns, rows, header=True)
    console.print()
