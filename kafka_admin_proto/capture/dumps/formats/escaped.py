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
from kafka_admin_proto.capture.dumps.text import comment_text, lines, quoted, sample_lines
from kafka_admin_proto.errors import DumpError

_QUOTE = re.compile(r"\s*b?([\"'])")
#: The ends of a line behind its strings: a continuation, a comma, or the end of a statement.
_AFTER = ("", "\\", ",", ";")
_PIECE = re.compile(
    r"(?P<plain>[^\\\"']+)|\\x(?P<hex>[0-9a-fA-F]{2})|\\(?P<octal>[0-7]{1,3})|\\(?P<letter>[^x0-7])"
    r"|(?P<quote>[\"'])"
)
#: Rust has no octal numbers: ``\01`` is a zero and the digit 1. A literal that has an escape which
#: Rust has not is another language's.
_RUST = re.compile(r"""\s*b"(?:[^\\"]|\\(?:[0nrt\\'"]|x[0-9a-fA-F]{2}))*"(?!")""")
_RUSTS_ZERO = re.compile(r"(\\\\)|\\0")
_LETTERS = {
    "a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "'": 39, "\\": 92,
}  # fmt: skip


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
    """The bytes of all strings of one line."""
    data = bytearray()
    position = 0
    while (rust := _RUST.match(line, position)) is not None:
        # The zero behind an escaped backslash is a digit.
        literal = _RUSTS_ZERO.sub(lambda found: found[1] or r"\x00", rust[0])
        _string(literal, literal.index('"') + 1, '"', data, number)
        position = rust.end()
    while (quote := _QUOTE.match(line, position)) is not None:
        position = _string(line, quote.end(), quote[1], data, number)
    if not position or line[position:].strip() not in _AFTER:
        raise DumpError(f"{quoted(line[position:])} is not a quoted string", line=number)
    return bytes(data)


def _string(line: str, position: int, quote: str, data: bytearray, number: int) -> int:
    """Append the string that starts at ``position``, and return where it ends."""
    while (piece := _PIECE.match(line, position)) is not None:
        position = piece.end()
        if piece["quote"] == quote:
            return position
        try:
            data += _piece(piece)
        except ValueError:  # a character outside ASCII, an octal number above 255, no such escape
            raise DumpError(f"{quoted(piece[0])} is not bytes", line=number) from None
    rest = line[position:]
    raise DumpError(
        f"{quoted(rest)} is not an escape of a byte" if rest else "the string has no closing quote",
        line=number,
    )


def _piece(piece: re.Match[str]) -> bytes:
    if piece["hex"]:
        return bytes.fromhex(piece["hex"])
    if piece["octal"]:
        return bytes([int(piece["octal"], 8)])
    if piece["letter"]:
        return bytes([_LETTERS.get(piece["letter"], -1)])
    return piece[0].encode("ascii")


READER = Reader(
    "escaped",
    "quoted strings: \"\\x00\\x32\", Python's b'\\x002', Rust's b\"\\02\"",
    matches,
    read,
    rank=40,
)
