"""Snapshots of the metadata log: a state as records, as Kafka's ``MetadataImage`` writes it.

A snapshot has the records that make the same state in a new log. Its file is named after the
offset at which the log continues, and the epoch of the last record in the snapshot.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import msgspec

from kafka_admin_proto import messages as m
from kafka_admin_proto.errors import DecodeError
from kafka_admin_proto.messages.client_quota_record import ClientQuotaRecord, EntityData
from kafka_admin_proto.messages.register_broker_record import (
    BrokerEndpoint,
    BrokerFeature,
    RegisterBrokerRecord,
)
from kafka_admin_proto.messages.register_controller_record import (
    ControllerEndpoint,
    ControllerFeature,
    RegisterControllerRecord,
)
from kafka_admin_proto.messages.voters_record import Endpoint as VoterEndpoint
from kafka_admin_proto.messages.voters_record import KRaftVersionFeature, VotersRecord
from kafka_admin_proto.messages.voters_record import Voter as VoterRow
from kafka_admin_proto.records.batches.control import read_control_record
from kafka_admin_proto.records.batches.model import Batch
from kafka_admin_proto.records.metadata.cluster_state import ClusterState
from kafka_admin_proto.records.metadata.entities import Broker, Controller, Topic
from kafka_admin_proto.records.metadata.names import METADATA_VERSION
from kafka_admin_proto.records.segments.segments import read_segment
from kafka_admin_proto.schema.scalars import ZERO_UUID
from kafka_admin_proto.server.delegation_tokens import record_of
from kafka_admin_proto.server.log.batches import control_batch, metadata_batch
from kafka_admin_proto.values import Message

_NAME = re.compile(r"([0-9]{20})-([0-9]{10})\.checkpoint")
#: Records in a batch, which takes about two milliseconds; Kafka's batches end below 8 MiB.
_BATCH_RECORDS = 128
#: The broker id in the ProducerIdsRecord of a snapshot.
_NO_BROKER = -1


class Snapshot(msgspec.Struct, frozen=True, order=True):
    """A snapshot's file; the log continues at offset ``end``."""

    end: int
    epoch: int
    path: Path

    @classmethod
    def in_folder(cls, folder: Path) -> list[Snapshot]:
        found = ((_NAME.fullmatch(path.name), path) for path in folder.iterdir())
        return sorted(cls(int(name[1]), int(name[2]), path) for name, path in found if name)

    def timestamp(self) -> int | None:
        """The newest timestamp of its records, in milliseconds; None for a damaged header."""
        header = _control(next(read_segment(self.path), None), 0)
        return (
            header.last_contained_log_timestamp
            if isinstance(header, m.SnapshotHeaderRecord)
            else None
        )

    def is_whole(self) -> bool:
        """Whether it can be read from its header to its footer."""
        batches = list(read_segment(self.path))
        return (
            bool(batches)
            and all(isinstance(each, Batch) and each.error is None for each in batches)
            and isinstance(_control(batches[0], 0), m.SnapshotHeaderRecord)
            and isinstance(_control(batches[-1], -1), m.SnapshotFooterRecord)
        )


def _control(batch: object, index: int) -> Message | None:
    """The value of the control record at that index of a batch, or None."""
    if not isinstance(batch, Batch) or not batch.is_control or not batch.records:
        return None
    record = batch.records[index]
    try:
        return read_control_record(record.key, record.value).message
    except DecodeError:
        return None


def snapshot_name(end: int, epoch: int) -> str:
    return f"{end:020}-{epoch:010}.checkpoint"


def snapshot_bytes(state: ClusterState, last_timestamp: int, now_ms: int) -> bytes:
    """The bytes of a snapshot of a state; ``last_timestamp`` is that of its last record.

    Raises EncodeError for a state that records of its metadata.version cannot express.
    """
    return b"".join(snapshot_parts(state, last_timestamp, now_ms))


def snapshot_parts(state: ClusterState, last_timestamp: int, now_ms: int) -> Iterator[bytes]:
    """The batches of that file, one by one, so that the caller may pause between them."""
    return _file(
        state_records(state),
        state.features.get(METADATA_VERSION, 0),
        state.epoch,
        now_ms,
        [("SNAPSHOT_HEADER", m.SnapshotHeaderRecord(last_contained_log_timestamp=last_timestamp)),
         *_quorum(state)],
    )  # fmt: skip


def bootstrap_bytes(records: list[Message], level: int, now_ms: int) -> bytes:
    """``bootstrap.checkpoint``: a new cluster's first records, as a snapshot."""
    return b"".join(
        _file(records, level, 0, now_ms, [("SNAPSHOT_HEADER", m.SnapshotHeaderRecord())])
    )


