"""A segment in files: ``.log`` with the batches, and its indexes.

Batches are written as they come. The indexes follow from them, and are written when the segment
gets no more: after a crash they are made anew, as by Kafka.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from kafka_admin_proto.records.batches.header import BatchHeader
from kafka_admin_proto.server.log import files
from kafka_admin_proto.server.partitions.disk.open_files import SegmentFile
from kafka_admin_proto.server.partitions.indexes import aborted_bytes
from kafka_admin_proto.server.partitions.segments import BatchSource, Segment
from kafka_admin_proto.server.partitions.settings import LogSettings

LOG, INDEX, TIME_INDEX, TXN_INDEX = ".log", ".index", ".timeindex", ".txnindex"
#: The files of a segment, and what stands behind their names while segments are replaced.
KINDS = (LOG, INDEX, TIME_INDEX, TXN_INDEX)
CLEANED, SWAP, DELETED = ".cleaned", ".swap", ".deleted"


def segment_path(folder: Path, base_offset: int, kind: str, suffix: str = "") -> Path:
    return folder / f"{base_offset:020}{kind}{suffix}"


class FileSegment(Segment):
    """A segment whose batches are in ``file``; the file ends with the last of them."""

    def __init__(
        self, file: SegmentFile, base_offset: int, settings: LogSettings, now_ms: int
    ) -> None:
        super().__init__(base_offset, settings, now_ms)
        self.file = file
        #: Whether the files of the indexes say what the segment has.
        self.has_indexes: bool = False
        #: Whether the disk has the batches.
        self.is_synced: bool = True
        self._is_finished = False

    def restore(self, header: BatchHeader) -> None:
        """The file has this batch behind those that are known."""
        self._add(self.file, header)

    def _keep(self, data: bytes) -> BatchSource:
        self.has_indexes = self._is_finished = self.is_synced = False
        try:
            self.file.write(self.size_bytes, data)
        except OSError:
            with contextlib.suppress(OSError):  # a start cuts it off too
                self.file.truncate(self.size_bytes)
            raise
        return self.file

    def finish(self) -> None:
        super().finish()
        self._is_finished = True

    def truncate(self, offset: int, now_ms: int) -> None:
        super().truncate(offset, now_ms)
        self.has_indexes = self._is_finished = self.is_synced = False
        self.file.truncate(self.size_bytes)
        for kind in KINDS[1:]:
            self._path(kind).unlink(missing_ok=True)

    def sync(self) -> None:
        """Let the disk have the batches, and the indexes if the segment gets no more."""
        if not self.is_synced:
            self.file.sync()
            self.is_synced = True
        if self._is_finished and not self.has_indexes:
            self.write_indexes()

    def write_indexes(self) -> None:
        contents = bytes(self.index.offsets), bytes(self.index.times), aborted_bytes(self.aborted)
        for kind, data in zip(KINDS[1:], contents, strict=True):
            path = self._path(kind)
            if kind == TXN_INDEX and not data:
                path.unlink(missing_ok=True)
                continue
            files.replace(path, data, is_synced=bool(data))
        self.has_indexes = True

    def rename(self, suffix: str) -> None:
        """Put this behind the names of all files, in place of what stands there."""
        folder = self.file.path.parent
        before = [(kind, self._path(kind)) for kind in KINDS[1:]]
        self.file.rename(segment_path(folder, self.base_offset, LOG, suffix))
        for kind, path in before:
            if path.exists():
                os.replace(path, segment_path(folder, self.base_offset, kind, suffix))

    def unlink(self) -> None:
        for kind in KINDS:
            self._path(kind).unlink(missing_ok=True)

    def _path(self, kind: str) -> Path:
        suffix = self.file.path.name.partition(LOG)[2]
        return segment_path(self.file.path.parent, self.base_offset, kind, suffix)
