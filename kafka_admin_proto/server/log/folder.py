"""A node's folder as Kafka lays it out: ``meta.properties`` and ``__cluster_metadata-0/``.

Each node has a folder of its own, all with the same log. A batch is written and synced in each
before ``append`` returns. What a crash leaves behind the last whole batch is cut off when the
folder is opened again; a node whose log ends earlier than another's gets what it lacks.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import msgspec

from kafka_admin_proto.errors import MetadataLogError
from kafka_admin_proto.messages.leader_change_message import LeaderChangeMessage, Voter
from kafka_admin_proto.messages.snapshot_footer_record import SnapshotFooterRecord
from kafka_admin_proto.messages.snapshot_header_record import SnapshotHeaderRecord
from kafka_admin_proto.records.batches import write_batch
from kafka_admin_proto.records.control import write_control_record
from kafka_admin_proto.records.metadata_log import FOLDER_NAME, Replayed, replay
from kafka_admin_proto.records.metadata_records import write_metadata_value
from kafka_admin_proto.records.model import Batch, Record
from kafka_admin_proto.records.partition_metadata import PartitionMetadata
from kafka_admin_proto.records.quorum_leader import QUORUM_STATE
from kafka_admin_proto.records.segments import read_segment
from kafka_admin_proto.topic_ids import METADATA_TOPIC_ID, topic_id_from_text, topic_id_to_text
from kafka_admin_proto.values import Message

_FIRST_SEGMENT = "00000000000000000000.log"
_META = "meta.properties"
_BOOTSTRAP = "bootstrap.checkpoint"
#: The version in which Kafka 3.9 and 4.3 write a record, 0 for those that are not named.
_VERSIONS = {
    "RegisterBrokerRecord": 3, "PartitionRecord": 1, "PartitionChangeRecord": 1,
    "BrokerRegistrationChangeRecord": 1,
}  # fmt: skip


class MetaProperties(msgspec.Struct, frozen=True):
    """What ``meta.properties`` says."""

    cluster_id: str
    node_id: int
    directory_id: UUID


def read_meta(folder: Path) -> MetaProperties | None:
    """The folder's ``meta.properties``; None where there is none. Raises MetadataLogError."""
    try:
        text = (folder / _META).read_text("utf-8")
    except FileNotFoundError:
        return None
    lines = (line for line in text.splitlines() if line and not line.startswith("#"))
    rows = {name.strip(): value.strip() for name, _, value in (x.partition("=") for x in lines)}
    try:
        directory = rows.get("directory.id")
        return MetaProperties(
            rows["cluster.id"],
            int(rows["node.id"]),
            uuid4() if directory is None else topic_id_from_text(directory),
        )
    except (KeyError, ValueError) as error:
        raise MetadataLogError(
            f"{folder / _META} does not read: {error}", "cluster.id, node.id and directory.id"
        ) from None


def write_meta(folder: Path, meta: MetaProperties) -> None:
    """Write ``meta.properties``, whole or not at all."""
    text = (
        f"version=1\ncluster.id={meta.cluster_id}\nnode.id={meta.node_id}\n"
        f"directory.id={topic_id_to_text(meta.directory_id)}\n"
    )
    _replace(folder / _META, text.encode())


