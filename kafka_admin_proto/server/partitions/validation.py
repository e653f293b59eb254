"""What a partition's leader checks in a producer's batch, and what it writes into it.

``UnifiedLog.analyzeAndValidateRecords`` and ``LogValidator`` in Kafka. Only the texts of record
errors are sent to clients; those of other failures are Kafka's where it raises an exception of its
own, for logs and tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from kafka_admin_proto.errors import DecodeError, MissingExtraError
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.batches.batches import encode_batch
from kafka_admin_proto.records.batches.crc32c import crc32c
from kafka_admin_proto.records.batches.header import BatchHeader
from kafka_admin_proto.records.batches.layout import (
    ATTRIBUTES_AT,
    BATCH_HEADER,
    COMPRESSION,
    MAGIC_AT,
)
from kafka_admin_proto.records.batches.message_sets import Message
from kafka_admin_proto.records.batches.model import (
    COMPRESSIONS,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    Batch,
    Record,
)
from kafka_admin_proto.records.batches.record_format import (
    SkimmedRecords,
    read_records_v2,
    skim_records_v2,
)
from kafka_admin_proto.server.partitions.decompression import DecompressionBudget
from kafka_admin_proto.server.partitions.failures import (
    RecordError,
    RecordRules,
    RecordsRefused,
    check_rejected,
    check_timestamp,
)
from kafka_admin_proto.server.partitions.headers import split_batches, stamped
from kafka_admin_proto.server.partitions.message_sets.up_conversion import (
    analyzed_message,
    converted_records,
    source_compression,
)
from kafka_admin_proto.server.partitions.settings import LogSettings

#: The first version of Produce with batches of magic 2, and the first with zstd (KIP-98, KIP-110).
_MAGIC_2_VERSION, _ZSTD_VERSION = 3, 7
_ZSTD = COMPRESSIONS.index("zstd")
_LAST_OFFSET_DELTA_END = 27
_UNBOUNDED = 1 << 62
_MAGIC = 2


def check_produced(data: bytes | memoryview, version: int) -> None:
    """The checks of ``ProduceRequest.validateRecords`` for one partition of a Produce request.

    Raises RecordsRefused, which in Kafka is the answer for every partition of the request.
    """
    if version < _MAGIC_2_VERSION:
        return
    of_version = f"Produce requests with version {version}"
    batches = split_batches(data)
    first = next(batches, None)
    if first is None:
        raise _invalid(f"{of_version} must have at least one record batch per partition")
    if first[MAGIC_AT] != 2:
        raise _invalid(
            f"{of_version} are only allowed to contain record batches with magic version 2"
        )
    if version < _ZSTD_VERSION and first[ATTRIBUTES_AT + 1] & COMPRESSION == _ZSTD:
        raise RecordsRefused(
            codes.UNSUPPORTED_COMPRESSION_TYPE,
            f"{of_version} are not allowed to use ZStandard compression",
        )
    if next(batches, None) is not None:
        raise _invalid(
            f"{of_version} are only allowed to contain exactly one record batch per partition"
        )


def validate(
    data: bytes | memoryview,
    name: str,
    settings: LogSettings,
    *,
    end_offset: int,
    leader_epoch: int,
    now_ms: int,
    budget: DecompressionBudget,
) -> bytes:
    """The batches in ``data`` as the one batch that the log keeps, from ``end_offset`` on.

    There is one of magic 2, or one or more messages of magic 0 and 1; nothing gives no bytes.
    ``name`` is the topic and partition for texts. Raises RecordsRefused.
    """
    batches = [_analyzed(batch, name, settings) for batch in split_batches(data)]
    if not batches:
        return b""
    rules = RecordRules(name, settings, now_ms)
    batch, header = batches[0]
    kept: bytes | memoryview
    if isinstance(header, Message):
        kept, highest = _converted(batches, rules, budget)
    elif len(batches) > 1:
        raise _invalid("Compressed outer record has more than one batch")
    else:
        kept, highest = _checked(batch, header, rules, budget)
    if kept is not batch:
        _check_size(len(kept), name, settings)
    log_append = settings.is_log_append_time
    return stamped(
        kept, end_offset, leader_epoch,
        log_append=log_append, max_timestamp=now_ms if log_append else max(highest, -1),
    )  # fmt: skip


def own_batch(batch: Batch, name: str, settings: LogSettings, leader_epoch: int) -> bytes:
    """The bytes that the log keeps of a coordinator's batch: it has keys, and is made for the log.

    Its records have their offsets in the log and the time of the append, so that ``validate`` would
    find nothing but its size. Raises RecordsRefused.
    """
    batch.partition_leader_epoch = leader_epoch
    if settings.is_log_append_time:
        batch.timestamp_type = "log_append"
    stored = _written(batch, None)
    _check_size(len(stored), name, settings)
    if settings.compression not in (None, batch.compression):
        batch.compression = settings.compression
        stored = _written(batch, settings.compression_level)
        _check_size(len(stored), name, settings)
    return stored


def _check_size(size: int, name: str, settings: LogSettings) -> None:
    """Raises RecordsRefused for a batch of that size, as it would be kept, if it is too large."""
    if size > settings.max_message_bytes:
        to = "to partition" if settings.release >= (4, 4) else "topartition"
        raise RecordsRefused(
            codes.MESSAGE_TOO_LARGE,
            f"Message batch size is {size} bytes in append {to} {name} which "
            f"exceeds the maximum configured size of {settings.max_message_bytes}.",
        )


def _checked(
    batch: memoryview, header: BatchHeader, rules: RecordRules, budget: DecompressionBudget
) -> tuple[bytes | memoryview, int]:
    """A batch of magic 2, the same object if it stays as it was sent, and its highest timestamp."""
    _check_header(header, rules.name)
    settings = rules.settings
    source = COMPRESSIONS[header.compression]
    target = settings.compression or source
    plain = _plain(batch, header, budget)
    skimmed = _skimmed(plain, header)
    is_partial = source == target != "none"
    if _may_have_errors(skimmed, header, settings, rules.now_ms):
        check_rejected(_record_errors(_records(plain, header), header, rules, is_partial))
    if is_partial and not skimmed.is_in_order:
        raise RecordsRefused(codes.UNKNOWN_SERVER_ERROR, "key is skipped in PartialDefaultRecord")
    if source == target:
        return batch, skimmed.highest_timestamp
    return _rebuilt(_records(plain, header), header, settings), skimmed.highest_timestamp


def _converted(
    batches: Sequence[tuple[memoryview, BatchHeader | Message]],
    rules: RecordRules,
    budget: DecompressionBudget,
) -> tuple[bytes, int]:
    """Message sets as a batch of magic 2, and its highest timestamp."""
    settings = rules.settings
    source = COMPRESSIONS[source_compression(batches)]
    target = settings.compression or source
    is_plain = source == target == "none"
    records = converted_records(batches, rules, budget, is_plain=is_plain)
    batch = Batch.of(records, compression=target)
    return _written(batch, settings.compression_level), batch.max_timestamp


def _analyzed(
    batch: memoryview, name: str, settings: LogSettings
) -> tuple[memoryview, BatchHeader | Message]:
    """The checks of a batch by its header and checksum."""
    is_message = batch[MAGIC_AT] < _MAGIC
    base_offset = int.from_bytes(batch[:8], "big", signed=True)
    if base_offset != 0 and not is_message:
        raise _invalid(
            f"The baseOffset of the record batch in the append to {name} should be 0, "
            f"but it is {base_offset}"
        )
    if len(batch) < _LAST_OFFSET_DELTA_END and not is_message:
        raise RecordsRefused(codes.UNKNOWN_SERVER_ERROR, "the batch ends within its header")
    if len(batch) > settings.max_message_bytes:
        raise RecordsRefused(
            codes.MESSAGE_TOO_LARGE,
            f"The record batch size in the append to {name} is {len(batch)} bytes which exceeds "
            f"the maximum configured value of {settings.max_message_bytes}"
            + (")." if settings.release >= (4,) else "."),
        )
    if is_message:
        return batch, analyzed_message(batch, name)
    crc = int.from_bytes(batch[17:21], "big")
    if len(batch) < BATCH_HEADER.size or crc32c(batch[ATTRIBUTES_AT:]) != crc:
        raise RecordsRefused(
            codes.CORRUPT_MESSAGE,
            f"Record is corrupt (stored crc = {crc}) in topic partition {name}.",
        )
    header = BatchHeader.of(batch)
    if header.compression >= len(COMPRESSIONS):
        raise RecordsRefused(
            codes.UNKNOWN_SERVER_ERROR, f"Unknown compression type id: {header.compression}"
        )
    return batch, header


def _check_header(header: BatchHeader, name: str) -> None:
    """The checks of ``LogValidator.validateBatch`` for a client's batch."""
    if header.last_offset_delta < 0:
        raise _invalid(
            f"Batch has an invalid offset range: [{header.base_offset}, {header.last_offset}] "
            f"in topic partition {name}"
        )
    if header.record_count <= 0:
        raise _invalid(
            f"Invalid reported count for record batch: {header.record_count} "
            f"in topic partition {name}"
        )
    if header.last_offset_delta + 1 != header.record_count:
        raise _invalid(
            f"Inconsistent batch offset range [{header.base_offset}, {header.last_offset}] and "
            f"count of records {header.record_count} in topic partition {name}"
        )
    if header.is_control:
        raise _invalid(
            f"Clients are not allowed to write control records in topic partition {name}"
        )
    if header.has_producer_id and header.base_sequence < 0:
        raise _invalid(
            f"Invalid sequence number {header.base_sequence} in record batch with producerId "
            f"{header.producer_id} in topic partition {name}"
        )


