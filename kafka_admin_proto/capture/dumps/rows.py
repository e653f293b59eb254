"""Dumps in rows of an offset and bytes, which xxd, hexdump and Wireshark print.

A format module splits one line into offset and bytes. This module joins the rows to blocks and
checks the offsets: a row lost in copying would shift every field behind it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from msgspec.structs import replace

from kafka_admin_proto.capture.dumps.blocks import Block, BlockCollector
from kafka_admin_proto.capture.dumps.text import comment_text, lines, quoted, sample_lines
from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import DumpError

#: Bytes that the ``*`` lines of one input may stand for at most: brokers refuse requests above
#: 100 MiB (socket.request.max.bytes), and a few characters of text must not take more memory.
MAX_REPEATED = 100 * 1024 * 1024
#: Pairs of hex digits with space between them.
PAIRS = re.compile(r"\s*(?:[0-9a-fA-F]{2}(?:\s+|$))*")
_PAIR = re.compile(r"\S\S")
#: Characters of a row up to which it is searched for the end of its bytes: no tool prints so many.
_LONGEST_ROW = 2048
#: Java's dumps have dots for these, too.
_NOT_JAVAS = str.maketrans("{|}~", "....")
_SHOWN = bytes(byte if 0x20 <= byte < 0x7F else 0x2E for byte in range(256))


class Row(NamedTuple):
    #: In hex, as printed.
    offset: str
    #: Empty on the closing line, which has only the length of the dump.
    data: bytes
    #: The white space before the offset: views of a conversation indent one of the two sides.
    indent: str = ""


def read_rows(
    data: bytes,
    split: Callable[[str, int], Row],
    comment: Callable[[str], str | None] = comment_text,
) -> list[Block]:
    """The blocks of a dump.

    ``split`` takes a line and its number, and raises DumpError for a line that is not a row. A
    block ends at a blank line, a comment or a closing line, and where the offset returns to 0 or
    the indentation changes.
    """
    rows = _Assembly()
    for number, line in lines(data):
        text = line.strip()
        if not text:
            rows.end_block()
        elif (words := comment(line)) is not None:
            rows.comment(words)
        elif text == "*":
            rows.repeat(number)
        else:
            rows.row(split(line, number), number)
    return rows.finish()


def starts_with_row(sample: bytes, pattern: re.Pattern[str]) -> bool:
    """Whether the first line of an input that is no comment is a row."""
    first = next(sample_lines(sample), None)
    return first is not None and pattern.match(first[1]) is not None


def matched_row(pattern: re.Pattern[str], line: str, number: int, what: str) -> re.Match[str]:
    """The start of a row; raises DumpError for a line that is none of ``what``."""
    match = pattern.match(line)
    if match is None:
        raise DumpError(f"{quoted(line)} is not a row of {what}", line=number)
    return match


def byte_column(text: str, first: str, otherwise: str) -> str:
    """The bytes of a row without its offset, as hex; ``first`` is its text up to two spaces.

    Tools put more space between groups, too (``nc -x``, JSSE): the characters at the end of a row,
    one for each byte, say where its bytes end. Without them it is all bytes, and where they are
    others than tools print, it is ``otherwise``.
    """
    pairs = PAIRS.match(text)
    assert pairs is not None
    ends = [pair.end() for pair in _PAIR.finditer(pairs[0])]
    count = len("".join(first.split())) // 2
    if len(ends) <= count or _are_characters(text[len(first) :], first):
        return first
    for end in ends[count:] if len(text) <= _LONGEST_ROW else ():
        if _are_characters(text[end:], text[:end]):
            return text[:end]
    return text if not text[ends[-1] :].strip() else otherwise


def _are_characters(rest: str, digits: str) -> bool:
    """Whether the rest of a row has the characters of the bytes, and nothing else."""
    try:
        shown = characters(bytes.fromhex(digits))
    except ValueError:
        return False
    halves, javas = f"{shown[:8]} {shown[8:]}", shown.translate(_NOT_JAVAS)
    return bool(shown) and rest.strip() in (shown.strip(), halves.strip(), javas.strip())


def characters(data: bytes) -> str:
    """The characters of bytes, with a dot for what is not printable, as all tools show them."""
    return data.translate(_SHOWN).decode("ascii")


class _Assembly:
    def __init__(self) -> None:
        self._blocks = BlockCollector()
        #: The open block: the offset of its first row, its last row, and its indentation.
        self._base = 0
        self._last = b""
        self._indent = ""
        self._repeat_line = 0
        self._repeated = 0
        #: The next offset of each side of a conversation, and the side of each finished block.
        self._reached: dict[str, int] = {}
        self._sides: list[str] = []
        self._conversation = False

    def row(self, row: Row, line: int) -> None:
        offset = int(row.offset, 16)
        if not row.data:
            self._closing(row.offset, offset, line)
            return
        if self._blocks.pending and row.indent != self._indent:
            self._end()
            self._check_side(row, offset, line)
            self._conversation = True
        elif self._blocks.pending and offset == 0:
            self._end()
        if self._blocks.pending:
            self._catch_up(row.offset, offset, line, closing=False)
        else:
            self._base, self._indent = offset, row.indent
        self._blocks.add(row.data, line)
        self._last = row.data

    def repeat(self, line: int) -> None:
        if not self._blocks.pending:
            raise DumpError("'*' repeats the row before it, and there is none", line=line)
        self._repeat_line = line

    def comment(self, text: str) -> None:
        self.end_block()
        self._blocks.comment(text)

    def end_block(self) -> None:
        """End the open block, and the conversation that it may be a part of."""
        self._end()
        self._reached.clear()

    def finish(self) -> list[Block]:
        self._end()
        blocks = self._blocks.finish()
        sides = sorted(set(self._sides), key=len)
        if len(sides) != 2 or not self._conversation:
            return blocks
        return [
            block if block.comment else replace(block, comment=f"peer{sides.index(side)}")
            for block, side in zip(blocks, self._sides, strict=True)
        ]

    def _closing(self, printed: str, offset: int, line: int) -> None:
        if self._blocks.pending:
            self._catch_up(printed, offset, line, closing=True)
            self._end()
        elif offset:  # 0 is all that an empty file gives
            raise DumpError(f"offset {printed} without bytes", line=line)

    def _end(self) -> None:
        if self._repeat_line:
            raise DumpError(
                "'*' repeats the row before it until the next offset, and there is no next offset",
                line=self._repeat_line,
            )
        if self._blocks.pending:
            self._reached[self._indent] = self._base + self._blocks.pending
            self._sides.append(self._indent)
        self._blocks.end_block()

    def _catch_up(self, printed: str, offset: int, line: int, *, closing: bool) -> None:
        """Fill the open block up to ``offset`` with repeated rows. Raises DumpError for a gap."""
        missing = offset - self._base - self._blocks.pending
        if not self._repeat_line:
            if missing:
                raise self._mismatch(printed, missing, line)
            return
        # Only before the closing line may the repeated rows end in a part of one: hexdump leaves
        # out a last, shorter row as well when it starts as the row before it does.
        if missing <= 0 or (not closing and missing % len(self._last)):
            raise self._mismatch(printed, missing, line)
        self._repeated += missing
        if self._repeated > MAX_REPEATED:
            raise DumpError(
                f"'*' stands for {counted(missing, 'bytes')} up to offset {printed}; "
                f"more than {MAX_REPEATED} in one input are not expanded",
                line=line,
            )
        times = missing // len(self._last) + 1
        self._blocks.add((self._last * times)[:missing], line)
        self._repeat_line = 0

    def _check_side(self, row: Row, offset: int, line: int) -> None:
        reached = self._reached.get(row.indent, 0)
        if offset not in (0, reached):
            raise DumpError(
                f"this side of the conversation is at offset {reached:x} and the row says "
                f"{row.offset}; is a row missing, or are rows indented that should not be?",
                line=line,
            )

    def _mismatch(self, printed: str, missing: int, line: int) -> DumpError:
        have = self._base + self._blocks.pending
        what = "is a row missing" if missing > 0 else "is a row there twice"
        for radix, name in ((10, "decimal"), (8, "octal")):
            if _number(printed, radix) == have:
                what += f", or are the offsets {name} and not hex (od -A x, xxd without -d)"
        return DumpError(
            f"offset {printed} where {have:0{len(printed)}x} is due: {what}?", line=line
        )


def _number(digits: str, radix: int) -> int | None:
    try:
        return int(digits, radix)
    except ValueError:
        return None