class NodeLog:
    """The metadata log in one node's folder, open for appending."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / FOLDER_NAME
        self.folder.mkdir(parents=True, exist_ok=True)
        segments = sorted(self.folder.glob("*.log"))
        self._path = segments[-1] if segments else self.folder / _FIRST_SEGMENT
        self.new = not segments
        if self.new:
            PartitionMetadata(METADATA_TOPIC_ID).write(self.folder / "partition.metadata")
        else:
            self._cut()
        self._file = open(self._path, "ab", buffering=0)  # noqa: SIM115  # until close
        if self.new:
            _sync_folder(self.folder)
        self._failed = False

    def replay(self) -> Replayed:
        """The cluster that the log describes."""
        return replay(self.folder)

    def end_offset(self) -> int:
        """The offset behind the last record."""
        end = int(self._path.stem)
        for batch in read_segment(self._path):
            if isinstance(batch, Batch):
                end = batch.last_offset + 1
        return end

    def write(self, data: bytes) -> None:
        """Append a batch and wait until the disk has it.

        Raises OSError, and from then on with each call: what is in the file is not known then.
        """
        if self._failed:
            raise OSError("an earlier write to the metadata log failed; start the cluster again")
        try:
            written = 0
            while written < len(data):
                written += self._file.write(data[written:]) or 0
            os.fsync(self._file.fileno())
        except OSError:
            self._failed = True
            raise

    def follow(self, other: NodeLog) -> None:
        """Append what another node's log has behind this one's end. Raises MetadataLogError."""
        mine, theirs = self._path.read_bytes(), other._path.read_bytes()
        if self._path.name != other._path.name or not theirs.startswith(mine):
            raise MetadataLogError(
                f"the logs in {self.folder} and {other.folder} differ", "one to begin the other"
            )
        if len(theirs) > len(mine):
            self.write(theirs[len(mine) :])
            self.new = False

    def write_quorum_state(self, state: dict[str, Any]) -> None:
        """Write the file ``quorum-state``, whole or not at all."""
        _replace(self.folder / QUORUM_STATE, msgspec.json.encode(state))

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _cut(self) -> None:
        """Take off what a crash left behind the last whole batch."""
        size = 0
        for batch in read_segment(self._path):
            if not isinstance(batch, Batch) or batch.error is not None:
                break
            size = batch.offset_in_data + batch.size
        if size < self._path.stat().st_size:
            os.truncate(self._path, size)
            _sync_folder(self.folder)


class ClusterLog:
    """The log of all nodes: what ``State`` appends to."""

    def __init__(self, logs: Sequence[NodeLog], epoch: int) -> None:
        self._logs = logs
        self.epoch = epoch

    def append(self, records: Sequence[Message], offset: int) -> None:
        """Write a batch to every node and wait until all disks have it. Raises OSError."""
        data = metadata_batch(records, offset, self.epoch)
        for log in self._logs:
            log.write(data)

    def lead(self, leader: int, voters: Sequence[int], offset: int) -> None:
        """Begin the epoch: a LEADER_CHANGE record and ``quorum-state``."""
        rows = [Voter(each) for each in voters]
        message = LeaderChangeMessage(leader_id=leader, voters=rows, granting_voters=rows)
        data = _control_batch("LEADER_CHANGE", message, offset, self.epoch)
        state = {
            "clusterId": "", "leaderId": leader, "leaderEpoch": self.epoch, "votedId": -1,
            "appliedOffset": 0, "currentVoters": [{"voterId": each} for each in voters],
            "data_version": 0,
        }  # fmt: skip
        for log in self._logs:
            log.write(data)
            log.write_quorum_state(state)

    @staticmethod
    def write_bootstrap(folder: Path, records: Sequence[Message]) -> None:
        """Write ``bootstrap.checkpoint``: the first records, as a snapshot."""
        last = len(records) + 1
        data = _control_batch("SNAPSHOT_HEADER", SnapshotHeaderRecord(), 0, 0)
        data += metadata_batch(records, 1, 0)
        data += _control_batch("SNAPSHOT_FOOTER", SnapshotFooterRecord(), last, 0)
        _replace(folder / _BOOTSTRAP, data)

    def close(self) -> None:
        """Close all files."""
        for log in self._logs:
            log.close()


def metadata_batch(records: Sequence[Message], offset: int, epoch: int) -> bytes:
    """A batch of metadata records: gapless offsets, one timestamp, as Kafka minds."""
    now = _now_ms()
    batch = Batch.of(
        [
            Record(offset + index, now, None, write_metadata_value(record, _version(record)))
            for index, record in enumerate(records)
        ]
    )
    batch.partition_leader_epoch = epoch
    return write_batch(batch)


def _control_batch(name: str, message: Message, offset: int, epoch: int) -> bytes:
    batch = Batch.of([Record(offset, _now_ms(), *write_control_record(name, message))])
    batch.is_control, batch.partition_leader_epoch = True, epoch
    return write_batch(batch)


def _version(record: Message) -> int:
    if record.message_name == "RegisterBrokerRecord" and getattr(record, "cordoned_log_dirs", None):
        return 4
    return _VERSIONS.get(record.message_name, 0)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _replace(path: Path, data: bytes) -> None:
    """Write a file so that a crash leaves the old or the new one."""
    part = path.with_name(f"{path.name}.tmp")
    with open(part, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    found = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(found)
    finally:
        os.close(found)