class _Plain(NamedTuple):
    """Records that are not compressed, from ``start`` on, and the most items that they may have."""

    data: bytes | memoryview
    start: int
    most: int


def _plain(batch: memoryview, header: BatchHeader, budget: DecompressionBudget) -> _Plain:
    """The bytes of a batch's records, whose checksum is right. Raises RecordsRefused."""
    if not header.compression:
        return _Plain(batch, BATCH_HEADER.size, _UNBOUNDED)
    data, most = budget.records(batch, header)
    return _Plain(data, 0, most)


def _skimmed(plain: _Plain, header: BatchHeader) -> SkimmedRecords:
    """What is looked at in all records. Raises RecordsRefused if they cannot be read."""
    data, start, most = plain
    try:
        skimmed = skim_records_v2(data, start, header.record_count, header.base_timestamp, most)
    except DecodeError as error:
        raise _invalid(str(error)) from None
    if header.is_log_append:  # one timestamp for all
        time = header.max_timestamp
        skimmed = skimmed._replace(lowest_timestamp=time, highest_timestamp=time)
    return skimmed


def _records(plain: _Plain, header: BatchHeader) -> list[Record]:
    """The records that were looked through before."""
    append_time = header.max_timestamp if header.is_log_append else None
    data, start, most = plain
    records: list[Record] = []
    read_records_v2(
        bytes(data),
        start,
        header.record_count,
        0,
        header.base_timestamp,
        append_time,
        records,
        most,
    )
    return records


