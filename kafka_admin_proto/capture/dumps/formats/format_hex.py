"""PowerShell's ``Format-Hex``, of Windows PowerShell 5 and of PowerShell 7::

               00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F

    00000000   00 00 00 32 00 13 00 00 00 00 00 01 00 0A 68 65  ...2..........he

              Offset Bytes                                           Ascii
                     00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F
              ------ ----------------------------------------------- -----
    0000000000000000 00 00 00 32 00 13 00 00 00 00 00 01 00 0A 68 65    2        he

A row has room for sixteen bytes; whatever is behind that room is characters.
"""

from __future__ import annotations

import re
from itertools import islice

from kafka_admin_proto.capture.dumps.blocks import Block, Reader
from kafka_admin_proto.capture.dumps.rows import Row, matched_row, read_rows
from kafka_admin_proto.capture.dumps.text import comment_text, hex_bytes, sample_lines

_COLUMNS = " ".join(f"{number:02X}" for number in range(16))
_ROW = re.compile(r"\s*([0-9A-F]{8}|[0-9A-F]{16}) +(?=[0-9A-F]{2}(?: |$))")
#: The lines above rows: what is dumped, and the head of the table.
_HEADING = re.compile(r"\s*(?:(?:Path|Label): (.*)|Offset Bytes .*|-+ -+ -+|Ascii)\s*$")
#: Lines up to the first row.
_MOST_BEFORE = 10


def matches(sample: bytes) -> bool:
    """The numbers of the columns stand above a row; alone they are bytes that count up."""
    head = [line for _, line in islice(sample_lines(sample), _MOST_BEFORE)]
    columns = next((at for at, line in enumerate(head) if line.strip() == _COLUMNS), len(head))
    below = (line for line in head[columns + 1 :] if not _HEADING.match(line))
    return _ROW.match(next(below, "")) is not None


def read(data: bytes) -> list[Block]:
    return read_rows(data, _split, _comment)


def _comment(line: str) -> str | None:
    if line.strip() == _COLUMNS:
        return ""
    heading = _HEADING.match(line)
    return comment_text(line) if heading is None else heading[1] or ""


def _split(line: str, number: int) -> Row:
    match = matched_row(_ROW, line, number, "PowerShell's Format-Hex")
    return Row(match[1], hex_bytes(line[match.end() :][: len(_COLUMNS)], number))


READER = Reader("format-hex", "PowerShell's Format-Hex", matches, read, rank=7)
