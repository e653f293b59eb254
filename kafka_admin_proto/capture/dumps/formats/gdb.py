"""gdb's ``x/16xb``: an address, perhaps a symbol, and bytes; and lldb's ``memory read``::

0x7fffffffe010: 0x00    0x00    0x00    0x32    0x00    0x13    0x00    0x00
0x555555558018 <frame+8>:       0x00    0x00    0x00    0x01
0x16fdff3a0: 00 00 00 32 00 13 00 00 00 00 00 01 00 0a 68 65  ...2..........he
"""

from __future__ import annotations

import re

from kafka_admin_proto.capture.dumps.blocks import Block, Reader
from kafka_admin_proto.capture.dumps.rows import (
    Row,
    byte_column,
    matched_row,
    read_rows,
    starts_with_row,
)
from kafka_admin_proto.capture.dumps.text import hex_bytes, quoted
from kafka_admin_proto.errors import DumpError

_ROW = re.compile(
    r"\s*0x([0-9a-fA-F]+)(?: <[^>]*>)?:(?:\s+(?=0x)|( )(?=[0-9a-fA-F]{2}(?:\s|$))|\t)"
)


def matches(sample: bytes) -> bool:
    return starts_with_row(sample, _ROW)


def read(data: bytes) -> list[Block]:
    return read_rows(data, _split)


def _split(line: str, number: int) -> Row:
    match = matched_row(_ROW, line, number, "gdb's x/16xb")
    if match[2]:  # lldb's
        text = line[match.end() :]
        first = text.partition("  ")[0]
        return Row(match[1], hex_bytes(byte_column(text, first, first), number))
    data = bytearray()
    for group in line[match.end() :].split():
        if not group.startswith("0x"):
            raise DumpError(f"{quoted(group)} has no 0x; write it with x/16xb", line=number)
        digits = group.removeprefix("0x")
        if len(digits) != 2:
            raise DumpError(
                f"{quoted(group)} is a word and not a byte, and the dump does not say in which "
                "order its bytes were; write it with x/16xb",
                line=number,
            )
        data += hex_bytes(digits, number)
    return Row(match[1], bytes(data))


READER = Reader("gdb", "gdb's x/16xb, lldb's memory read", matches, read, rank=6)
