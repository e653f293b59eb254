"""A controller's requests to a broker: LeaderAndIsr, StopReplica, UpdateMetadata.

``ReplicaManager`` is the model for epochs and answers; the rules say where the text differs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from kafka_admin_proto.messages import StopReplicaRequest, UpdateMetadataResponse
from kafka_admin_proto.messages.kip_516 import StopReplicaRequest as StopByIdRequest
from kafka_admin_proto.messages.kip_516 import StopReplicaResponse as StopByIdResponse
from kafka_admin_proto.messages.leader_and_isr_request import (
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
)
from kafka_admin_proto.messages.leader_and_isr_response import (
    LeaderAndIsrPartitionError,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicError,
)
from kafka_admin_proto.messages.stop_replica_response import (
    StopReplicaPartitionError,
    StopReplicaResponse,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.schema.scalars import ZERO_UUID
from kafka_admin_proto.simulation.broker.replica import Replica
from kafka_admin_proto.simulation.broker.state import BrokerState
from kafka_admin_proto.simulation.broker.storage.logs import Partition
from kafka_admin_proto.topic_ids import topic_id_to_text
from kafka_admin_proto.values import Message

#: The type of a LeaderAndIsr or UpdateMetadata that has all that the receiver should know.
FULL = 2
#: Leader epochs of a StopReplica that are not compared.
_NO_EPOCH, _EPOCH_DURING_DELETE = -1, -2
#: The first version of LeaderAndIsr whose response has topic ids.
_IDS_SINCE = 5


def leader_and_isr(broker: BrokerState, body: LeaderAndIsrRequest, version: int) -> Message:
    """Lead, follow, or refuse, partition by partition."""
    error = broker.stale(body.controller_epoch, body.broker_epoch)
    if error:
        return _refused(body, version, error)
    if body.type == FULL and _reconciles(broker, body):
        strays = _strays(broker, body)
        if strays is None:
            return _refused(body, version, codes.UNKNOWN_SERVER_ERROR)
        for partition in strays:
            broker.context.note("stale partition", folder=f"{partition[0]}-{partition[1]}")
            broker.replicas.pop(partition, None)
            broker.logs.set_stray(partition)
    broker.controller_epoch = max(body.controller_epoch, broker.controller_epoch)
    errors: dict[Partition, int] = {}
    for topic_name, topic_id, state in _partitions(body):
        partition = topic_name, state.partition_index
        errors[partition] = _apply(broker, body, partition, topic_id, state)
    _checkpoint(broker)
    return _answer(body, version, 0, errors)


def stop_replica(broker: BrokerState, body: StopReplicaRequest, version: int) -> Message:
    """Stop replicas by name, and delete their logs where that is asked for."""
    error = broker.stale(body.controller_epoch, body.broker_epoch)
    if error:
        return StopReplicaResponse(error_code=error)
    broker.controller_epoch = max(body.controller_epoch, broker.controller_epoch)
    asked: dict[Partition, tuple[int, bool]] = {}
    for topic, index, epoch, delete in _stopped(body, version):
        asked[topic, index] = epoch, delete
    errors = [
        StopReplicaPartitionError(*partition, _stop(broker, partition, epoch, delete=delete))
        for partition, (epoch, delete) in asked.items()
    ]
    return StopReplicaResponse(partition_errors=errors)


def stop_replica_by_id(broker: BrokerState, body: StopByIdRequest) -> Message:
    """Stop the replicas whose logs have the ids: a topic made again under the name is safe."""
    error = broker.stale(body.controller_epoch, body.broker_epoch)
    if error:
        return StopByIdResponse(error_code=error)
    broker.controller_epoch = max(body.controller_epoch, broker.controller_epoch)
    errors = []
    for topic in body.topic_states:
        for state in topic.partition_states:
            partition = _with_id(broker, topic.topic_id, state.partition_index)
            code = broker.rules.stop_unknown
            if partition is not None:
                code = _stop(broker, partition, state.leader_epoch, delete=state.delete_partition)
            row = StopByIdResponse.PartitionError(topic.topic_id, state.partition_index, code)
            errors.append(row)
    return StopByIdResponse(partition_errors=errors)


def update_metadata(broker: BrokerState, body: Any) -> Message:
    """Take in topics, ids and live brokers; the draft's version 7 is as the shipped ones."""
    error = broker.stale(body.controller_epoch, body.broker_epoch)
    if error:
        return UpdateMetadataResponse(error_code=error)
    topics = body.topic_states
    rules, metadata = broker.rules, broker.metadata
    epochs = body.controller_epoch, body.broker_epoch
    if rules.full_update_forgets == "first" and epochs != broker.metadata_epochs:
        metadata.forget_topics()
    full = rules.full_update_forgets == "migration" and broker.migration
    if full and body.is_kraft_controller and body.type == FULL:
        topics = [*metadata.deletions_before(topics), *topics]
    metadata.update(
        topics,
        {each.id for each in body.live_brokers},
        unknown_deletion_keeps_id=rules.unknown_deletion_keeps_id,
    )
    broker.metadata_epochs = epochs
    broker.controller_epoch = max(body.controller_epoch, broker.controller_epoch)
    return UpdateMetadataResponse()


