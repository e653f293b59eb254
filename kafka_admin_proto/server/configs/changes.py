"""Changes of configs, with the checks of the receiving broker, then those of the controller."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence

import msgspec

from kafka_admin_proto.counts import counted
from kafka_admin_proto.messages import ClearElrRecord, ConfigRecord
from kafka_admin_proto.policies.altered import altered_list
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import CONTROLLERS, Caller
from kafka_admin_proto.server.brokers.view import (
    BROKER_LOGGER_RESOURCE,
    BROKER_RESOURCE,
    CLIENT_METRICS_RESOURCE,
    GROUP_RESOURCE,
    TOPIC_RESOURCE,
)
from kafka_admin_proto.server.configs.brokers import check_broker_configs
from kafka_admin_proto.server.configs.groups import check_group_configs
from kafka_admin_proto.server.configs.metrics import check_metrics_configs
from kafka_admin_proto.server.failures import (
    MOST_RECORDS,
    NOT_AUTHORIZED,
    TOO_MANY_RECORDS,
    ApiFailure,
    RequestFailure,
)
from kafka_admin_proto.server.java import hash_order, parse_integer
from kafka_admin_proto.server.security.authorizer.access import allows, resource_of
from kafka_admin_proto.server.security.authorizer.rules import ALTER_CONFIGS
from kafka_admin_proto.server.state import State
from kafka_admin_proto.server.topics.names import check_topic_name
from kafka_admin_proto.server.topics.partition_changes import eligible_replicas
from kafka_admin_proto.server.topics.policies import check_configs
from kafka_admin_proto.values import Message

SET, DELETE, APPEND, SUBTRACT = range(4)
_WORDS = {APPEND: "APPEND", SUBTRACT: "SUBTRACT"}
_MIN_IN_SYNC = "min.insync.replicas"
#: The most configs of a broker that Kafka does not define, and the characters of them all.
_MOST_UNKNOWN, _MOST_UNKNOWN_CHARACTERS = 1_000, 1 << 20


class Change(msgspec.Struct, frozen=True):
    """The changes of one resource in a request: (config, operation, value) in their order.

    ``replace`` is for AlterConfigs: configs that are not named go back to their defaults.
    """

    kind: int
    name: str
    operations: tuple[tuple[str, int, str | None], ...]
    replace: bool = False


def alter(
    state: State, changes: Sequence[Change], caller: Caller
) -> tuple[list[ApiFailure | None], list[Message]]:
    """The error of each change, None for those that are made, and the records of these.

    The receiving broker checks each change first and sends the others to the controller in one
    request. If that request fails as a whole, all of them have its error; so have changes of more
    records than one request may make, as by Kafka's controller.
    """
    times = Counter((each.kind, each.name) for each in changes)
    failures = [_refusal(state, each, caller, times[each.kind, each.name] > 1) for each in changes]
    sent = [index for index, failure in enumerate(failures) if failure is None
            and changes[index].kind != BROKER_LOGGER_RESOURCE]  # fmt: skip
    records: list[Message] = []
    try:
        for index in sent:
            try:
                records += apply(state, changes[index], caller)
            except RequestFailure:
                raise
            except ApiFailure as failure:
                failures[index] = failure
            if len(records) > MOST_RECORDS:
                raise RequestFailure(codes.POLICY_VIOLATION, TOO_MANY_RECORDS)
    except RequestFailure as failure:
        for index in sent:
            failures[index] = failure
        return failures, []
    return failures, records + _forget_eligible(state, records)


def _refusal(state: State, change: Change, caller: Caller, is_repeated: bool) -> ApiFailure | None:
    """The error of the receiving broker."""
    try:
        if is_repeated:
            raise ApiFailure(codes.INVALID_REQUEST, "Each resource must appear at most once.")
        _prepare_one(state, change, caller)
    except ApiFailure as failure:
        return failure
    return None


def _prepare_one(state: State, change: Change, caller: Caller) -> None:
    node_id = caller.node_id
    names = [name for name, _, _ in change.operations]
    if len(set(names)) < len(names):
        raise ApiFailure(codes.INVALID_REQUEST, "Error due to duplicate config keys")
    nulls = [name for name, what, value in change.operations if value is None and what != DELETE]
    if nulls:
        raise ApiFailure(
            codes.INVALID_REQUEST, f"Null value not supported for : {', '.join(nulls)}"
        )
    kinds = [TOPIC_RESOURCE, BROKER_RESOURCE, CLIENT_METRICS_RESOURCE]
    if state.definitions.group:
        kinds.append(GROUP_RESOURCE)
    if not change.replace:
        kinds.append(BROKER_LOGGER_RESOURCE)
    if change.kind not in kinds:
        raise ApiFailure(codes.INVALID_REQUEST, f"Unknown resource type {change.kind}")
    is_of_node = change.kind == BROKER_LOGGER_RESOURCE
    if state.release >= (4, 4):  # the receiving broker asks, not the controller alone
        is_of_node = is_of_node or change.kind == BROKER_RESOURCE
    if is_of_node and not _is_allowed(state, change, caller):
        raise ApiFailure(codes.CLUSTER_AUTHORIZATION_FAILED)
    if change.kind == BROKER_RESOURCE and state.rules == CONTROLLERS:
        _check_broker_name(change.name)  # the broker has checked the rest
    elif change.kind in (BROKER_RESOURCE, BROKER_LOGGER_RESOURCE):
        if change.name or change.kind == BROKER_LOGGER_RESOURCE:
            _check_node_id(state, change, node_id)
        if change.kind == BROKER_LOGGER_RESOURCE:
            _check_loggers(state, change.operations)
        else:
            check_broker_configs(state, change.name, _applied_by_broker(state, change), node_id)


def _check_node_id(state: State, change: Change, node_id: int) -> None:
    name = change.name
    try:
        number = parse_integer(name, 32)
    except ValueError:
        text = f"Node id must be an integer, but it is: {name}"
        raise ApiFailure(codes.INVALID_REQUEST, text) from None
    if number != node_id:
        text = f"Unexpected broker id, expected {node_id}, but received {name}"
        if change.kind == BROKER_LOGGER_RESOURCE:
            received = node_id if state.release < (4,) else number  # 3.9 names its own id twice
            text = f"Unexpected node id. Expected {node_id}, but received {received}"
        raise ApiFailure(codes.INVALID_REQUEST, text)


def _check_broker_name(name: str) -> None:
    """As Kafka's controllers check it (``ControllerConfigurationValidator``)."""
    try:
        number = parse_integer(name, 32) if name else 0
    except ValueError:
        text = "Unable to parse broker name as a base 10 number."
        raise ApiFailure(codes.INVALID_REQUEST, text) from None
    if number < 0:
        raise ApiFailure(codes.INVALID_REQUEST, "Invalid negative broker ID.")


