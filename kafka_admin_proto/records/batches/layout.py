"""The layout of the fields in front of the records of a batch, and of the fields of a message."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

from kafka_admin_proto.records.batches.crc32c import crc32c

#: Name, type and format of each field before the records, in order.
Layout = tuple[tuple[str, str, str], ...]
_START: Layout = (("base_offset", "INT64", ">q"), ("batch_length", "INT32", ">i"))
_BATCH: Layout = (
    *_START,
    ("partition_leader_epoch", "INT32", ">i"),
    ("magic", "INT8", ">b"),
    ("crc", "UINT32", ">I"),
    ("attributes", "INT16", ">h"),
    ("last_offset_delta", "INT32", ">i"),
    ("base_timestamp", "INT64", ">q"),
    ("max_timestamp", "INT64", ">q"),
    ("producer_id", "INT64", ">q"),
    ("producer_epoch", "INT16", ">h"),
    ("base_sequence", "INT32", ">i"),
    ("records", "ARRAY of RECORD", ">i"),
)
_MESSAGE: Layout = (
    ("offset", "INT64", ">q"),
    ("message_size", "INT32", ">i"),
    ("crc", "UINT32", ">I"),
    ("magic", "INT8", ">b"),
    ("attributes", "INT8", ">b"),
)
_MESSAGE_1: Layout = (*_MESSAGE, ("timestamp", "INT64", ">q"))
#: Bytes of the offset and length in front of every message and batch.
LOG_OVERHEAD = 12
#: The least length that Kafka accepts: that of a message of magic 0 without key and value.
SMALLEST = 14
MAGIC_AT, CRC_AT = 16, 17
#: All fields in front of the records of a batch of magic 2, and those from the attributes on.
BATCH_HEADER = struct.Struct(">" + "".join(form[1:] for _, _, form in _BATCH))
ATTRIBUTES_AT = 21
FROM_ATTRIBUTES = struct.Struct(">" + "".join(form[1:] for _, _, form in _BATCH[5:]))
#: The fields in front of every message of magic 0, and the first ones of magic 1.
MESSAGE_HEADER = struct.Struct(">" + "".join(form[1:] for _, _, form in _MESSAGE))
#: Bits of the attributes; the first is a mask.
COMPRESSION, LOG_APPEND, TRANSACTIONAL, CONTROL, DELETE_HORIZON = 7, 8, 16, 32, 64
#: The bits of a batch of magic 2 that no release uses.
RESERVED = ~127


def layout_of(magic: int | None) -> Layout:
    """The fields of a batch of that magic; without one, the two fields that every batch has."""
    return (_MESSAGE, _MESSAGE_1, _BATCH)[magic] if magic in (0, 1, 2) else _START


def layout_size(layout: Layout) -> int:
    """The size of the fields in bytes."""
    return sum(struct.calcsize(form) for _, _, form in layout)


def read_fields(data: bytes, at: int, end: int, layout: Layout) -> Iterator[tuple[str, int]]:
    """Name and value of each field that ends at ``end`` or before."""
    for name, _, form in layout:
        stop = at + struct.calcsize(form)
        if stop > end:
            return
        (value,) = struct.unpack_from(form, data, at)
        yield name, value
        at = stop


def checksums(data: bytes | bytearray, at: int, end: int, magic: int) -> tuple[int, int]:
    """The checksum in the header of a batch, and the checksum computed from its bytes."""
    with memoryview(data) as view:
        if magic == 2:
            place, computed = at + CRC_AT, crc32c(view[at + ATTRIBUTES_AT : end])
        else:
            place, computed = at + 12, zlib.crc32(view[at + MAGIC_AT : end])
        return int.from_bytes(view[place : place + 4], "big"), computed


def checksum_name(magic: int) -> str:
    return "CRC-32C" if magic == 2 else "CRC-32"
