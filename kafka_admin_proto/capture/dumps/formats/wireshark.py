"""Hex dumps of Wireshark and tshark, and the input of text2pcap.

"Copy … as Hex + ASCII Dump" and "as Hex Dump"; ``tshark -x`` has two spaces behind the offset::

    0000   00 00 00 32 00 13 00 00 00 00 00 01 00 0a 68 65   ...2..........he

"Follow TCP Stream" as hex dump, where the other side is indented (four spaces in Wireshark, a tab
in tshark) and each side counts its own offsets::

    00000000  00 00 00 32 00 13 00 00  00 00 00 01 00 0a 68 65   ...2.... ......he
        00000000  00 00 00 12 00 00 00 01  00 00 00 01 00 06 61 70   ........ ......ap

Offsets may have a ``0x`` in front, which the bytes have not.

The blocks of such a conversation carry the side as their comment, "peer0" for the first column
and "peer1" for the indented one, as Wireshark itself calls them.
"""

from __future__ import annotations

import re
from itertools import islice

from kafka_admin_proto.capture.dumps.blocks import Block, Reader
from kafka_admin_proto.capture.dumps.rows import PAIRS, Row, byte_column, matched_row, read_rows
from kafka_admin_proto.capture.dumps.text import comment_text, hex_bytes, quoted, sample_lines
from kafka_admin_proto.errors import DumpError

_ROW = re.compile(r"([ \t]*)(0x(?![0-9a-fA-F]+[ \t]+0x))?([0-9a-fA-F]{3,16})([ \t]+|$)")
#: The line that tshark -x prints above reassembled bytes: "Reassembled TCP (54 bytes):".
_SOURCE = re.compile(r"([^(]*\(\d+ bytes\)):\s*$")
#: The lines that tshark -z follow prints around a conversation.
_FRAME = re.compile(r"={10,}\s*$|(?:Follow|Filter|Node [01]): ")
#: Characters of eight bytes with spaces between them; only behind these may two spaces follow.
_HALF_ROW = 8 * 3 - 1


def matches(sample: bytes) -> bool:
    data_lines = ((n, line) for n, line in sample_lines(sample) if _comment(line) is None)
    try:
        rows = [(_split(line, n), line) for n, line in islice(data_lines, 2)]
    except DumpError:
        return False
    if not rows or not rows[0][0].data:
        return False
    start = int(rows[0][0].offset, 16)
    if len(rows) == 2 and int(rows[1][0].offset, 16) == start + len(rows[0][0].data):
        return True
    gap = _ROW.match(rows[0][1])
    return start == 0 and gap is not None and (gap[2] is not None or gap[4] != " ")


def read(data: bytes) -> list[Block]:
    return read_rows(data, _split, _comment)


def _comment(line: str) -> str | None:
    if (source := _SOURCE.match(line)) is not None:
        return source[1]
    return "" if _FRAME.match(line) else comment_text(line)


def _split(line: str, number: int) -> Row:
    match = matched_row(_ROW, line, number, "a Wireshark hex dump (offset, bytes, characters)")
    data = bytearray()
    for group in _byte_column(line[match.end() :]).split():
        if len(group) > 2:
            raise DumpError(f"{quoted(group)} is not a byte of two hex digits", line=number)
        data += hex_bytes(group, number)
    return Row(match[3], bytes(data), match[1])


def _byte_column(text: str) -> str:
    """The hex column: the text before two or more spaces, behind which characters follow."""
    text = text.replace("\t", "   ")
    column = text.partition("   ")[0]
    left, _, right = column.partition("  ")
    both = left
    if len(left) == _HALF_ROW and PAIRS.fullmatch(second := right.partition("  ")[0]):
        both = f"{left}  {second}"
    return byte_column(text, left, both)


READER = Reader(
    "wireshark",
    "Wireshark's and tshark's hex dumps, Follow TCP Stream, text2pcap",
    matches,
    read,
    rank=30,
)
