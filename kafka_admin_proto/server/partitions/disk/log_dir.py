"""The folder of all partitions of a node, a broker's ``log.dirs`` (``LogManager`` in Kafka).

Beside the partitions' folders there are files with an offset of each partition: up to where its
log is on the disk, where it begins, its high watermark, and up to where compaction has cleaned it.
A clean stop leaves ``.kafka_cleanshutdown``; without it, logs are checked behind their recovery
points.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import ClassVar
from uuid import UUID, uuid4

import msgspec

from kafka_admin_proto.errors import PartitionMetadataError
from kafka_admin_proto.kept_files import KeptFileError, read_kept, refuse_link
from kafka_admin_proto.loggers import SERVER
from kafka_admin_proto.records.metadata.log import FOLDER_NAME
from kafka_admin_proto.records.segments.checkpoints import (
    OF_OFFSETS,
    OFFSET,
    PARTITION,
    TOPIC,
    checkpoint_bytes,
    read_checkpoint,
)
from kafka_admin_proto.records.segments.partition_metadata import FILE_NAME, PartitionMetadata
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.log import files
from kafka_admin_proto.server.partitions.disk.folder import Later, LogFolder
from kafka_admin_proto.server.partitions.disk.loading import REMEDY, Checkpointed
from kafka_admin_proto.server.partitions.disk.open_files import OpenFiles
from kafka_admin_proto.server.partitions.log import PartitionLog
from kafka_admin_proto.server.partitions.settings import LogSettings

RECOVERY_POINTS = "recovery-point-offset-checkpoint"
LOG_STARTS = "log-start-offset-checkpoint"
HIGH_WATERMARKS = "replication-offset-checkpoint"
CLEANED = "cleaner-offset-checkpoint"
CLEAN_SHUTDOWN = ".kafka_cleanshutdown"
#: What is lost with one of the files.
_LOSSES = {
    RECOVERY_POINTS: "logs are checked from their starts",
    LOG_STARTS: "records that were deleted may be there again",
    HIGH_WATERMARKS: "logs are replicated as far as the replicas in sync have them",
    CLEANED: "logs are cleaned from their starts",
}
_FOLDER = re.compile(r"(.+)-([0-9]{1,10})")
_SET_ASIDE = re.compile(r"(.+)-([0-9]{1,10})\.[0-9a-f]{32}-(delete|stray|future)")
_LONGEST_NAME = 255
_MOST_BYTES = 1 << 28


class LogDir:
    """The logs in a folder. ``notes`` are sentences about repairs of files.

    ``checkpoints`` are the files with offsets by the configs that say how often they are written.
    Raises KeptFileError for links in the place of files, and OSError.
    """

    checkpoints: ClassVar[Mapping[str, str]] = {
        "log.flush.offset.checkpoint.interval.ms": RECOVERY_POINTS,
        "log.flush.start.offset.checkpoint.interval.ms": LOG_STARTS,
        "replica.high.watermark.checkpoint.interval.ms": HIGH_WATERMARKS,
        "log.cleaner.backoff.ms": CLEANED,
    }

    def __init__(self, folder: Path, later: Later) -> None:
        refuse_link(folder)
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.notes: list[str] = []
        self._later = later
        self._files = OpenFiles()
        self._logs: dict[tuple[str, int], PartitionLog] = {}
        self._written: dict[str, bytes] = {}
        refuse_link(folder / CLEAN_SHUTDOWN)
        self._was_stopped = (folder / CLEAN_SHUTDOWN).exists()
        self._offsets = {name: self._read(name) for name in _LOSSES}

    def partitions(self) -> Iterator[tuple[str, int, UUID | None]]:
        """Topic, number and topic id of the folders that there are; no id without that file.

        Folders of deleted topics are removed.
        """
        for path in sorted(self.folder.iterdir()):
            if path.name == FOLDER_NAME or not path.is_dir():
                continue
            refuse_link(path)
            match = _FOLDER.fullmatch(path.name)
            aside = _SET_ASIDE.fullmatch(path.name)
            if aside and aside[3] == "delete":
                _remove(path)
            elif match and path.name == f"{match[1]}-{int(match[2])}":
                yield match[1], int(match[2]), self._topic_id(path)
            elif not aside:
                self.notes.append(f"{path} is no partition's folder; it was left alone")

    def open(
        self, topic: str, number: int, topic_id: UUID, settings: LogSettings, now_ms: int
    ) -> PartitionLog:
        """The log of a partition; a new one if there is no folder."""
        path = self._path(topic, number)
        if not path.is_dir():
            path.mkdir()
            PartitionMetadata(topic_id).write(path / FILE_NAME)
        key = topic, number
        offsets = {name: found.pop(key, 0) for name, found in self._offsets.items()}
        checkpointed = Checkpointed(
            was_stopped=self._was_stopped,
            recovery_point=offsets[RECOVERY_POINTS],
            start_offset=offsets[LOG_STARTS],
            high_watermark=offsets[HIGH_WATERMARKS],
            cleaned_to=offsets[CLEANED],
        )
        store = LogFolder(
            path, self._files, checkpointed, self._later, partial(self.write, LOG_STARTS)
        )
        try:
            log = PartitionLog(topic, number, settings, now_ms, store)
        except ApiFailure as error:  # a marker of a transaction, for example
            raise KeptFileError(path, f"does not read: {error.message}", REMEDY) from None
        self.notes += store.notes
        self._logs[key] = log
        return log

    def begin(self) -> None:
        """All logs that there are were opened, and batches may come: the next stop is not clean."""
        if self._was_stopped:
            files.remove(self.folder / CLEAN_SHUTDOWN)
        self._was_stopped = False

    def set_aside(self, topic: str, number: int, suffix: str = "stray") -> Path:
        """Give a folder a name that no partition has, as Kafka does; its new path."""
        path = self._path(topic, number)
        behind = f"-{number}.{uuid4().hex}-{suffix}"
        to = self.folder / (topic[: _LONGEST_NAME - len(behind)] + behind)
        os.rename(path, to)
        return to

    def delete(self, log: PartitionLog) -> None:
        """Delete the log of a partition; its folder goes after file.delete.delay.ms. OSError."""
        assert isinstance(log.store, LogFolder)
        log.store.close(log.segments)
        topic, _, number = log.name.rpartition("-")
        del self._logs[topic, int(number)]
        to = self.set_aside(topic, int(number), "delete")
        self._later(log.settings.file_delete_delay_ms / 1000, partial(_remove, to))

    def write(self, name: str) -> None:
        """Write one of the files with offsets, if they have changed. Raises OSError."""
        rows = []
        for (topic, number), log in self._logs.items():
            offset = {
                RECOVERY_POINTS: log.store.recovery_point,
                LOG_STARTS: log.start_offset,
                HIGH_WATERMARKS: log.high_watermark,
                CLEANED: log.cleaned_to,
            }[name]
            if name == LOG_STARTS and offset <= log.segments[0].base_offset:
                continue
            if name != CLEANED or log.settings.is_compacted:
                rows.append((topic, number, offset))
        data = checkpoint_bytes(rows)
        if self._written.get(name) != data:
            files.replace(self.folder / name, data)
            self._written[name] = data

    def release(self) -> None:
        self._files.close_all()

    def close(self, broker_epoch: int, now_ms: int) -> None:
        """Flush and close all logs: a clean stop. Raises OSError, and then it was none."""
        try:
            for log in self._logs.values():
                log.close(now_ms)
            for name in _LOSSES:
                self.write(name)
            shutdown = {"version": 0, "brokerEpoch": broker_epoch}
            files.replace(self.folder / CLEAN_SHUTDOWN, msgspec.json.encode(shutdown))
        finally:
            self.release()

    def _path(self, topic: str, number: int) -> Path:
        return self.folder / f"{topic}-{number}"

    def _topic_id(self, path: Path) -> UUID | None:
        refuse_link(path / FILE_NAME)
        try:
            return PartitionMetadata.read(path / FILE_NAME).topic_id
        except FileNotFoundError:
            return None
        except PartitionMetadataError as error:
            self.notes.append(f"{error}")
            return None

    def _read(self, name: str) -> dict[tuple[str, int], int]:
        path = self.folder / name
        try:
            rows = read_checkpoint(read_kept(path, _MOST_BYTES), OF_OFFSETS)
            return {(row[TOPIC], row[PARTITION]): row[OFFSET] for row in rows}
        except FileNotFoundError:
            return {}
        except KeptFileError:
            raise
        except ValueError as error:
            self.notes.append(f"{path}: {error}; {_LOSSES[name]}")
            return {}


def _remove(path: Path) -> None:
    """Remove the folder of a deleted partition; links in it are removed, and not followed."""
    try:
        shutil.rmtree(path)
    except OSError as error:
        SERVER.warning("the folder of a deleted partition is still there: %s", error)