def _check_loggers(state: State, operations: Sequence[tuple[str, int, str | None]]) -> None:
    """Raise ApiFailure for the first change of a level: there are no loggers that could have it."""
    for name, what, _ in operations:
        if what in (SET, DELETE):
            raise ApiFailure(codes.INVALID_CONFIG, f"Logger {name} does not exist!")
        if what not in _WORDS and state.release < (4, 4):
            raise ApiFailure(codes.UNKNOWN_SERVER_ERROR)
        word = f"{_WORDS[what]} operation" if what in _WORDS else f"Unknown operation type {what}"
        text = f"{word} is not allowed for the BROKER_LOGGER resource"
        raise ApiFailure(codes.INVALID_REQUEST, text)


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
        if what not in _WORDS:
            raise ApiFailure(codes.INVALID_REQUEST, f"Unknown operations type {what}")
        definition = state.definitions.in_properties.get(name)
        if definition is None and state.release < (4,):  # 3.9 fails on an unknown config
            raise ApiFailure(codes.UNKNOWN_SERVER_ERROR)
        if definition is None:
            raise ApiFailure(codes.INVALID_CONFIG, f"Unknown config name: {name}")
        word = "append" if what == APPEND else "subtract"
        if definition.type != "LIST":
            text = f"Config value {word} is not allowed for config key: {name}"
            raise ApiFailure(codes.INVALID_CONFIG, text)
        old = configs.get(name, definition.default or "")
        configs[name] = altered_list(old, value, appends=what == APPEND)
    return configs


def _is_allowed(state: State, change: Change, caller: Caller) -> bool:
    kind, name, _ = resource_of(change.kind, change.name)
    return allows(state, caller, ALTER_CONFIGS, kind, name)


