"""The files that a broker keeps beside segments, as rows: an entry each.

    for row in rows_beside("fruit-0/00000000000000000000.index"):
        row["fields"]                # {"offset": 25, "position": 147}

These are the indexes of a segment (``OffsetIndex``, ``TimeIndex`` and ``TransactionIndex`` in
Kafka), snapshots of its producers (``ProducerStateManager``), ``partition.metadata``, and the
checkpoints of a partition and of a folder of logs (``CheckpointFile``). The values are those of
``kafka-dump-log``, which shows none of the latter two.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Callable, Iterator
from pathlib import PurePath
from typing import Any

from kafka_admin_proto.codec import codec
from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import DecodeError
from kafka_admin_proto.messages.producer_snapshot import ProducerEntry, ProducerSnapshot
from kafka_admin_proto.records.batches.crc32c import crc32c
from kafka_admin_proto.records.segments.checkpoints import OF_EPOCHS, OF_OFFSETS, read_checkpoint
from kafka_admin_proto.records.segments.partition_metadata import FILE_NAME, PartitionMetadata
from kafka_admin_proto.records.segments.rows import row_of
from kafka_admin_proto.topic_ids import topic_id_to_text

Rows = Iterator[dict[str, Any]]

#: Offset minus the segment's first one, and position in the segment.
OFFSET_ENTRY = struct.Struct(">ii")
#: Timestamp, and offset minus the segment's first one.
TIME_ENTRY = struct.Struct(">qi")
#: Version, producer, first and last offset, and the last stable offset.
ABORTED_ENTRY = struct.Struct(">hqqqq")
ABORTED_VERSION = 0
#: Version and checksum in front of a snapshot's producers.
_SNAPSHOT_HEAD = struct.Struct(">hI")
_SNAPSHOT_VERSION = 1
_NAME = re.compile(
    r"([0-9]{20})(\.(?:index|timeindex|txnindex|snapshot))(?:\.(?:cleaned|deleted|swap))?"
)
#: A file is read whole, and a larger one is refused.
_MOST_BYTES = 1 << 28
#: The checkpoints in a folder of logs.
_OF_ALL_LOGS = (
    "recovery-point-offset-checkpoint", "log-start-offset-checkpoint",
    "replication-offset-checkpoint", "cleaner-offset-checkpoint",
)  # fmt: skip
_ABORTED_FIELDS = ("producerId", "firstOffset", "lastOffset", "lastStableOffset")


def is_beside(name: str) -> bool:
    """Whether a file has the name of one of these."""
    return _reader(name) is not None


def rows_beside(name: str) -> Rows:
    """The entries of a file, with the names of ``segments.rows.ROW_KEYS``.

    ``type`` says what an entry is, ``fields`` has its values, and of indexes ``position`` and
    ``size`` are those of the entry in the file. What is no entry has a row with only a ``problem``
    or, if nothing is missing, a ``note``. Raises OSError if the file cannot be read, and ValueError
    for a name that none of these files has.
    """
    reader = _reader(name)
    if reader is None:
        raise ValueError(f"{name} is not the name of a file beside segments")
    with open(name, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        data = file.read(size) if size <= _MOST_BYTES else b""
    try:
        if size > _MOST_BYTES:
            raise ValueError(f"it is larger than {_MOST_BYTES >> 20} MiB, and is not read")
        yield from reader(data)
    except ValueError as error:
        yield row_of(position=0, size=size, problem=str(error))


def read_producers(data: bytes) -> list[ProducerEntry]:
    """The producers in a ``.snapshot``. Raises ValueError with the reason, as a sentence."""
    if len(data) < _SNAPSHOT_HEAD.size:
        raise ValueError(f"it has {counted(len(data), 'bytes')}; expected a version and a checksum")
    version, crc = _SNAPSHOT_HEAD.unpack_from(data)
    if version != _SNAPSHOT_VERSION:
        raise ValueError(f"its version is {version}; expected {_SNAPSHOT_VERSION}")
    computed = crc32c(data[_SNAPSHOT_HEAD.size :])
    if crc != computed:
        raise ValueError(
            f"it says that its CRC-32C is {crc:08x}, and it is {computed:08x}: the file is damaged "
            "or cut short"
        )
    try:
        return ProducerSnapshot.decode(data[2:], version).producer_entries
    except DecodeError as error:
        raise ValueError(str(error)) from None


def producers_bytes(entries: list[ProducerEntry]) -> bytes:
    """The contents of a ``.snapshot`` with these producers."""
    data = ProducerSnapshot(producer_entries=entries).encode(_SNAPSHOT_VERSION)[4:]
    return _SNAPSHOT_HEAD.pack(_SNAPSHOT_VERSION, crc32c(data)) + data


def _reader(name: str) -> Callable[[bytes], Rows] | None:
    path = PurePath(name)
    if named := _NAME.fullmatch(path.name):
        base = int(named[1])
        return {
            ".index": lambda data: _offsets(data, base),
            ".timeindex": lambda data: _times(data, base),
            ".txnindex": _aborted,
            ".snapshot": _producers,
        }[named[2]]
    if path.name == "leader-epoch-checkpoint":
        return lambda data: _checkpoint(data, "EpochEntry", OF_EPOCHS)
    if path.name == FILE_NAME:
        return _metadata
    if path.name in _OF_ALL_LOGS:
        return lambda data: _checkpoint(data, "PartitionOffset", OF_OFFSETS)
    return None


def _offsets(data: bytes, base: int) -> Rows:
    count, last = _written(data, OFFSET_ENTRY), base - 1
    for row, (relative, position) in _entries(data, OFFSET_ENTRY, count):
        offset = base + relative
        row |= {"type": "OffsetPosition", "offset": offset}
        row["fields"] = {"offset": offset, "position": position}
        if offset <= last:
            row["problem"] = f"its offset is {offset}; expected one above {last}"
        elif position < 0:
            row["problem"] = f"its position is {position}; expected 0 or above"
        last = max(last, offset)
        yield row
    yield from _rest(data, OFFSET_ENTRY, count)


def _times(data: bytes, base: int) -> Rows:
    count, last, last_offset = _written(data, TIME_ENTRY), -1, base
    for row, (timestamp, relative) in _entries(data, TIME_ENTRY, count):
        offset = base + relative
        row |= {"type": "TimestampOffset", "offset": offset, "timestamp": timestamp}
        row["fields"] = {"timestamp": timestamp, "offset": offset}
        if timestamp <= last:
            row["problem"] = f"its timestamp is {timestamp}; expected one above {last}"
        elif offset < last_offset:
            row["problem"] = f"its offset is {offset}; expected {last_offset} or above"
        last, last_offset = max(last, timestamp), max(last_offset, offset)
        yield row
    yield from _rest(data, TIME_ENTRY, count)


def _aborted(data: bytes) -> Rows:
    count = len(data) // ABORTED_ENTRY.size
    for row, (version, *values) in _entries(data, ABORTED_ENTRY, count):
        fields = dict(zip(_ABORTED_FIELDS, values, strict=True))
        row |= {"type": "AbortedTxn", "version": version, "fields": fields}
        first, last = fields["firstOffset"], fields["lastOffset"]
        if version != ABORTED_VERSION:
            row["problem"] = f"its version is {version}; expected {ABORTED_VERSION}"
        elif not 0 <= first <= last:
            row["problem"] = f"no transaction has offsets from {first} to {last}"
        yield row
    yield from _rest(data, ABORTED_ENTRY, count)


def _written(data: bytes, layout: struct.Struct) -> int:
    """The number of whole entries in front of the zeros that a running broker has made room with.

    A single entry of zeros is shown, as Kafka's own tool does.
    """
    if len(data) == layout.size:
        return 1
    written = len(data.rstrip(b"\0"))
    return min(-(-written // layout.size), len(data) // layout.size)


def _entries(
    data: bytes, layout: struct.Struct, count: int
) -> Iterator[tuple[dict[str, Any], tuple[int, ...]]]:
    for number in range(count):
        at = number * layout.size
        yield row_of(position=at, size=layout.size), layout.unpack_from(data, at)


def _rest(data: bytes, layout: struct.Struct, count: int) -> Rows:
    """A row for the bytes behind the entries, if there are any."""
    at = count * layout.size
    left = len(data) - at
    if left % layout.size:
        expected = counted(layout.size, "bytes")
        text = f"{counted(left, 'bytes')} left over; expected entries of {expected}"
        yield row_of(position=at, size=left, problem=text)
    elif left:
        text = f"{counted(left, 'bytes')} preallocated and not written yet"
        yield row_of(position=at, size=left, note=text)


def _producers(data: bytes) -> Rows:
    known = codec(ProducerSnapshot, _SNAPSHOT_VERSION)
    for entry in read_producers(data):
        (fields,) = known.to_json(ProducerSnapshot(0, [entry]))["producerEntries"]
        yield row_of(type="ProducerEntry", version=_SNAPSHOT_VERSION, fields=fields)


def _metadata(data: bytes) -> Rows:
    found = PartitionMetadata.parse(data)
    fields = {"topicId": topic_id_to_text(found.topic_id)} | dict(found.extra)
    yield row_of(type="PartitionMetadata", version=found.version, fields=fields)


def _checkpoint(data: bytes, kind: str, names: tuple[str, ...]) -> Rows:
    for entry in read_checkpoint(data, names):
        offset = entry[names[-1]]
        yield row_of(type=kind, epoch=entry.get("epoch"), offset=offset, fields=entry)
