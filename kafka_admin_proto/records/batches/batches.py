"""Record batches, as in the ``records`` fields of Produce and Fetch and in log segments.

    for batch in read_batches(data): ...       # raises at the first fault
    found = read_records(data)                 # never raises; has all that could be read
    data = write_batch(Batch.of([Record(0, 1_700_000_000_000, b"key", b"value")]))

Magic 2 (``DefaultRecordBatch`` in Kafka, KIP-98) is read here, magic 0 and 1 in
``message_sets``; a piece of an old log may mix them.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from kafka_admin_proto.arguments import check_kind
from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import DecodeError, EncodeError, KafkaAdminProtoError
from kafka_admin_proto.records.batches.crc32c import crc32c
from kafka_admin_proto.records.batches.header import BatchHeader, NoBatch, batch_size
from kafka_admin_proto.records.batches.layout import (
    ATTRIBUTES_AT,
    BATCH_HEADER,
    COMPRESSION,
    CONTROL,
    CRC_AT,
    DELETE_HORIZON,
    FROM_ATTRIBUTES,
    LOG_APPEND,
    LOG_OVERHEAD,
    MAGIC_AT,
    RESERVED,
    TRANSACTIONAL,
)
from kafka_admin_proto.records.batches.message_sets import read_message, write_messages
from kafka_admin_proto.records.batches.model import (
    COMPRESSIONS,
    DEFAULT_DECOMPRESSED_LIMIT,
    TIMESTAMP_TYPES,
    Batch,
    Record,
    RecordSet,
)
from kafka_admin_proto.records.batches.record_format import (
    BYTES_PER_ITEM,
    limit_bytes,
    read_records_v2,
    write_records_v2,
)
from kafka_admin_proto.records.compression import codecs as compression

__all__ = [
    "DEFAULT_DECOMPRESSED_LIMIT",
    "Batch",
    "Record",
    "RecordSet",
    "read_batches",
    "read_records",
    "write_batch",
]

Buffer = bytes | bytearray | memoryview

_UNBOUNDED = 1 << 62
#: Fields that are numbers, and their bits.
_NUMBERS = {
    "magic": 8, "base_offset": 64, "partition_leader_epoch": 32, "last_offset_delta": 32,
    "base_timestamp": 64, "max_timestamp": 64, "producer_id": 64, "producer_epoch": 16,
    "base_sequence": 32, "reserved_attributes": 16,
}  # fmt: skip


def read_batches(
    data: Buffer | None, *, limit: int = DEFAULT_DECOMPRESSED_LIMIT, zero_copy: bool = False
) -> Iterator[Batch]:
    """The batches of a ``records`` field or of a piece of a log, one by one; none for null records.

    ``limit`` bounds the decompressed size of each batch: the bytes of its records, and at least 64
    for each record and header. The iteration ends before a last batch that is cut short, because
    brokers send such batches; ``read_records`` counts its bytes. Raises DecodeError with the path
    (``batches[2].records[5].key``) and the offset in the data; inside of compressed records, the
    offset is that of the compressed bytes. Raises MissingExtraError for a compressed batch whose
    package is not installed. With ``zero_copy``, keys and values of magic 2 are memoryviews of the
    data, or of the decompressed bytes.
    """
    for batch in _read(b"" if data is None else data, limit, each=True, zero_copy=zero_copy):
        if batch.error is not None:
            raise batch.error
        yield batch


def read_records(
    data: Buffer | None, *, limit: int = DEFAULT_DECOMPRESSED_LIMIT, zero_copy: bool = False
) -> RecordSet:
    """All batches with their errors, none for null records; it never raises.

    A batch with a fault has the ``error``, and the records before the fault; reading continues with
    the next batch. ``zero_copy`` is as in ``read_batches``; ``limit`` is for all batches together.
    """
    data = b"" if data is None else data
    record_set = RecordSet([])
    position = 0
    try:
        for batch in _read(data, limit, each=False, zero_copy=zero_copy):
            record_set.batches.append(batch)
            position += batch.size
    except DecodeError as error:
        record_set.error = error
    else:
        record_set.partial_bytes = len(data) - position
        if record_set.partial_bytes >= LOG_OVERHEAD:
            length = int.from_bytes(data[position + 8 : position + LOG_OVERHEAD], "big")
            record_set.needed_bytes = LOG_OVERHEAD + length
    return record_set


def _read(data: Buffer, limit: int, *, each: bool, zero_copy: bool) -> Iterator[Batch]:
    """Each batch; raises DecodeError at bytes where no batch can begin."""
    memoryview(data)  # raises TypeError: a text has a length and slices too
    position = index = 0
    left = limit
    while (size := _size(data, position, index)) is not None:
        batch = Batch(size=size, offset_in_data=position)
        try:
            end = position + size
            piece = memoryview(data)[position:end] if zero_copy else bytes(data[position:end])
            batch_takes = _read_one(piece, batch, left)
        except KafkaAdminProtoError as error:
            if isinstance(error, DecodeError):
                error.path = f"batches[{index}]" + (f".{error.path}" if error.path else "")
                error.offset += position
            batch.error = error
            batch_takes = sum(map(limit_bytes, batch.records))
        if not each:
            left = max(left - batch_takes, 0)
        position += size
        index += 1
        yield batch


def _size(data: Buffer, position: int, index: int) -> int | None:
    """The size of the next batch by its length field; None if the data ends before the batch."""
    try:
        return batch_size(data, position)
    except NoBatch as error:
        path = f"batches[{index}]"
        raise DecodeError(
            str(error), path=path, offset=error.offset, expected=error.expected
        ) from None


def _read_one(data: bytes | memoryview, batch: Batch, limit: int) -> int:
    """Fill ``batch`` from its bytes; return the bytes that its records use of ``limit``.

    Raises DecodeError, with path and offset within the batch, and MissingExtraError.
    """
    batch.magic = data[MAGIC_AT]
    if batch.magic < 2:
        return read_message(bytes(data), batch, limit)
    batch.base_offset = int.from_bytes(data[:8], "big", signed=True)
    if len(data) < BATCH_HEADER.size:
        raise DecodeError(
            f"it has {counted(len(data), 'bytes')}",
            offset=8,
            expected=f"{BATCH_HEADER.size} or more for magic 2",
        )
    header = BatchHeader.of(data)
    batch.partition_leader_epoch = header.leader_epoch
    batch.last_offset_delta = header.last_offset_delta
    batch.base_timestamp = header.base_timestamp
    batch.max_timestamp = header.max_timestamp
    batch.producer_id = header.producer_id
    batch.producer_epoch = header.producer_epoch
    batch.base_sequence = header.base_sequence
    append_time = None
    if header.attributes & ~COMPRESSION:  # few batches have other ones
        batch.is_transactional = header.is_transactional
        batch.is_control = header.is_control
        batch.has_delete_horizon = header.has_delete_horizon
        batch.reserved_attributes = header.attributes & RESERVED
        if header.is_log_append:
            batch.timestamp_type = "log_append"
            append_time = header.max_timestamp
    number, count = header.attributes & COMPRESSION, header.record_count
    if number < len(COMPRESSIONS):
        batch.compression = COMPRESSIONS[number]
    computed = crc32c(memoryview(data)[ATTRIBUTES_AT:])
    if computed != header.crc:
        raise DecodeError(
            f"its CRC-32C is {computed:08x}, and it says {header.crc:08x}",
            offset=CRC_AT,
            expected=f"{header.crc:08x}, or the bytes that were written",
        )
    start = BATCH_HEADER.size
    if not number:
        read_records_v2(
            data, start, count, batch.base_offset, batch.base_timestamp, append_time,
            batch.records, _UNBOUNDED,
        )  # fmt: skip
        return 0
    if number >= len(COMPRESSIONS):
        raise compression.unknown(number, offset=ATTRIBUTES_AT)
    if count == 0:
        return 0
    try:
        plain: bytes | memoryview = compression.decompress(
            batch.compression, bytes(data[start:]), limit
        )
    except DecodeError as error:
        error.offset += start
        raise
    most = limit // BYTES_PER_ITEM
    if isinstance(data, memoryview):
        plain = memoryview(plain)
    try:
        read_records_v2(
            plain, 0, count, batch.base_offset, batch.base_timestamp, append_time,
            batch.records, most,
        )  # fmt: skip
    except DecodeError as error:
        error.fault += f" (at byte {error.offset} of what was decompressed)"
        error.offset = start
        raise
    return max(len(plain), count * BYTES_PER_ITEM)


def write_batch(batch: Batch, *, level: int | None = None) -> bytes:
    """Encode a batch; its ``size``, ``offset_in_data`` and ``error`` are ignored.

    ``level`` is that of the compression for magic 2, by default its own. With magic 0 or 1 and no
    compression, each record becomes a message. Bits that are reserved in the attributes of single
    records, and in those of magic 0 and 1, are 0. Raises EncodeError with the path of a value that
    does not fit, and MissingExtraError if the package of the compression is not installed.
    """
    _check(batch)
    if batch.magic < 2:
        return write_messages(batch)
    if batch.timestamp_type == "none":
        raise EncodeError("magic 2 has timestamps", path="timestamp_type", value="none")
    return encode_batch(batch, level=level)


def encode_batch(batch: Batch, *, level: int | None = None) -> bytes:
    """``write_batch`` for magic 2 and numbers that fit, as the caller's own batches have them."""
    append_time = batch.max_timestamp if batch.timestamp_type == "log_append" else None
    records = write_records_v2(batch.records, batch.base_offset, batch.base_timestamp, append_time)
    if batch.compression != "none" and batch.records:
        records = compression.compress(batch.compression, records, level=level)
    attributes = (
        COMPRESSIONS.index(batch.compression)
        | LOG_APPEND * (batch.timestamp_type == "log_append")
        | TRANSACTIONAL * bool(batch.is_transactional)
        | CONTROL * bool(batch.is_control)
        | DELETE_HORIZON * bool(batch.has_delete_horizon)
        | batch.reserved_attributes
    )
    try:
        tail = FROM_ATTRIBUTES.pack(
            attributes, batch.last_offset_delta, batch.base_timestamp, batch.max_timestamp,
            batch.producer_id, batch.producer_epoch, batch.base_sequence, len(batch.records),
        ) + records  # fmt: skip
        return (
            struct.pack(
                ">qiibI",
                batch.base_offset,
                len(tail) + ATTRIBUTES_AT - LOG_OVERHEAD,
                batch.partition_leader_epoch,
                2,
                crc32c(tail),
            )
            + tail
        )
    except struct.error:  # of its length: all other numbers have been checked
        raise EncodeError(
            f"its records take {counted(len(records), 'bytes')}, and a batch has an int32 for "
            "its length",
            path="records",
        ) from None


