"""Compression of record batches and message sets, with a limit that holds while decompressing.

gzip is Python's own; snappy, lz4 and zstd are cramjam's (extra ``compression``). Before data is
decompressed, the headers of its blocks give an upper bound of its size. A wrong size in the data
therefore reserves no memory, and data beyond the limit is refused.
"""

from __future__ import annotations

import importlib
import struct
import zlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import DecodeError, MissingExtraError
from kafka_admin_proto.records.batches.model import CompressionName
from kafka_admin_proto.records.compression import lz4_frames, zstd_frames
from kafka_admin_proto.wire.varint import varint_at

#: The magic that snappy-java writes in front of its blocks; other clients write one bare block.
_XERIAL_MAGIC = b"\x82SNAPPY\0"
_XERIAL_HEADER = _XERIAL_MAGIC + b"\0\0\0\1\0\0\0\1"
_XERIAL_BLOCK = 32 * 1024
#: A copy of three bytes, which is the shortest for its output, gives 64.
_SNAPPY_MOST = 22

#: The magic, and deflate, which is the only method.
_GZIP_MAGIC = b"\x1f\x8b\x08"
_GZIP_HEADER_CRC, _GZIP_EXTRA, _GZIP_NAME, _GZIP_COMMENT = 2, 4, 8, 16
#: Header, two bytes of an empty deflate stream, checksum and length.
_GZIP_SMALLEST = 20
_GZIP_CHUNK = 4096
_LZ4_QUICK = 9
#: What is expected of data that decompress to more than the limit.
LESS = "less, or a higher limit"


def decompress(name: CompressionName, data: bytes, limit: int, *, magic: int = 2) -> bytes:
    """Decompress to at most ``limit`` bytes; up to twice as many are in use meanwhile.

    ``magic`` is that of the batch or message. Raises DecodeError, with the offset in ``data``, and
    MissingExtraError.
    """
    match name:
        case "none":
            return data
        case "gzip":
            return _gunzip(data, limit)
        case "snappy":
            return _unsnap(data, limit)
        case "lz4":
            # Magic 0 has a checksum of the frame's header that was computed amiss.
            data, most = lz4_frames.measure(data, repair=magic == 0)
            return _into(_cramjam(name).lz4.decompress_into, name, data, most, limit)
        case "zstd":
            most = zstd_frames.measure(data)
            return _into(_cramjam(name).zstd.decompress_into, name, data, most, limit)


def compress(
    name: CompressionName, data: bytes, *, magic: int = 2, level: int | None = None
) -> bytes:
    """Compress as Kafka's producer does for batches or messages of that magic.

    ``level`` is that of gzip, lz4 or zstd. As in Kafka, lz4 compresses quickly at level 9, and
    better at any other. Raises MissingExtraError.
    """
    match name:
        case "none":
            return data
        case "gzip":
            return zlib.compress(data, -1 if level is None else level, wbits=31)
        case "snappy":
            snap = _cramjam(name).snappy.compress_raw
            parts = [_XERIAL_HEADER]
            for start in range(0, len(data), _XERIAL_BLOCK):
                block = bytes(snap(data[start : start + _XERIAL_BLOCK]))
                parts += (len(block).to_bytes(4, "big"), block)
            return b"".join(parts)
        case "lz4":
            options: dict[str, Any] = {"store_size": False}
            if level not in (None, _LZ4_QUICK):
                options |= {"mode": "high_compression", "compression": level}
            squeeze = _cramjam(name).lz4.compress_block
            return lz4_frames.write(
                data, lambda block: bytes(squeeze(block, **options)), faulty=magic == 0
            )
        case "zstd":
            return bytes(_cramjam(name).zstd.compress(data, level))


def unknown(number: int, *, offset: int) -> DecodeError:
    return DecodeError(f"no compression has number {number}", offset=offset, expected="0 to 4")


def _cramjam(name: str) -> ModuleType:
    try:
        return importlib.import_module("cramjam")
    except ImportError:
        raise MissingExtraError(
            f"records compressed by {name} need the package cramjam; "
            "install it with: pip install 'kafka-admin-proto[compression]'"
        ) from None


def _too_large(limit: int) -> DecodeError:
    return DecodeError(f"it decompresses to more than {counted(limit, 'bytes')}", expected=LESS)


def _gunzip(data: bytes, limit: int) -> bytes:
    """Decompress consecutive members, as Java's ``GZIPInputStream`` finds them.

    Bytes behind a member are ignored if they do not begin with a header, or are too short.
    """
    parts: list[bytes] = []
    left = limit
    start: int | None = _gzip_header(data, 0)
    if start is None:
        raise DecodeError("gzip: it does not begin with a header", expected="gzip")
    while start is not None:
        offset, left = _gunzip_member(data, start, left, limit, parts)
        start = None
        if len(data) - offset >= _GZIP_SMALLEST - 1:
            start = _gzip_header(data, offset)
    return b"".join(parts)


