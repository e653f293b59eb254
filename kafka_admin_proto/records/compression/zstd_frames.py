"""The upper bound of the decompressed size of Zstandard frames, by their headers (RFC 8878)."""

from __future__ import annotations

from kafka_admin_proto.errors import DecodeError

_MAGIC = 0xFD2FB528
_SKIPPABLE = 0x184D2A50
#: Bytes of the largest block; a small window makes blocks smaller.
_BLOCK = 128 * 1024
_RAW, _RLE, _COMPRESSED = 0, 1, 2


def measure(data: bytes) -> int:
    """The upper bound of the decompressed size of all frames. Raises DecodeError."""
    most = position = 0
    if not data:
        raise DecodeError("zstd is empty", expected="a frame")
    while position < len(data):
        magic = _number(data, position, 4)
        if magic & ~0xF == _SKIPPABLE:
            position += 8 + _number(data, position + 4, 4)
        elif magic == _MAGIC:
            most_of_frame, position = _measure_frame(data, position + 4)
            most += most_of_frame
        else:
            raise DecodeError("zstd has no frame", offset=position, expected="the magic 28b52ffd")
    return most


def _measure_frame(data: bytes, position: int) -> tuple[int, int]:
    """The upper bound of a frame's decompressed size, and the offset of its end."""
    descriptor = _number(data, position, 1)
    position += 1
    size_flag, single, checksum = descriptor >> 6, descriptor >> 5 & 1, descriptor >> 2 & 1
    block = _BLOCK
    if not single:
        window = _number(data, position, 1)
        position += 1
        base = 1 << 10 + (window >> 3)
        block = min(block, base + (base >> 3) * (window & 7))
    position += (0, 1, 2, 4)[descriptor & 3]
    size_bytes = (single, 2, 4, 8)[size_flag]
    size = _number(data, position, size_bytes) + (256 if size_bytes == 2 else 0)
    position += size_bytes
    most = 0
    last = 0
    while not last:
        header = _number(data, position, 3)
        last, kind, length = header & 1, header >> 1 & 3, header >> 3
        position += 3
        if kind == _COMPRESSED:
            most += block
        elif kind in (_RAW, _RLE):
            most += min(length, block)
        else:
            raise DecodeError("zstd block has type 3", offset=position - 3, expected="0, 1 or 2")
        position += 1 if kind == _RLE else length
    position += 4 if checksum else 0
    if position > len(data):
        raise _cut_short(len(data))
    return min(most, size) if size_bytes else most, position


def _number(data: bytes, position: int, size: int) -> int:
    """A little-endian number; DecodeError if the data ends inside of it."""
    if position + size > len(data):
        raise _cut_short(min(position, len(data)))
    return int.from_bytes(data[position : position + size], "little")


def _cut_short(offset: int) -> DecodeError:
    return DecodeError("zstd ends too early", offset=offset, expected="a whole frame")
