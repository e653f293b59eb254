"""Records and batches as values, which the readers and writers of all formats share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, Self

import msgspec

from kafka_admin_proto.errors import DecodeError, KafkaAdminProtoError

CompressionName = Literal["none", "gzip", "snappy", "lz4", "zstd"]
#: "none" is for magic 0, which has no timestamps.
TimestampType = Literal["create", "log_append", "none"]
TIMESTAMP_TYPES: tuple[TimestampType, ...] = ("create", "log_append", "none")

#: Names of compressions by their number in the attributes.
COMPRESSIONS: tuple[CompressionName, ...] = ("none", "gzip", "snappy", "lz4", "zstd")

#: The timestamp of a record without one, and of a batch without records.
NO_TIMESTAMP = -1
#: The producer fields of a batch that was not written by an idempotent producer.
NO_PRODUCER_ID = -1
NO_PRODUCER_EPOCH = -1
NO_SEQUENCE = -1

#: The limit for decompressed data of one call of a reader, in bytes.
DEFAULT_DECOMPRESSED_LIMIT = 64 << 20


class Record(msgspec.Struct, gc=False):
    """One record. ``offset`` is that in the log, ``timestamp`` milliseconds since 1970.

    A header's key that is not UTF-8 survives by ``surrogateescape``. Magic 0 has no timestamps
    (-1), and only magic 2 has headers.
    """

    offset: int
    timestamp: int = NO_TIMESTAMP
    key: bytes | None = None
    value: bytes | None = None
    headers: tuple[tuple[str, bytes | None], ...] = ()


class Batch(msgspec.Struct):
    """A batch of records with magic 2, or one message, plain or a compressed set, with magic 0/1.

    ``Batch.of`` makes one whose offsets and times follow from its records, as brokers take it.

    ``base_offset`` and ``last_offset_delta`` are those of the batch when it was produced;
    compaction may have removed records since. With a delete horizon, ``base_timestamp`` is the time
    from which tombstones may be removed. If ``timestamp_type`` is "log_append", all records have
    the timestamp ``max_timestamp``. ``size`` is the size of the whole batch on the wire, at
    ``offset_in_data``; writing ignores both. ``reserved_attributes`` are the bits of magic 2's
    attributes that have no meaning in any release, at their places.

    If reading the records failed, ``error`` says why, and ``records`` has those before the fault;
    only ``read_records`` returns such batches.
    """

    base_offset: int = 0
    partition_leader_epoch: int = -1
    magic: int = 2
    compression: CompressionName = "none"
    timestamp_type: TimestampType = "create"
    is_transactional: bool = False
    is_control: bool = False
    has_delete_horizon: bool = False
    last_offset_delta: int = 0
    base_timestamp: int = NO_TIMESTAMP
    max_timestamp: int = NO_TIMESTAMP
    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = NO_PRODUCER_EPOCH
    base_sequence: int = NO_SEQUENCE
    records: list[Record] = []
    size: int = 0
    offset_in_data: int = 0
    error: KafkaAdminProtoError | None = None
    reserved_attributes: int = 0

    @classmethod
    def of(
        cls,
        records: list[Record],
        *,
        magic: int = 2,
        compression: CompressionName = "none",
        timestamp_type: TimestampType = "create",
    ) -> Self:
        """A batch of these records, with the offsets and timestamps that follow from them."""
        timestamps = [record.timestamp for record in records] or [NO_TIMESTAMP]
        base_offset = records[0].offset if records else 0
        return cls(
            base_offset=base_offset,
            magic=magic,
            compression=compression,
            timestamp_type="none" if magic == 0 else timestamp_type,
            last_offset_delta=records[-1].offset - base_offset if records else 0,
            base_timestamp=timestamps[0],
            max_timestamp=max(timestamps),
            records=records,
        )

    @property
    def last_offset(self) -> int:
        """The last offset that belongs to the batch, whether a record still has it or not."""
        return self.base_offset + self.last_offset_delta


class RecordSet(msgspec.Struct):
    """The batches that could be read of a piece of a log.

    ``partial_bytes`` counts the bytes of a last batch that is cut short. That is no fault, since
    brokers do so in a Fetch response; ``needed_bytes`` is the size of that whole batch, 0 where not
    even its length is there. ``error`` is a fault behind which no batch could be found;
    ``data[error.offset:]`` was not read.
    """

    batches: list[Batch]
    partial_bytes: int = 0
    error: DecodeError | None = None
    needed_bytes: int = 0

    def errors(self) -> Iterator[KafkaAdminProtoError]:
        """All errors, in the order of the bytes."""
        for batch in self.batches:
            if batch.error is not None:
                yield batch.error
        if self.error is not None:
            yield self.error