def _gzip_header(data: bytes, offset: int) -> int | None:
    """The end of the member header at ``offset``; None if there is no complete one (RFC 1952)."""
    end = offset + 10
    if not data.startswith(_GZIP_MAGIC, offset) or len(data) < end:
        return None
    flags = data[offset + 3]
    if flags & _GZIP_EXTRA:
        end += 2 + int.from_bytes(data[end : end + 2], "little")
    for flag in (_GZIP_NAME, _GZIP_COMMENT):
        if flags & flag:
            end = data.find(0, end) + 1
            if not end:
                return None
    if flags & _GZIP_HEADER_CRC:
        crc = zlib.crc32(memoryview(data)[offset:end]) & 0xFFFF
        if data[end : end + 2] != crc.to_bytes(2, "little"):
            return None
        end += 2
    return end if end <= len(data) else None


def _gunzip_member(
    data: bytes, start: int, left: int, limit: int, parts: list[bytes]
) -> tuple[int, int]:
    """Append the decompressed bytes of the member whose header ends at ``start``.

    Returns the offset of the member's end, and the rest of the limit.
    """
    member = zlib.decompressobj(wbits=-15)
    offset = start
    crc = size = 0
    # What a member leaves of a chunk is copied: many small members must not copy all the rest.
    chunk = _GZIP_CHUNK
    while not member.eof:
        if offset >= len(data):
            raise DecodeError("gzip ends too early", offset=len(data), expected="all of it")
        try:
            part = member.decompress(data[offset : offset + chunk], left + 1)
        except zlib.error as error:
            raise DecodeError(f"gzip: {error}", offset=start, expected="gzip") from None
        left -= len(part)
        if left < 0:
            raise _too_large(limit)
        parts.append(part)
        crc = zlib.crc32(part, crc)
        size += len(part)
        offset = min(offset + chunk, len(data))
        chunk *= 2
    offset -= len(member.unused_data)
    trailer = data[offset : offset + 8]
    if len(trailer) < 8:
        raise DecodeError("gzip ends too early", offset=len(data), expected="all of it")
    if trailer != struct.pack("<II", crc, size & 0xFFFFFFFF):
        raise DecodeError(
            "gzip: its checksum or length is not that of the data",
            offset=offset,
            expected=f"CRC-32 {crc:08x} and {counted(size, 'bytes')}",
        )
    return offset + 8, left


def _unsnap(data: bytes, limit: int) -> bytes:
    """Decompress blocks in the framing of snappy-java, or one bare block."""
    if not data.startswith(_XERIAL_MAGIC) or len(data) < len(_XERIAL_HEADER):
        return _unsnap_block(data, 0, limit, 0)
    parts: list[bytes] = []
    total = 0
    offset = len(_XERIAL_HEADER)
    while offset < len(data):
        if data.startswith(_XERIAL_MAGIC, offset):  # streams may follow one another
            offset += len(_XERIAL_HEADER)
            continue
        size = int.from_bytes(data[offset : offset + 4], "big", signed=True)
        if not 0 <= size <= len(data) - offset - 4:
            raise DecodeError(
                f"snappy block has {counted(size, 'bytes')}, {max(len(data) - offset - 4, 0)} left",
                offset=offset,
                expected="a whole block",
            )
        block = data[offset + 4 : offset + 4 + size]
        part = _unsnap_block(block, offset + 4, limit, total)
        parts.append(part)
        total += len(part)
        offset += 4 + size
    return b"".join(parts)


def _unsnap_block(block: bytes, offset: int, limit: int, before: int) -> bytes:
    """Decompress one block, after ``before`` bytes of others.

    A block has its plain length, then literals and copies.
    """
    try:
        size, _ = varint_at(block, 0)
    except IndexError:
        raise DecodeError(
            "snappy block without its size", offset=offset, expected="a varint"
        ) from None
    if size > _SNAPPY_MOST * len(block):
        raise DecodeError(
            f"snappy block of {counted(len(block), 'bytes')} says that it has {size}",
            offset=offset,
            expected=f"{_SNAPPY_MOST} times its size at most",
        )
    if before + size > limit:
        raise _too_large(limit)
    try:
        return _into(_cramjam("snappy").snappy.decompress_raw_into, "snappy", block, size, limit)
    except DecodeError as error:
        error.offset = offset
        raise


def _into(
    decompress: Callable[[bytes, bytearray], int], name: str, data: bytes, most: int, limit: int
) -> bytes:
    """Decompress into a buffer of the output's upper bound, at most the limit."""
    buffer = bytearray(min(most, limit))
    try:
        size = decompress(data, buffer)
    except Exception as error:  # cramjam has several, by module
        if most > limit and "whole buffer" in str(error):
            raise _too_large(limit) from None
        reason = str(error).removeprefix(f"{name}: ")
        raise DecodeError(
            f"{name} cannot be decompressed: {reason}", expected=f"data compressed by {name}"
        ) from None
    return bytes(memoryview(buffer)[:size])
