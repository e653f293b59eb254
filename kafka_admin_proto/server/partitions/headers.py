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
    SMALLEST,
    TRANSACTIONAL,
)
from kafka_admin_proto.server.partitions.failures import RecordsRefused

_EPOCH_AT = 12
_MAX_TIMESTAMP_AT = 35
_KNOWN_ATTRIBUTES = COMPRESSION | LOG_APPEND | TRANSACTIONAL | CONTROL | DELETE_HORIZON


def split_batches(data: bytes | memoryview) -> Iterator[memoryview]:
    """The whole batches in a produced ``records`` field (``ByteBufferLogInputStream``).

    A last batch that is cut short is left out. Raises RecordsRefused at a size or magic that no
    batch has.
    """
    view = memoryview(data)
    try:
        while (size := batch_size(view)) is not None:
            yield view[:size]
            view = view[size:]
    except NoBatch as error:
        text = f"Invalid magic found in record: {error.value}"
        if error.field == "length":
            text = (
                f"Record size {error.value} is less than the minimum record overhead ({SMALLEST})"
            )
        raise RecordsRefused(codes.CORRUPT_MESSAGE, text) from None


def stamp(
    batch: bytearray, base_offset: int, leader_epoch: int, *, log_append: bool, max_timestamp: int
) -> None:
    """Write what the leader says of a batch; its CRC changes only if its timestamps do."""
    struct.pack_into(">q", batch, 0, base_offset)
    struct.pack_into(">i", batch, _EPOCH_AT, leader_epoch)
    header = BatchHeader.of(batch)
    if header.is_log_append == log_append and header.max_timestamp == max_timestamp:
        return
    attributes = header.attributes & _KNOWN_ATTRIBUTES & ~LOG_APPEND | LOG_APPEND * log_append
    struct.pack_into(">h", batch, ATTRIBUTES_AT, attributes)
    struct.pack_into(">q", batch, _MAX_TIMESTAMP_AT, max_timestamp)
    struct.pack_into(">I", batch, CRC_AT, crc32c(memoryview(batch)[ATTRIBUTES_AT:]))
