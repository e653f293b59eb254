"""Varints: seven bits a byte, lowest first, the top bit set on all bytes but the last.

``org.apache.kafka.common.utils.ByteUtils`` reads at most five bytes, ten of a long; so does this
module. construct's own VarInt has no such bound. There are two forms: ``read_uvarint`` takes a
stream and says what is wrong, for the tree; the others take bytes and a position, for emitted
code and for the loops that read records.
"""

from __future__ import annotations

from typing import IO

from construct import Container

from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import DecodeError
from kafka_admin_proto.wire.stream import note

#: A varint is an int in Java: a larger value would be a negative one there.
MAX_UVARINT = (1 << 31) - 1
#: The bytes that a varint of 32 bits has at most, and one of 64 bits.
VARINT_BYTES, VARLONG_BYTES = 5, 10
#: The varints of one byte, by value.
SHORT_VARINTS = tuple(bytes([value]) for value in range(128))


def read_uvarint(stream: IO[bytes], context: Container, path: str, what: str) -> int:
    """A value from 0 to MAX_UVARINT; ``what`` names it in errors ("string length", "tag")."""
    value = 0
    for position in range(VARINT_BYTES):
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
            f"{what} is a varint of more than {VARINT_BYTES} bytes",
            path=path,
            offset=stream.tell() - VARINT_BYTES,
            expected=f"an unsigned varint ({what})",
        )
    if value > MAX_UVARINT:
        raise DecodeError(
            f"{what} is {value}, which is out of range",
            path=path,
            offset=stream.tell() - VARINT_BYTES,
            expected=f"{what} of at most {MAX_UVARINT}",
        )
    return value


def varint_at(
    data: bytes | memoryview, p: int, most: int = VARINT_BYTES, mask: int = -1
) -> tuple[int, int]:
    """The bits of the varint at ``p``, and the position behind it.

    IndexError where the data ends inside it or it has more than ``most`` bytes. Bits outside
    ``mask`` fall away, as they do in Java beyond an int's 32.
    """
    value = shift = 0
    end = p + most
    while p < end:
        bits = data[p]
        p += 1
        value |= (bits & 0x7F) << shift
        if bits < 0x80:
            return value & mask, p
        shift += 7
    raise IndexError(f"a varint of more than {counted(most, 'bytes')}")


def uvarint_at(data: bytes, p: int) -> tuple[int, int]:
    """The value of the varint at ``p``, from 0 to MAX_UVARINT, and the position behind it.

    IndexError for anything else. One and two bytes are most of them.
    """
    bits = data[p]
    if bits < 128:
        return bits, p + 1
    more = data[p + 1]
    if more < 128:
        return bits + (more << 7) - 128, p + 2
    value, p = varint_at(data, p)
    if value > MAX_UVARINT:
        raise IndexError(f"a varint of {value}")
    return value, p


def varint_end(data: bytes, start: int) -> int:
    """The position behind the varint at ``start``, or behind as much of it as there is."""
    end = start
    while end < min(start + VARINT_BYTES, len(data)) and data[end] & 0x80:
        end += 1
    return min(end + 1, len(data))


def unzigzag(bits: int) -> int:
    """The signed number of a varint's bits: 0, 1, 2, 3 are 0, -1, 1, -2."""
    return bits >> 1 ^ -(bits & 1)


def encode_uvarint(value: int) -> bytes:
    """The shortest form of a value of 0 or more."""
    if value < 128:
        return SHORT_VARINTS[value]
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def encode_varint(value: int) -> bytes:
    """The shortest form of a signed value, an int's or a long's, in zigzag."""
    return encode_uvarint(value << 1 if value >= 0 else ~(value << 1))
