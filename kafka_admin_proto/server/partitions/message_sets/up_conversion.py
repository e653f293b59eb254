"""What a leader checks in produced message sets, and the records that it makes of them.

``LogValidator`` in Kafka, for batches of magic 0 and 1 that become one of magic 2. A message that
is not compressed is a batch there, so that its index in texts is 0. Codes and texts are Kafka's
where it raises an exception of its own; what Java's own classes refuse is UNKNOWN_SERVER_ERROR.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from kafka_admin_proto.errors import DecodeError
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.batches.header import BatchHeader
from kafka_admin_proto.records.batches.layout import SMALLEST
from kafka_admin_proto.records.batches.message_sets import Message, base_offset, inner_messages
from kafka_admin_proto.records.batches.model import COMPRESSIONS, Record
from kafka_admin_proto.records.batches.record_format import as_int64
from kafka_admin_proto.server.partitions.decompression import DecompressionBudget
from kafka_admin_proto.server.partitions.failures import (
    RecordError,
    RecordRules,
    RecordsRefused,
    check_rejected,
    check_timestamp,
)

_ZSTD = COMPRESSIONS.index("zstd")
#: Bytes of the length in front of a key.
_LENGTH_BYTES = 4
_TYPE_NAMES = {"none": "NoTimestampType", "create": "CreateTime", "log_append": "LogAppendTime"}


def analyzed_message(batch: memoryview, name: str) -> Message:
    """A whole batch of magic 0 or 1, whose checksum is right. Raises RecordsRefused."""
    message = Message(bytes(batch), 0, "message")
    if message.computed_crc != message.crc:
        raise RecordsRefused(
            codes.CORRUPT_MESSAGE,
            f"Record is corrupt (stored crc = {message.crc}) in topic partition {name}.",
        )
    _check_compression(message)
    return message


def source_compression(batches: Sequence[tuple[memoryview, BatchHeader | Message]]) -> int:
    """The number of the set's compression. Raises RecordsRefused for more than one such batch."""
    found = [header.compression for _, header in batches if header.compression]
    if found and len(batches) > 1:
        raise _invalid("Compressed outer record has more than one batch")
    return found[0] if found else 0


def converted_records(
    batches: Sequence[tuple[memoryview, BatchHeader | Message]],
    rules: RecordRules,
    budget: DecompressionBudget,
    *,
    is_plain: bool,
) -> list[Record]:
    """The records of a set, the first of whose batches is a message, with offsets from 0 on.

    ``is_plain`` is whether nothing is compressed, before and after. Raises RecordsRefused.
    """
    read: list[_Found] = []
    records: list[Record] = []
    if is_plain:  # Kafka reads all of them first, for the size of the new batch
        records = [
            _Found(bytes(batch), each, each.offset, each.timestamp).record()
            for batch, each in batches
            if isinstance(each, Message)
        ]
    _, first = batches[0]
    for batch, message in batches:
        if not isinstance(message, Message) or message.magic != first.magic:
            raise _invalid(
                f"Batch magic {message.magic} is not the same as the first batch's magic byte "
                f"{first.magic} in topic partition {rules.name}"
            )
        errors: list[RecordError] = []
        for index, produced in enumerate(_records(bytes(batch), message, budget)):
            error = produced.error(index, message, rules)
            if error is not None:
                errors.append(error)
            elif not is_plain:
                read.append(produced)
            elif not errors:
                check_timestamp(produced.timestamp)
        check_rejected(errors)
    if not is_plain:
        records = [each.record() for each in read]
        for record in records:
            check_timestamp(record.timestamp)
    for offset, record in enumerate(records):
        record.offset = offset
    return records


