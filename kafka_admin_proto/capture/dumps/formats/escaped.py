r"""Quoted strings with escapes: Wireshark's "as Escaped String" and "as C String", bytes of Python
and Rust::

    "\x00\x00\x00\x32\x00\x13" \
    "\x00\x00"

    b'\x00\x00\x002\x00\x13hex-client'

    b"\0\0\02\0\x13hex-client"
"""

from __future__ import annotations

import re

from kafka_admin_proto.capture.dumps.blocks import Block, BlockCollector, Reader
from kafka_admin_proto.capture.dumps.strings import read_string
from kafka_admin_proto.capture.dumps.text import comment_text, lines, quoted, sample_lines
from kafka_admin_proto.errors import DumpError

_QUOTE = re.compile(r"\s*(?:bytearray\()?b?([\"'])")
#: The ends of a line behind its strings: a continuation, a comma, or the end of a statement or of
#: Python's ``bytearray(``.
_AFTER = ("", "\\", ",", ";", ")")
#: Rust has no octal numbers: ``\01`` is a zero and the digit 1. A literal that has an escape which
#: Rust has not is another language's.
_RUST = re.compile(r"""\s*b"(?:[^\\"]|\\(?:[0nrt\\'"]|x[0-9a-fA-F]{2}))*"(?!")""")
_RUSTS_ZERO = re.compile(r"(\\\\)|\\0")


def matches(sample: bytes) -> bool:
    """A quoted string without any escape may as well be hex or base64 in quotes."""
    first = next(sample_lines(sample), None)
    quote = first and _QUOTE.match(first[1])
    return bool(first and quote and ("\\" in first[1] or quote[0].lstrip().startswith("b")))


def read(data: bytes) -> list[Block]:
    blocks = BlockCollector()
    for number, line in lines(data):
        comment = comment_text(line)
        if comment is not None:
            blocks.comment(comment)
        elif not line.strip():
            blocks.end_block()
        else:
            blocks.add(_strings(line, number), number)
    return blocks.finish()


def _strings(line: str, number: int) -> bytes:
    data = bytearray()
    position = 0
    while (rust := _RUST.match(line, position)) is not None:
        # The zero behind an escaped backslash is a digit.
        literal = _RUSTS_ZERO.sub(lambda found: found[1] or r"\x00", rust[0])
        read_string(literal, literal.index('"') + 1, '"', data, number)
        position = rust.end()
    while (quote := _QUOTE.match(line, position)) is not None:
        position = read_string(line, quote.end(), quote[1], data, number)
    if not position or line[position:].strip() not in _AFTER:
        raise DumpError(f"{quoted(line[position:])} is not a quoted string", line=number)
    return bytes(data)


READER = Reader(
    "escaped",
    "quoted strings: \"\\x00\\x32\", Python's b'\\x002', Rust's b\"\\02\"",
    matches,
    read,
    rank=40,
)
