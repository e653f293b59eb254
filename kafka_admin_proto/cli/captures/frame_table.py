"""The table of ``kap decode``: a row for each frame, its problem on standard error."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from kafka_admin_proto.capture.frames import DecodedFrame
from kafka_admin_proto.capture.record import frame_record
from kafka_admin_proto.cli.captures.notices import Notices
from kafka_admin_proto.cli.output import compact_json, print_table, printable
from kafka_admin_proto.errors import TrailingBytesError
from kafka_admin_proto.protocol.error_codes import error_label
from kafka_admin_proto.render.embedded import embedded_problems
from kafka_admin_proto.wire.secrets import MASK

#: Rows of a table that are laid out together: a long capture does not wait for its end.
_PAGE = 1000
#: The errors of bodies that --no-body leaves unread.
NOT_READ = "(not read)"

#: The options of `frame_record` by name.
Options = dict[str, bool]
#: What `frame_record` has of a frame.
_Record = dict[str, Any]


class FrameTable:
    """Frames that are printed page by page, as they come; they are what ``shown`` has left."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._page: list[tuple[int, DecodedFrame]] = []
        self._is_empty, self._has_header = True, False
        self._notices = Notices()

    def add(self, number: int, frame: DecodedFrame) -> None:
        """A row more, which is printed with its page."""
        self._page.append((number, frame))
        if len(self._page) == _PAGE:
            self.show()

    def show(self) -> None:
        """Print what waits for its page to be full."""
        if self._page:
            self._write(self._page)
            self._is_empty = False
            self._page.clear()

    def finish(self) -> None:
        """Print what is left: of a table without rows the header."""
        self.show()
        if self._is_empty:
            self._write([])
        self._notices.finish()

    def _write(self, page: list[tuple[int, DecodedFrame]]) -> None:
        columns = ["#", "at", "what", "api", "size", "id", "client", "errors", "body"]
        of_capture = any(frame.ts is not None or frame.connection for _, frame in page)
        names = ["#", "time", "connection", *columns[2:6], "ms", *columns[6:]]
        records = [frame_record(frame, **(self._options | {"raw": False})) for _, frame in page]
        rows = [
            table_row(number, frame, record, of_capture=of_capture, with_body=self._options["body"])
            for (number, frame), record in zip(page, records, strict=True)
        ]
        self._has_header |= print_table(
            names if of_capture else columns,
            rows,
            cut=("body",),
            whole=("api",),
            header=not self._has_header,
        )
        for (number, frame), record in zip(page, records, strict=True):
            if frame.error is not None:
                self._notices.say(number, str(frame.error))
            elif frame.codec is not None and record["body"] is not None:
                for problem in embedded_problems(frame.codec.name, record["body"]):
                    self._notices.say(number, problem)


def table_row(
    number: int, frame: DecodedFrame, record: _Record, *, of_capture: bool, with_body: bool
) -> list[str]:
    """The cells of a frame and its record: with time, connection and latency if it is captured."""
    api = frame.api or ("" if frame.api_key is None else f"key {frame.api_key}")
    version = "" if frame.api_version is None else f" v{frame.api_version}"
    if frame.body is not None and with_body:
        body = compact_json(record["body"])
    elif isinstance(frame.error, TrailingBytesError):
        body = MASK  # it was read, and may hold a secret in any field
    elif frame.is_token:
        body = "(SASL token)"
    else:
        body = "(not decoded)" if with_body or frame.error is not None else ""
    latency = "" if frame.latency_us is None else f"{frame.latency_us / 1000:.1f}"
    errors = ", ".join(error_label(code, dialect=frame.dialect) for code in frame.error_codes())
    if frame.is_unread and frame.direction == "response":
        errors = NOT_READ
    what = f"{frame.direction} (forwarded)" if frame.forwarded else frame.direction
    place = [_time(frame.ts), frame.connection or ""] if of_capture else [_place(frame)]
    cells = [
        number, *place, what, api + version, _or_empty(record["size"]),
        _or_empty(frame.correlation_id), *([latency] if of_capture else []),
        _or_empty(record["client_id"]), errors, body,
    ]  # fmt: skip
    return [printable(str(cell)) for cell in cells]


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
