"""Opening the folder of a partition after a stop or a crash (``LogLoader`` in Kafka).

Behind the recovery point, batches are checked after a crash, and the log is cut off at the first
one that is damaged. Before it all was on disk once: damage there is no effect of a crash, and such
a folder is refused.
"""

from __future__ import annotations

import itertools
import os
import re
import zlib
from pathlib import Path

import msgspec

from kafka_admin_proto.counts import counted
from kafka_admin_proto.kept_files import KeptFileError, read_kept
from kafka_admin_proto.records.batches.crc32c import crc32c
from kafka_admin_proto.records.batches.header import MAX_INT, BatchHeader
from kafka_admin_proto.records.batches.layout import (
    ATTRIBUTES_AT,
    BATCH_HEADER,
    LOG_OVERHEAD,
    MAGIC_AT,
    SMALLEST,
)
from kafka_admin_proto.records.segments.checkpoints import read_epochs
from kafka_admin_proto.records.segments.segments import DEFAULT_BATCH_LIMIT
from kafka_admin_proto.server.log.files import PART
from kafka_admin_proto.server.partitions.disk.open_files import OpenFiles, SegmentFile
from kafka_admin_proto.server.partitions.disk.producer_snapshots import SnapshotFiles
from kafka_admin_proto.server.partitions.disk.segment import (
    CLEANED,
    DELETED,
    INDEX,
    KINDS,
    LOG,
    SWAP,
    TIME_INDEX,
    TXN_INDEX,
    FileSegment,
    segment_path,
)
from kafka_admin_proto.server.partitions.epochs import LeaderEpochs
from kafka_admin_proto.server.partitions.indexes import (
    is_sane_offset_index,
    is_sane_time_index,
    read_aborted,
)
from kafka_admin_proto.server.partitions.settings import LogSettings
from kafka_admin_proto.server.partitions.store import Stored

#: Leader epochs and their first offsets.
EPOCHS = "leader-epoch-checkpoint"
_NAME = re.compile(r"([0-9]{20})(\.(?:log|index|timeindex|txnindex|snapshot))((?:\.\w+)*)")
_OTHER_NAMES = re.compile(r"(?:partition\.metadata|leader-epoch-checkpoint)(?:\.tmp)?")
_MAX_OFFSET = (1 << 63) - 1
_MOST_CHECKPOINT_BYTES = 64 << 20
#: Bytes that are read at once in search of headers.
_WINDOW_BYTES = 64 << 10
#: The bytes at the end of an index that have its last entry.
_LAST_ENTRY_BYTES = 12
#: What to do about a folder that is refused.
REMEDY = "another copy of the folder may have it whole; without the folder the partition is empty"


class Checkpointed(msgspec.Struct):
    """What the files of the log directory say of a partition."""

    was_stopped: bool = False
    recovery_point: int = 0
    start_offset: int = 0
    high_watermark: int = 0
    cleaned_to: int = 0


