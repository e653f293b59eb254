"""Node's ``<Buffer 00 00 00 32>``, as ``console.log`` prints it; each is a block."""

from __future__ import annotations

import re

from kafka_admin_proto.capture.dumps.blocks import Block, BlockCollector, Reader
from kafka_admin_proto.capture.dumps.text import (
    comment_text,
    hex_bytes,
    lines,
    quoted,
    sample_lines,
)
from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import DumpError

_BUFFER = re.compile(r"<Buffer((?: [0-9a-f]{2})*)(?: \.\.\. (\d{1,18}) more bytes?)?>")
#: The start of one; those without bytes are passed over.
_START = re.compile(r"<Buffer (?!>)")


def matches(sample: bytes) -> bool:
    first = next(sample_lines(sample), None)
    return first is not None and _BUFFER.search(first[1]) is not None


def read(data: bytes) -> list[Block]:
    blocks = BlockCollector()
    for number, line in lines(data):
        if (comment := comment_text(line)) is not None:
            blocks.comment(comment)
            continue
        for start in _START.finditer(line):
            buffer = _BUFFER.match(line, start.start())
            if buffer is None:
                raise DumpError(
                    f"{quoted(line[start.start() :])} is not a whole buffer of Node", line=number
                )
            if buffer[2]:
                left_out = counted(int(buffer[2]), "bytes")
                raise DumpError(
                    f"Node left {left_out} of this buffer out; print it with "
                    'console.log(buffer.toString("hex"))',
                    line=number,
                )
            blocks.add(hex_bytes(buffer[1], number), number)
            blocks.end_block()
    return blocks.finish()


READER = Reader("buffer", "Node's <Buffer 00 00 00 32>", matches, read, rank=45)
