"""What each record of the metadata log does to the state of the cluster.

The rules are those of Kafka's ``org.apache.kafka.image.*Delta`` classes, whose names stand over
them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar
from uuid import UUID

from kafka_admin_proto.errors import MetadataReplayError
from kafka_admin_proto.messages import (
    AccessControlEntryRecord,
    BrokerRegistrationChangeRecord,
    ClearElrRecord,
    ClientQuotaRecord,
    ConfigRecord,
    DelegationTokenRecord,
    FeatureLevelRecord,
    FenceBrokerRecord,
    NoOpRecord,
    PartitionChangeRecord,
    PartitionRecord,
    ProducerIdsRecord,
    RegisterBrokerRecord,
    RegisterControllerRecord,
    RemoveAccessControlEntryRecord,
    RemoveDelegationTokenRecord,
    RemoveTopicRecord,
    RemoveUserScramCredentialRecord,
    TopicRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
    UnregisterControllerRecord,
    UserScramCredentialRecord,
    ZkMigrationStateRecord,
)
from kafka_admin_proto.records.metadata.cluster_state import (
    Acl,
    Broker,
    ClusterState,
    ConfigValues,
    Controller,
    Endpoint,
    Partition,
    ScramUser,
    Token,
    Topic,
)
from kafka_admin_proto.records.metadata.names import METADATA_VERSION, TOPIC_RESOURCE
from kafka_admin_proto.schema.scalars import ZERO_UUID
from kafka_admin_proto.topic_ids import topic_id_to_text
from kafka_admin_proto.values import Message

#: What PartitionChangeRecord has in fields that do not change.
_SAME_LEADER = -2
_SAME_RECOVERY_STATE = -1
_RECOVERY_STATES = (0, 1)

M = TypeVar("M", bound=Message)


def apply_record(state: ClusterState, message: Message) -> None:
    """Change ``state`` as the record says. Raises MetadataReplayError, then it is as it was."""
    change = _CHANGES.get(type(message))
    if change is None:
        raise _refused(message, "no rule says what it changes")
    change(state, message)


#: Class of a record → what it does to the state; whatever raises has changed nothing.
_CHANGES: dict[type[Message], Callable[[ClusterState, Any], None]] = {}


def _rule(
    record: type[M],
) -> Callable[[Callable[[ClusterState, M], None]], Callable[[ClusterState, M], None]]:
    def register(change: Callable[[ClusterState, M], None]) -> Callable[[ClusterState, M], None]:
        _CHANGES[record] = change
        return change

    return register


def _refused(message: Message, fault: str) -> MetadataReplayError:
    return MetadataReplayError(fault, record=message.message_name)


@_rule(NoOpRecord)
def _nothing(state: ClusterState, record: NoOpRecord) -> None:
    """The controller writes one now and then, so that the log's end moves."""


# --- topics and partitions: TopicsDelta, TopicDelta, PartitionRegistration


@_rule(TopicRecord)
def _topic(state: ClusterState, record: TopicRecord) -> None:
    state.topics[record.topic_id] = Topic(record.name, record.topic_id)


@_rule(RemoveTopicRecord)
def _remove_topic(state: ClusterState, record: RemoveTopicRecord) -> None:
    topic = state.topics.pop(record.topic_id, None)
    if topic is None:
        raise _refused(record, f"there is no topic with id {topic_id_to_text(record.topic_id)}")
    state.configs.pop((TOPIC_RESOURCE, topic.name), None)


@_rule(PartitionRecord)
def _partition(state: ClusterState, record: PartitionRecord) -> None:
    topic = _topic_of(state, record)
    _check_directories(record)
    directories = _directories(record, record.directories, len(record.replicas))
    _check_recovery_state(record, record.leader_recovery_state)
    topic.partitions[record.partition_id] = Partition(
        replicas=record.replicas,
        directories=directories,
        isr=record.isr,
        removing_replicas=record.removing_replicas,
        adding_replicas=record.adding_replicas,
        leader=record.leader,
        leader_recovery_state=record.leader_recovery_state,
        leader_epoch=record.leader_epoch,
        partition_epoch=record.partition_epoch,
        elr=record.eligible_leader_replicas or [],
        last_known_elr=record.last_known_elr or [],
    )


@_rule(PartitionChangeRecord)
def _change_partition(state: ClusterState, record: PartitionChangeRecord) -> None:
    topic = _topic_of(state, record)
    old = topic.partitions.get(record.partition_id)
    if old is None:
        raise _refused(record, f"topic {topic.name!r} has no partition {record.partition_id}")
    topic.partitions[record.partition_id] = _merged(old, record)


