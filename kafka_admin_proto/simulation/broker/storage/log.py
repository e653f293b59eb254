"""One partition's log: its batches, where its leader epochs begin, and the id in its file."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from uuid import UUID

from kafka_admin_proto.records.batches.batches import read_batches
from kafka_admin_proto.records.segments.checkpoints import checkpoint_bytes, read_epochs
from kafka_admin_proto.records.segments.partition_metadata import FILE_NAME, PartitionMetadata
from kafka_admin_proto.simulation.broker.storage.disk import SEGMENT_NAME, Disk

#: Leader epochs and their first offsets, as Kafka's ``LeaderEpochCheckpointFile`` writes them.
_EPOCHS_FILE = "leader-epoch-checkpoint"
#: The high watermark. Kafka has one such file for a log directory, replication-offset-checkpoint.
_HIGH_WATERMARK_FILE = "high-watermark"
_EPOCH_AT = 12
#: "No epoch" and "no offset" on the wire.
UNDEFINED = -1


@dataclass(frozen=True, slots=True)
class StoredBatch:
    """A batch as it is in the log. The CRC does not cover base offset and leader epoch."""

    base_offset: int
    last_offset: int
    leader_epoch: int
    data: bytes


@dataclass(slots=True, eq=False)
class Log:
    """A log on the disk; equal to itself alone, as a topic made again has another one."""

    disk: Disk
    log_dir: str
    folder: str
    topic: str
    partition: int
    topic_id: UUID | None = None
    high_watermark: int = 0
    batches: list[StoredBatch] = field(default_factory=list)
    #: Leader epoch → its first offset, both ascending.
    epochs: list[tuple[int, int]] = field(default_factory=list)

    @property
    def end_offset(self) -> int:
        """The offset that the next record gets."""
        return self.batches[-1].last_offset + 1 if self.batches else 0

    def load(self, *, read_id: bool) -> None:
        """Read what is on the disk. Raises PartitionMetadataError where the file does not read."""
        if read_id:
            metadata = self.disk.read(self.log_dir, self.folder, FILE_NAME)
            if metadata is not None:
                self.topic_id = PartitionMetadata.parse(metadata, file=self.folder).topic_id
        data = self.disk.read(self.log_dir, self.folder, SEGMENT_NAME) or b""
        self.batches = _split(data)
        known = read_epochs(self.disk.read(self.log_dir, self.folder, _EPOCHS_FILE) or b"")
        # Epochs without records are forgotten, as shipped (LogLoader.load).
        self.epochs = [(epoch, start) for epoch, start in known if start < self.end_offset]
        offset = int(self.disk.read(self.log_dir, self.folder, _HIGH_WATERMARK_FILE) or b"0")
        self.high_watermark = min(offset, self.end_offset)
        # As Kafka keeps the high watermarks of the replicas that a life of the broker hosts.
        self.disk.unlink(self.log_dir, self.folder, _HIGH_WATERMARK_FILE)

    def assign_id(self, topic_id: UUID) -> None:
        """Take the id, and write the file."""
        self.topic_id = topic_id
        text = PartitionMetadata(topic_id).format()
        self.disk.write(self.log_dir, self.folder, FILE_NAME, text.encode())

    def keep_high_watermark(self, offset: int) -> None:
        self.high_watermark = offset
        data = str(offset).encode()
        self.disk.write(self.log_dir, self.folder, _HIGH_WATERMARK_FILE, data)

    def append(self, data: bytes, leader_epoch: int) -> int:
        """Append a producer's batches as the leader; the offset of the first record."""
        first = self.end_offset
        for batch in _split(data):
            count = batch.last_offset - batch.base_offset
            base = self.end_offset
            raw = bytearray(batch.data)
            struct.pack_into(">q", raw, 0, base)
            struct.pack_into(">i", raw, _EPOCH_AT, leader_epoch)
            self.start_epoch(leader_epoch, base)
            self.batches.append(StoredBatch(base, base + count, leader_epoch, bytes(raw)))
        self._write_batches()
        return first

    def append_from_leader(self, data: bytes) -> None:
        """Append what the leader has, with its offsets and epochs."""
        for batch in _split(data):
            if batch.base_offset == self.end_offset:
                self.start_epoch(batch.leader_epoch, batch.base_offset)
                self.batches.append(batch)
        self._write_batches()

    def start_epoch(self, leader_epoch: int, offset: int) -> None:
        """A leader epoch begins at an offset (``LeaderEpochFileCache.assign``)."""
        if self.epochs and self.epochs[-1][0] == leader_epoch and self.epochs[-1][1] <= offset:
            return
        while self.epochs and (self.epochs[-1][0] >= leader_epoch or self.epochs[-1][1] >= offset):
            self.epochs.pop()
        self.epochs.append((leader_epoch, offset))
        self._write_epochs()

    def end_of_epoch(self, leader_epoch: int) -> tuple[int, int]:
        """The largest epoch up to the given one, and where it ends; UNDEFINED where unknown."""
        if leader_epoch == UNDEFINED or not self.epochs or leader_epoch > self.epochs[-1][0]:
            return UNDEFINED, UNDEFINED
        if leader_epoch == self.epochs[-1][0]:
            return leader_epoch, self.end_offset
        end = next(offset for epoch, offset in self.epochs if epoch > leader_epoch)
        before = [epoch for epoch, _ in self.epochs if epoch <= leader_epoch]
        return (before[-1] if before else leader_epoch), end

    def truncate(self, offset: int) -> None:
        """Drop the batches from an offset on, and the epochs that began there."""
        if offset >= self.end_offset:
            return
        self.batches = [batch for batch in self.batches if batch.last_offset < offset]
        self.epochs = [(epoch, start) for epoch, start in self.epochs if start < self.end_offset]
        self.keep_high_watermark(min(self.high_watermark, self.end_offset))
        self._write_batches()
        self._write_epochs()

    def read(self, offset: int, end: int) -> bytes:
        """Whole batches from the one with ``offset`` on, of records before ``end``."""
        batches = (b.data for b in self.batches if b.last_offset >= offset and b.last_offset < end)
        return b"".join(batches)

    def _write_batches(self) -> None:
        data = b"".join(batch.data for batch in self.batches)
        self.disk.write(self.log_dir, self.folder, SEGMENT_NAME, data)

    def _write_epochs(self) -> None:
        self.disk.write(self.log_dir, self.folder, _EPOCHS_FILE, checkpoint_bytes(self.epochs))


def _split(data: bytes) -> list[StoredBatch]:
    return [
        StoredBatch(
            batch.base_offset,
            batch.base_offset + batch.last_offset_delta,
            batch.partition_leader_epoch,
            data[batch.offset_in_data : batch.offset_in_data + batch.size],
        )
        for batch in read_batches(data)
    ]
