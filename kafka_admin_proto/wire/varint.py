"""Unsigned varints: seven bits a byte, lowest first, the top bit set on all bytes but the last.

``org.apache.kafka.common.utils.ByteUtils`` reads at most five bytes; so does this module.
construct's own VarInt has no such bound.
"""

from __future__ import annotations

from typing import IO

from construct import Container

from kafka_admin_proto.errors import DecodeError
from kafka_admin_proto.wire.base import note

#: A varint is an int in Java: a larger value would be a negative one there.
MAX_UVARINT = (1 << 31) - 1


def read_uvarint(stream: IO[bytes], context: Container, path: str, what: str) -> int:
    """A value from 0 to MAX_UVARINT; ``what`` names it in errors ("string length", "tag")."""
    value = 0
    for position in range(5):
        byte = stream.read(1)
        if not byte:
            raise DecodeError(
                f"{what} ends in the middle of a varint" if position else f"{what} is missing",
                path=path,
                offset=stream.tell() - position,
                expected=f"an unsigned varint ({what})",
            )
        bits = byte[0]
        value |= (bits & 0x7F) << (7 * position)
        if bits < 0x80:
            if not bits and position:
                note(context, path, stream.tell() - position - 1, f"{what} is a padded varint")
            break
    else:
        raise DecodeError(
            f"{what} is a varint of more than 5 bytes",
            path=path,
            offset=stream.tell() - 5,
            expected=f"an unsigned varint ({what})",
        )
    if value > MAX_UVARINT:
        raise DecodeError(
            f"{what} is {value}, which is out of range",
            path=path,
            offset=stream.tell() - 5,
            expected=f"{what} of at most {MAX_UVARINT}",
        )
    return value


def encode_uvarint(value: int) -> bytes:
    """The shortest form of a value from 0 to MAX_UVARINT."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
