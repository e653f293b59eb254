"""Message sets, the formats before record batches: magic 0, and 1 with timestamps (KIP-31, 32).

A message is offset, size, CRC-32, magic, attributes, timestamp (magic 1), key, value. A compressed
set is one message whose value is a whole set, compressed: with the offset of its last message,
the inner offsets counting from 0 in magic 1 and absolute in magic 0 (``LegacyRecord`` and
``AbstractLegacyRecordBatch`` in Kafka).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator

from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import DecodeError, EncodeError
from kafka_admin_proto.records.batches.layout import (
    COMPRESSION,
    LOG_APPEND,
    LOG_OVERHEAD,
    MESSAGE_HEADER,
    SMALLEST,
)
from kafka_admin_proto.records.batches.model import (
    COMPRESSIONS,
    NO_TIMESTAMP,
    Batch,
    Record,
    TimestampType,
)
from kafka_admin_proto.records.batches.record_format import BYTES_PER_ITEM, cannot_write
from kafka_admin_proto.records.batches.record_steps import message_blob
from kafka_admin_proto.records.compression import codecs as compression


class Message:
    """The fixed fields of one message on the wire; its key begins at ``start``.

    ``what`` names it in errors. Raises DecodeError for a size that does not fit the data; all else
    is for ``check``, since a broker has other words for it.
    """

    __slots__ = (
        "attributes", "computed_crc", "crc", "end", "magic", "offset", "start", "timestamp", "what",
    )  # fmt: skip

    def __init__(self, data: bytes, start: int, what: str) -> None:
        self.what: str = what
        left = len(data) - start
        if left < LOG_OVERHEAD + SMALLEST:
            raise DecodeError(
                f"{what} needs {counted(LOG_OVERHEAD + SMALLEST, 'bytes')} at least, {left} left",
                offset=start,
                expected="a message",
            )
        size: int
        self.crc: int
        self.magic: int
        self.offset: int
        self.attributes: int
        self.offset, size, self.crc, self.magic, self.attributes = MESSAGE_HEADER.unpack_from(
            data, start
        )
        if not SMALLEST <= size <= left - LOG_OVERHEAD:
            raise DecodeError(
                f"size of the {what} is {size}, and {counted(left - LOG_OVERHEAD, 'bytes')} left",
                offset=start + 8,
                expected=f"{SMALLEST} or more, and no more than are left",
            )
        self.end: int = start + LOG_OVERHEAD + size
        self.computed_crc: int = zlib.crc32(memoryview(data)[start + 16 : self.end])
        self.start: int = start + 18
        self.timestamp: int = NO_TIMESTAMP
        if self.magic != 0:
            (self.timestamp,) = struct.unpack_from(">q", data, self.start)
            self.start += 8

    def check(self) -> None:
        """Raises DecodeError for another checksum, magic or size than a message has."""
        header = LOG_OVERHEAD + 6 + 8 * (self.magic != 0)
        start, what = self.start - header, self.what
        if self.computed_crc != self.crc:
            raise DecodeError(
                f"CRC-32 of the {what} is {self.computed_crc:08x}, and it says {self.crc:08x}",
                offset=start + 12,
                expected=f"{self.crc:08x}, or the bytes that were written",
            )
        if self.magic not in (0, 1):
            raise DecodeError(f"magic of the {what} is {self.magic}", offset=start + 16,
                              expected="0 or 1 in a message set")  # fmt: skip
        size = self.end - start - LOG_OVERHEAD
        if size < SMALLEST + 8 * self.magic:
            raise DecodeError(
                f"{what} of magic 1 has {counted(size, 'bytes')}",
                offset=start + 8,
                expected="22 or more",
            )

    def key_and_value(
        self, data: bytes, *, to_the_end: bool = True
    ) -> tuple[bytes | None, bytes | None]:
        """Key and value, behind which nothing is left, or what is left is ignored, as in Kafka.

        Raises DecodeError with the name of one as the path.
        """
        key, position = message_blob(data, self.start, self.end, "key")
        value, position = message_blob(data, position, self.end, "value")
        if to_the_end and position != self.end:
            raise DecodeError(
                f"{counted(self.end - position, 'bytes')} left in the message after its value",
                offset=position,
                expected="the end of the message",
            )
        return key, value

    @property
    def compression(self) -> int:
        return self.attributes & COMPRESSION

    @property
    def timestamp_type(self) -> TimestampType:
        if self.magic == 0:
            return "none"
        return "log_append" if self.attributes & LOG_APPEND else "create"


def read_message(data: bytes, batch: Batch, limit: int) -> int:
    """Fill ``batch`` from one message; return the bytes that its records use of ``limit``.

    Raises DecodeError, with path and offset within the message, and leaves in ``batch`` the records
    before the fault. Raises MissingExtraError if the package that decompresses is not installed.
    """
    message = Message(data, 0, "message")
    message.check()
    batch.timestamp_type = message.timestamp_type
    batch.base_offset = message.offset
    batch.base_timestamp = batch.max_timestamp = message.timestamp
    if message.compression >= len(COMPRESSIONS):
        raise compression.unknown(message.compression, offset=17)
    batch.compression = COMPRESSIONS[message.compression]
    if batch.compression == "none":
        try:
            key, value = message.key_and_value(data)
        except DecodeError as error:
            error.path = f"records[0].{error.path}".rstrip(".")
            raise
        batch.records.append(Record(message.offset, message.timestamp, key, value))
        return 0
    _, value = message.key_and_value(data)
    start = message.end - len(value or b"")
    if batch.compression == "zstd":  # came with magic 2, which KIP-110 demands for it
        raise DecodeError("a message set is compressed by zstd", offset=17, expected="magic 2")
    if value is None:
        raise DecodeError("a compressed message set is null", offset=start, expected="a set")
    try:
        inner = compression.decompress(batch.compression, value, limit, magic=message.magic)
    except DecodeError as error:
        error.offset += start
        raise
    try:
        _read_inner(inner, message, batch, limit // BYTES_PER_ITEM)
    except DecodeError as error:
        error.fault += f" (at byte {error.offset} of what was decompressed)"
        error.offset = start
        raise
    return max(len(inner), len(batch.records) * BYTES_PER_ITEM)


def inner_messages(data: bytes) -> Iterator[Message]:
    """The messages of a set that was decompressed, none of them checked.

    A last message that is cut short ends the set, as ``DeepRecordsIterator`` in Kafka has it.
    Raises DecodeError at an impossible size.
    """
    position = 0
    while _whole(data, position):
        message = Message(data, position, "inner message")
        yield message
        position = message.end


def _read_inner(data: bytes, wrapper: Message, batch: Batch, most: int) -> None:
    """Read the messages of a compressed set into the batch's records."""
    base = base_offset(wrapper, _last_offset(data))
    records = batch.records
    try:
        for message in inner_messages(data):
            if len(records) >= most:
                raise DecodeError(
                    f"it holds more than the {counted(most, 'messages')} that the limit has "
                    "room for",
                    offset=message.start,
                    expected="fewer, or a higher limit",
                )
            message.check()
            if message.compression:
                raise DecodeError("an inner message is compressed",
                                  offset=message.start - 1 - 8 * message.magic,
                                  expected="a plain message")  # fmt: skip
            key, value = message.key_and_value(data)
            timestamp = message.timestamp
            if message.magic == 1 and batch.timestamp_type == "log_append":
                timestamp = wrapper.timestamp
            records.append(Record(base + message.offset, timestamp, key, value))
        if not records:
            raise DecodeError("a compressed message set is empty", expected="a message in it")
    except DecodeError as error:
        error.path = f"records[{len(records)}]" + (f".{error.path}" if error.path else "")
        raise
    finally:
        if records:
            batch.base_offset = records[0].offset
            batch.last_offset_delta = wrapper.offset - records[0].offset
            batch.base_timestamp = records[0].timestamp