def _merged(old: Partition, record: PartitionChangeRecord) -> Partition:
    _check_directories(record)
    replicas = _new(record.replicas, old.replicas)
    directories = _directories(record, _new(record.directories, old.directories), len(replicas))
    recovery_state = record.leader_recovery_state
    if recovery_state == _SAME_RECOVERY_STATE:
        recovery_state = old.leader_recovery_state
    _check_recovery_state(record, recovery_state)
    elects = record.leader != _SAME_LEADER
    return Partition(
        replicas=replicas,
        directories=directories,
        isr=_new(record.isr, old.isr),
        removing_replicas=_new(record.removing_replicas, old.removing_replicas),
        adding_replicas=_new(record.adding_replicas, old.adding_replicas),
        leader=record.leader if elects else old.leader,
        leader_recovery_state=recovery_state,
        leader_epoch=_int32(old.leader_epoch + elects),
        partition_epoch=_int32(old.partition_epoch + 1),
        elr=_new(record.eligible_leader_replicas, old.elr),
        last_known_elr=_new(record.last_known_elr, old.last_known_elr),
    )


@_rule(ClearElrRecord)
def _clear_elr(state: ClusterState, record: ClearElrRecord) -> None:
    """Of one topic, or of all where it names none."""
    topics = [t for t in state.topics.values() if record.topic_name in ("", t.name)]
    if record.topic_name and not topics:
        raise _refused(record, f"there is no topic {record.topic_name!r}")
    cleared = PartitionChangeRecord(eligible_leader_replicas=[], last_known_elr=[])
    for topic in topics:
        for number, partition in topic.partitions.items():
            if partition.elr or partition.last_known_elr:
                topic.partitions[number] = _merged(partition, cleared)


def _topic_of(state: ClusterState, record: PartitionRecord | PartitionChangeRecord) -> Topic:
    topic = state.topics.get(record.topic_id)
    if topic is None:
        raise _refused(record, f"there is no topic with id {topic_id_to_text(record.topic_id)}")
    return topic


T = TypeVar("T")


def _new(changed: T | None, old: T) -> T:
    return old if changed is None else changed


def _check_directories(record: PartitionRecord | PartitionChangeRecord) -> None:
    replicas, directories = record.replicas, record.directories
    if replicas is not None and directories and len(directories) != len(replicas):
        raise _refused(
            record, f"it has {len(replicas)} replicas and {len(directories)} directories"
        )


def _directories(record: Message, directories: list[UUID], replicas: int) -> list[UUID]:
    """One directory for each replica: the zero id of "migrating" for all where none is known."""
    if directories.count(ZERO_UUID) == len(directories):
        return [ZERO_UUID] * replicas
    if len(directories) != replicas:
        raise _refused(record, f"there are {replicas} replicas and {len(directories)} directories")
    return directories


def _check_recovery_state(record: Message, state: int) -> None:
    if state not in _RECOVERY_STATES:
        raise _refused(record, f"{state} is no leader recovery state; expected 0 or 1")


def _int32(number: int) -> int:
    """As Java's int goes round."""
    return (number + (1 << 31)) % (1 << 32) - (1 << 31)


# --- brokers and controllers: ClusterDelta


@_rule(RegisterBrokerRecord)
def _register_broker(state: ClusterState, record: RegisterBrokerRecord) -> None:
    state.brokers[record.broker_id] = Broker(
        id=record.broker_id,
        epoch=record.broker_epoch,
        incarnation_id=record.incarnation_id,
        endpoints=_endpoints(record),
        features=_features(record),
        rack=record.rack,
        fenced=record.fenced,
        in_controlled_shutdown=record.in_controlled_shutdown,
        is_migrating_zk_broker=record.is_migrating_zk_broker,
        directories=record.log_dirs,
        cordoned_directories=record.cordoned_log_dirs,
    )


@_rule(UnregisterBrokerRecord)
def _unregister_broker(state: ClusterState, record: UnregisterBrokerRecord) -> None:
    state.brokers.pop(record.broker_id, None)


@_rule(FenceBrokerRecord)
def _fence_broker(state: ClusterState, record: FenceBrokerRecord) -> None:
    _broker_of(state, record, record.id, record.epoch).fenced = True


@_rule(UnfenceBrokerRecord)
def _unfence_broker(state: ClusterState, record: UnfenceBrokerRecord) -> None:
    _broker_of(state, record, record.id, record.epoch).fenced = False


@_rule(BrokerRegistrationChangeRecord)
def _change_broker(state: ClusterState, record: BrokerRegistrationChangeRecord) -> None:
    broker = _broker_of(state, record, record.broker_id, record.broker_epoch)
    if record.fenced not in (-1, 0, 1):
        raise _refused(record, f"fenced is {record.fenced}; expected -1, 0 or 1")
    if record.in_controlled_shutdown not in (0, 1):
        raise _refused(
            record, f"inControlledShutdown is {record.in_controlled_shutdown}; expected 0 or 1"
        )
    if record.fenced:  # -1 unfences
        broker.fenced = record.fenced == 1
    if record.in_controlled_shutdown:
        broker.in_controlled_shutdown = True
    if record.log_dirs:
        broker.directories = record.log_dirs
    if record.cordoned_log_dirs is not None:
        broker.cordoned_directories = record.cordoned_log_dirs