class Loading:
    """One opening of a folder, in which there are no links. ``notes`` are sentences on repairs."""

    def __init__(
        self,
        folder: Path,
        files: OpenFiles,
        snapshots: SnapshotFiles,
        checkpointed: Checkpointed,
        settings: LogSettings,
        now_ms: int,
    ) -> None:
        self.notes: list[str] = []
        self._folder = folder
        self._files = files
        self._snapshots = snapshots
        self._checkpointed = checkpointed
        self._settings = settings
        self._now_ms = now_ms
        self._epochs = LeaderEpochs([], lambda _: None)
        #: Whether there is no file of the epochs that reads, so that they are those of the batches.
        self._lacks_epochs = False

    def load(self) -> Stored:
        """The log; no segments if there are none. Raises KeptFileError and OSError."""
        self._finish_replacements()
        self._note_others()
        bases = self._segments()
        self._epochs.entries = self._read_epochs()
        self._lacks_epochs = not self._epochs.entries
        checked_from: float = float("inf")
        if not self._checkpointed.was_stopped:
            before = [each for each in bases if each <= self._checkpointed.recovery_point]
            checked_from = max(before, default=0)
        segments, recovered_from = self._load_segments(bases, checked_from)
        start = self._checkpointed.start_offset
        if segments and segments[-1].next_offset < start:
            self.notes.append(
                f"{self._folder}: the log ended before its start, offset {start}, and was removed"
            )
            self._drop(segments)
            segments = []
        if segments:
            start = max(start, segments[0].base_offset)
            self._epochs.truncate_from_end(segments[-1].next_offset)
            self._epochs.truncate_from_start(start)
        self._check_snapshots([each.base_offset for each in segments], recovered_from)
        return Stored(
            list(segments),
            self._epochs.entries,
            start,
            self._checkpointed.high_watermark,
            self._checkpointed.cleaned_to,
            recovered_from,
        )

    # Files.

    def _finish_replacements(self) -> None:
        """Remove what was being removed or written, and finish what compaction had begun.

        Cleaned segments are complete once all of them are named ``.swap``.
        """
        (self._folder / (EPOCHS + PART)).unlink(missing_ok=True)
        unfinished = [(path, match) for path in sorted(self._folder.iterdir())
                 if (match := _NAME.fullmatch(path.name)) and match[3]]  # fmt: skip
        cleaned = [int(match[1]) for _, match in unfinished if match[3] == CLEANED]
        swapped: list[Path] = []
        for path, match in unfinished:
            is_partial = match[3] == SWAP and int(match[1]) >= min(cleaned, default=_MAX_OFFSET)
            if match[3] in (CLEANED, DELETED) or match[3].endswith(PART) or is_partial:
                path.unlink()
            elif match[3] == SWAP:
                swapped.append(path)
        for path in swapped:
            if path.name.endswith(LOG + SWAP):
                self._remove_replaced(path)
        for path in swapped:
            os.replace(path, path.with_name(path.name.removesuffix(SWAP)))

    def _remove_replaced(self, path: Path) -> None:
        cleaned = self._segment(path)
        fault = self._fill(cleaned, is_checked=False)
        if fault:
            raise KeptFileError(path, f"does not read: {fault}", REMEDY)
        for base in self._segments():
            if cleaned.base_offset <= base < cleaned.next_offset:
                self._segment(segment_path(self._folder, base, LOG)).unlink()
        self._files.close(path)

    def _segments(self) -> list[int]:
        bases = []
        for path in sorted(self._folder.iterdir()):
            match = _NAME.fullmatch(path.name)
            if match and int(match[1]) > _MAX_OFFSET:
                raise KeptFileError(path, "is named after no offset", "remove it")
            if match and match[2] == LOG and not match[3]:
                bases.append(int(match[1]))
        return bases

    def _note_others(self) -> None:
        for path in sorted(self._folder.iterdir()):
            match = _NAME.fullmatch(path.name)
            if not (match and not match[3]) and not _OTHER_NAMES.fullmatch(path.name):
                self.notes.append(f"{path} is no file of a log; it was left alone")

    def _segment(self, path: Path) -> FileSegment:
        file = SegmentFile(path, self._files)
        base = int(path.name.partition(".")[0])
        segment = FileSegment(file, base, self._settings, self._now_ms)
        segment.modified_ms = int(path.stat().st_mtime * 1000)
        return segment

    def _drop(self, segments: list[FileSegment]) -> None:
        for each in segments:
            self._files.close(each.file.path)
            each.unlink()

    def _read_epochs(self) -> list[tuple[int, int]]:
        path = self._folder / EPOCHS
        try:
            entries = read_epochs(read_kept(path, _MOST_CHECKPOINT_BYTES))
            if any(a >= c or b > d for (a, b), (c, d) in itertools.pairwise(entries)):
                raise ValueError("its epochs do not rise")
        except FileNotFoundError:
            return []
        except KeptFileError:
            raise
        except ValueError as error:
            self.notes.append(f"{path}: {error}; it is made anew of the batches' leader epochs")
            return []
        return entries

    # Segments.

    def _load_segments(
        self, bases: list[int], checked_from: float
    ) -> tuple[list[FileSegment], float]:
        """The segments, and the first offset of those whose transaction index is made anew."""
        segments: list[FileSegment] = []
        recovered_from = checked_from
        for place, base in enumerate(bases):
            segment = self._segment(segment_path(self._folder, base, LOG))
            if segments and segments[-1].next_offset > base:
                fault = (
                    f"begins before offset {segments[-1].next_offset}, where the one before it ends"
                )
                raise KeptFileError(segment.file.path, fault, REMEDY)
            segments.append(segment)
            is_last = place + 1 == len(bases)
            fault = self._fill(segment, is_checked=base >= checked_from)
            if fault and base < checked_from:
                # The size of the batch before it may be what is wrong: its checksum tells.
                segments[-1] = segment = self._segment(segment.file.path)
                fault = self._fill(segment, is_checked=True)
            if fault:
                if base < checked_from and not is_last:
                    fault = f"has a fault at byte {segment.size_bytes}: {fault}"
                    raise KeptFileError(segment.file.path, fault, REMEDY)
                self._cut(segment, fault, bases[place + 1 :])
                recovered_from = min(recovered_from, base)
            if base < recovered_from and not self._has_aborted(segment):
                recovered_from = base
            if fault:
                break
        for segment in segments:
            segment.has_indexes = segment.is_synced = segment.base_offset < recovered_from
            if segment is not segments[-1]:
                segment.finish()
            if segment.has_indexes and not self._are_indexes_sane(segment):
                self.notes.append(f"{segment.file.path}: its indexes were made anew")
                segment.index.finish()
                segment.write_indexes()
        return segments, recovered_from

    def _fill(self, segment: FileSegment, *, is_checked: bool) -> str:
        """Find all batches; the reason why there are no more before the file's end, or ""."""
        file = segment.file
        size = file.path.stat().st_size
        window, start = b"", 0
        while (at := segment.size_bytes) < size:
            if size - at < BATCH_HEADER.size:
                return f"no whole batch is in the last {counted(size - at, 'bytes')}"
            if at + BATCH_HEADER.size > start + len(window):
                start = at
                window = file.read(at, min(_WINDOW_BYTES, size - at))
            header = BatchHeader.of(window, at - start)
            fault = _fault(segment, header, size - at)
            if fault:
                if _is_message(file, at, header, size - at):
                    raise KeptFileError(file.path, f"is of Kafka before 0.11: {fault}", REMEDY)
                return fault
            if is_checked:
                data = memoryview(window)[at - start : at - start + header.size]
                if len(data) < header.size:
                    data = memoryview(file.read(at, header.size))
                if crc32c(data[ATTRIBUTES_AT:]) != header.crc:
                    return f"the checksum of the batch at offset {header.base_offset} is wrong"
            segment.restore(header)
            if (is_checked or self._lacks_epochs) and header.leader_epoch > self._epochs.latest:
                self._epochs.assign(header.leader_epoch, header.base_offset)
        return ""

    def _cut(self, segment: FileSegment, fault: str, following: list[int]) -> None:
        """Let the log end with the whole batches of a segment."""
        path = segment.file.path
        rest = path.stat().st_size - segment.size_bytes
        gone = f"the last {counted(rest, 'bytes')}"
        if following:
            gone += f" and the {counted(len(following), 'segments')} behind it"
        segment.file.truncate(segment.size_bytes)
        self._drop([self._segment(segment_path(self._folder, each, LOG)) for each in following])
        self.notes.append(
            f"{path}: took off {gone}, since {fault}; the log ends before offset "
            f"{segment.next_offset}"
        )

    def _has_aborted(self, segment: FileSegment) -> bool:
        """Read the transaction index. Returns False if it is damaged."""
        path = segment_path(self._folder, segment.base_offset, TXN_INDEX)
        try:
            data = read_kept(path, max(segment.size_bytes, _LAST_ENTRY_BYTES))
            segment.aborted = read_aborted(data)
        except FileNotFoundError:
            pass
        except KeptFileError:
            raise
        except ValueError as error:
            self.notes.append(f"{path}: {error}; it is made anew of the batches")
            return False
        return True

    def _are_indexes_sane(self, segment: FileSegment) -> bool:
        for kind, is_sane in ((INDEX, is_sane_offset_index), (TIME_INDEX, is_sane_time_index)):
            file = SegmentFile(segment_path(self._folder, segment.base_offset, kind), self._files)
            try:
                size = file.path.stat().st_size
                last = file.read(max(0, size - _LAST_ENTRY_BYTES), min(size, _LAST_ENTRY_BYTES))
            except FileNotFoundError:
                return False
            finally:
                self._files.close(file.path)
            if not is_sane(size, last):
                return False
        return True

    def _check_snapshots(self, bases: list[int], recovered_from: float) -> None:
        """Remove snapshots of producers that the log cannot go on from, and indexes without a log.

        As in Kafka those of segments stay, and the last one.
        """
        known = set(bases)
        newest = max(self._snapshots, default=0)
        for offset in self._snapshots:
            if offset > recovered_from or (offset not in known and offset != newest):
                del self._snapshots[offset]
                continue
            try:
                self._snapshots[offset]
            except ValueError as error:
                path = self._snapshots.path(offset)
                self.notes.append(f"{path}: {error}; it was removed, the batches say as much")
                del self._snapshots[offset]
        for kind in KINDS[1:]:
            for path in self._folder.glob("*" + kind):
                match = _NAME.fullmatch(path.name)
                if match and int(match[1]) not in known:
                    path.unlink()