class _Found(NamedTuple):
    """A record that was found in a set: its message in ``data``, and its own offset and time."""

    data: bytes
    message: Message
    offset: int
    timestamp: int

    def error(self, index: int, wrapper: Message, rules: RecordRules) -> RecordError | None:
        """What is wrong with it. Raises RecordsRefused for what is wrong with the whole set."""
        message = self.message
        if message.magic != wrapper.magic:
            return (
                codes.INVALID_RECORD,
                index,
                f"Record {self.shown(wrapper)}'s magic does not match outer magic {wrapper.magic} "
                f"in topic partition {rules.name}",
            )
        if message.computed_crc != message.crc:
            raise RecordsRefused(
                codes.CORRUPT_MESSAGE,
                f"Record is corrupt (stored crc = {message.crc}, "
                f"computed crc = {message.computed_crc})",
            )
        return rules.error_of(
            index,
            offset=self.offset,
            timestamp=self.timestamp,
            is_keyed=not rules.settings.is_compacted or self._is_keyed(),
            is_log_append=wrapper.timestamp_type == "log_append",
            shown=partial(self.shown, wrapper),
        )

    def record(self) -> Record:
        """The record, without an offset. Raises RecordsRefused if it cannot be read."""
        return Record(0, self.timestamp, *self._key_and_value())

    def shown(self, wrapper: Message) -> str:
        """The record as Java's toString of it."""
        message = self.message
        compression = COMPRESSIONS[message.compression]
        time = ""
        if message.magic > 0:
            of_type = wrapper if message.magic == 1 else message
            time = f"{_TYPE_NAMES[of_type.timestamp_type]}={self.timestamp}, "
        key, value = self._key_and_value()
        attributes = (message.attributes ^ 128) - 128
        return (
            f"LegacyRecordBatch(offset={self.offset}, Record(magic={message.magic}, "
            f"attributes={attributes}, compression={compression}, crc={message.crc}, {time}"
            f"key={len(key or b'')} bytes, value={len(value or b'')} bytes))"
        )

    def _is_keyed(self) -> bool:
        start = self.message.start
        if self.message.end - start < _LENGTH_BYTES:
            raise _unreadable("the length of a key is missing")
        return self.data[start] < 128  # null is a negative length

    def _key_and_value(self) -> tuple[bytes | None, bytes | None]:
        try:
            return self.message.key_and_value(self.data, to_the_end=False)
        except DecodeError as error:
            raise _unreadable(error.fault) from None


def _records(data: bytes, message: Message, budget: DecompressionBudget) -> Iterator[_Found]:
    """The records of one batch: a message, or those of a compressed set.

    Raises RecordsRefused, as ``DeepRecordsIterator`` in Kafka for a set that it cannot read.
    """
    if not message.compression:
        yield _Found(data, message, message.offset, message.timestamp)
        return
    name = COMPRESSIONS[message.compression]
    if name == "zstd":
        raise _invalid(
            f"Invalid wrapper compressionType found in legacy deep record iterator {message.magic}"
        )
    _, value = _Found(data, message, 0, 0)._key_and_value()
    if value is None:
        raise _invalid(
            f"Found invalid compressed record set with null value (magic = {message.magic})"
        )
    plain = budget.decompressed(value, name, magic=message.magic)
    messages: list[Message] = []
    try:
        for each in inner_messages(plain):
            budget.take_item(each.end - each.start)
            messages.append(each)
    except DecodeError:
        raise RecordsRefused(
            codes.CORRUPT_MESSAGE,
            f"Record size is less than the minimum record overhead ({SMALLEST})",
        ) from None
    if not messages:
        raise _invalid("Found invalid compressed record set with no inner records")
    last = messages[-1].offset
    try:
        base = base_offset(message, last)
    except DecodeError:
        raise _invalid(
            "Found invalid wrapper offset in compressed v1 message set, wrapper offset "
            f"'{message.offset}' is less than the last inner message offset '{last}' and it is "
            "not zero."
        ) from None
    is_appended = message.timestamp_type == "log_append"
    for inner in messages:
        _check_compression(inner)
        if inner.compression:
            raise _invalid("Inner messages must not be compressed")
        timestamp = message.timestamp if is_appended and inner.magic == 1 else inner.timestamp
        yield _Found(plain, inner, as_int64(base + inner.offset), timestamp)


def _check_compression(message: Message) -> None:
    if message.compression >= len(COMPRESSIONS):
        raise _unreadable(f"Unknown compression type id: {message.compression}")


def _unreadable(message: str) -> RecordsRefused:
    return RecordsRefused(codes.UNKNOWN_SERVER_ERROR, message)


def _invalid(message: str) -> RecordsRefused:
    return RecordsRefused(codes.INVALID_RECORD, message)
