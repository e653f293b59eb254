"""Arrays of decimal numbers: each is a block, and signed bytes are those of Java::

[0, 0, 0, 50, 0, 19, -1, -1]          Arrays.toString of Java, lists of Python and Rust
[0 0 0 50 0 19 255 255]               fmt.Println of Go
Uint8Array(54) [                      console.log of JavaScript
  0, 0, 0, 50,
{"type":"Buffer","data":[0,0,0,50]}   JSON.stringify of Node's buffers
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kafka_admin_proto.capture.dumps.blocks import Block, BlockCollector, Reader
from kafka_admin_proto.capture.dumps.text import comment_text, lines, quoted, sample_lines
from kafka_admin_proto.errors import DumpError

#: An array, or its start where it goes on in the next line.
_ARRAY = re.compile(r"[\[{]([^\[\]{}]*+)([\]}]|$)")
_END = re.compile(r"([^\[\]{}]*+)([\]}]|$)")
_NUMBERS = re.compile(r"[\s,]*(?:-?\d{1,3}(?:[\s,]+|$))*")
_NUMBER = re.compile(r"0|-?[1-9]\d{0,2}")
_LEFT_OUT = re.compile(r"\.\.\. (\d+) more items?")


def matches(sample: bytes) -> bool:
    """The first array has numbers alone that are not all of two digits, as hex has them."""
    numbers: list[str] = []
    for row, (_, line) in enumerate(sample_lines(sample)):
        start = next(_arrays(line), None) if row == 0 else _END.match(line)
        if start is None:
            return False
        if row and not _is_body(start[1]):
            break
        numbers += start[1].replace(",", " ").split()
        if start[2]:
            break
    return bool(numbers) and (
        all(map(_NUMBER.fullmatch, numbers)) and any(len(each) != 2 for each in numbers)
    )


def read(data: bytes) -> list[Block]:
    blocks = BlockCollector()
    is_open = False
    for number, line in lines(data):
        comment = comment_text(line)
        if comment is not None and not is_open:
            blocks.comment(comment)
            continue
        if is_open:
            end = _END.match(line)
            if end is None:
                raise DumpError("a bracket opens within an array of bytes", line=number)
            blocks.add(_bytes(end[1], number), number)
            is_open = not end[2]
            if is_open:
                continue
            blocks.end_block()
            line = line[end.end() :]
        for array in _arrays(line):
            blocks.add(_bytes(array[1], number), number)
            is_open = not array[2]
            if not is_open:
                blocks.end_block()
    return blocks.finish()


def _arrays(line: str) -> Iterator[re.Match[str]]:
    """The arrays of a line; a single number in brackets is a size or an index."""
    for array in _ARRAY.finditer(line):
        count = len(array[1].replace(",", " ").split())
        if _is_body(array[1]) and (count > 1 or not array[2]):
            yield array


def _is_body(text: str) -> bool:
    return _NUMBERS.fullmatch(text) is not None


def _bytes(text: str, number: int) -> bytes:
    if (left_out := _LEFT_OUT.search(text)) is not None:
        raise DumpError(
            f"the last {left_out[1]} numbers of this array were left out; print it with "
            'console.log(Buffer.from(array).toString("hex"))',
            line=number,
        )
    data = bytearray()
    for digits in text.replace(",", " ").split():
        if not _NUMBER.fullmatch(digits) or not -128 <= int(digits) <= 255:
            raise DumpError(f"{quoted(digits)} is not a byte, from -128 to 255", line=number)
        data.append(int(digits) & 0xFF)
    return bytes(data)


READER = Reader(
    "decimal", "arrays of numbers: Java's, Go's, Python's and JavaScript's", matches, read, rank=48
)
