"""Batches of a log as message sets, for clients from before magic 2.

As ``LazyDownConversionRecords`` and ``RecordsUtil`` in Kafka: an answer is as large as the bytes
that were read of the log, or as its first batch if that is larger as a message set. What does not
fit in is cut off, and room that is left has the beginning of a batch that never ends, so that
clients which look for an incomplete message find one.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

from kafka_admin_proto.errors import DecodeError
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.batches.batches import read_batches, write_batch
from kafka_admin_proto.records.batches.header import BatchHeader
from kafka_admin_proto.records.batches.layout import BATCH_HEADER
from kafka_admin_proto.records.batches.model import COMPRESSIONS, NO_TIMESTAMP, Batch
from kafka_admin_proto.records.batches.record_format import limit_bytes
from kafka_admin_proto.server.partitions.failures import RecordsRefused, check_timestamp
from kafka_admin_proto.server.partitions.headers import split_batches

_ZSTD = COMPRESSIONS.index("zstd")
#: Batches of so many bytes are converted together: where one of them cannot be, none is.
_CHUNK_BYTES = 128 * 1024
#: An incomplete batch has its offset and size at least.
_OVERFLOW = struct.Struct(">qi")
#: Bytes of decompressed records after which no further batch of an answer is converted.
_BUDGET_BYTES = 4 << 20
#: What converting one batch may decompress: it was checked when it was appended.
_STORED_LIMIT = 1 << 40


class DownConverter:
    """Makes the message sets of one answer, of magic 0 or 1.

    Kafka does so for as long as an answer is sent; here all other clients wait. An answer is cut
    short behind the batch with which its records are more than 4 MiB, each counted as 64 bytes at
    least.
    """

    def __init__(self, magic: int) -> None:
        self._magic = magic
        self._left = _BUDGET_BYTES

    def converted(self, data: bytes, size_bytes: int, first_offset: int) -> bytes:
        """The records of a partition, whole batches of which ``size_bytes`` were read.

        Records before ``first_offset`` are left out of batches that are not compressed. Raises
        RecordsRefused: UNSUPPORTED_COMPRESSION_TYPE where zstd compresses what comes first.
        """
        batches = list(split_batches(data)) if self._left > 0 else []
        if not batches:
            return b""
        first = b""
        for batch in batches:
            first = self._sets([batch], first_offset)
            if first:
                break
        if not first:  # markers alone
            return _overflow(_OVERFLOW.size)
        parts, left = [first], max(size_bytes, len(first)) - len(first)
        try:
            # As in Kafka, what is there before a first marker comes twice behind it.
            for chunk in _chunks(batches[1:]):
                if left <= 0 or self._left <= 0:
                    break
                part = self._sets(chunk, first_offset)[:left]
                left -= len(part)
                parts.append(part)
        except RecordsRefused:
            pass  # the client meets it at the next offset
        return b"".join(parts) + _overflow(left)

    def _sets(self, batches: Sequence[memoryview], first_offset: int) -> bytes:
        """The batches as message sets, without those that have none. Raises RecordsRefused."""
        kept = []
        for batch in batches:
            header = BatchHeader.of(batch)
            if header.is_control:
                continue
            if header.compression == _ZSTD:
                raise RecordsRefused(
                    codes.UNSUPPORTED_COMPRESSION_TYPE,
                    "Down-conversion of zstandard-compressed batches is not supported",
                )
            kept.append(batch)
        return b"".join([self._set(each, first_offset) for each in kept])

    def _set(self, batch: memoryview, first_offset: int) -> bytes:
        try:
            (read,) = read_batches(batch, limit=_STORED_LIMIT)
        except DecodeError as error:
            raise RecordsRefused(codes.CORRUPT_MESSAGE, str(error)) from None
        records = read.records
        self._left -= sum(map(limit_bytes, records))
        if read.compression == "none":
            records = [each for each in records if each.offset >= first_offset]
        if not records:
            return b""
        for record in records:
            check_timestamp(record.timestamp)
            record.headers = ()
            if self._magic == 0:
                record.timestamp = NO_TIMESTAMP
        return write_batch(
            Batch.of(
                records,
                magic=self._magic,
                compression=read.compression,
                timestamp_type=read.timestamp_type,
            )
        )


def _chunks(batches: Sequence[memoryview]) -> Iterator[list[memoryview]]:
    """The batches in runs that are converted together: one, or as many as have 128 KiB."""
    chunk: list[memoryview] = []
    size_bytes = 0
    for batch in batches:
        if chunk and size_bytes + len(batch) > _CHUNK_BYTES:
            yield chunk
            chunk, size_bytes = [], 0
        chunk.append(batch)
        size_bytes += len(batch)
    if chunk:
        yield chunk


def _overflow(size_bytes: int) -> bytes:
    """So many bytes of batches that do not end within them."""
    parts = []
    while size_bytes > 0:
        length = max(size_bytes + 1, BATCH_HEADER.size)
        part = _OVERFLOW.pack(-1, length).ljust(min(size_bytes, _CHUNK_BYTES), b"\0")
        parts.append(part[:size_bytes])
        size_bytes -= len(part)
    return b"".join(parts)
