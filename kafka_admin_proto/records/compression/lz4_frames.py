"""LZ4 frames around blocks: their upper bounds, and Kafka's own variants of the frame.

    magic, FLG, BD, [content size], HC, blocks with their sizes, end mark, [content checksum]

Kafka writes blocks of 64 KiB, independent of one another (``Lz4BlockOutputStream``). Up to 0.9 its
clients computed HC, the checksum of the header, over the magic as well; messages of magic 0 still
have this checksum (KIP-57).
"""

from __future__ import annotations

from collections.abc import Callable

from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import DecodeError

_MAGIC = b"\x04\x22\x4d\x18"
_BLOCK = 64 * 1024
#: FLG and BD as Kafka writes them: version 1, independent blocks; 64 KiB.
_DESCRIPTOR = b"\x60\x40"
_PLAIN = 1 << 31
_END_MARK = bytes(4)

_INDEPENDENT = 0x20
_CHECKSUM_OF_BLOCKS, _CONTENT_SIZE, _CHECKSUM_OF_CONTENT, _DICTIONARY = 0x10, 0x08, 0x04, 0x01
#: Each byte of a block adds at most 255 bytes to a copy.
_LZ4_MOST = 255


def measure(data: bytes, *, repair: bool) -> tuple[bytes, int]:
    """The first frame, and the upper bound of its decompressed size.

    With ``repair``, the frame's HC is replaced by the right one. Bytes behind the frame's end are
    ignored, as in Kafka. Raises DecodeError.
    """
    if not data.startswith(_MAGIC) or len(data) < 7:
        raise DecodeError("lz4 begins with no frame", expected="a frame's magic, 04224d18")
    flags = data[4]
    largest = 1 << 8 + 2 * (data[5] >> 4 & 7)
    if flags & _DICTIONARY:
        raise DecodeError("lz4 needs a dictionary", offset=4, expected="a frame without")
    checksum_at = 14 if flags & _CONTENT_SIZE else 6
    between = 4 if flags & _CHECKSUM_OF_BLOCKS else 0
    position = checksum_at + 1
    most = 0
    while True:
        start = position
        position += 4
        size = int.from_bytes(data[start:position], "little")
        if position <= len(data) and not size:
            break
        if size & _PLAIN:
            size -= _PLAIN
            most += min(size, largest)
        else:
            most += min(size * _LZ4_MOST, largest)
        position += size + between
        if position > len(data):
            raise DecodeError(
                "lz4 ends in the middle of a block", offset=min(start, len(data)), expected="all"
            )
    content_size = int.from_bytes(data[6:14], "little") if flags & _CONTENT_SIZE else 0
    if content_size > most:
        raise DecodeError(
            f"lz4 frame says that it has {counted(content_size, 'bytes')}, its blocks have "
            f"{most} at most",
            offset=6,
            expected="the size of its content",
        )
    position += 4 if flags & _CHECKSUM_OF_CONTENT else 0
    frame = data[:position]
    if repair:
        right = _header_checksum(data[4:checksum_at])
        frame = frame[:checksum_at] + right + frame[checksum_at + 1 :]
    return frame, most


def has_linked_blocks(data: bytes) -> bool:
    """Whether the blocks of a frame copy from those before, which Kafka's Java classes refuse.

    ``Lz4BlockInputStream`` reads independent blocks alone; other clients read both.
    """
    return data.startswith(_MAGIC) and len(data) > 4 and not data[4] & _INDEPENDENT


def write(data: bytes, compress: Callable[[bytes], bytes], *, faulty: bool) -> bytes:
    """Write one frame; ``compress`` compresses a block. With ``faulty``, HC is that of magic 0."""
    header = _MAGIC + _DESCRIPTOR
    parts = [header, _header_checksum(header if faulty else _DESCRIPTOR)]
    for start in range(0, len(data), _BLOCK):
        plain = data[start : start + _BLOCK]
        block = compress(plain)
        if len(block) < len(plain):
            parts += (len(block).to_bytes(4, "little"), block)
        else:
            parts += ((len(plain) | _PLAIN).to_bytes(4, "little"), plain)
    return b"".join((*parts, _END_MARK))


def _header_checksum(header: bytes) -> bytes:
    return bytes((_xxh32_of_few(header) >> 8 & 0xFF,))


_PRIME_1, _PRIME_2, _PRIME_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
_PRIME_4, _PRIME_5 = 0x27D4EB2F, 0x165667B1
_WORD = 0xFFFFFFFF


def _xxh32_of_few(data: bytes) -> int:
    """xxHash-32 with seed 0 for fewer than 16 bytes, such as a frame's header."""
    value = (_PRIME_5 + len(data)) & _WORD
    whole = len(data) & ~3
    for start in range(0, whole, 4):
        lane = int.from_bytes(data[start : start + 4], "little")
        value = _rotated(value + lane * _PRIME_3, 17) * _PRIME_4 & _WORD
    for byte in data[whole:]:
        value = _rotated(value + byte * _PRIME_5, 11) * _PRIME_1 & _WORD
    value = (value ^ value >> 15) * _PRIME_2 & _WORD
    value = (value ^ value >> 13) * _PRIME_3 & _WORD
    return value ^ value >> 16


def _rotated(value: int, by: int) -> int:
    value &= _WORD
    return (value << by | value >> 32 - by) & _WORD
