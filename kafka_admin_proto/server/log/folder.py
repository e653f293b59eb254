"""``__cluster_metadata-0/`` in a node's folder: segments and snapshots, as Kafka lays them out.

When a folder is opened, an incomplete batch at the end of the log, left by a crash, is cut off.
Damage before complete batches is no effect of a crash: such a folder is refused.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import MetadataLogError
from kafka_admin_proto.kept_files import refuse_links
from kafka_admin_proto.records.batches.header import BatchHeader
from kafka_admin_proto.records.batches.model import Batch
from kafka_admin_proto.records.metadata.log import FOLDER_NAME
from kafka_admin_proto.records.segments.partition_metadata import PartitionMetadata
from kafka_admin_proto.records.segments.segments import Gap, read_segment
from kafka_admin_proto.server.log import files
from kafka_admin_proto.server.log.settings import LogSettings
from kafka_admin_proto.server.log.snapshots import Snapshot, snapshot_name
from kafka_admin_proto.topic_ids import METADATA_TOPIC_ID

#: The suffix of files that Kafka is about to remove.
_DELETED = ".deleted"
#: The suffix of a damaged snapshot, which neither we nor Kafka read.
_DAMAGED = ".damaged"


class RawBatch(NamedTuple):
    """A batch's offsets and its bytes."""

    base: int
    end: int
    data: bytes


