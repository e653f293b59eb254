"""The header of a batch as all readers of batches see it: its size, and the fields of magic 2."""

from __future__ import annotations

from typing import NamedTuple

from kafka_admin_proto.records.batches.layout import (
    BATCH_HEADER,
    COMPRESSION,
    CONTROL,
    DELETE_HORIZON,
    LOG_APPEND,
    LOG_OVERHEAD,
    MAGIC_AT,
    SMALLEST,
    TRANSACTIONAL,
)

MAX_INT = (1 << 31) - 1


class NoBatch(ValueError):
    """No batch begins here: the ``field`` at ``offset`` has a value that no batch has."""

    def __init__(self, field: str, offset: int, value: int, expected: str) -> None:
        super().__init__(f"its {field} is {value}")
        self.field = field
        self.offset = offset
        self.value = value
        self.expected = expected


def batch_size(data: bytes | bytearray | memoryview, at: int = 0) -> int | None:
    """The size of the batch of any magic that begins at ``at``; None if the data end before it.

    Raises NoBatch.
    """
    left = len(data) - at
    if left < LOG_OVERHEAD:
        return None
    length = int.from_bytes(data[at + 8 : at + LOG_OVERHEAD], "big", signed=True)
    if length < SMALLEST:
        raise NoBatch("length", at + 8, length, f"{SMALLEST} or more")
    if left > MAGIC_AT and data[at + MAGIC_AT] > 2:
        magic = int.from_bytes(data[at + MAGIC_AT : at + MAGIC_AT + 1], signed=True)
        raise NoBatch("magic", at + MAGIC_AT, magic, "0, 1 or 2")
    size = length + LOG_OVERHEAD
    return size if size <= left else None


class BatchHeader(NamedTuple):
    """The fields in front of the records of a batch of magic 2, in their order."""

    base_offset: int
    length: int
    leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int

    @classmethod
    def of(cls, data: bytes | bytearray | memoryview, at: int = 0) -> BatchHeader:
        """Read the header, of which ``data`` has all 61 bytes from ``at`` on."""
        return tuple.__new__(cls, BATCH_HEADER.unpack_from(data, at))  # _make counts them again

    @property
    def size(self) -> int:
        return self.length + LOG_OVERHEAD

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta

    @property
    def compression(self) -> int:
        return self.attributes & COMPRESSION

    @property
    def is_log_append(self) -> bool:
        return bool(self.attributes & LOG_APPEND)

    @property
    def is_transactional(self) -> bool:
        return bool(self.attributes & TRANSACTIONAL)

    @property
    def is_control(self) -> bool:
        return bool(self.attributes & CONTROL)

    @property
    def has_delete_horizon(self) -> bool:
        return bool(self.attributes & DELETE_HORIZON)

    @property
    def has_producer_id(self) -> bool:
        return self.producer_id > -1

    @property
    def last_sequence(self) -> int:
        """The sequence of the last record, -1 without sequences; behind int32 follows 0."""
        if self.base_sequence == -1:
            return -1
        return add_sequence(self.base_sequence, self.last_offset_delta)


def add_sequence(sequence: int, count: int) -> int:
    """The sequence ``count`` records later or, below zero, earlier; they wrap around at int32."""
    return sequence + count & MAX_INT
