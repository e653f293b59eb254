r"""Hex digits without offsets, in the many ways people write them::

    00 00 00 32  00 13           # spaces, commas, colons, hyphens or nothing between the bytes
    0x00, 0x32, \x00\x13         // prefixes
    char peer0_0[] = { /* Packet 4 */
    0x00, 0x00, 0x00, 0x32 };

That takes in ``xxd -p`` and ``xxd -i``, Wireshark's "as a Hex Stream", "as C Array" and "as Go
literal", and the C arrays of its Follow TCP Stream, whose name and comment become the block's.
"""

from __future__ import annotations

import re

from kafka_admin_proto.capture.dumps.blocks import Block, BlockCollector, Reader
from kafka_admin_proto.capture.dumps.text import comment_text, hex_bytes, lines, sample_lines

_TOKEN = re.compile(r"(?P<prefix>0[xX]|\\[xX])?(?P<digits>[^\s,:;\-{}\[\]()\"'\\]+)")
_HEX = re.compile(r"[0-9a-fA-F]+")
_COMMENT = re.compile(r"#|//|/\*")
#: The last line that xxd -i prints.
_LENGTH = re.compile(r"unsigned int \w+ = \d+;\s*$")


def matches(sample: bytes) -> bool:
    """Every line has to fit: base64 may begin with lines that are all hex digits."""
    has_digits = False
    for _, line in sample_lines(sample):
        code, _ = _without_comments(line)
        for token in _TOKEN.finditer(_array(code)[1]):
            if not _HEX.fullmatch(token["digits"]):
                return False
            has_digits = True
    return has_digits


def read(data: bytes) -> list[Block]:
    blocks = BlockCollector()
    for number, line in lines(data):
        comment = comment_text(line)
        if comment is not None:
            blocks.comment(comment)
            continue
        code, remark = _without_comments(line)
        name, code = _array(code)
        label = f"{name or ''} {remark}".strip()
        if name is not None and (label or blocks.pending):
            blocks.comment(label)
        piece = _bytes(code, number)
        if piece:
            blocks.add(piece, number)
        elif name is None:
            blocks.end_block()
    return blocks.finish()


def _bytes(code: str, number: int) -> bytes:
    data = bytearray()
    for token in _TOKEN.finditer(code):
        digits = token["digits"]
        if token["prefix"] and len(digits) == 1:
            digits = "0" + digits  # Wireshark's C arrays have 0x0
        data += hex_bytes(digits, number)
    return bytes(data)


def _without_comments(line: str) -> tuple[str, str]:
    code, words, position = [], [], 0
    while (start := _COMMENT.search(line, position)) is not None:
        code.append(line[position : start.start()])
        end = line.find("*/", start.end()) if start[0] == "/*" else -1
        if end < 0:
            end = len(line)
        words.append(line[start.end() : end].strip())
        position = end + 2
    code.append(line[position:])
    return " ".join(code), " ".join(words)


def _array(code: str) -> tuple[str | None, str]:
    """The name of the array that starts in the line, and its bytes; otherwise None and the line."""
    if _LENGTH.match(code):
        return None, ""
    head, brace, body = code.partition("{")
    if not brace or "[" not in head:
        return None, code
    return " ".join(head.partition("[")[0].split()[-1:]), body


READER = Reader(
    "hex", "hex digits: streams, xxd -p, C arrays, 0x and \\x prefixes", matches, read, rank=50
)
