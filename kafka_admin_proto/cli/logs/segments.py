"""``kap decode`` of log segments and of the files beside them: a row for each record or entry."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any, NoReturn

from kafka_admin_proto.capture.dumps.text import SAMPLE_BYTES
from kafka_admin_proto.cli.output import (
    compact_json,
    print_table,
    printable,
    write_json_array,
    write_json_lines,
    write_tsv,
)
from kafka_admin_proto.cli.without_effect import refuse
from kafka_admin_proto.records.batches.batches import Batch
from kafka_admin_proto.records.segments.files_beside import is_beside, rows_beside
from kafka_admin_proto.records.segments.rows import ROW_KEYS, segment_rows
from kafka_admin_proto.records.segments.segments import read_segment
from kafka_admin_proto.wire.types.blobs import replace_invalid_utf8

SEGMENT = "log-segment"
_NAME = re.compile(r"(^|/)(\d{20}\.log|\d{20}-\d{10}\.checkpoint)(\.deleted)?$")
_ENDINGS = (".log", ".checkpoint", ".log.deleted", ".checkpoint.deleted")
_COLUMNS = ("position", "offset", "epoch", "type", "version", "key", "fields", "problem")
#: Rows of a table that are laid out together, and the characters from which on they are fewer.
_PAGE = 1000
_PAGE_CHARACTERS = 8 << 20


def is_segment(name: str) -> bool:
    """Whether a file is a log segment or snapshot: named as Kafka does, or with a batch in it."""
    if _NAME.search(name):
        return True
    if not name.endswith(_ENDINGS):
        return False
    try:
        with Path(name).open("rb") as file:
            head = file.read(SAMPLE_BYTES)
    except OSError:
        return False
    first = next(iter(read_segment(BytesIO(head))), None)
    # The start of a batch that is longer than what was looked at.
    cut = first is not None and not isinstance(first, Batch) and first.what == "truncated"
    return isinstance(first, Batch) or (cut and len(head) == SAMPLE_BYTES)


def is_of_log(name: str) -> bool:
    """Whether a file is a log segment or snapshot, or one that a broker keeps beside these."""
    return is_beside(name) or is_segment(name)


def decode_segments(names: list[str], output: str, *, topic: str | None, mask: bool) -> NoReturn:
    """Write the rows and leave with the exit code."""
    if all(map(is_beside, names)):
        refuse("files beside segments", "topic")
    counted = _Counted(names, topic, mask)
    _WRITERS[output](counted)
    sys.exit(1 if counted.problems else 0)


class _Counted:
    def __init__(self, names: list[str], topic: str | None, mask: bool) -> None:
        self.names, self._topic, self._mask = names, topic, mask
        self.problems = 0

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for name in self.names:
            try:
                for row in self._rows(name):
                    self.problems += row["problem"] is not None
                    yield {"file": replace_invalid_utf8(name), **row}
            except OSError as error:
                self.problems += 1
                yield {
                    "file": replace_invalid_utf8(name),
                    **dict.fromkeys(ROW_KEYS),
                    "problem": str(error),
                }

    def _rows(self, name: str) -> Iterator[dict[str, Any]]:
        if is_beside(name):
            return rows_beside(name)
        source = sys.stdin.buffer if name == "-" else name
        return segment_rows(source, self._topic, mask=self._mask)


def _write_table(rows: _Counted) -> None:
    columns = ("file", *_COLUMNS) if len(rows.names) > 1 else _COLUMNS
    page: list[list[str]] = []
    characters = 0
    for row in rows:
        page.append([_cell(row, column) for column in columns])
        characters += sum(map(len, page[-1]))
        if len(page) == _PAGE or characters >= _PAGE_CHARACTERS:
            print_table(columns, page, cut=("key", "fields"), whole=("type",))
            page, characters = [], 0
    print_table(columns, page, cut=("key", "fields"), whole=("type",))


def _cell(row: dict[str, Any], column: str) -> str:
    value = row.get(column)
    if column == "problem" and value is None:
        value = row.get("note")
    if value is None:
        return ""
    return printable(value if isinstance(value, str) else compact_json(value))


_WRITERS: dict[str, Callable[[_Counted], None]] = {
    "table": _write_table,
    "json": write_json_array,
    "jsonl": write_json_lines,
    "tsv": write_tsv,
}
