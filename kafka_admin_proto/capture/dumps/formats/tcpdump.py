"""``tcpdump -x``, ``-xx``, ``-X`` and ``-XX``: packets, each below a line that says what it is::

    12:00:00.123456 IP 127.0.0.1.50000 > 127.0.0.1.9092: Flags [P.], seq 1:55, length 54
            0x0000:  4500 006a 1c46 4000 4006 0000 7f00 0001  E..j.F@.@.......

Rows without such a line are bytes of any kind. Times are taken as UTC; without a date, as tcpdump
prints them unless it is given ``-tttt`` or ``-tt``, they are of 1970-01-01 and the days after it.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from kafka_admin_proto.capture.dumps.blocks import Block, Reader
from kafka_admin_proto.capture.dumps.rows import Row, matched_row, read_rows
from kafka_admin_proto.capture.dumps.text import comment_text, hex_bytes, sample_lines
from kafka_admin_proto.capture.text_times import time_in

_ROW = re.compile(r"\s*0x([0-9a-fA-F]{4,}):(?: |\t)+")
#: Lines that may stand above the first row: those of packets without bytes, and of -v.
_MOST_BEFORE = 20
#: The number of a packet that -# puts in front.
_NUMBER = re.compile(r" *\d+  ")
#: A day and a time of it, or seconds since 1970. Times behind a space are of -ttt or -ttttt: from
#: the packet before, or from the first.
_TIME = re.compile(r"(?:(\d{4}-\d\d-\d\d) )?(\d\d:\d\d:\d\d)\.(\d{6})|(\d{1,10})\.(\d{6})")
_DAY_US = 86_400_000_000


def matches(sample: bytes) -> bool:
    for above, (_, line) in enumerate(sample_lines(sample)):
        if (row := _ROW.match(line)) is not None:
            return int(row[1], 16) == 0 and not line[row.end() :].startswith("0x")
        if above >= _MOST_BEFORE or not (_TIME.match(line) or " > " in line or line[:1] == " "):
            return False
    return False


def read(data: bytes) -> list[Block]:
    headings = _Headings()
    found = read_rows(data, _split, headings.comment)
    times = _Times()
    return [replace(block, ts=times.of(block.comment)) for block in found]


class _Headings:
    """The lines between the rows; -v goes on with a second line, which is indented."""

    def __init__(self) -> None:
        self._last = ""

    def comment(self, line: str) -> str | None:
        if _ROW.match(line):
            return None
        text = comment_text(line)
        if text is None:
            if (numbered := _NUMBER.match(line)) is not None:
                text = line[numbered.end() :]
            else:
                text = f"{self._last} {line.strip()}" if line[:1].isspace() else line
        self._last = text
        return text


class _Times:
    """The times of packets, in their order; those without a date go on over midnight."""

    def __init__(self) -> None:
        self._day = self._last = 0

    def of(self, heading: str) -> int | None:
        """Microseconds since 1970; None where the heading has no time."""
        found = _TIME.match(heading)
        if found is None:
            return None
        date, clock, micros, seconds, fraction = found.groups()
        if seconds is not None:
            return int(seconds) * 1_000_000 + int(fraction)
        ts = time_in(f"{date or '1970-01-01'} {clock}.{micros}")
        if ts is None or date is not None:
            return ts
        if ts + _DAY_US // 2 < self._last:
            self._day += _DAY_US
        self._last = ts
        return ts + self._day


def _split(line: str, number: int) -> Row:
    match = matched_row(_ROW, line, number, "tcpdump -x")
    column = line[match.end() :].replace("\t", "  ").partition("  ")[0]
    return Row(match[1], hex_bytes(column, number))


READER = Reader("tcpdump", "tcpdump -x, -xx, -X, -XX, with times", matches, read, rank=5)