def apply(state: State, change: Change, caller: Caller) -> list[Message]:
    """The records of a change. Raises ApiFailure if the controller refuses it, and RequestFailure
    for an operation of no known number.
    """
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
        elif what not in _WORDS:
            raise RequestFailure(codes.UNKNOWN_SERVER_ERROR)
        else:
            new[name] = _in_list(state, change.kind, name, now.get(name), what, value or "")
    always = change.kind == BROKER_RESOURCE  # so that brokers read files again
    altered = {name: text for name, text in new.items() if always or text != now.get(name)}
    dropped = {name: None for name in now if change.replace and name not in new}
    after = {name: value for name, value in {**now, **altered}.items() if name not in dropped}
    _check(state, change, altered, dropped, {k: v for k, v in after.items() if v is not None})
    check_configs(state.alter_config_policy, change.kind, change.name, altered)
    values = {**altered, **dropped}
    return [ConfigRecord(change.kind, change.name, name, value) for name, value in values.items()]


def _forget_eligible(state: State, records: Sequence[Message]) -> list[Message]:
    """Records that clear the eligible leaders of partitions whose min.insync.replicas changed.

    Each is searched for in all topics when it is applied, so those of topics without such leaders,
    which would change nothing, are left out.
    """
    if not eligible_replicas(state):
        return []
    changed = [
        each.resource_name if each.resource_type == TOPIC_RESOURCE else ""
        for each in records
        if isinstance(each, ConfigRecord) and each.name == _MIN_IN_SYNC
    ]
    return [ClearElrRecord(name) for name in changed if not name or _has_eligible(state, name)]


def _has_eligible(state: State, name: str) -> bool:
    topic = state.topic(name)
    partitions = () if topic is None else topic.partitions.values()
    return any(each.elr or each.last_known_elr for each in partitions)


def _in_list(state: State, kind: int, name: str, now: str | None, what: int, value: str) -> str:
    known = state.definitions.topics if kind == TOPIC_RESOURCE else state.definitions.brokers
    if kind not in (TOPIC_RESOURCE, BROKER_RESOURCE):
        known = {}
    definition = known.get(name)
    if definition is None or definition.type != "LIST":
        text = f"Can't {_WORDS[what]} to key {name} because its type is not LIST."
        raise ApiFailure(codes.INVALID_CONFIG, text)
    old = definition.default if now is None else now
    return altered_list(old, value, appends=what == APPEND)


def _check(
    state: State,
    change: Change,
    altered: Mapping[str, str | None],
    dropped: Container[str],
    after: Mapping[str, str],
) -> None:
    kind, name = change.kind, change.name
    if kind == BROKER_RESOURCE and eligible_replicas(state):
        _check_min_in_sync(name, altered, dropped)
    match kind:
        case 2:
            if not name:
                raise ApiFailure(codes.INVALID_REQUEST, "Default topic resources are not allowed.")
            check_topic_name(name)
            state.topic_defaults.check(after)
            if state.topic(name) is None:
                text = f"The topic '{name}' does not exist."
                raise ApiFailure(codes.UNKNOWN_TOPIC_OR_PARTITION, text)
        case 4:
            _check_unknown(state, altered, after)
        case 16:
            check_metrics_configs(state, name, after)
        case 32:
            check_group_configs(state, name, after)


def _check_unknown(
    state: State, altered: Mapping[str, str | None], after: Mapping[str, str]
) -> None:
    """Raises ApiFailure if a broker would get too many configs that Kafka does not define.

    Kafka keeps any number of them, for plugins; each answer that describes the broker has them all.
    """
    known = state.definitions.brokers
    if known.keys() >= altered.keys():
        return
    unknown = {name: value for name, value in after.items() if name not in known}
    size = sum(len(name) + len(value) for name, value in unknown.items())
    if len(unknown) > _MOST_UNKNOWN or size > _MOST_UNKNOWN_CHARACTERS:
        text = f"A broker would have {counted(len(unknown), 'configs')} of "
        text += f"{counted(size, 'characters')} that Kafka {state.release} does not define; "
        text += f"at most {_MOST_UNKNOWN} of "
        text += f"{_MOST_UNKNOWN_CHARACTERS} characters are kept here."
        raise ApiFailure(codes.INVALID_CONFIG, text)


def _check_min_in_sync(
    name: str, altered: Mapping[str, str | None], dropped: Container[str]
) -> None:
    if name and _MIN_IN_SYNC in altered:
        text = "Broker-level min.insync.replicas cannot be altered while ELR is enabled."
        raise ApiFailure(codes.INVALID_CONFIG, text)
    if not name and (_MIN_IN_SYNC in dropped or altered.get(_MIN_IN_SYNC, "") is None):
        text = "Cluster-level min.insync.replicas cannot be removed while ELR is enabled."
        raise ApiFailure(codes.INVALID_CONFIG, text)
