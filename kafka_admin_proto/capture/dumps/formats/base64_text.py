"""Base64, standard or URL-safe, padded or not, in one line or wrapped.

Padding ends a block as a blank line does: messages are often logged one a line, or several in one.
"""

from __future__ import annotations

import base64
import re

from kafka_admin_proto.capture.dumps.blocks import Block, BlockCollector, Reader
from kafka_admin_proto.capture.dumps.text import lines, quoted, sample_lines
from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import DumpError

_WORD = re.compile(r"[A-Za-z0-9+/_-]+(={0,2})")
_LINE = re.compile(r"(?:[A-Za-z0-9+/_-]++={0,2}+[\s,;]*+)+")
_STANDARD = str.maketrans("-_", "+/")
#: Shorter lines are words as likely as base64: four bytes, a size prefix alone, give eight.
_SHORTEST = 8
_HEX_LOWER = re.compile(r"[0-9a-f]")
_HEX_UPPER = re.compile(r"[0-9A-F]")


def matches(sample: bytes) -> bool:
    texts = [line.strip() for _, line in sample_lines(sample) if _comment(line) is None]
    words = [word[0] for text in texts for word in _WORD.finditer(text)]
    if not words or len(words[0]) < _SHORTEST or not all(map(_LINE.fullmatch, texts)):
        return False
    # Words of a text could be base64, too; frames and payloads begin with a zero byte.
    if len(words) > len(texts) and any(len(w) < _SHORTEST or w[0] != "A" for w in words):
        return False
    return not _is_nearly_hex("".join(words))


def _is_nearly_hex(text: str) -> bool:
    """Whether a text is hex with a typing error. It would decode as base64, into wrong bytes."""
    hex_digits = max(len(_HEX_LOWER.findall(text)), len(_HEX_UPPER.findall(text)))
    return 8 * hex_digits >= 7 * len(text)


def read(data: bytes) -> list[Block]:
    blocks = BlockCollector()
    pending: list[str] = []
    first = 0

    def decode() -> None:
        if pending:
            blocks.add(_decode("".join(pending), first), first)
            pending.clear()

    for number, line in lines(data):
        text = line.strip()
        comment = _comment(line)
        if comment is not None:
            decode()
            blocks.comment(comment)
            continue
        if not _LINE.fullmatch(text):
            decode()
            blocks.end_block()
            if text:
                raise DumpError(f"{quoted(text)} is not base64", line=number)
            continue
        words = list(_WORD.finditer(text))
        for word in words:
            if not pending:
                first = number
            pending.append(word[0])
            # Behind a word that stands beside others, and is whole bytes, another frame begins.
            if word[1] or len(words) > 1:
                decode()
                blocks.end_block()
    decode()
    return blocks.finish()


def _decode(text: str, line: int) -> bytes:
    digits = text.rstrip("=").translate(_STANDARD)
    if len(digits) % 4 == 1:
        raise DumpError(
            f"{counted(len(digits), 'digits')} of base64 cannot be whole bytes", line=line
        )
    return base64.b64decode(digits + "=" * (-len(digits) % 4))


def _comment(line: str) -> str | None:
    """The text of a comment line; None otherwise. Two slashes are base64 unless a space follows."""
    line = line.strip()
    if line.startswith("#"):
        return line.lstrip("#").strip()
    if line.startswith("//") and " " in line:
        return line.lstrip("/").strip()
    return None


READER = Reader("base64", "base64, standard or URL-safe, wrapped or not", matches, read, rank=60)
