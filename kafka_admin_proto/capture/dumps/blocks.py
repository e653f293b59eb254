"""The types that the format modules share: blocks of bytes, and the Reader of a format."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from msgspec import Struct

from kafka_admin_proto.counts import counted


class Block(Struct, frozen=True):
    """Consecutive bytes of a dump, and the line where they begin."""

    data: bytes
    #: The first line of the text that they came from; 0 for raw bytes.
    line: int = 0
    #: The comment directly before them. Dumps of a conversation name the side here: "peer0".
    comment: str = ""
    #: When they were captured, in microseconds since 1970, where the dump says it.
    ts: int | None = None
    #: The connection whose packets they were in, where the dump has packets.
    connection: bytes | None = None

    def __repr__(self) -> str:
        # The bytes stay out, here and below: they may hold a password.
        return (
            f"Block({counted(len(self.data), 'bytes')}, line={self.line}, comment={self.comment!r})"
        )

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [("size", len(self.data)), ("line", self.line), ("comment", self.comment)]


class Reader(NamedTuple):
    """One format: a module of ``formats/`` ends in it, and ``readers.READERS`` has them all."""

    name: str
    #: One line for ``--help``.
    what: str
    #: Whether the start of an input looks like this format; never raises.
    matches: Callable[[bytes], bool]
    #: The whole input to its blocks; raises DumpError.
    read: Callable[[bytes], list[Block]]
    #: Formats are tried by rising rank, those with more structure first; raw, which is any bytes,
    #: is the last.
    rank: int


class BlockCollector:
    """Joins the bytes of lines to blocks.

    The rule is the same in every format: a blank line or a comment line ends a block, and a
    comment belongs to the block that starts on the very next line.
    """

    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self._data = bytearray()
        self._line = 0
        self._comment = ""

    @property
    def pending(self) -> int:
        """The number of bytes of the open block; 0 when none is open."""
        return len(self._data)

    def add(self, data: bytes, line: int) -> None:
        """Append to the open block, or open one."""
        if not self._data:
            self._line = line
        self._data += data

    def end_block(self) -> None:
        """Close the open block, at a blank line or the like."""
        if self._data:
            self._blocks.append(Block(bytes(self._data), self._line, self._comment))
            self._data.clear()
        self._comment = ""

    def comment(self, text: str) -> None:
        """Take a line that is only a comment: it closes the open block."""
        self.end_block()
        self._comment = text

    def finish(self) -> list[Block]:
        self.end_block()
        return self._blocks
