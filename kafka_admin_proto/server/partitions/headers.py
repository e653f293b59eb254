"""How the log splits produced batches, and what it writes into the header of one of magic 2."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.batches.crc32c import crc32c
from kafka_admin_proto.records.batches.header import BatchHeader, NoBatch, batch_size
from kafka_admin_proto.records.batches.layout import (
    ATTRIBUTES_AT,
    COMPRESSION,
    CONTROL,
    CRC_AT,
    DELETE_HORIZON,
    LOG_APPEND,
    MAGIC_AT,
    SMALLEST,
    TRANSACTIONAL,
)
from kafka_admin_proto.server.partitions.failures import RecordsRefused

#: The bytes in front of the magic: base offset, length and leader epoch.
_FRONT = struct.Struct(">qii")
_MAX_TIMESTAMP_AT = 35
_KNOWN_ATTRIBUTES = COMPRESSION | LOG_APPEND | TRANSACTIONAL | CONTROL | DELETE_HORIZON


def split_batches(data: bytes | memoryview) -> Iterator[memoryview]:
    """The whole batches in a produced ``records`` field (``ByteBufferLogInputStream``).

    A last batch that is cut short is left out. Raises RecordsRefused at a size or magic that no
    batch has.
    """
    view = memoryview(data)
    size = _size(view)
    return iter((view,)) if size == len(view) else _each(view, size)  # one is the usual case


def _each(view: memoryview, size: int | None) -> Iterator[memoryview]:
    while size is not None:
        yield view[:size]
        view = view[size:]
        size = _size(view)


def _size(view: memoryview) -> int | None:
    try:
        return batch_size(view)
    except NoBatch as error:
        text = f"Invalid magic found in record: {error.value}"
        if error.field == "length":
            text = (
                f"Record size {error.value} is less than the minimum record overhead ({SMALLEST})"
            )
        raise RecordsRefused(codes.CORRUPT_MESSAGE, text) from None


def stamped(
    batch: bytes | memoryview,
    base_offset: int,
    leader_epoch: int,
    *,
    log_append: bool,
    max_timestamp: int,
) -> bytes:
    """A copy of a batch with what the leader says; its CRC changes only if its timestamps do."""
    header = BatchHeader.of(batch)
    front = _FRONT.pack(base_offset, header.length, leader_epoch)
    if header.is_log_append == log_append and header.max_timestamp == max_timestamp:
        return b"".join((front, batch[MAGIC_AT:]))
    written = bytearray(batch)
    written[: _FRONT.size] = front
    attributes = header.attributes & _KNOWN_ATTRIBUTES & ~LOG_APPEND | LOG_APPEND * log_append
    struct.pack_into(">h", written, ATTRIBUTES_AT, attributes)
    struct.pack_into(">q", written, _MAX_TIMESTAMP_AT, max_timestamp)
    struct.pack_into(">I", written, CRC_AT, crc32c(memoryview(written)[ATTRIBUTES_AT:]))
    return bytes(written)
