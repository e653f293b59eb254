"""Decode text into numbered lines, and helpers of all text formats: comments, hex digits, quoting.

Dumps arrive from terminals, editors, browsers and Windows clipboards, hence UTF-16, byte order
marks, CRLF and no-break spaces.
"""

from __future__ import annotations

import codecs
import re
import string
from collections.abc import Iterator
from itertools import islice

from kafka_admin_proto.errors import DumpError

#: Bytes of an input by which its format is detected: some hundred rows of any dump.
SAMPLE_BYTES = 64 * 1024

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
#: Characters that no text has. A Kafka frame starts with one, as its size prefix is below 2**24.
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
#: A word that is too long for an error message, which quotes its start only.
_LONG_WORD = re.compile(r"(\S{7})\S+")
_HEX_DIGITS = frozenset(string.hexdigits)


def encoding_of(data: bytes) -> str:
    """The encoding of a text, "" when these bytes are not a text.

    A text has no control characters and is ASCII for the most part. Bytes of another 8-bit
    encoding in a comment do not make it less of a text: they are decoded as U+FFFD.
    """
    head = data[:SAMPLE_BYTES]
    marked = next((encoding for mark, encoding in _MARKS if head.startswith(mark)), "")
    encoding = marked or _unmarked(head)
    text = head.decode(encoding, "replace")
    if _CONTROL.search(text):
        return ""
    if encoding.startswith("utf-16") and not marked:
        return encoding if text.isascii() else ""
    return encoding if 2 * len(text.encode("ascii", "ignore")) >= len(text) else ""


def sample_of(data: bytes) -> bytes:
    """The start of an input; a text as UTF-8, and its last byte not cut short (``0x``)."""
    head = data[:SAMPLE_BYTES]
    encoding = encoding_of(data)
    if not encoding:
        return head
    text = head.decode(encoding, "replace")
    if len(data) > len(head):
        text = text.rstrip("\ufffd")
        cut = max(text.rfind(sign, len(text) - 8) for sign in "\n ,\\")
        text = text if cut < 0 else text[:cut]
    return text.encode()


def _unmarked(head: bytes) -> str:
    zeros = [byte == 0 for byte in head[:2]]
    if zeros == [False, True]:
        return "utf-16-le"
    return "utf-16-be" if zeros == [True, False] else "utf-8"


def lines(data: bytes) -> Iterator[tuple[int, str]]:
    """(1, first line), (2, second line) … of the input, decoded, without their line ends."""
    text = data.decode(encoding_of(data) or "utf-8", "replace").replace("\xa0", " ")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    number = start = 0
    while start < len(text):
        end = text.find("\n", start)
        if end < 0:
            end = len(text)
        number += 1
        yield number, text[start:end]
        start = end + 1


def sample_lines(sample: bytes) -> Iterator[tuple[int, str]]:
    """The lines that are neither blank nor comments. An input that is not a text has no lines."""
    if encoding_of(sample):
        for number, line in lines(sample):
            if line.strip() and comment_text(line) is None:
                yield number, line


def is_log_with(sample: bytes, pattern: re.Pattern[str]) -> bool:
    """Whether one of the first hundred lines begins so: a log has others in front of its bytes."""
    return any(pattern.match(line) for _, line in islice(sample_lines(sample), 100))


def comment_text(line: str) -> str | None:
    """The text of a line that is only a comment; None for any other line."""
    line = line.strip()
    if line.startswith("#"):
        return line.lstrip("#").strip()
    if line.startswith("//"):
        return line.lstrip("/").strip()
    if line.startswith("/*") and line.find("*/", 2) == len(line) - 2:
        return line[2:-2].strip()
    return None


def hex_bytes(digits: str, line: int) -> bytes:
    """The bytes of hex digits, pairs of which may have spaces between them."""
    try:
        return bytes.fromhex(digits)
    except ValueError:
        pass
    for character in digits:
        if character not in _HEX_DIGITS and character not in string.whitespace:
            raise DumpError(f"{character!r} is not a hex digit", line=line)
    odd = next(group for group in digits.split() if len(group) % 2)
    raise DumpError(f"odd number of hex digits in {quoted(odd)}", line=line)


def quoted(text: str, limit: int = 20) -> str:
    """A piece of the input inside an error message: quoted, escaped, and too short for a password.

    The input may be a token that was taken for a dump.
    """
    cut = _LONG_WORD.sub(r"\1…", text.strip()[: 2 * limit])
    return repr(cut if len(cut) <= limit else cut[: limit - 1] + "…")