def _is_message(file: SegmentFile, at: int, header: BatchHeader, rest: int) -> bool:
    """Whether there is a message of magic 0 or 1; its checksum is where batches have the epoch."""
    if header.magic not in (0, 1) or not SMALLEST <= header.length <= rest - LOG_OVERHEAD:
        return False
    data = file.read(at, min(header.size, DEFAULT_BATCH_LIMIT))
    return zlib.crc32(data[MAGIC_AT:]) == int.from_bytes(data[LOG_OVERHEAD:MAGIC_AT], "big")


def _fault(segment: FileSegment, header: BatchHeader, rest: int) -> str:
    """Why these are no header and no batch behind the last one of a segment; "" if they may be."""
    if header.magic != 2:
        return f"there is a batch of magic {header.magic}; expected 2"
    if not BATCH_HEADER.size <= header.size <= DEFAULT_BATCH_LIMIT:
        return f"there is a batch of {counted(header.size, 'bytes')}"
    if header.size > rest:
        return f"the last batch has {rest} of {counted(header.size, 'bytes')}"
    if header.base_offset < segment.next_offset or header.last_offset_delta < 0:
        return f"there is a batch of offsets {header.base_offset} to {header.last_offset}"
    if header.last_offset - segment.base_offset > MAX_INT or header.last_offset >= _MAX_OFFSET:
        return f"offset {header.last_offset} is too far from that of the file's name"
    return ""
