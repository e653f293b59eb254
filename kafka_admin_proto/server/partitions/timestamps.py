"""Records of a log by their timestamps."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from kafka_admin_proto.records.batches.model import Record
from kafka_admin_proto.server.partitions.segments import Segment, StoredBatch, read_stored

_LATEST, _EARLIEST = -1, -2


class FoundOffset(msgspec.Struct, frozen=True):
    """A record that was looked for by its timestamp."""

    offset: int
    timestamp: int
    leader_epoch: int


def first_since(
    segments: Sequence[Segment], start_offset: int, timestamp_ms: int
) -> FoundOffset | None:
    """The first record from ``start_offset`` on with a timestamp of at least this.

    As in Kafka, only the first segment with such a timestamp is searched.
    """
    for segment in segments:
        if segment.largest_timestamp >= timestamp_ms:
            for batch in segment.batches[segment.index_of_time(timestamp_ms) :]:
                if batch.max_timestamp >= timestamp_ms and batch.last_offset >= start_offset:
                    for record in read_stored(batch).records:
                        if record.timestamp >= timestamp_ms and record.offset >= start_offset:
                            return _found(record, batch)
            return None
    return None


def first_of_largest(segments: Sequence[Segment]) -> FoundOffset | None:
    """The first record with the largest timestamp; None without records."""
    segment = max(segments, key=lambda each: each.max_timestamp)
    for batch in segment.batches:
        if batch.max_timestamp == segment.max_timestamp:
            for record in read_stored(batch).records:
                if record.timestamp == batch.max_timestamp:
                    return _found(record, batch)
    return None


def offsets_before(
    segments: Sequence[Segment], start_offset: int, timestamp_ms: int, most: int, now_ms: int
) -> list[int]:
    """Where segments begin that were there at a time, the last first, and where the log ends.

    The log begins at ``start_offset``. It is asked for by the first version of ListOffsets; -1 is
    for all of them, -2 for the first.
    """
    starts = [(max(each.base_offset, start_offset), each.modified_ms) for each in segments]
    if segments[-1].batches:
        starts.append((segments[-1].next_offset, now_ms))
    if timestamp_ms == _EARLIEST:
        starts = starts[:1]
    elif timestamp_ms != _LATEST:
        while starts and starts[-1][1] > timestamp_ms:
            starts.pop()
    return sorted([offset for offset, _ in starts[::-1][:most]], reverse=True)


def _found(record: Record, batch: StoredBatch) -> FoundOffset:
    return FoundOffset(record.offset, record.timestamp, batch.header.leader_epoch)
