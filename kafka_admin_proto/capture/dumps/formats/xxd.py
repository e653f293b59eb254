"""``xxd``, with any -c, -g, -u, -a, -s::

    00000000: 0000 0032 0013 0000 0000 0001 000a 6865  ...2..........he

The groups are one space apart and the characters two spaces behind them, so the first two spaces
end the bytes. Dumps of JSSE (``javax.net.debug``) are alike, with more space between two halves.
"""

from __future__ import annotations

import re

from kafka_admin_proto.capture.dumps.blocks import Block, Reader
from kafka_admin_proto.capture.dumps.rows import (
    Row,
    byte_column,
    characters,
    matched_row,
    read_rows,
    starts_with_row,
)
from kafka_admin_proto.capture.dumps.text import hex_bytes
from kafka_admin_proto.errors import DumpError

_ROW = re.compile(r"\s*([0-9a-fA-F]{3,16}):(?:\s+|$)")


def matches(sample: bytes) -> bool:
    return starts_with_row(sample, _ROW)


def read(data: bytes) -> list[Block]:
    return read_rows(data, split)


def split(line: str, number: int) -> Row:
    match = matched_row(_ROW, line, number, "xxd (offset, colon, bytes, characters)")
    rest = line[match.end() :].replace("\t", "  ")
    first = rest.partition("  ")[0]
    column = byte_column(rest, first, first)
    data = hex_bytes(column, number)
    _refuse_reversed_groups(column.split(), data, line, number)
    return Row(match[1], data)


def _refuse_reversed_groups(groups: list[str], data: bytes, line: str, number: int) -> None:
    """Only the characters betray ``xxd -e``: they stand in the order of the bytes."""
    size = len(groups[0]) // 2 if groups else 0
    if size < 2 or any(len(group) != 2 * size for group in groups):
        return
    shown = line[-len(data) :]
    if shown == characters(data):
        return
    turned = b"".join(data[at : at + size][::-1] for at in range(0, len(data), size))
    if shown == characters(turned):
        raise DumpError(
            "the characters fit only if each group is read backwards: this is xxd -e "
            "(little endian); write the dump without -e",
            line=number,
        )


READER = Reader("xxd", "xxd: offset, colon, groups of hex, characters", matches, read, rank=10)
