"""Replay the folder of a metadata log: the newest usable snapshot, then the segments.

    replayed = replay("/var/kafka/__cluster_metadata-0")
    replayed.state.topics

The folder has no high watermark, so the last records may not be committed yet.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from kafka_admin_proto.errors import MetadataLogError
from kafka_admin_proto.messages import SnapshotFooterRecord, SnapshotHeaderRecord
from kafka_admin_proto.records.batches.model import Batch
from kafka_admin_proto.records.metadata.batch_replay import BatchReplayer, LogProblem
from kafka_admin_proto.records.metadata.cluster_state import ClusterState
from kafka_admin_proto.records.metadata.quorum_leader import (
    QUORUM_STATE,
    Leader,
    leader_in,
    read_quorum_state,
)
from kafka_admin_proto.records.metadata.records import METADATA_TOPIC
from kafka_admin_proto.records.metadata.replay import MetadataReplay
from kafka_admin_proto.records.segments.segments import Gap, read_segment
from kafka_admin_proto.wire.types.blobs import replace_invalid_utf8

#: The folder's name inside a broker's or controller's ``log.dirs``.
FOLDER_NAME = f"{METADATA_TOPIC}-0"

#: The leader epoch of a batch that no leader has written into.
_NO_EPOCH = -1
_SEGMENT = re.compile(r"([0-9]{20})\.log")
_SNAPSHOT = re.compile(r"([0-9]{20})-([0-9]{10})\.checkpoint")


class Replayed(msgspec.Struct):
    """The result of a replay: the state of the cluster, and the files and faults of the replay.

    ``snapshot`` is the file that the replay started from, "" for the start of the log.
    ``unfinished_since`` is the offset at which a transaction without an end begins; its records are
    not applied. ``leader`` is the active controller, None if neither the log nor a file
    ``quorum-state`` beside it names the leader of the last epoch.
    """

    state: ClusterState
    snapshot: str = ""
    problems: list[LogProblem] = []
    unfinished_since: int | None = None
    leader: Leader | None = None


def replay(folder: str | os.PathLike[str], at: int | None = None) -> Replayed:
    """The cluster after the record at offset ``at``, or after the last one.

    ``folder`` has segments and snapshots, or a folder ``__cluster_metadata-0`` that has them. The
    replay starts from a snapshot at or below the offset, or from the log's start without one. It
    takes the newest complete snapshot (an older one only if the log continues from it), otherwise
    the newest one in which only single records are damaged, otherwise the newest. Everything that
    cannot be read is a problem; all other records are applied. Raises MetadataLogError if the
    folder has no such log or not that offset, and OSError if a file cannot be read.
    """
    files = _Files(Path(folder))
    if at is not None and at < 0:
        raise MetadataLogError(f"there is no offset {at}", "0 or above")
    replayed = _from_snapshot(files, at)
    _Tail(replayed, files, at).read()
    _find_leader(replayed, files, at)
    reached = replayed.state.offset
    if at is not None and reached < at:
        first = files.first_offset
        if at < first:
            raise MetadataLogError(
                f"{files.name}: offset {at} is before the log's start", f"{first} or above"
            )
        raise MetadataLogError(f"{files.name}: the log does not reach offset {at}",
                               f"at most {reached}")  # fmt: skip
    return replayed


def _find_leader(replayed: Replayed, files: _Files, at: int | None) -> None:
    """Find the leader in older segments if the replayed ones name none, or in ``quorum-state``.

    The file has the present leader, so it is not used for an offset before the end.
    """
    for start, path in reversed(files.segments):
        if replayed.leader is not None:
            break
        if at is None or start <= at:
            batches = (each for each in read_segment(path) if isinstance(each, Batch))
            for batch in batches:
                replayed.leader = leader_in(batch, at) or replayed.leader
    saved = None
    if at is None:
        try:
            saved = read_quorum_state(files.folder / QUORUM_STATE)
        except MetadataLogError as error:
            replayed.problems.append(LogProblem(str(error)))
    if saved is not None and (replayed.leader is None or saved.epoch > replayed.leader.epoch):
        replayed.leader = saved
    if replayed.leader is not None and replayed.leader.epoch < replayed.state.epoch:
        replayed.leader = None  # a later epoch has a leader whose LEADER_CHANGE is not in the log


class _Files:
    """The segments (by first offset) and snapshots (by end offset and epoch) of a folder."""

    def __init__(self, folder: Path) -> None:
        if (folder / FOLDER_NAME).is_dir():
            folder /= FOLDER_NAME
        self.folder = folder
        self.name = replace_invalid_utf8(str(folder))
        segments, snapshots = [], []
        for path in folder.iterdir() if folder.is_dir() else ():
            if match := _SEGMENT.fullmatch(path.name):
                segments.append((int(match[1]), path))
            elif match := _SNAPSHOT.fullmatch(path.name):
                snapshots.append((int(match[1]), int(match[2]), path))
        if not segments and not snapshots:
            raise MetadataLogError(
                f"{self.name} holds no segments (*.log) and no snapshots (*.checkpoint)",
                f"a folder {FOLDER_NAME}, or the log.dirs folder that it is in",
            )
        self.segments = sorted(segments)
        self.snapshots = sorted(snapshots)

    @property
    def first_offset(self) -> int:
        starts = [start for start, _ in self.segments]
        return min([*starts, *(max(end - 1, 0) for end, _, _ in self.snapshots)])

    def go_on_from(self, offset: int) -> bool:
        """Whether the segments continue from ``offset``, without a gap."""
        return bool(self.segments) and self.segments[0][0] <= offset

    def segments_from(self, offset: int) -> Iterator[tuple[int, Path]]:
        """The segments that may have ``offset`` or a later one."""
        for index, (start, path) in enumerate(self.segments):
            following = self.segments[index + 1 : index + 2]
            if not following or following[0][0] > offset:
                yield start, path


def _from_snapshot(files: _Files, at: int | None) -> Replayed:
    """The state of the snapshot that the replay starts from, by the rules in ``replay``."""
    best: Replayed | None = None
    best_is_complete = False
    given_up: list[LogProblem] = []
    snapshots = [each for each in files.snapshots if at is None or each[0] - 1 <= at]
    for end, epoch, path in reversed(snapshots):
        goes_on = end == snapshots[-1][0] or files.go_on_from(end)
        if best_is_complete and not goes_on:
            break
        replayed = _read_snapshot(path, end, epoch)
        if goes_on and not replayed.problems:
            replayed.problems = given_up
            return replayed
        # Other problems have no offset: bytes are gone, and nothing tells with how much.
        is_complete = all(problem.offset is not None for problem in replayed.problems)
        if best is None or (is_complete and not best_is_complete):
            best = msgspec.structs.replace(replayed, problems=[*given_up, *replayed.problems])
            best_is_complete = is_complete
        if replayed.problems:
            fault = replayed.problems[0]
            given_up.append(
                LogProblem(f"the snapshot is not used: {fault.text}", fault.file, fault.position)
            )
    if best is None or files.go_on_from(0):
        return Replayed(ClusterState(), problems=given_up)
    return best


def _read_snapshot(path: Path, end: int, epoch: int) -> Replayed:
    replayer = BatchReplayer(replace_invalid_utf8(path.name))
    names: list[str] = []
    for batch in read_segment(path):
        names += replayer.take(batch)
    if not names or names[0] != SnapshotHeaderRecord.message_name:
        replayer.report("its first record is no SnapshotHeaderRecord", 0)
    elif names[-1] != SnapshotFooterRecord.message_name:
        replayer.report("it ends without a SnapshotFooterRecord", path.stat().st_size)
    replayer.replay.skip(end - 1, epoch)
    if replayer.replay.open_since is not None:
        replayer.report("a transaction in it does not end", path.stat().st_size)
    return Replayed(replayer.replay.state, path.name, replayer.problems)


class _Tail:
    """Applies the segments to the state of the snapshot."""

    def __init__(self, replayed: Replayed, files: _Files, at: int | None) -> None:
        self._replayed = replayed
        self._files = files
        self._at = at
        self._replay = MetadataReplay(replayed.state)
        self._start = self._next = replayed.state.offset + 1
        self._snapshot_epoch = replayed.state.epoch
        self._epoch = _NO_EPOCH

    def read(self) -> None:
        for start, path in self._files.segments_from(self._next):
            if self._at is not None and start > self._at:
                break
            self._read_one(path, start)
        self._replayed.unfinished_since = self._replay.open_since

    def _read_one(self, path: Path, start: int) -> None:
        replayer = BatchReplayer(replace_invalid_utf8(path.name), self._replay, self._at)
        before = -1
        known = self._next
        twice: range | None = None
        twice_at = 0
        for batch in read_segment(path):
            if isinstance(batch, Gap):
                replayer.take(batch)
                continue
            if self._at is not None and batch.base_offset > self._at:
                break
            self._replayed.leader = leader_in(batch, self._at) or self._replayed.leader
            if batch.base_offset <= before:
                text = f"base offset {batch.base_offset} comes after offset {before}"
                replayer.report(f"{text}; the batch is not applied", batch.offset_in_data)
                continue
            last = _last_offset(batch)
            if last is None:
                replayer.take(batch)
                continue
            before = last
            self._check_epoch(batch, replayer)
            again = range(max(batch.base_offset, self._start), min(last + 1, known))
            if again:
                twice_at = batch.offset_in_data if twice is None else twice_at
                twice = range(again.start if twice is None else twice.start, again.stop)
            if last < self._next:
                continue
            if batch.base_offset > self._next:
                self._miss(batch, start, replayer)
            replayer.take(batch, self._next)
            self._next = last + 1
            # The last offsets of a batch, or all, may have no records any more.
            reached = last if self._at is None else min(last, self._at)
            if reached > self._replay.state.offset:
                self._replay.skip(reached, batch.partition_leader_epoch)
        if twice is not None:
            text = (
                f"{_span(twice)} in the segment before, too; what this one has there is not applied"
            )
            replayer.report(text, twice_at, twice.start)
        self._replayed.problems += replayer.problems

    def _check_epoch(self, batch: Batch, replayer: BatchReplayer) -> None:
        """Report a leader epoch below that of the batch, or of the snapshot, before."""
        least, epoch = self._epoch, batch.partition_leader_epoch
        if epoch == _NO_EPOCH:
            return
        if batch.base_offset >= self._start:
            least = max(least, self._snapshot_epoch)
        if epoch < least:
            replayer.report(f"leader epoch {epoch} comes after {least}", batch.offset_in_data)
        self._epoch = epoch

    def _miss(self, batch: Batch, start: int, replayer: BatchReplayer) -> None:
        """Report the offsets before a batch that are in no file, or not in its file."""
        text = f"{_span(range(self._next, batch.base_offset))} missing"
        if self._next == 0:
            text += ": no snapshot holds what they did"
        if start > self._next:
            replayer.problems.append(LogProblem(text))
        else:
            replayer.report(text, batch.offset_in_data)


def _last_offset(batch: Batch) -> int | None:
    """The last offset of a batch, or of its readable records if it is damaged; None without any."""
    if batch.error is None:
        return max(batch.base_offset, batch.last_offset)
    return batch.records[-1].offset if batch.records else None


def _span(offsets: range) -> str:
    """Offsets as the subject of a sentence: "offset 6 is", "offsets 6 to 9 are"."""
    first, last = offsets[0], offsets[-1]
    return f"offset {first} is" if first == last else f"offsets {first} to {last} are"
