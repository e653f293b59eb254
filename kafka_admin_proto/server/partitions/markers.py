"""The markers that end transactions in a log: as they are written, and as they are replayed."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_admin_proto.errors import DecodeError
from kafka_admin_proto.messages import EndTxnMarker
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.batches.batches import write_batch
from kafka_admin_proto.records.batches.control import (
    ControlRecord,
    read_control_record,
    write_control_record,
)
from kafka_admin_proto.records.batches.model import Batch, Record
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.partitions.indexes import AbortedRange
from kafka_admin_proto.server.partitions.producers import CompletedTransaction, Producers
from kafka_admin_proto.server.partitions.segments import (
    Segment,
    StoredBatch,
    read_stored,
    segment_index,
)


def marker_batch(
    producer_id: int, producer_epoch: int, coordinator_epoch: int, timestamp: int, *, commit: bool
) -> bytes:
    """The control batch that ends a transaction of the producer, with the offset 0."""
    key, value = write_control_record(
        "COMMIT" if commit else "ABORT", EndTxnMarker(coordinator_epoch=coordinator_epoch)
    )
    batch = Batch.of([Record(0, timestamp, key, value)])
    batch.is_control = batch.is_transactional = True
    batch.producer_id, batch.producer_epoch = producer_id, producer_epoch
    return write_batch(batch)


def end_transaction(
    producers: Producers, transaction: CompletedTransaction | None, segment: Segment
) -> None:
    if transaction is None:
        return
    stable = producers.complete(transaction)
    if transaction.is_aborted:
        entry = AbortedRange(
            transaction.producer_id, transaction.first_offset, transaction.last_offset, stable
        )
        segment.aborted.append(entry)


def replay_producers(
    producers: Producers, segments: Sequence[Segment], start_offset: int, recovered_from: float
) -> None:
    """Apply the batches from ``map_end`` on to the producers once more.

    Segments from ``recovered_from`` on get their aborted transactions too; others have them.
    """
    first = max(segment_index(segments, producers.map_end), 0)
    for segment in segments[first:]:
        start = max(segment.base_offset, producers.map_end, start_offset)
        producers.map_end = start
        if segment in segments[-2:]:
            producers.take_snapshot()
        for batch in segment.batches[segment.index_of(start) :]:
            _replay(producers, batch, segment if start >= recovered_from else None)


def _control_record(record: Record) -> ControlRecord:
    """A control record of the log. Raises ApiFailure if it does not read."""
    try:
        return read_control_record(record.key, record.value)
    except DecodeError as error:
        what = f"the control record of offset {record.offset} does not read: {error}"
        raise ApiFailure(codes.CORRUPT_MESSAGE, what) from None


def _replay(producers: Producers, batch: StoredBatch, recovered: Segment | None) -> None:
    """Apply a stored batch to the producers, and to the index of a recovered segment."""
    header = batch.header
    if not header.has_producer_id:
        return
    if not header.is_control:
        producers.append(header)
        return
    for record in read_stored(batch).records:
        control = _control_record(record)
        marker = control.message
        if not isinstance(marker, EndTxnMarker):
            what = f"the control record of offset {record.offset} is no marker of a transaction"
            raise ApiFailure(codes.CORRUPT_MESSAGE, what)
        transaction = producers.append_marker(
            header, marker.coordinator_epoch, record.timestamp,
            is_aborted=control.name == "ABORT",
        )  # fmt: skip
        if recovered is not None:
            end_transaction(producers, transaction, recovered)
        elif transaction is not None:
            producers.complete(transaction)
