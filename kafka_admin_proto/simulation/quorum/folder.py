"""A voter's folder ``__cluster_metadata-0``: what a crash leaves, byte for byte as Kafka's files.

``quorum-state`` is JSON, the log is batches of one record each, and ``partition.metadata`` has the
metadata topic's id once that is committed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from uuid import UUID

import msgspec

from kafka_admin_proto.messages import TopicRecord
from kafka_admin_proto.messages.leader_change_message import LeaderChangeMessage, Voter
from kafka_admin_proto.records.batches.batches import read_batches, write_batch
from kafka_admin_proto.records.batches.control import write_control_record
from kafka_admin_proto.records.batches.model import Batch, Record
from kafka_admin_proto.records.metadata.quorum_leader import QUORUM_STATE
from kafka_admin_proto.records.metadata.records import (
    METADATA_TOPIC,
    read_metadata_value,
    write_metadata_value,
)
from kafka_admin_proto.records.segments.partition_metadata import FILE_NAME, PartitionMetadata
from kafka_admin_proto.simulation.quorum.state import LogEnd, Saved

_LOG = "00000000000000000000.log"


class Entry(NamedTuple):
    """A record of the log, as the batch that carries it; ``topic_id`` where it assigns one."""

    offset: int
    epoch: int
    data: bytes
    topic_id: UUID | None


class MetadataFolder:
    """The files of one voter; its methods read and write them, and nothing else is kept."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}

    def save(self, saved: Saved) -> None:
        self.files[QUORUM_STATE] = msgspec.json.encode({
            "clusterId": "", "leaderId": saved.leader_id, "leaderEpoch": saved.epoch,
            "votedId": saved.voted_id, "appliedOffset": 0, "currentVoters": [],
            "data_version": 0,
        })  # fmt: skip

    def saved(self) -> Saved | None:
        """The contents of ``quorum-state``; None where the voter has never written it."""
        data = self.files.get(QUORUM_STATE)
        if data is None:
            return None
        fields = msgspec.json.decode(data)
        return Saved(fields["leaderEpoch"], fields["leaderId"], fields["votedId"])

    @property
    def topic_id(self) -> UUID | None:
        """The metadata topic's id, None before it is known to be committed."""
        data = self.files.get(FILE_NAME)
        return None if data is None else PartitionMetadata.parse(data).topic_id

    @topic_id.setter
    def topic_id(self, topic_id: UUID) -> None:
        self.files[FILE_NAME] = PartitionMetadata(topic_id).format().encode()


class MetadataLog:
    """The log of a folder: appended, cut back, and compared with another's by epochs."""

    def __init__(self, folder: MetadataFolder) -> None:
        self._folder = folder
        self.entries: list[Entry] = list(_entries(folder.files.get(_LOG, b"")))

    @property
    def end(self) -> LogEnd:
        """The last record's epoch, and the offset that the next record gets."""
        if not self.entries:
            return LogEnd()
        return LogEnd(self.entries[-1].epoch, len(self.entries))

    @property
    def assigned_topic_id(self) -> UUID | None:
        """The last id that a record gives to the metadata topic, committed or not."""
        given = (entry.topic_id for entry in reversed(self.entries))
        return next((each for each in given if each is not None), None)

    def append_leader_change(self, leader_id: int, epoch: int, voters: list[int], at: int) -> None:
        """The first record of a leader's epoch; ``at`` is its timestamp in milliseconds."""
        rows = [Voter(each) for each in voters]
        message = LeaderChangeMessage(leader_id=leader_id, voters=rows, granting_voters=[])
        key, value = write_control_record("LEADER_CHANGE", message)
        self._append(Record(self.end.offset, at, key, value), epoch, is_control=True)

    def append_topic_id(self, topic_id: UUID, epoch: int, at: int) -> None:
        value = write_metadata_value(TopicRecord(METADATA_TOPIC, topic_id), 0)
        self._append(Record(self.end.offset, at, None, value), epoch, is_control=False)

    def _append(self, record: Record, epoch: int, *, is_control: bool) -> None:
        batch = Batch.of([record])
        batch.is_control, batch.partition_leader_epoch = is_control, epoch
        self.append(write_batch(batch))

    def append(self, data: bytes) -> None:
        """Append batches as a leader sent them; they begin at the log's end."""
        self._replace([*self.entries, *_entries(data)])

    def data_from(self, offset: int) -> bytes:
        return b"".join(entry.data for entry in self.entries[offset:])

    def end_of(self, epoch: int) -> LogEnd:
        """The last epoch up to that one which has records, and the offset behind its last."""
        upto = [entry for entry in self.entries if entry.epoch <= epoch]
        return LogEnd(upto[-1].epoch, len(upto)) if upto else LogEnd()

    def cut_to(self, offset: int) -> None:
        """Remove the records from an offset on, which another leader's epoch replaces."""
        self._replace(self.entries[:offset])

    def _replace(self, entries: list[Entry]) -> None:
        self.entries = entries
        self._folder.files[_LOG] = self.data_from(0)


def _entries(data: bytes) -> Iterator[Entry]:
    at = 0
    for batch in read_batches(data):
        end = at + 12 + int.from_bytes(data[at + 8 : at + 12], "big")
        given = None
        if not batch.is_control:
            value = batch.records[0].value
            assert value is not None
            record, _ = read_metadata_value(bytes(value))
            given = record.topic_id if isinstance(record, TopicRecord) else None
        yield Entry(batch.base_offset, batch.partition_leader_epoch, data[at:end], given)
        at = end
