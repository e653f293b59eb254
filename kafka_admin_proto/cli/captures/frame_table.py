"""The table of ``kap decode``: a row for each frame, its problem on standard error."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from kafka_admin_proto.capture.frames import DecodedFrame
from kafka_admin_proto.capture.record import frame_record
from kafka_admin_proto.cli.captures.notices import Notices
from kafka_admin_proto.cli.output import compact_json, print_table, printable, utc_text
from kafka_admin_proto.errors import TrailingBytesError
from kafka_admin_proto.protocol.error_codes import error_label
from kafka_admin_proto.render.embedded import embedded_problems
from kafka_admin_proto.structs import decodable
from kafka_admin_proto.wire.secrets import MASK

#: Rows of a table that are laid out together, and the bytes of frames from which on they are fewer:
#: a long capture does not wait for its end, nor does memory hold the bodies of a thousand Fetches.
_PAGE = 1000
_PAGE_BYTES = 8 << 20
#: The errors of bodies that --no-body leaves unread.
NOT_READ = "(not read)"
_COLUMNS = ["#", "at", "what", "api", "size", "id", "client", "errors", "body"]
_COLUMNS_OF_CAPTURES = ["#", "time", "connection", *_COLUMNS[2:6], "ms", *_COLUMNS[6:]]

Options = dict[str, bool]


@decodable
class TableRow(msgspec.Struct):
    """What the table has of a frame that decodes; the fields are columns of rows."""

    number: int
    ts: int | None
    time: str | None
    connection: str | None
    direction: str
    forwarded: bool
    api_key: int | None
    api: str | None
    api_version: int | None
    size: int | None
    correlation_id: int | None
    latency_us: int | None
    client_id: str | None
    error_codes: list[str] | None
    body: msgspec.Raw

    def problems(self) -> list[str]:
        """Those of the messages in the body's bytes."""
        if b'"problem":' not in bytes(self.body):
            return []
        name = f"{self.api}{self.direction.capitalize()}"
        return list(embedded_problems(name, json.loads(bytes(self.body))))

    def cells(self, options: Options, frame: DecodedFrame | None = None) -> list[str]:
        """The cells of a capture's table; ``frame`` is the one that plain Python has read."""
        api = self.api or ("" if self.api_key is None else f"key {self.api_key}")
        version = "" if self.api_version is None else f" v{self.api_version}"
        what = f"{self.direction} (forwarded)" if self.forwarded else self.direction
        if self.error_codes is not None:
            errors = ", ".join(self.error_codes)
        else:
            errors = NOT_READ if self.direction == "response" else ""
        if frame is not None and (frame.body is None or not options["body"]):
            body = _instead_of_body(frame, options)
        else:
            body = bytes(self.body).decode() if options["body"] else ""
        cells = [
            str(self.number), _time_of_day(self), self.connection or "", what, api + version,
            _text(self.size), _text(self.correlation_id),
            "" if self.latency_us is None else f"{self.latency_us / 1000:.1f}",
            self.client_id or "", errors, body,
        ]  # fmt: skip
        return cells if "".join(cells).isprintable() else list(map(printable, cells))


class FrameTable:
    """Frames that are printed page by page, as they come; they are what ``shown`` has left."""

    def __init__(self, options: Options) -> None:
        self._options = options | {"raw": False}
        self._page: list[tuple[int, DecodedFrame] | TableRow] = []
        self._bytes = 0
        self._is_empty, self._has_header = True, False
        self._notices = Notices()
        self._rows = msgspec.json.Decoder(TableRow)

    def add(self, number: int, frame: DecodedFrame) -> None:
        """A row more, which is printed with its page."""
        self._add((number, frame), len(frame.data))

    def add_rows(self, lines: bytes) -> None:
        """Rows of frames that have decoded: lines of JSON, with the fields of `TableRow`."""
        for row in self._rows.decode_lines(lines):
            self._add(row, row.size or 0)

    def _add(self, row: tuple[int, DecodedFrame] | TableRow, size: int) -> None:
        self._page.append(row)
        self._bytes += size
        if len(self._page) == _PAGE or self._bytes >= _PAGE_BYTES:
            self.show()

    def show(self) -> None:
        """Print what waits for its page to be full."""
        if self._page:
            self._write(self._page)
            self._is_empty = False
            self._page.clear()
            self._bytes = 0

    def finish(self) -> None:
        """Print what is left: of a table without rows the header."""
        self.show()
        if self._is_empty:
            self._write([])
        self._notices.finish()

    def _write(self, page: list[tuple[int, DecodedFrame] | TableRow]) -> None:
        of_capture = any(
            isinstance(each, TableRow) or each[1].ts is not None or each[1].connection
            for each in page
        )
        rows, problems = [], []
        for each in page:
            if isinstance(each, TableRow):
                rows.append(each.cells(self._options))
                problems += [(each.number, problem) for problem in each.problems()]
                continue
            number, frame = each
            found = row_of_frame(number, frame, self._options)
            cells = found.cells(self._options, frame)
            rows.append(cells if of_capture else [cells[0], _place(frame), *cells[3:7], *cells[8:]])
            if frame.error is not None:
                problems.append((number, str(frame.error)))
            else:
                problems += [(number, problem) for problem in found.problems()]
        self._has_header |= print_table(
            _COLUMNS_OF_CAPTURES if of_capture else _COLUMNS,
            rows,
            cut=("body",),
            whole=("api",),
            header=not self._has_header,
        )
        for number, problem in problems:
            self._notices.say(number, problem)


def row_of_frame(number: int, frame: DecodedFrame, options: Options) -> TableRow:
    """The row of a frame that plain Python has read."""
    record = frame_record(frame, **options)
    known = {name: record[name] for name in TableRow.__struct_fields__ if name in record}
    if known["error_codes"] is not None:
        known["error_codes"] = [
            error_label(code, dialect=frame.dialect) for code in frame.error_codes()
        ]
    known["body"] = msgspec.Raw(compact_json(known["body"]).encode())
    return TableRow(number=number, time=utc_text(frame.ts), **known)


def _instead_of_body(frame: DecodedFrame, options: Options) -> str:
    if isinstance(frame.error, TrailingBytesError):
        return MASK  # it was read, and may hold a secret in any field
    if frame.is_token:
        return "(SASL token)"
    return "(not decoded)" if options["body"] or frame.error is not None else ""


def _time_of_day(row: TableRow) -> str:
    """In UTC, to the microsecond; records have the whole time."""
    if row.time is None or not row.time.endswith("Z"):
        return _text(row.ts)
    return row.time[11:-1]


def _place(frame: DecodedFrame) -> str:
    """Where the frame is: its offset in raw bytes; in a dump the line of its block, "+" offset."""
    if not frame.line:
        return str(frame.stream_offset)
    return f"{frame.line}+{frame.stream_offset}" if frame.stream_offset else str(frame.line)


def _text(value: Any) -> str:
    return "" if value is None else str(value)