def _checkpoint(broker: BrokerState) -> None:
    """From the first LeaderAndIsr on, Kafka writes the high watermarks of hosted logs alone."""
    if not broker.checkpointing:
        broker.checkpointing = True
        for partition, log in broker.logs:
            replica = broker.replicas.get(partition)
            if replica is None or replica.log is not log:
                log.high_watermark = 0


def _reconciles(broker: BrokerState, body: LeaderAndIsrRequest) -> bool:
    if broker.rules.full_reconciles == "migration":
        return broker.migration and body.is_kraft_controller
    return broker.rules.full_reconciles == "always"


def _strays(broker: BrokerState, body: LeaderAndIsrRequest) -> list[Partition] | None:
    """The logs that a full request lacks or gives another id; None if a log without an id is in
    the way.
    """
    named = {
        (topic, state.partition_index): topic_id for topic, topic_id, state in _partitions(body)
    }
    strays = []
    for partition, log in broker.logs:
        if log.topic_id is None and broker.rules.stray_without_id == "fail":
            return None
        wanted = named.get(partition)
        if wanted == ZERO_UUID and broker.rules.zero_id_in_full == "no id":
            continue
        if wanted is None or log.topic_id not in (None, wanted):
            strays.append(partition)
    return strays


def _apply(
    broker: BrokerState,
    body: LeaderAndIsrRequest,
    partition: Partition,
    topic_id: UUID,
    state: LeaderAndIsrPartitionState,
) -> int:
    """One partition of a LeaderAndIsr; its error code."""
    rules = broker.rules
    replica = broker.replicas.get(partition)
    if replica is None:
        replica = broker.replicas[partition] = Replica(partition, broker.broker_id)
    given = None if topic_id == ZERO_UUID else topic_id
    known = replica.topic_id(broker.logs)
    if given is not None and known not in (None, given):
        if rules.unequal_id == "refuse":
            return codes.INCONSISTENT_TOPIC_ID
        if rules.unequal_id == "replace":
            broker.context.note(
                "another id: the log goes to the deleting folder",
                folder=f"{partition[0]}-{partition[1]}",
                old=topic_id_to_text(known or ZERO_UUID),
                new=topic_id_to_text(given),
            )
            broker.logs.delete(partition)
            replica = broker.replicas[partition] = Replica(partition, broker.broker_id)
    epoch, current = state.leader_epoch, replica.leader_epoch
    newer = epoch > current or (epoch == current and body.is_kraft_controller)
    if newer or not rules.epochs_compared:
        if broker.broker_id not in state.replicas:
            return rules.not_a_replica
        _lead_or_follow(broker, replica, state, given)
        return 0
    if epoch < current:
        return rules.stale_leader_epoch
    if given is not None and known is None and replica.log is not None:
        broker.logs.get_or_create(partition, given)
        return 0
    if given is None and known is not None and state.leader != broker.broker_id:
        return 0
    return rules.stale_leader_epoch


