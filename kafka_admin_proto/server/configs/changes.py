"""Changes of configs, with the checks of the receiving broker, then those of the controller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from kafka_admin_proto.messages.clear_elr_record import ClearElrRecord
from kafka_admin_proto.messages.config_record import ConfigRecord
from kafka_admin_proto.server.configs.brokers import check_broker_configs
from kafka_admin_proto.server.configs.others import check_group_configs, check_metrics_configs
from kafka_admin_proto.server.configs.sources import Configs
from kafka_admin_proto.server.failures import (
    CLUSTER_AUTHORIZATION_FAILED,
    INVALID_CONFIG,
    INVALID_REQUEST,
    NOT_AUTHORIZED,
    UNKNOWN_SERVER_ERROR,
    UNKNOWN_TOPIC_OR_PARTITION,
    ApiFailure,
)
from kafka_admin_proto.server.java import hash_order, parse_integer
from kafka_admin_proto.server.security.authorizer.access import allows
from kafka_admin_proto.server.security.authorizer.resources import resource_of
from kafka_admin_proto.server.security.authorizer.rules import ALTER_CONFIGS
from kafka_admin_proto.server.state import (
    BROKER_LOGGER_RESOURCE,
    BROKER_RESOURCE,
    CLIENT_METRICS_RESOURCE,
    GROUP_RESOURCE,
    TOPIC_RESOURCE,
    State,
)
from kafka_admin_proto.server.topics.names import check_topic_name
from kafka_admin_proto.server.topics.partition_changes import eligible_replicas
from kafka_admin_proto.server.topics.policies import ConfigMetadata, check_configs
from kafka_admin_proto.values import Message

if TYPE_CHECKING:
    from kafka_admin_proto.server.handlers import Caller

SET, DELETE, APPEND, SUBTRACT = range(4)
_BROKER_ID_NOT_REGISTERED = 102
_MIN_IN_SYNC = "min.insync.replicas"


class Change(msgspec.Struct, frozen=True):
    """The changes of one resource in a request: (config, operation, value) in their order.

    ``replace`` is for AlterConfigs: configs that are not named go back to their defaults.
    """

    kind: int
    name: str
    operations: tuple[tuple[str, int, str | None], ...]
    replace: bool = False


def prepare(state: State, changes: Sequence[Change], caller: Caller) -> list[ApiFailure | None]:
    """The error of the receiving broker for each change; None goes on to the controller."""
    found: list[ApiFailure | None] = []
    resources = [(each.kind, each.name) for each in changes]
    for change in changes:
        try:
            if resources.count((change.kind, change.name)) > 1:
                raise ApiFailure(INVALID_REQUEST, "Each resource must appear at most once.")
            _prepare_one(state, change, caller)
            found.append(None)
        except ApiFailure as failure:
            found.append(failure)
    return found


def _prepare_one(state: State, change: Change, caller: Caller) -> None:
    node_id = caller.node_id
    names = [name for name, _, _ in change.operations]
    if len(set(names)) < len(names):
        raise ApiFailure(INVALID_REQUEST, "Error due to duplicate config keys")
    nulls = [name for name, what, value in change.operations if value is None and what != DELETE]
    if nulls:
        raise ApiFailure(INVALID_REQUEST, f"Null value not supported for : {', '.join(nulls)}")
    kinds = [TOPIC_RESOURCE, BROKER_RESOURCE, CLIENT_METRICS_RESOURCE]
    if state.definitions.group:
        kinds.append(GROUP_RESOURCE)
    if not change.replace:
        kinds.append(BROKER_LOGGER_RESOURCE)
    if change.kind not in kinds:
        raise ApiFailure(INVALID_REQUEST, f"Unknown resource type {change.kind}")
    if change.kind == BROKER_LOGGER_RESOURCE and not _is_allowed(state, change, caller):
        raise ApiFailure(CLUSTER_AUTHORIZATION_FAILED)
    if change.kind in (BROKER_RESOURCE, BROKER_LOGGER_RESOURCE):
        if change.name or change.kind == BROKER_LOGGER_RESOURCE:
            _check_node_id(state, change, node_id)
        if change.kind == BROKER_RESOURCE:
            check_broker_configs(state, change.name, _applied_by_broker(state, change), node_id)


def _check_node_id(state: State, change: Change, node_id: int) -> None:
    name = change.name
    try:
        number = parse_integer(name, 32)
    except ValueError:
        text = f"Node id must be an integer, but it is: {name}"
        raise ApiFailure(INVALID_REQUEST, text) from None
    if number != node_id:
        text = f"Unexpected broker id, expected {node_id}, but received {name}"
        if change.kind == BROKER_LOGGER_RESOURCE:
            received = node_id if state.release < "4" else number  # 3.9 names its own id twice
            text = f"Unexpected node id. Expected {node_id}, but received {received}"
        raise ApiFailure(INVALID_REQUEST, text)


def _applied_by_broker(state: State, change: Change) -> dict[str, str]:
    """A broker's configs after a change, by the broker's own rules for lists."""
    if change.replace:
        return {name: value for name, _, value in change.operations if value is not None}
    configs = {
        name: value
        for name, value in state.configs(change.kind, change.name).items()
        if value is not None
    }
    for name, what, value in change.operations:
        if what == DELETE:
            configs.pop(name, None)
            continue
        assert value is not None
        if what == SET:
            configs[name] = value
            continue
        if what not in (APPEND, SUBTRACT):
            raise ApiFailure(INVALID_REQUEST, f"Unknown operations type {what}")
        definition = state.definitions.in_properties.get(name)
        if definition is None and state.release < "4":  # 3.9 fails on an unknown config
            raise ApiFailure(UNKNOWN_SERVER_ERROR)
        if definition is None:
            raise ApiFailure(INVALID_CONFIG, f"Unknown config name: {name}")
        word = "append" if what == APPEND else "subtract"
        if definition.type != "LIST":
            text = f"Config value {word} is not allowed for config key: {name}"
            raise ApiFailure(INVALID_CONFIG, text)
        old = configs.get(name, definition.default or "")
        configs[name] = _list_changed(old, what, value)
    return configs


def _list_changed(old: str | None, what: int, value: str) -> str:
    items = [item for item in (old or "").split(",") if item]
    for item in value.split(","):
        if what == APPEND and item not in items:
            items.append(item)
        elif what == SUBTRACT and item in items:
            items.remove(item)
    return ",".join(items)


def _is_allowed(state: State, change: Change, caller: Caller) -> bool:
    kind, name, _ = resource_of(change.kind, change.name)
    return allows(state, caller, ALTER_CONFIGS, kind, name)


def apply(state: State, change: Change, caller: Caller) -> list[Message]:
    """The records of a change. Raises ApiFailure if the controller refuses it."""
    if not _is_allowed(state, change, caller):
        _, _, code = resource_of(change.kind, change.name)
        raise ApiFailure(code, NOT_AUTHORIZED[code])
    now = state.configs(change.kind, change.name)
    new: dict[str, str | None] = {}
    operations = {name: (what, value) for name, what, value in change.operations}
    for name in hash_order(operations):
        what, value = operations[name]
        if change.replace or what == SET:
            new[name] = value
        elif what == DELETE:
            new[name] = None
        else:
            new[name] = _in_list(state, change.kind, name, now.get(name), what, value or "")
    always = change.kind == BROKER_RESOURCE  # so that brokers read files again
    altered = {name: new[name] for name in hash_order(new) if always or new[name] != now.get(name)}
    dropped = [name for name in now if change.replace and name not in new]
    after = {name: value for name, value in {**now, **altered}.items() if name not in dropped}
    _check(state, change, altered, dropped, {k: v for k, v in after.items() if v is not None}, now)
    metadata = ConfigMetadata(change.kind, change.name, altered)
    check_configs(state.alter_config_policy, metadata)
    values = {**altered, **dict.fromkeys(dropped)}
    return [ConfigRecord(change.kind, change.name, name, value) for name, value in values.items()]


def forget_eligible(state: State, records: Sequence[Message]) -> list[Message]:
    """Records that clear the eligible leaders of partitions whose min.insync.replicas changed."""
    if not eligible_replicas(state):
        return []
    return [
        ClearElrRecord(each.resource_name if each.resource_type == TOPIC_RESOURCE else "")
        for each in records
        if isinstance(each, ConfigRecord) and each.name == _MIN_IN_SYNC
    ]


def _in_list(state: State, kind: int, name: str, now: str | None, what: int, value: str) -> str:
    known = state.definitions.topics if kind == TOPIC_RESOURCE else state.definitions.brokers
    if kind not in (TOPIC_RESOURCE, BROKER_RESOURCE):
        known = {}
    definition = known.get(name)
    if definition is None or definition.type != "LIST":
        word = "APPEND" if what == APPEND else "SUBTRACT"
        text = f"Can't {word} to key {name} because its type is not LIST."
        raise ApiFailure(INVALID_CONFIG, text)
    return _list_changed(definition.default if now is None else now, what, value)


def _check(
    state: State,
    change: Change,
    altered: Mapping[str, str | None],
    dropped: Sequence[str],
    after: Mapping[str, str],
    now: Configs,
) -> None:
    kind, name = change.kind, change.name
    if kind == BROKER_RESOURCE and eligible_replicas(state):
        _check_min_in_sync(name, altered, dropped)
    match kind:
        case 2:
            if not name:
                raise ApiFailure(INVALID_REQUEST, "Default topic resources are not allowed.")
            check_topic_name(name)
            state.topic_defaults.check(after)
            if state.topic(name) is None:
                text = f"The topic '{name}' does not exist."
                raise ApiFailure(UNKNOWN_TOPIC_OR_PARTITION, text)
        case 4 if name and int(name) not in state.cluster.brokers:
            text = f"No broker with id {name} found."
            raise ApiFailure(_BROKER_ID_NOT_REGISTERED, text)
        case 16:
            check_metrics_configs(state, name, after)
        case 32:
            check_group_configs(state, name, after)


def _check_min_in_sync(
    name: str, altered: Mapping[str, str | None], dropped: Sequence[str]
) -> None:
    if name and _MIN_IN_SYNC in altered:
        text = "Broker-level min.insync.replicas cannot be altered while ELR is enabled."
        raise ApiFailure(INVALID_CONFIG, text)
    if not name and (_MIN_IN_SYNC in dropped or altered.get(_MIN_IN_SYNC, "") is None):
        text = "Cluster-level min.insync.replicas cannot be removed while ELR is enabled."
        raise ApiFailure(INVALID_CONFIG, text)
