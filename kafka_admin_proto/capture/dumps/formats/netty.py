"""Netty's boxes, of `LoggingHandler` and `ByteBufUtil.prettyHexDump`::

    INFO: [id: 0x7a3f, L:/10.0.0.1:50000 - R:/10.0.0.2:9092] WRITE: 23B
             +-------------------------------------------------+
             |  0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f |
    +--------+-------------------------------------------------+----------------+
    |00000000| 00 00 00 13 00 12 00 00 00 00 00 09 00 09 64 75 |..............du|
    |00000010| 6d 70 2d 64 65 6d 6f                            |mp-demo         |
    +--------+-------------------------------------------------+----------------+

What a channel wrote is one stream, and what it read another. Boxes of no channel are blocks.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from kafka_admin_proto.capture.dumps.blocks import Block, Reader
from kafka_admin_proto.capture.dumps.chunks import ChunkJoiner
from kafka_admin_proto.capture.dumps.rows import Row, matched_row, read_rows
from kafka_admin_proto.capture.dumps.text import hex_bytes, is_log_with
from kafka_admin_proto.capture.text_times import time_in

_ROW = re.compile(r"\s*\|([0-9a-f]{8})\|((?: [0-9a-f]{2})+) +\|")
_ROW_START = re.compile(r"\s*\|[0-9a-fA-F]{8}\|")
_BORDER = re.compile(r"\s*(?:\+-{8})?\+-{49}\+")
_COLUMNS = re.compile(r"\s*\|  0  1  2  3 ")
_CHANNEL = re.compile(r"\[id: ([^\]]{1,300})\] (WRITE|READ): \d+B")


def matches(sample: bytes) -> bool:
    return is_log_with(sample, _BORDER)


def read(data: bytes) -> list[Block]:
    joiner = ChunkJoiner()
    for block in read_rows(data, _split, _Headings().comment):
        ts, channel = time_in(block.comment), _CHANNEL.search(block.comment)
        if channel is None:
            joiner.take(replace(block, ts=ts))
        else:
            joiner.add(f"{channel[1]} {channel[2]}", block.data, block.line, ts)
    return joiner.finish()


class _Headings:
    """The line of the log above a box, which its border and its columns hand down."""

    def __init__(self) -> None:
        self._last = ""

    def comment(self, line: str) -> str | None:
        if _ROW_START.match(line):
            return None
        if not (_BORDER.match(line) or _COLUMNS.match(line)):
            self._last = line.strip()
        return self._last


def _split(line: str, number: int) -> Row:
    match = matched_row(_ROW, line, number, "Netty's box")
    return Row(match[1], hex_bytes(match[2], number))


READER = Reader("netty", "Netty's LoggingHandler and prettyHexDump", matches, read, rank=8)
