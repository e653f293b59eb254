"""Compression of record batches and message sets, with a limit that holds while decompressing."""

from __future__ import annotations

import zlib

from kafka_admin_proto.errors import DecodeError
from kafka_admin_proto.records.model import CompressionName


def decompress(name: CompressionName, data: bytes, limit: int, *, magic: int = 2) -> bytes:
    """The plain bytes, never more than ``limit``.

    Raises DecodeError, with the offset in ``data``, and MissingExtraError.
    """
    if name != "gzip":
        raise NotImplementedError(name)
    return _gunzip(data, limit)


def compress(name: CompressionName, data: bytes, *, magic: int = 2) -> bytes:
    """As Kafka's producer would, for batches of that magic. Raises MissingExtraError."""
    if name != "gzip":
        raise NotImplementedError(name)
    return zlib.compress(data, wbits=31)


def unknown(number: int, *, offset: int) -> DecodeError:
    """The error for a number that no compression has."""
    return DecodeError(f"no compression has number {number}", offset=offset, expected="0 to 4")


def too_large(limit: int) -> DecodeError:
    """The error for what is longer than it may be."""
    return DecodeError(
        f"it decompresses to more than {limit} bytes", expected="less, or a higher limit"
    )


def _gunzip(data: bytes, limit: int) -> bytes:
    parts = []
    total = 0
    offset = 0
    while True:
        one = zlib.decompressobj(wbits=31)
        try:
            part = one.decompress(data[offset:], limit - total + 1)
        except zlib.error as error:
            raise DecodeError(f"gzip: {error}", offset=offset, expected="gzip") from None
        total += len(part)
        if total > limit:
            raise too_large(limit)
        parts.append(part)
        if not one.eof:
            raise DecodeError("gzip data ends too early", offset=len(data), expected="its end")
        offset = len(data) - len(one.unused_data)
        # Members may follow one another; like Java, what is no member is not looked at.
        if data[offset : offset + 2] != b"\x1f\x8b":
            return b"".join(parts)
