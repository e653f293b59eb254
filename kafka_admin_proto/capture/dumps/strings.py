"""Quoted strings with escapes, as C, Python and the tools that print bytes as text have them."""

from __future__ import annotations

import re

from kafka_admin_proto.capture.dumps.text import quoted
from kafka_admin_proto.errors import DumpError

_PIECE = re.compile(
    r"(?P<plain>[^\\\"']+)|\\x(?P<hex>[0-9a-fA-F]{2})|\\(?P<octal>[0-7]{1,3})|\\(?P<letter>[^x0-7])"
    r"|(?P<quote>[\"'])"
)
_LETTERS = {
    "a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "'": 39, "\\": 92,
}  # fmt: skip


def read_string(line: str, position: int, quote: str, data: bytearray, number: int) -> int:
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
