"""The log of a JVM with ``-Djavax.net.debug=ssl:record:plaintext``: what TLS carries, unencrypted::

    javax.net.ssl|DEBUG|10|main|2026-01-31 12:00:00.12 UTC|…:334|WRITE: TLSv1.3 application_data, …
    javax.net.ssl|DEBUG|10|main|2026-01-31 12:00:00.12 UTC|…:2066|Plaintext before ENCRYPTION (
      0000: 00 00 00 13 00 12 00 00   00 00 00 09 00 09 64 75  ..............du
      0010: 6D 70 2D 64 65 6D 6F                               mp-demo
    )

What a thread wrote is one stream, and what it read another. Messages of TLS itself, and what was
encrypted (``packet``), are left out. Rows that are pasted alone are those of ``xxd``.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from kafka_admin_proto.capture.dumps.blocks import Block, Reader
from kafka_admin_proto.capture.dumps.chunks import ChunkJoiner
from kafka_admin_proto.capture.dumps.formats import xxd
from kafka_admin_proto.capture.dumps.rows import read_rows
from kafka_admin_proto.capture.dumps.text import is_log_with
from kafka_admin_proto.capture.text_times import time_in

#: A line of the log: its thread, its time, and what it says.
_LINE = re.compile(
    r"javax\.net\.ssl\|\w+\|(?P<thread>[^|]*\|[^|]*)\|(?P<time>[^|]*)\|[^|]*\|(?P<said>.*)"
)
_HEADING = re.compile(r"Plaintext (before|after) ")
#: The line of a record, which stands before its bytes; of TLS 1.3 bytes have more behind them.
_RECORD = re.compile(r"(READ|WRITE): TLSv[\d.]{1,9} (\w+)\b[^,]*, length = ([0-9]{1,9})")
_SIDES = {"before": "WRITE", "after": "READ"}
_LOG = re.compile(r"javax\.net\.ssl\|\w+\|")
_ROW = re.compile(r"\s+[0-9A-F]{4,}: ")


def matches(sample: bytes) -> bool:
    return is_log_with(sample, _LOG)


def read(data: bytes) -> list[Block]:
    joiner, headings = ChunkJoiner(), _Headings()
    for block in read_rows(data, xxd.split, headings.comment):
        if not block.comment:
            continue
        heading = headings.found[int(block.comment)]
        content = block.data[: heading.size]
        # TLS 1.3 calls all records data: a frame begins with a zero byte, a handshake's never does.
        if content and (joiner.is_open(heading.stream) or content[0] == 0):
            joiner.add(heading.stream, content, block.line, heading.ts)
    return joiner.finish()


class _Heading(NamedTuple):
    """What stands above the bytes of a record; ``size``: how many of them are data."""

    stream: str
    ts: int | None
    size: int | None


class _Record(NamedTuple):
    kind: str
    size: int | None
    time: str


class _Headings:
    """The lines above the rows: of each thread that of the record, and that of its bytes."""

    def __init__(self) -> None:
        #: The stream of a thread → its last record.
        self._records: dict[str, _Record] = {}
        self.found: list[_Heading] = []

    def comment(self, text: str) -> str | None:
        """The number of a heading; empty for a line whose rows are left out."""
        if _ROW.match(text):
            return None
        line = _LINE.search(text)
        if line is None:
            return ""
        thread, time, said = line["thread"], line["time"], line["said"]
        if (found := _RECORD.match(said)) is not None:
            self._records[f"{thread} {found[1]}"] = _Record(found[2], int(found[3]), time)
        elif (heading := _HEADING.match(said)) is not None:
            stream = f"{thread} {_SIDES[heading[1]]}"
            record = self._records.get(stream, _Record("application_data", None, time))
            if record.kind == "application_data":
                size = record.size if heading[1] == "before" else None
                self.found.append(_Heading(stream, time_in(record.time), size))
                return str(len(self.found) - 1)
        return ""


READER = Reader("jsse", "a JVM's javax.net.debug=ssl:record:plaintext", matches, read, rank=9)