@_rule(RegisterControllerRecord)
def _register_controller(state: ClusterState, record: RegisterControllerRecord) -> None:
    state.controllers[record.controller_id] = Controller(
        id=record.controller_id,
        incarnation_id=record.incarnation_id,
        zk_migration_ready=record.zk_migration_ready,
        endpoints=_endpoints(record),
        features=_features(record),
    )


@_rule(UnregisterControllerRecord)
def _unregister_controller(state: ClusterState, record: UnregisterControllerRecord) -> None:
    state.controllers.pop(record.controller_id, None)


def _broker_of(state: ClusterState, record: Message, number: int, epoch: int) -> Broker:
    broker = state.brokers.get(number)
    if broker is None:
        raise _refused(record, f"broker {number} is not registered")
    if broker.epoch != epoch:
        raise _refused(record, f"broker {number} is registered with epoch {broker.epoch}, not "
                               f"{epoch}")  # fmt: skip
    return broker


def _endpoints(record: RegisterBrokerRecord | RegisterControllerRecord) -> dict[str, Endpoint]:
    return {
        e.name: Endpoint(e.name, e.host, e.port, e.security_protocol) for e in record.end_points
    }


def _features(
    record: RegisterBrokerRecord | RegisterControllerRecord,
) -> dict[str, tuple[int, int]]:
    return {f.name: (f.min_supported_version, f.max_supported_version) for f in record.features}


# --- what administrators set: ConfigurationsDelta, FeaturesDelta, AclsDelta, ClientQuotasDelta, …


@_rule(ConfigRecord)
def _config(state: ClusterState, record: ConfigRecord) -> None:
    resource = (record.resource_type, record.resource_name)
    values = state.configs.get(resource, ConfigValues())
    if record.value is None:
        values.pop(record.name, None)
    else:
        values[record.name] = record.value
    _keep(state.configs, resource, values)


@_rule(FeatureLevelRecord)
def _feature(state: ClusterState, record: FeatureLevelRecord) -> None:
    if record.feature_level == 0 and record.name != METADATA_VERSION:
        state.features.pop(record.name, None)
    else:
        state.features[record.name] = record.feature_level


@_rule(AccessControlEntryRecord)
def _acl(state: ClusterState, record: AccessControlEntryRecord) -> None:
    state.acls[record.id] = Acl(
        resource_type=record.resource_type,
        resource_name=record.resource_name,
        pattern_type=record.pattern_type,
        principal=record.principal,
        host=record.host,
        operation=record.operation,
        permission_type=record.permission_type,
    )


@_rule(RemoveAccessControlEntryRecord)
def _remove_acl(state: ClusterState, record: RemoveAccessControlEntryRecord) -> None:
    if state.acls.pop(record.id, None) is None:
        raise _refused(record, f"there is no entry with id {topic_id_to_text(record.id)}")


@_rule(ClientQuotaRecord)
def _quota(state: ClusterState, record: ClientQuotaRecord) -> None:
    names = {each.entity_type: each.entity_name for each in record.entity}
    entity = tuple((kind, names[kind]) for kind in sorted(names))
    quotas = state.quotas.get(entity, {})
    if record.remove:
        quotas.pop(record.key, None)
    else:
        quotas[record.key] = record.value
    _keep(state.quotas, entity, quotas)


@_rule(UserScramCredentialRecord)
def _scram_user(state: ClusterState, record: UserScramCredentialRecord) -> None:
    state.scram_users[record.name, record.mechanism] = ScramUser(
        record.iterations, record.salt, record.stored_key, record.server_key
    )


@_rule(RemoveUserScramCredentialRecord)
def _remove_scram_user(state: ClusterState, record: RemoveUserScramCredentialRecord) -> None:
    state.scram_users.pop((record.name, record.mechanism), None)


@_rule(DelegationTokenRecord)
def _token(state: ClusterState, record: DelegationTokenRecord) -> None:
    state.delegation_tokens[record.token_id] = Token(
        owner=record.owner,
        requester=record.requester,
        renewers=record.renewers,
        issue_timestamp=record.issue_timestamp,
        expiration_timestamp=record.expiration_timestamp,
        max_timestamp=record.max_timestamp,
    )


@_rule(RemoveDelegationTokenRecord)
def _remove_token(state: ClusterState, record: RemoveDelegationTokenRecord) -> None:
    state.delegation_tokens.pop(record.token_id, None)


@_rule(ProducerIdsRecord)
def _producer_ids(state: ClusterState, record: ProducerIdsRecord) -> None:
    state.next_producer_id = record.next_producer_id


@_rule(ZkMigrationStateRecord)
def _zk_migration(state: ClusterState, record: ZkMigrationStateRecord) -> None:
    state.zk_migration_state = record.zk_migration_state


K = TypeVar("K")
V = TypeVar("V", bound=dict[Any, Any])


def _keep(found: dict[K, V], key: K, values: V) -> None:
    """Put ``values`` at ``key``, or nothing where there are none left."""
    if values:
        found[key] = values
    else:
        found.pop(key, None)