def _file(
    records: Iterable[Message], level: int, epoch: int, now_ms: int, head: list[tuple[str, Message]]
) -> Iterator[bytes]:
    yield control_batch(head, 0, epoch, now_ms)
    offset, rest = len(head), iter(records)
    while some := list(islice(rest, _BATCH_RECORDS)):
        yield metadata_batch(some, offset, epoch, level, now_ms)
        offset += len(some)
    yield control_batch([("SNAPSHOT_FOOTER", m.SnapshotFooterRecord())], offset, epoch, now_ms)


def _quorum(state: ClusterState) -> Iterator[tuple[str, Message]]:
    """The header records of a dynamic quorum's snapshot (KIP-853)."""
    if not state.kraft_version:
        return
    yield "KRAFT_VERSION", m.KRaftVersionRecord(kraft_version=state.kraft_version)
    if state.voters:
        rows = [
            VoterRow(
                voter_id=each.id,
                voter_directory_id=each.directory_id,
                endpoints=[VoterEndpoint(e.name, e.host, e.port) for e in each.endpoints],
                kraft_version_feature=KRaftVersionFeature(*each.kraft_versions),
            )
            for each in state.voters.values()
        ]
        yield "KRAFT_VOTERS", VotersRecord(voters=rows)


def state_records(state: ClusterState) -> Iterator[Message]:
    """The records whose replay makes the state, in the order of Kafka's ``MetadataImage.write``."""
    for name in sorted(state.features, key=lambda each: (each != METADATA_VERSION, each)):
        yield m.FeatureLevelRecord(name, state.features[name])
    if state.zk_migration_state is not None:
        yield m.ZkMigrationStateRecord(state.zk_migration_state)
    for broker in state.brokers.values():
        yield _broker(broker)
    for controller in state.controllers.values():
        yield _controller(controller)
    for topic in state.topics.values():
        yield from _topic(topic)
    for (kind, resource), values in state.configs.items():
        for name, value in values.items():
            yield m.ConfigRecord(kind, resource, name, value)
    for entity, quotas in state.quotas.items():
        rows = [EntityData(kind, of) for kind, of in entity]
        for key, rate in quotas.items():
            yield ClientQuotaRecord(entity=rows, key=key, value=rate)
    if state.next_producer_id is not None:
        yield m.ProducerIdsRecord(_NO_BROKER, -1, state.next_producer_id)
    yield from _security_records(state)


def _security_records(state: ClusterState) -> Iterator[Message]:
    for acl_id, acl in state.acls.items():
        yield m.AccessControlEntryRecord(id=acl_id, **msgspec.structs.asdict(acl))
    for (user, mechanism), credential in state.scram_users.items():
        yield m.UserScramCredentialRecord(
            name=user,
            mechanism=mechanism,
            salt=credential.salt,
            stored_key=credential.stored_key,
            server_key=credential.server_key,
            iterations=credential.iterations,
        )
    for token_id, token in state.delegation_tokens.items():
        yield record_of(token_id, token, token.expiration_timestamp)


def _topic(topic: Topic) -> Iterator[Message]:
    yield m.TopicRecord(topic.name, topic.id)
    for number, partition in topic.partitions.items():
        yield m.PartitionRecord(
            partition_id=number,
            topic_id=topic.id,
            replicas=partition.replicas,
            isr=partition.isr,
            removing_replicas=partition.removing_replicas,
            adding_replicas=partition.adding_replicas,
            leader=partition.leader,
            leader_recovery_state=partition.leader_recovery_state,
            leader_epoch=partition.leader_epoch,
            partition_epoch=partition.partition_epoch,
            directories=[] if set(partition.directories) == {ZERO_UUID} else partition.directories,
            eligible_leader_replicas=partition.elr or None,
            last_known_elr=partition.last_known_elr or None,
        )


def _broker(broker: Broker) -> RegisterBrokerRecord:
    return RegisterBrokerRecord(
        broker_id=broker.id,
        is_migrating_zk_broker=broker.is_migrating_zk_broker,
        incarnation_id=broker.incarnation_id,
        broker_epoch=broker.epoch,
        end_points=[
            BrokerEndpoint(e.name, e.host, e.port, e.security_protocol or 0)
            for e in broker.endpoints.values()
        ],
        features=[BrokerFeature(name, *levels) for name, levels in broker.features.items()],
        rack=broker.rack,
        fenced=broker.fenced,
        in_controlled_shutdown=broker.in_controlled_shutdown,
        log_dirs=broker.directories,
        cordoned_log_dirs=broker.cordoned_directories,
    )


def _controller(controller: Controller) -> RegisterControllerRecord:
    return RegisterControllerRecord(
        controller_id=controller.id,
        incarnation_id=controller.incarnation_id,
        zk_migration_ready=controller.zk_migration_ready,
        end_points=[
            ControllerEndpoint(e.name, e.host, e.port, e.security_protocol or 0)
            for e in controller.endpoints.values()
        ],
        features=[ControllerFeature(name, *levels) for name, levels in controller.features.items()],
    )
