"""``hexdump -C`` and ``hd``, and ``od -A x -t x1z`` or ``-t x1``::

    00000000  00 00 00 32 00 13 00 00  00 00 00 01 00 0a 68 65  |...2..........he|
    *
    00000036

    000000 00 00 00 32 00 13 00 00 00 00 00 01 00 0a 68 65  >...2..........he<

``|`` or ``>`` starts the characters, neither of which is a hex digit. Plain ``hexdump`` and ``od``
print words in the byte order of the machine that ran them, which they do not name: refused.
"""

from __future__ import annotations

import re

from kafka_admin_proto.capture.dumps.blocks import Block, Reader
from kafka_admin_proto.capture.dumps.rows import Row, matched_row, read_rows
from kafka_admin_proto.capture.dumps.text import hex_bytes, quoted, sample_lines
from kafka_admin_proto.errors import DumpError

_ROW = re.compile(r"\s*([0-9a-fA-F]{6,16})(?:\s+|$)")
_CHARACTERS = re.compile(r"[|>]")
_HEX = re.compile(r"[0-9a-fA-F]+")


def matches(sample: bytes) -> bool:
    first = next(sample_lines(sample), None)
    row = first and _ROW.match(first[1])
    if not first or not row:
        return False
    column, *characters = _CHARACTERS.split(first[1][row.end() :], maxsplit=1)
    groups = column.split()
    if not groups or not _HEX.fullmatch(groups[0]):
        return False
    if characters:  # the same signs may stand among Wireshark's characters
        return characters[0].rstrip()[-1:] in ("|", "<") and len(groups) + 1 == len(
            characters[0].rstrip()
        )
    # Without characters: seven digits are no whole bytes, and six before shorter groups are odd
    # enough to be an offset. Eight digits are Wireshark's, or not an offset at all.
    return len(row[1]) == 7 or (row[1] == "000000" and len(groups[0]) in (2, 4, 8, 16))


def read(data: bytes) -> list[Block]:
    return read_rows(data, _split)


def _split(line: str, number: int) -> Row:
    match = matched_row(_ROW, line, number, "hexdump -C (offset, bytes, characters)")
    column = _CHARACTERS.split(line[match.end() :], maxsplit=1)[0]
    data = bytearray()
    for group in column.split():
        if len(group) > 2 and _HEX.fullmatch(group):
            raise DumpError(
                f"{quoted(group)} is a word and not a byte, and the dump does not say in which "
                "order its bytes were; write the dump with hexdump -C or od -A x -t x1",
                line=number,
            )
        data += hex_bytes(group, number)
    if len(match[1]) == 7 and match[1].startswith("0"):
        raise DumpError(
            f"an offset of seven digits ({match[1]}) is od's in octal or decimal; "
            "write the dump with od -A x -t x1z or hexdump -C",
            line=number,
        )
    return Row(match[1], bytes(data))


READER = Reader("hexdump", "hexdump -C, hd, od -A x -t x1z", matches, read, rank=20)
