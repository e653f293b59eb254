"""Read one record field by field, to say which field is wrong or which bytes each field has.

The readers of `record_format` and `message_sets` read good records fast. This module reads the same
bytes slowly: `record_format` runs it on a record that it could not read, to raise an error that
names the field, and `record_fields` makes a row of each part for people who look at bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import DecodeError
from kafka_admin_proto.wire.varint import VARINT_BYTES, VARLONG_BYTES, unzigzag, varint_at

#: Java ignores bits beyond those of an int or a long, and so do all readers here.
INT_BITS, LONG_BITS = (1 << 32) - 1, (1 << 64) - 1


class RecordPart(NamedTuple):
    """A field of a record: its bytes, length included, and its value."""

    name: str
    start: int
    end: int
    value: Any


def record_length(data: Any, at: int, end: int) -> RecordPart:
    """The length in front of a record. Raises DecodeError unless the record ends at ``end``."""
    part = _number(data, at, end, "length", "record size")
    left = end - part.end
    if not 0 <= part.value <= left:
        raise DecodeError(
            f"record size is {part.value}, and {counted(left, 'bytes')} are left",
            path="length",
            offset=at,
            expected="a record within its batch",
        )
    return part


def record_parts(data: Any, at: int, end: int) -> Iterator[RecordPart]:
    """The parts of a record of magic 2, without its length.

    Raises DecodeError, with the part's name as the path, at the first part that is wrong, and where
    bytes are left over.
    """
    if at >= end:
        raise DecodeError(
            "attributes are missing", path="attributes", offset=at, expected="a byte of attributes"
        )
    part = RecordPart("attributes", at, at + 1, data[at])
    yield part
    part = _number(data, part.end, end, "timestamp_delta", "timestamp delta", VARLONG_BYTES)
    yield part
    part = _number(data, part.end, end, "offset_delta", "offset delta")
    yield part
    part = _blob(data, part.end, end, "key", "key")
    yield part
    part = _blob(data, part.end, end, "value", "value")
    yield part
    part = _number(data, part.end, end, "headers", "count of headers")
    left = end - part.end
    if not 0 <= part.value <= left:
        raise DecodeError(
            f"count of headers is {part.value}, and {counted(left, 'bytes')} are left",
            path="headers",
            offset=part.start,
            expected="a count that fits the record",
        )
    yield part
    for index in range(part.value):
        name = f"headers[{index}]"
        part = _blob(data, part.end, end, f"{name}.key", "header key", nullable=False)
        yield part
        part = _blob(data, part.end, end, f"{name}.value", "header value")
        yield part
    if part.end < end:
        raise DecodeError(
            f"{counted(end - part.end, 'bytes')} left in the record",
            path="left_over",
            offset=part.end,
            expected="its end",
        )


def message_blob(data: bytes, at: int, end: int, name: str) -> tuple[bytes | None, int]:
    """A key or value of a message of magic 0 or 1, behind an int32, and where it ends.

    Raises DecodeError with the name as the path.
    """
    left = end - at - 4
    if left < 0:
        raise DecodeError(f"{name} length is missing", path=name, offset=at, expected="an int32")
    size = int.from_bytes(data[at : at + 4], "big", signed=True)
    if size < 0:
        return None, at + 4
    if size > left:
        raise _too_long(name, name, at, size, left)
    return data[at + 4 : at + 4 + size], at + 4 + size


def _number(
    data: Any, at: int, end: int, name: str, what: str, max_bytes: int = VARINT_BYTES
) -> RecordPart:
    """A signed varint of at most ``max_bytes``; ``what`` names it in errors."""
    try:
        bits = INT_BITS if max_bytes == VARINT_BYTES else LONG_BITS
        value, stop = varint_at(data, at, max_bytes, bits)
        if stop > end:
            raise IndexError
    except IndexError:
        too_long = end - at >= max_bytes
        fault = (
            f"is a varint of more than {counted(max_bytes, 'bytes')}"
            if too_long
            else "ends too early"
        )
        raise DecodeError(
            f"{what} {fault}", path=name, offset=at, expected=f"a varint ({what})"
        ) from None
    return RecordPart(name, at, stop, unzigzag(value))


def _blob(
    data: Any, at: int, end: int, name: str, what: str, *, nullable: bool = True
) -> RecordPart:
    """A varint length and its bytes; a negative length means null."""
    length = _number(data, at, end, name, f"{what} length")
    size, start = length.value, length.end
    if size < 0:
        if nullable:
            return RecordPart(name, at, start, None)
        raise DecodeError(f"{what} length is {size}", path=name, offset=at, expected="0 or more")
    if size > end - start:
        raise _too_long(name, what, at, size, end - start)
    return RecordPart(name, at, start + size, data[start : start + size])


def _too_long(name: str, what: str, at: int, size: int, left: int) -> DecodeError:
    return DecodeError(
        f"{what} needs {counted(size, 'bytes')}, {left} left",
        path=name,
        offset=at,
        expected=f"{counted(size, 'bytes')} of {what}",
    )
