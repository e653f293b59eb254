"""Batches of the metadata log, as Kafka's controllers write them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from kafka_admin_proto.messages import BrokerRegistrationChangeRecord, FeatureLevelRecord
from kafka_admin_proto.messages.leader_change_message import LeaderChangeMessage, Voter
from kafka_admin_proto.records.batches.batches import write_batch
from kafka_admin_proto.records.batches.control import write_control_record
from kafka_admin_proto.records.batches.model import Batch, Record
from kafka_admin_proto.records.metadata.names import METADATA_VERSION
from kafka_admin_proto.records.metadata.records import write_metadata_value
from kafka_admin_proto.values import Message

#: Record → (least level of metadata.version, version of the record), as ``MetadataVersion`` of
#: 4.3.1 and 3.9.2 has them; 0 below the first level and for records that are not named.
_VERSIONS = {
    "RegisterBrokerRecord": ((30, 4), (17, 3), (8, 2), (7, 1)),
    "PartitionRecord": ((23, 2), (17, 1)),
    "PartitionChangeRecord": ((23, 2), (17, 1)),
}

#: 3.7-IV2, the first level of metadata.version whose records have directories (KIP-858).
_DIRECTORIES_LEVEL = 17


def metadata_batch(
    records: Sequence[Message], offset: int, epoch: int, level: int, now_ms: int
) -> bytes:
    """A batch of metadata records: gapless offsets and one timestamp, or brokers refuse it.

    ``level`` is that of metadata.version, which decides the versions of the records.
    """
    batch = Batch.of(
        [
            Record(
                offset + index,
                now_ms,
                None,
                write_metadata_value(_known(each, level), _version(each, level)),
            )
            for index, each in enumerate(records)
        ]
    )
    batch.partition_leader_epoch = epoch
    return write_batch(batch)


def level_of(records: Sequence[Message]) -> int | None:
    """The level of metadata.version that the records set, or None."""
    for each in records:
        if isinstance(each, FeatureLevelRecord) and each.name == METADATA_VERSION:
            return each.feature_level
    return None


def leader_change(leader: int, voters: Sequence[int], granting: Sequence[int]) -> Message:
    """The message with which a controller begins its epoch; ``granting`` voters voted for it."""
    return LeaderChangeMessage(
        leader_id=leader,
        voters=[Voter(each) for each in voters],
        granting_voters=[Voter(each) for each in granting],
    )


def control_batch(
    messages: Sequence[tuple[str, Message]], offset: int, epoch: int, now_ms: int
) -> bytes:
    """A batch of control records, each with its name ("LEADER_CHANGE")."""
    batch = Batch.of(
        [
            Record(offset + index, now_ms, *write_control_record(name, message))
            for index, (name, message) in enumerate(messages)
        ]
    )
    batch.is_control, batch.partition_leader_epoch = True, epoch
    return write_batch(batch)


def _known(record: Message, level: int) -> Message:
    """The record without directories, if the level of metadata.version does not have them."""
    if level < _DIRECTORIES_LEVEL:
        for name in ("directories", "log_dirs"):
            if getattr(record, name, None):
                return msgspec.structs.replace(record, **{name: []})
    return record


def _version(record: Message, level: int) -> int:
    """As ``record_version``, but a broker's change has the lowest version that has its fields."""
    if isinstance(record, BrokerRegistrationChangeRecord):
        if record.cordoned_log_dirs is not None:
            return 3
        return 2 if record.log_dirs else int(bool(record.in_controlled_shutdown))
    return record_version(record.message_name, level)


def record_version(name: str, level: int) -> int:
    """The version in which a record is written at a level of metadata.version."""
    for least, version in _VERSIONS.get(name, ()):
        if level >= least:
            return version
    return 0
