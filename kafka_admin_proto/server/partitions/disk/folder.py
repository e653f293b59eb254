"""``TOPIC-N/``: the log of a partition in files (``LocalLog`` in Kafka)."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from kafka_admin_proto.kept_files import create_kept, refuse_links
from kafka_admin_proto.loggers import SERVER
from kafka_admin_proto.records.segments.checkpoints import checkpoint_bytes
from kafka_admin_proto.server.log import files
from kafka_admin_proto.server.partitions.disk.loading import EPOCHS, Checkpointed, Loading
from kafka_admin_proto.server.partitions.disk.open_files import OpenFiles, SegmentFile
from kafka_admin_proto.server.partitions.disk.producer_snapshots import SnapshotFiles
from kafka_admin_proto.server.partitions.disk.segment import (
    CLEANED,
    DELETED,
    LOG,
    SWAP,
    FileSegment,
    segment_path,
)
from kafka_admin_proto.server.partitions.segments import Segment, segment_index
from kafka_admin_proto.server.partitions.settings import LogSettings
from kafka_admin_proto.server.partitions.store import LogStore, Stored

#: Calls a function after a delay, in seconds.
Later = Callable[[float, Callable[[], None]], object]


class LogFolder(LogStore):
    """The store of a log in the folder ``path``, which is there.

    A batch is in its file before the log's ``append`` returns. The disk has it once the log was
    flushed: when a segment ends, at a clean stop, and as flush.messages and flush.ms say.
    """

    def __init__(
        self,
        path: Path,
        files: OpenFiles,
        checkpointed: Checkpointed,
        later: Later,
        write_starts: Callable[[], None],
    ) -> None:
        refuse_links(path)
        super().__init__()
        self.path = path
        #: Sentences about repairs of the files at the opening.
        self.notes: list[str] = []
        self.snapshots: SnapshotFiles = SnapshotFiles(path)
        self.recovery_point: int = checkpointed.recovery_point
        self._files = files
        self._checkpointed = checkpointed
        self._later = later
        self._write_starts = write_starts

    def open(self, settings: LogSettings, now_ms: int) -> Stored:
        loading = Loading(
            self.path, self._files, self.snapshots, self._checkpointed, settings, now_ms
        )
        stored = loading.load()
        self.notes += loading.notes
        if not stored.segments:
            stored.segments = [self.segment(stored.start_offset, settings, now_ms)]
        end = stored.segments[-1].next_offset
        # After a crash, what was read may not be on the disk.
        stopped = self._checkpointed.was_stopped
        self.recovery_point = end if stopped else min(self.recovery_point, end)
        return stored

    def segment(
        self, base_offset: int, settings: LogSettings, now_ms: int, *, is_cleaned: bool = False
    ) -> Segment:
        path = segment_path(self.path, base_offset, LOG, CLEANED if is_cleaned else "")
        self._files.close(path)
        os.close(create_kept(path))
        return FileSegment(SegmentFile(path, self._files), base_offset, settings, now_ms)

    def flush(self, segments: Sequence[Segment], end_offset: int) -> None:
        for each in segments[max(segment_index(segments, self.recovery_point), 0) :]:
            _on_disk(each).sync()
        super().flush(segments, end_offset)

    def remove(self, segments: Sequence[Segment], settings: LogSettings) -> None:
        for each in map(_on_disk, segments):
            each.rename(DELETED)
            self._later(settings.file_delete_delay_ms / 1000, partial(_unlink, each))

    def replace(self, cleaned: Segment, segments: Sequence[Segment], settings: LogSettings) -> None:
        segment = _on_disk(cleaned)
        segment.sync()
        segment.rename(SWAP)
        self.remove(segments, settings)
        segment.rename("")
        os.utime(segment.file.path, ns=(segment.modified_ms * 10**6,) * 2)

    def start_moved(self) -> None:
        self._write_starts()

    def write_epochs(self, entries: Sequence[tuple[int, int]]) -> None:
        # Not waited for: it can be made anew of the batches.
        files.replace(self.path / EPOCHS, checkpoint_bytes(entries), is_synced=False)

    def close(self, segments: Sequence[Segment]) -> None:
        for each in segments:
            self._files.close(_on_disk(each).file.path)


def _on_disk(segment: Segment) -> FileSegment:
    assert isinstance(segment, FileSegment)
    return segment


def _unlink(segment: FileSegment) -> None:
    try:
        segment.unlink()
    except OSError as error:
        SERVER.warning("a segment that was deleted is still there: %s", error)