def _lead_or_follow(
    broker: BrokerState, replica: Replica, state: LeaderAndIsrPartitionState, topic_id: UUID | None
) -> None:
    leads = state.leader == broker.broker_id
    if not leads and state.leader not in broker.metadata.live_brokers:
        # Kafka makes the log and goes no further, so that its high watermark is written.
        replica.log = broker.logs.get_or_create(replica.partition, topic_id)
        return
    if state.partition_epoch < replica.partition_epoch:
        return
    new_epoch = state.leader_epoch > replica.leader_epoch
    log = replica.log = broker.logs.get_or_create(replica.partition, topic_id)
    replica.leader, replica.leader_epoch = state.leader, state.leader_epoch
    replica.partition_epoch = state.partition_epoch
    replica.replicas = tuple(state.replicas)
    replica.isr = frozenset(state.isr) if leads else frozenset()
    if new_epoch:
        replica.fetched.clear()
        if leads:
            log.start_epoch(state.leader_epoch, log.end_offset)
            replica.epoch_start = log.end_offset
        else:
            broker.on_follower(replica)
    replica.advance()


def _stop(broker: BrokerState, partition: Partition, epoch: int, *, delete: bool) -> int:
    replica = broker.replicas.get(partition)
    if replica is None and broker.logs.get(partition) is None:
        return broker.rules.stop_unknown
    compared = epoch not in (_NO_EPOCH, _EPOCH_DURING_DELETE) and broker.rules.epochs_compared
    if replica is not None and compared and epoch < replica.leader_epoch:
        return broker.rules.stop_fenced
    if delete:
        broker.replicas.pop(partition, None)
        broker.logs.delete(partition)
    return 0


def _with_id(broker: BrokerState, topic_id: UUID, index: int) -> Partition | None:
    """The partition whose log has the id, hosted or on the disk alone."""
    for partition, log in broker.logs:
        if partition[1] == index and log.topic_id == topic_id:
            return partition
    return None


def _partitions(
    body: LeaderAndIsrRequest,
) -> Iterable[tuple[str, UUID, LeaderAndIsrPartitionState]]:
    for state in body.ungrouped_partition_states:
        yield state.topic_name, ZERO_UUID, state
    for topic in body.topic_states:
        for state in topic.partition_states:
            yield topic.topic_name, topic.topic_id, state


def _stopped(body: StopReplicaRequest, version: int) -> Iterable[tuple[str, int, int, bool]]:
    """Topic, partition, leader epoch, and whether to delete."""
    delete = body.delete_partitions
    for each in body.ungrouped_partitions:
        yield each.topic_name, each.partition_index, _NO_EPOCH, delete
    for topic in body.topics:
        for index in topic.partition_indexes:
            yield topic.name, index, _NO_EPOCH, delete
    for states in body.topic_states:
        for state in states.partition_states:
            yield (
                states.topic_name, state.partition_index, state.leader_epoch, state.delete_partition
            )  # fmt: skip


def _refused(body: LeaderAndIsrRequest, version: int, error: int) -> Message:
    errors = {(name, state.partition_index): error for name, _, state in _partitions(body)}
    return _answer(body, version, error, errors)


def _answer(
    body: LeaderAndIsrRequest, version: int, error: int, errors: dict[Partition, int]
) -> Message:
    """The response, by names or by ids; topics of one id are one row, as shipped."""
    if version < _IDS_SINCE:
        rows = [LeaderAndIsrPartitionError(*each, code) for each, code in errors.items()]
        return LeaderAndIsrResponse(error_code=error, partition_errors=rows)
    ids = {topic.topic_name: topic.topic_id for topic in body.topic_states}
    topics: dict[UUID, LeaderAndIsrTopicError] = {}
    for (name, index), code in errors.items():
        row = topics.setdefault(ids[name], LeaderAndIsrTopicError(ids[name]))
        row.partition_errors.append(
            LeaderAndIsrPartitionError(partition_index=index, error_code=code)
        )
    return LeaderAndIsrResponse(error_code=error, topics=list(topics.values()))