def _may_have_errors(
    skimmed: SkimmedRecords, header: BatchHeader, settings: LogSettings, now_ms: int
) -> bool:
    """Whether any record may be refused.

    None is where all are within the bounds and no int64 overflows, the usual case.
    """
    if settings.is_compacted and not skimmed.is_keyed:
        return True
    if settings.is_log_append_time:
        return header.is_log_append
    before, after = settings.timestamp_before_max_ms, settings.timestamp_after_max_ms
    lowest, highest = skimmed.lowest_timestamp, skimmed.highest_timestamp
    return lowest < 0 or now_ms - lowest > before or highest - now_ms > after


def _record_errors(
    records: list[Record], header: BatchHeader, rules: RecordRules, is_partial: bool
) -> list[RecordError]:
    """The records that are refused; with ``is_partial`` Kafka skips keys and values here."""
    errors = (
        rules.error_of(
            index,
            offset=record.offset,
            timestamp=record.timestamp,
            is_keyed=record.key is not None,
            is_log_append=header.is_log_append,
            shown=partial(_shown, record, is_partial),
        )
        for index, record in enumerate(records)
    )
    return [each for each in errors if each is not None]


def _shown(record: Record, is_partial: bool) -> str:
    """A record as Java's toString of it, whose keys and values ``is_partial`` leaves out."""
    null = -1 if is_partial else 0
    key = null if record.key is None else len(record.key)
    value = null if record.value is None else len(record.value)
    return (
        f"{'Partial' * is_partial}DefaultRecord(offset={record.offset}, "
        f"timestamp={record.timestamp}, key={key} bytes, value={value} bytes)"
    )


def _rebuilt(records: list[Record], header: BatchHeader, settings: LogSettings) -> bytes:
    """The records in a new batch with the topic's compression."""
    for index, record in enumerate(records):
        check_timestamp(record.timestamp)
        record.offset = index
    _check_producer(header)
    assert settings.compression is not None
    batch = Batch.of(records, compression=settings.compression)
    batch.producer_id = header.producer_id
    batch.producer_epoch = header.producer_epoch
    batch.base_sequence = header.base_sequence
    batch.is_transactional = header.is_transactional
    return _written(batch, settings.compression_level)


def _written(batch: Batch, level: int | None) -> bytes:
    try:
        return encode_batch(batch, level=level)
    except MissingExtraError as error:
        raise RecordsRefused(codes.UNSUPPORTED_COMPRESSION_TYPE, str(error)) from None


def _check_producer(header: BatchHeader) -> None:
    """What only a new batch is checked for (``MemoryRecordsBuilder.validateProducerState``)."""
    fault = ""
    if header.producer_id == NO_PRODUCER_ID:
        if header.is_transactional:
            fault = "Cannot write transactional messages without a valid producer ID"
    elif header.producer_epoch == NO_PRODUCER_EPOCH:
        fault = "Invalid negative producer epoch"
    elif header.base_sequence < 0:
        fault = "Invalid negative sequence number used"
    if fault:
        raise RecordsRefused(codes.UNKNOWN_SERVER_ERROR, fault)


def _invalid(message: str) -> RecordsRefused:
    return RecordsRefused(codes.INVALID_RECORD, message)