def _whole(data: bytes, position: int) -> int:
    """The size of the message at ``position``, its offset and size included; 0 if it is cut off.

    An impossible size counts as complete, so that the reader raises an error for it.
    """
    if len(data) - position < LOG_OVERHEAD:
        return 0
    size = int.from_bytes(data[position + 8 : position + LOG_OVERHEAD], "big", signed=True)
    if size < SMALLEST:
        return LOG_OVERHEAD
    return size + LOG_OVERHEAD if size <= len(data) - position - LOG_OVERHEAD else 0


def _last_offset(data: bytes) -> int:
    """The offset of the last inner message, found by sizes, whatever damage is in between."""
    position = last = 0
    while (size := _whole(data, position)) > LOG_OVERHEAD:
        last = int.from_bytes(data[position : position + 8], "big", signed=True)
        position += size
    return last


def base_offset(wrapper: Message, last: int) -> int:
    """The offset that is added to those of inner messages, of which ``last`` is the last one's.

    In magic 1 the last inner message has the wrapper's offset. Raises DecodeError for a wrapper
    with a lower one.
    """
    # librdkafka produces sets with the offset 0, whatever they hold.
    if wrapper.magic == 0 or wrapper.offset == 0:
        return 0
    if wrapper.offset < last:
        raise DecodeError(
            f"its offset {wrapper.offset} lies before that of its last inner message, {last}",
            expected="the offset of its last message",
        )
    return wrapper.offset - last