class NodeLog:
    """The metadata log in one node's folder, open for appending.

    ``end`` is the offset of the next record. ``notes`` are sentences about repairs of the files at
    the opening. Raises KeptFileError for a link in the folder: through a segment that is one,
    another file would be cut off, and through a snapshot, one would be copied to other nodes.
    """

    def __init__(self, folder: Path, settings: LogSettings) -> None:
        self.folder: Path = folder / FOLDER_NAME
        refuse_links(self.folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.notes: list[str] = []
        self.last_timestamp: int = 0
        #: Bytes of the log after the newest snapshot.
        self.uncovered_bytes: int = 0
        self._settings = settings
        self._failed = False
        self._first_timestamp = -1
        for path in self.folder.iterdir():
            if path.name.endswith((files.PART, _DELETED)):
                files.remove(path)
        segments, snapshots = self._segments(), self.snapshots()
        if not segments and not snapshots:
            PartitionMetadata(METADATA_TOPIC_ID).write(self.folder / "partition.metadata")
        self._base, self._size = segments[-1] if segments else 0, 0
        self.end: int = self._base
        if segments:
            self._recover(snapshots[-1].end if snapshots else 0)
        self._file = files.open_to_append(self._path(self._base))
        try:
            if snapshots and snapshots[-1].end > self.end:
                self._go_on_from(snapshots[-1])
        except BaseException:
            self.close()
            raise

    @property
    def start(self) -> int:
        return self._segments()[0]

    def snapshots(self) -> list[Snapshot]:
        return Snapshot.in_folder(self.folder)

    def write(self, data: bytes, base: int, end: int, now_ms: int) -> None:
        """Append a batch of offsets ``base`` to before ``end``, and wait until the disk has it.

        Raises OSError, and then at each later call, since the file's contents are unknown.
        """
        if self._failed:
            raise OSError("an earlier write to the metadata log failed; start the cluster again")
        try:
            if self._is_full(len(data), now_ms):
                self._roll(base)
            files.append(self._file, data)
        except BaseException:
            self._failed = True
            raise
        if self._first_timestamp < 0:
            self._first_timestamp = now_ms
        self._size += len(data)
        self.uncovered_bytes += len(data)
        self.end, self.last_timestamp = end, now_ms

    def write_snapshot(self, end: int, epoch: int, data: bytes) -> None:
        """Write the snapshot of the records before offset ``end``. Raises OSError.

        May be called in any thread while batches are appended; the caller counts the bytes of
        these (``uncovered_bytes``).
        """
        path = self.folder / snapshot_name(end, epoch)
        if not path.exists():
            files.replace(path, data, read_only=True)

    def clean(self, now_ms: int) -> None:
        """Remove old snapshots, and segments that the oldest one left covers. Raises OSError.

        As ``maybeClean`` of Kafka's metadata log, which looks once a minute.
        """
        kept = self.snapshots()
        while len(kept) > 1 and (self._is_too_large(kept) or self._is_too_old(kept[0], now_ms)):
            del kept[0]
            self._remove_before(kept[0].end)

    def set_aside(self, name: str) -> None:
        """Give a damaged snapshot a name that neither we nor Kafka read."""
        path = self.folder / name
        files.rename(path, path.with_name(name + _DAMAGED))

    def follow(self, other: NodeLog) -> None:
        """Append the batches that another log has after this end. Raises MetadataLogError."""
        if other.start > self.end:  # the batches between are in a snapshot only
            snapshot = other.snapshots()[-1]
            files.replace(self.folder / snapshot.path.name, snapshot.path.read_bytes(),
                          read_only=True)  # fmt: skip
            self._go_on_from(snapshot)
        mine = {each.base: each.data for each in self._batches_from(self._base)}
        for batch in other._batches_from(self._base):
            if batch.base >= self.end:
                self.write(batch.data, batch.base, batch.end, other.last_timestamp)
            elif mine.get(batch.base) != batch.data:
                raise MetadataLogError(
                    f"the logs in {self.folder} and {other.folder} differ at offset {batch.base}",
                    "one to begin the other",
                )

    def close(self) -> None:
        os.close(self._file)

    # Segments.

    def _path(self, base: int) -> Path:
        return self.folder / f"{base:020}.log"

    def _segments(self) -> list[int]:
        return sorted(int(path.stem) for path in self.folder.glob("[0-9]" * 20 + ".log"))

    def _recover(self, covered: int) -> None:
        """Find the end of the last segment, and cut off an incomplete batch after it.

        ``covered``: the offset where the newest snapshot ends.
        """
        path, gap = self._path(self._base), None
        for batch in read_segment(path):
            if isinstance(batch, Gap) or batch.error is not None:
                gap = gap or batch
                continue
            if gap is not None:
                raise MetadataLogError(
                    f"{path}: whole batches follow what is damaged at byte {_position(gap)}",
                    "a log that a crash cut short at most; another copy may have it whole",
                )
            if batch.base_offset != self.end:
                raise MetadataLogError(
                    f"{path}: the batch at byte {batch.offset_in_data} begins at offset "
                    f"{batch.base_offset}",
                    f"offset {self.end}, the next one; another copy may have it whole",
                )
            self._took(batch, covered)
        if covered <= self._base:
            before = [each for each in self._segments() if covered <= each < self._base]
            self.uncovered_bytes += sum(self._path(each).stat().st_size for each in before)
        rest = path.stat().st_size - self._size
        if rest:
            files.truncate(path, self._size)
            self.notes.append(
                f"{path}: took off its end of {counted(rest, 'bytes')}, which is no whole "
                "batch; the log ends "
                f"before offset {self.end}"
            )

    def _took(self, batch: Batch, covered: int) -> None:
        self._size = batch.offset_in_data + batch.size
        self.end, self.last_timestamp = batch.last_offset + 1, batch.max_timestamp
        if self._first_timestamp < 0:
            self._first_timestamp = batch.max_timestamp
        if batch.base_offset >= covered:
            self.uncovered_bytes += batch.size

    def _is_full(self, size: int, now_ms: int) -> bool:
        """Whether a batch of that size begins the next segment."""
        if not self._size:
            return False
        age_ms = now_ms - self._first_timestamp
        limits = self._settings
        return self._size > limits.segment_bytes - size or age_ms > limits.segment_ms

    def _roll(self, base: int) -> None:
        """Begin a segment whose first offset is ``base``."""
        file = files.open_to_append(self._path(base))
        os.close(self._file)
        self._file, self._base, self._size, self._first_timestamp = file, base, 0, -1

    def _go_on_from(self, snapshot: Snapshot) -> None:
        """Start the log again after a snapshot that ends later than the log."""
        if not snapshot.is_whole():
            raise MetadataLogError(
                f"the log in {self.folder} ends before offset {self.end}, and the snapshot "
                f"{snapshot.path.name} does not read",
                "one of them; another copy may have it whole",
            )
        self._roll(snapshot.end)
        self.end, self.uncovered_bytes = snapshot.end, 0
        self._remove_before(snapshot.end)

    def _remove_before(self, start: int) -> None:
        """Remove the segments and snapshots that the snapshot ending at ``start`` covers."""
        segments = self._segments()
        for base, following in itertools.pairwise(segments):
            if following <= start:
                for path in sorted(self.folder.glob(f"{base:020}.*")):  # with Kafka's index files
                    files.remove(path)
        for snapshot in self.snapshots():
            if snapshot.end < start:
                files.remove(snapshot.path)

    def _is_too_large(self, snapshots: list[Snapshot]) -> bool:
        limit = self._settings.retention_bytes
        if limit < 0:
            return False
        paths = [each.path for each in snapshots] + [self._path(each) for each in self._segments()]
        return sum(path.stat().st_size for path in paths) > limit

    def _is_too_old(self, snapshot: Snapshot, now_ms: int) -> bool:
        limit, written = self._settings.retention_ms, snapshot.timestamp()
        return limit >= 0 and written is not None and now_ms - written > limit

    def _batches_from(self, offset: int) -> Iterator[RawBatch]:
        """The batches at and behind ``offset``, which is a batch's first, or the first one's."""
        segments = self._segments()
        for base, following in zip(segments, [*segments[1:], self.end], strict=True):
            if following <= offset:
                continue
            data, start = self._path(base).read_bytes(), 0
            while start < len(data):
                header = BatchHeader.of(data, start)
                end = start + header.size
                if header.base_offset >= offset:
                    yield RawBatch(header.base_offset, header.last_offset + 1, data[start:end])
                start = end


def _position(batch: Batch | Gap) -> int:
    return batch.offset_in_data if isinstance(batch, Batch) else batch.position
