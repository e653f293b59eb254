"""Apply the records of the metadata log to the state of the cluster.

The rules are those of Kafka's ``org.apache.kafka.image.*Delta`` classes, which the headings below
name. `topic_rules` has those of topics and partitions.
"""

from __future__ import annotations

from typing import Any, TypeVar

from kafka_admin_proto.messages import (
    AccessControlEntryRecord,
    BrokerRegistrationChangeRecord,
    ClientQuotaRecord,
    ConfigRecord,
    DelegationTokenRecord,
    FeatureLevelRecord,
    FenceBrokerRecord,
    NoOpRecord,
    ProducerIdsRecord,
    RegisterBrokerRecord,
    RegisterControllerRecord,
    RemoveAccessControlEntryRecord,
    RemoveDelegationTokenRecord,
    RemoveUserScramCredentialRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
    UnregisterControllerRecord,
    UserScramCredentialRecord,
    ZkMigrationStateRecord,
)
from kafka_admin_proto.records.metadata.cluster_state import ClusterState
from kafka_admin_proto.records.metadata.entities import (
    Acl,
    Broker,
    ConfigValues,
    Controller,
    Endpoint,
    ScramUser,
    Token,
)
from kafka_admin_proto.records.metadata.names import METADATA_VERSION
from kafka_admin_proto.records.metadata.topic_rules import RULES, refused
from kafka_admin_proto.topic_ids import topic_id_to_text
from kafka_admin_proto.values import Message

#: The most quotas that an entity has: those of a client.
_ALL_QUOTAS = 4


def apply_record(state: ClusterState, message: Message) -> None:
    """Apply a record to ``state``. Raises MetadataReplayError, and then leaves it as it was."""
    apply = RULES.get(type(message))
    if apply is None:
        raise refused(message, "no rule says what it changes")
    apply(state, message)


@RULES.rule(NoOpRecord)
def _nothing(state: ClusterState, record: NoOpRecord) -> None:
    """Controllers write this record at intervals, only to move the end of the log."""


# --- brokers and controllers: ClusterDelta


@RULES.rule(RegisterBrokerRecord)
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


@RULES.rule(UnregisterBrokerRecord)
def _unregister_broker(state: ClusterState, record: UnregisterBrokerRecord) -> None:
    state.brokers.pop(record.broker_id, None)


@RULES.rule(FenceBrokerRecord)
def _fence_broker(state: ClusterState, record: FenceBrokerRecord) -> None:
    _broker_of(state, record, record.id, record.epoch).fenced = True


@RULES.rule(UnfenceBrokerRecord)
def _unfence_broker(state: ClusterState, record: UnfenceBrokerRecord) -> None:
    _broker_of(state, record, record.id, record.epoch).fenced = False


@RULES.rule(BrokerRegistrationChangeRecord)
def _change_broker(state: ClusterState, record: BrokerRegistrationChangeRecord) -> None:
    broker = _broker_of(state, record, record.broker_id, record.broker_epoch)
    if record.fenced not in (-1, 0, 1):
        raise refused(record, f"fenced is {record.fenced}; expected -1, 0 or 1")
    if record.in_controlled_shutdown not in (0, 1):
        raise refused(
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


@RULES.rule(RegisterControllerRecord)
def _register_controller(state: ClusterState, record: RegisterControllerRecord) -> None:
    state.controllers[record.controller_id] = Controller(
        id=record.controller_id,
        incarnation_id=record.incarnation_id,
        zk_migration_ready=record.zk_migration_ready,
        endpoints=_endpoints(record),
        features=_features(record),
    )


@RULES.rule(UnregisterControllerRecord)
def _unregister_controller(state: ClusterState, record: UnregisterControllerRecord) -> None:
    state.controllers.pop(record.controller_id, None)


def _broker_of(state: ClusterState, record: Message, number: int, epoch: int) -> Broker:
    broker = state.brokers.get(number)
    if broker is None:
        raise refused(record, f"broker {number} is not registered")
    if broker.epoch != epoch:
        raise refused(record, f"broker {number} is registered with epoch {broker.epoch}, not "
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


# --- settings by administrators: ConfigurationsDelta, FeaturesDelta, AclsDelta, ClientQuotasDelta,
# …


@RULES.rule(ConfigRecord)
def _config(state: ClusterState, record: ConfigRecord) -> None:
    resource = (record.resource_type, record.resource_name)
    values = state.configs.get(resource, ConfigValues())
    if record.value is None:
        values.pop(record.name, None)
    else:
        values[record.name] = record.value
    _keep(state.configs, resource, values)


@RULES.rule(FeatureLevelRecord)
def _feature(state: ClusterState, record: FeatureLevelRecord) -> None:
    if record.feature_level == 0 and record.name != METADATA_VERSION:
        state.features.pop(record.name, None)
    else:
        state.features[record.name] = record.feature_level


@RULES.rule(AccessControlEntryRecord)
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


@RULES.rule(RemoveAccessControlEntryRecord)
def _remove_acl(state: ClusterState, record: RemoveAccessControlEntryRecord) -> None:
    if state.acls.pop(record.id, None) is None:
        raise refused(record, f"there is no entry with id {topic_id_to_text(record.id)}")


@RULES.rule(ClientQuotaRecord)
def _quota(state: ClusterState, record: ClientQuotaRecord) -> None:
    names = {each.entity_type: each.entity_name for each in record.entity}
    entity = tuple((kind, names[kind]) for kind in sorted(names))
    quotas = state.quotas.get(entity, {})
    if record.remove:
        quotas.pop(record.key, None)
    else:
        quotas[record.key] = record.value
    if len(quotas) == _ALL_QUOTAS:  # a broker's map lists them so, also those that are left of them
        quotas = dict(sorted(quotas.items()))
    _keep(state.quotas, entity, quotas)


@RULES.rule(UserScramCredentialRecord)
def _scram_user(state: ClusterState, record: UserScramCredentialRecord) -> None:
    state.scram_users[record.name, record.mechanism] = ScramUser(
        record.iterations, record.salt, record.stored_key, record.server_key
    )


@RULES.rule(RemoveUserScramCredentialRecord)
def _remove_scram_user(state: ClusterState, record: RemoveUserScramCredentialRecord) -> None:
    state.scram_users.pop((record.name, record.mechanism), None)


@RULES.rule(DelegationTokenRecord)
def _token(state: ClusterState, record: DelegationTokenRecord) -> None:
    state.delegation_tokens[record.token_id] = Token(
        owner=record.owner,
        requester=record.requester,
        renewers=record.renewers,
        issue_timestamp=record.issue_timestamp,
        expiration_timestamp=record.expiration_timestamp,
        max_timestamp=record.max_timestamp,
    )


@RULES.rule(RemoveDelegationTokenRecord)
def _remove_token(state: ClusterState, record: RemoveDelegationTokenRecord) -> None:
    state.delegation_tokens.pop(record.token_id, None)


@RULES.rule(ProducerIdsRecord)
def _producer_ids(state: ClusterState, record: ProducerIdsRecord) -> None:
    state.next_producer_id = record.next_producer_id


@RULES.rule(ZkMigrationStateRecord)
def _zk_migration(state: ClusterState, record: ZkMigrationStateRecord) -> None:
    state.zk_migration_state = record.zk_migration_state


K = TypeVar("K")
V = TypeVar("V", bound=dict[Any, Any])


def _keep(lists: dict[K, V], key: K, values: V) -> None:
    """Put ``values`` at ``key``; remove the key if no values are left."""
    if values:
        lists[key] = values
    else:
        lists.pop(key, None)