def write_messages(batch: Batch) -> bytes:
    """A batch of magic 0 or 1: its records as messages, or as one compressed set.

    Raises EncodeError with the path of a value that these formats cannot have.
    """
    _check(batch)
    plain = batch.compression == "none"
    append = LOG_APPEND if batch.magic == 1 and batch.timestamp_type == "log_append" else 0
    if plain:
        return _messages(batch, batch.records, append, 0)
    wrapper_offset = batch.last_offset
    base = 0
    if batch.magic == 1 and wrapper_offset != 0:
        base = batch.base_offset
        if not batch.records or batch.records[-1].offset != wrapper_offset:
            raise EncodeError(
                "a compressed set of magic 1 ends with the record that has its last offset",
                path="last_offset_delta",
                value=batch.last_offset_delta,
            )
    for index, record in enumerate(batch.records if append else ()):
        if record.timestamp != batch.max_timestamp:
            raise EncodeError(
                f"timestamp {record.timestamp} is not that of the append, {batch.max_timestamp}",
                path=f"records[{index}].timestamp",
                value=record.timestamp,
            )
    inner = _messages(batch, batch.records, append, base)
    packed = compression.compress(batch.compression, inner, magic=batch.magic)
    attributes = COMPRESSIONS.index(batch.compression) | append
    wrapper = Record(wrapper_offset, batch.max_timestamp, None, packed)
    try:
        return _message(wrapper, batch.magic, attributes, wrapper_offset)
    except struct.error:
        raise EncodeError(
            f"offset {wrapper_offset} and {counted(len(packed), 'bytes')} of records do not fit "
            "a message",
            path="records",
        ) from None


def _check(batch: Batch) -> None:
    """Raise EncodeError for values that only magic 2 can have."""
    for name in ("is_transactional", "is_control", "has_delete_horizon"):
        if getattr(batch, name):
            raise EncodeError(f"magic {batch.magic} has no such flag", path=name, value=True)
    if batch.compression == "zstd":
        raise EncodeError("zstd needs magic 2", path="compression", value="zstd")
    if batch.producer_id != -1 or batch.producer_epoch != -1 or batch.base_sequence != -1:
        raise EncodeError(
            f"magic {batch.magic} has no producer ids", path="producer_id", value=batch.producer_id
        )
    if not batch.records:
        raise EncodeError(f"magic {batch.magic} has no empty batches", path="records", value=[])
    for index, record in enumerate(batch.records):
        if record.headers:
            raise EncodeError(
                f"magic {batch.magic} has no headers",
                path=f"records[{index}].headers",
                value=record.headers,
            )
        if batch.magic == 0 and record.timestamp != NO_TIMESTAMP:
            raise EncodeError(
                "magic 0 has no timestamps",
                path=f"records[{index}].timestamp",
                value=record.timestamp,
            )


def _messages(batch: Batch, records: Iterable[Record], attributes: int, base: int) -> bytes:
    parts = []
    for index, record in enumerate(records):
        try:
            parts.append(_message(record, batch.magic, attributes, record.offset - base))
        except (TypeError, struct.error) as error:
            raise cannot_write(record, index, str(error)) from None
    return b"".join(parts)


def _message(record: Record, magic: int, attributes: int, offset: int) -> bytes:
    parts = [struct.pack(">bB", magic, attributes)]
    if magic == 1:
        parts.append(struct.pack(">q", record.timestamp))
    for blob in (record.key, record.value):
        parts.append(struct.pack(">i", -1 if blob is None else len(blob)))
        if blob is not None:
            parts.append(blob)
    body = b"".join(parts)
    return struct.pack(">qiI", offset, len(body) + 4, zlib.crc32(body)) + body
