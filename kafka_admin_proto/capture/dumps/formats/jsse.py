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

from kafka_admin_proto.capture.dumps.blocks import Block, Reader
from kafka_admin_proto.capture.dumps.chunks import ChunkJoiner
from kafka_admin_proto.capture.dumps.formats import xxd
from kafka_admin_proto.capture.dumps.rows import read_rows
from kafka_admin_proto.capture.dumps.text import sample_lines
from kafka_admin_proto.capture.text_times import time_in

_HEADING = re.compile(
    r"javax\.net\.ssl\|\w+\|(?P<thread>[^|]*\|[^|]*)\|.*\|Plaintext (?P<side>before|after) "
)
#: The line of a record, which stands before its bytes; of TLS 1.3 bytes have more behind them.
_RECORD = re.compile(r".*\|(?:READ|WRITE): TLSv[\d.]+ (\w+).*, length = (\d+)")
_LOG = re.compile(r"javax\.net\.ssl\|\w+\|")
_ROW = re.compile(r"\s+[0-9A-F]{4,}: ")
#: Lines of a log up to the first of JSSE.
_MOST_BEFORE = 100


def matches(sample: bytes) -> bool:
    return any(
        _LOG.match(line)
        for above, (_, line) in enumerate(sample_lines(sample))
        if above < _MOST_BEFORE
    )


def read(data: bytes) -> list[Block]:
    joiner, headings = ChunkJoiner(), _Headings()
    for block in read_rows(data, xxd.split, headings.comment):
        heading = _HEADING.search(block.comment)
        record = _RECORD.match(block.comment)
        if heading is None or (record is not None and record[1] != "application_data"):
            continue
        is_written = heading["side"] == "before"
        stream = f"{heading['thread']} {'WRITE' if is_written else 'READ'}"
        content = block.data[: int(record[2])] if is_written and record else block.data
        # TLS 1.3 calls all records data: a frame begins with a zero byte, a handshake's never does.
        if joiner.is_open(stream) or content[0] == 0:
            joiner.add(stream, content, block.line, time_in(heading[0]))
    return joiner.finish()


class _Headings:
    """The lines of the log above the rows: that of the record, and that of its bytes."""

    def __init__(self) -> None:
        self._record = self._last = ""

    def comment(self, line: str) -> str | None:
        if _ROW.match(line):
            return None
        if _RECORD.match(line):
            self._record = line.strip()
        elif line.strip() != ")":
            self._last = line.strip()
        return f"{self._record} {self._last}"


READER = Reader("jsse", "a JVM's javax.net.debug=ssl:record:plaintext", matches, read, rank=9)