def _check(batch: Batch) -> None:
    """Raise EncodeError for values that no batch of any magic can have."""
    check_kind(batch, Batch, "write_batch: batch")
    for names, field in ((COMPRESSIONS, "compression"), (TIMESTAMP_TYPES, "timestamp_type")):
        name = getattr(batch, field)
        if name not in names:
            words = field.replace("_", " ")
            raise EncodeError(f"no {words} is named {name!r}", path=field, value=name)
    for field, bits in _NUMBERS.items():
        value = getattr(batch, field)
        if field == "last_offset_delta" and batch.magic < 2:
            bits = 65  # between any two offsets: only the last one is written
        if not isinstance(value, int) or not -1 << bits - 1 <= value < 1 << bits - 1:
            raise EncodeError(f"{value!r} is no int{bits}", path=field, value=value)
    reserved = batch.reserved_attributes
    if reserved & ~RESERVED or (reserved and batch.magic < 2):
        raise EncodeError(
            f"{reserved} is not of the reserved bits of magic 2's attributes",
            path="reserved_attributes", value=reserved,
        )  # fmt: skip
    if not 0 <= batch.magic <= 2:
        raise EncodeError("magic is 0, 1 or 2", path="magic", value=batch.magic)
    if not isinstance(batch.records, (list, tuple)):
        raise EncodeError("records are a list", path="records", value=batch.records)
    for index, record in enumerate(batch.records):
        if not isinstance(record, Record):
            raise EncodeError("it is no Record", path=f"records[{index}]", value=record)
