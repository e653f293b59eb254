"""DescribeConfigs: the configs of topics, brokers, groups and clients' metrics subscriptions.

Versions: 1 synonyms and sources, 2 a throttle time, 3 types and documentation (KIP-569),
4 flexible. Documentation is null: its sentences are Kafka's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from kafka_admin_proto.messages.describe_configs_request import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from kafka_admin_proto.messages.describe_configs_response import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from kafka_admin_proto.server.brokers.view import (
    BROKER_LOGGER_RESOURCE,
    BROKER_RESOURCE,
    CLIENT_METRICS_RESOURCE,
    GROUP_RESOURCE,
    TOPIC_RESOURCE,
    View,
)
from kafka_admin_proto.server.configs.definitions import ConfigDefinition
from kafka_admin_proto.server.configs.sources import (
    CLIENT_METRICS,
    DEFAULT,
    DYNAMIC_DEFAULT_BROKER,
    DYNAMIC_TOPIC,
    GROUP,
    BrokerConfigs,
    topic_value,
)
from kafka_admin_proto.server.configs.values import parse, to_text
from kafka_admin_proto.server.failures import (
    INVALID_REQUEST,
    MALFORMED,
    NOT_AUTHORIZED,
    UNKNOWN_TOPIC_OR_PARTITION,
    ApiFailure,
)
from kafka_admin_proto.server.handlers import Answer, Caller
from kafka_admin_proto.server.java import parse_integer
from kafka_admin_proto.server.security.authorizer.access import allows
from kafka_admin_proto.server.security.authorizer.resources import resource_of
from kafka_admin_proto.server.security.authorizer.rules import DESCRIBE_CONFIGS
from kafka_admin_proto.server.topics.names import check_topic_name

_KINDS = (
    TOPIC_RESOURCE, BROKER_RESOURCE, BROKER_LOGGER_RESOURCE, CLIENT_METRICS_RESOURCE,
    GROUP_RESOURCE,
)  # fmt: skip
_TYPES = (
    "UNKNOWN", "BOOLEAN", "STRING", "INT", "SHORT", "LONG", "DOUBLE", "LIST", "CLASS", "PASSWORD",
)  # fmt: skip

_LISTENER_CONFIG = re.compile(r"listener\.name\.[^.]*\.(.*)")
#: The prefix of a SASL mechanism's configs.
_MECHANISM_CONFIG = re.compile(
    r"^[a-z0-9-]+\.(?=(sasl\.(jaas\.config|login\.class|login\.callback\.handler\.class|"
    r"server\.callback\.handler\.class)|connections\.max\.reauth\.ms)$)"
)

#: (value as text, source, synonyms as (name, text, source))
_Row = tuple[str | None, int, list[tuple[str, str | None, int]]]


def handle(state: View, request: DescribeConfigsRequest, caller: Caller) -> Answer:
    """Describe each resource separately; an unknown resource type fails the request."""
    known = _KINDS if state.definitions.group else _KINDS[:-1]
    if any(each.resource_type not in known for each in request.resources):
        rows = [
            DescribeConfigsResult(
                INVALID_REQUEST, MALFORMED, each.resource_type, each.resource_name
            )
            for each in request.resources
        ]
        return Answer(DescribeConfigsResponse(results=rows))
    results, refused = [], []
    for resource in request.resources:
        kind, name, code = resource_of(resource.resource_type, resource.resource_name)
        if not allows(state, caller, DESCRIBE_CONFIGS, kind, name):
            refused.append(
                DescribeConfigsResult(
                    code, NOT_AUTHORIZED[code], resource.resource_type, resource.resource_name
                )
            )
            continue
        result = DescribeConfigsResult(
            resource_type=resource.resource_type, resource_name=resource.resource_name
        )
        try:
            result.configs = list(_described(state, resource, request, caller))
        except ApiFailure as failure:
            result.error_code, result.error_message = failure.code, failure.message or ""
        results.append(result)
    return Answer(DescribeConfigsResponse(results=results + refused))


def _described(
    state: View,
    resource: DescribeConfigsResource,
    request: DescribeConfigsRequest,
    caller: Caller,
) -> Iterable[DescribeConfigsResourceResult]:
    name = resource.resource_name
    keys = set(resource.configuration_keys or ())
    match resource.resource_type:
        case 2:
            rows = _topic(state, name, caller.node_id)
        case 4:
            rows = _broker(state, name, caller.node_id)
        case 8:
            _check_broker_id(name, caller.node_id, empty=None)
            rows = {}
        case 16:
            rows = _metrics(state, name)
        case _:
            rows = _group(state, name, caller.node_id)
    # 3.9 lists all configs of a subscription, without types and documentation.
    plain = resource.resource_type == CLIENT_METRICS_RESOURCE and state.release < "4"
    for config, (value, source, synonyms) in rows.items():
        if keys and config.name not in keys and not plain:
            continue
        yield DescribeConfigsResourceResult(
            name=config.name,
            value=None if config.sensitive else value,
            read_only=_read_only(config, resource.resource_type),
            config_source=source,
            is_sensitive=config.sensitive,
            synonyms=(
                [
                    DescribeConfigsSynonym(each, None if config.sensitive else text, where)
                    for each, text, where in synonyms
                ]
                if request.include_synonyms
                else []
            ),
            config_type=0 if plain else _TYPES.index(config.type),
            documentation="" if plain else None,
        )


def _read_only(config: ConfigDefinition, kind: int) -> bool:
    return kind == BROKER_RESOURCE and config.update is None


def _topic(state: View, name: str, node_id: int) -> dict[ConfigDefinition, _Row]:
    check_topic_name(name)
    if state.topic(name) is None:
        raise ApiFailure(UNKNOWN_TOPIC_OR_PARTITION)
    own, broker = state.configs(TOPIC_RESOURCE, name), state.broker_configs(node_id)
    rows: dict[ConfigDefinition, _Row] = {}
    for config in state.definitions.topic:
        if config.internal and config.name not in own:
            continue
        text, source = topic_value(config, own, broker)
        value = to_text(parse(config, text, state.release))
        synonyms = _synonyms(state, broker, config.synonyms)
        if source == DYNAMIC_TOPIC:
            synonyms.insert(0, (config.name, value, DYNAMIC_TOPIC))
        rows[config] = value, synonyms[0][2] if synonyms else DEFAULT, synonyms
    return rows


def _broker(state: View, name: str, node_id: int) -> dict[ConfigDefinition, _Row]:
    broker = state.broker_configs(node_id)
    if name:
        _check_broker_id(name, node_id, empty="or empty string, but")
    rows: dict[ConfigDefinition, _Row] = {}
    if not name:
        for key, text in broker.dynamic_default.items():
            config = _broker_config(state, key)
            synonyms = _synonyms(state, broker, config.synonyms or (key,), first=key)
            kept = [each for each in synonyms if each[2] == DYNAMIC_DEFAULT_BROKER]
            rows[config] = text, kept[0][2] if kept else DEFAULT, kept
        return rows
    for config in state.definitions.broker:
        if config.internal:
            continue
        names = config.synonyms or (config.name,)
        synonyms = _synonyms(state, broker, names, first=config.name)
        found = broker.find((config.name,))
        text = config.default if found is None else found[1]
        value = to_text(parse(config, text, state.release))
        rows[config] = value, synonyms[0][2] if synonyms else DEFAULT, synonyms
    shown = {config.name for config in state.definitions.broker}
    for _, configs in broker.sources():
        for key in configs:
            if key not in shown:
                config = _broker_config(state, key)
                synonyms = _synonyms(state, broker, (key, *config.synonyms))
                rows.setdefault(config, (configs[key], synonyms[0][2], synonyms))
    return rows


def _broker_config(state: View, key: str) -> ConfigDefinition:
    """The definition of a config; a sensitive one for a name that Kafka does not know.

    A config of one listener, or of a mechanism there, is defined as that of all listeners.
    """
    known = state.definitions.brokers
    of_listener = _LISTENER_CONFIG.fullmatch(key)
    if of_listener is None:
        return known.get(key) or ConfigDefinition(key, "UNKNOWN")
    base = _MECHANISM_CONFIG.sub("", of_listener[1])
    config = known.get(base) or ConfigDefinition(key, "UNKNOWN")
    return ConfigDefinition(key, config.type, synonyms=(base,))


def _metrics(state: View, name: str) -> dict[ConfigDefinition, _Row]:
    if not name:
        raise ApiFailure(INVALID_REQUEST, "Client metrics subscription name must not be empty")
    own = state.configs(CLIENT_METRICS_RESOURCE, name)
    known = state.definitions.metrics
    if state.release < "4":
        return {known[key]: (text, CLIENT_METRICS, []) for key, text in own.items()}
    return {
        config: (
            (
                own[config.name],
                CLIENT_METRICS,
                [(config.name, own[config.name], CLIENT_METRICS)],
            )
            if config.name in own
            else (config.default, DEFAULT, [])
        )
        for config in known.values()
    }


def _group(state: View, name: str, node_id: int) -> dict[ConfigDefinition, _Row]:
    if not name:
        raise ApiFailure(INVALID_REQUEST, "Group name must not be empty")
    own, broker = state.configs(GROUP_RESOURCE, name), state.broker_configs(node_id)
    rows: dict[ConfigDefinition, _Row] = {}
    for config in state.definitions.group:
        name_of_broker = f"group.{config.name}"
        if name_of_broker in state.definitions.brokers:
            synonyms = _synonyms(state, broker, (name_of_broker,))
        else:
            synonyms = [(config.name, config.default, DEFAULT)]
        text = own.get(config.name, synonyms[0][1] if synonyms else config.default)
        value = to_text(parse(config, text, state.release))
        if config.name in own:
            synonyms.insert(0, (config.name, value, GROUP))
        rows[config] = value, synonyms[0][2] if synonyms else DEFAULT, synonyms
    return rows


def _synonyms(
    state: View, broker: BrokerConfigs, names: tuple[str, ...], first: str | None = None
) -> list[tuple[str, str | None, int]]:
    """(name, text, source) of the values under these names, by falling precedence.

    Values before the requested config (``first``, or else the first name) are left out.
    """
    found: list[tuple[str, str | None, int]] = []
    for source, configs in broker.sources():
        found += [(name, configs[name], source) for name in names if name in configs]
    for name in names:
        config = state.definitions.brokers.get(name)
        if config is not None and config.default is not None:
            found.append((name, config.default, DEFAULT))
    first = first or (names[0] if names else None)
    while found and found[0][0] != first:
        found.pop(0)
    return found


def _check_broker_id(name: str, node_id: int, *, empty: str | None) -> None:
    if not name:
        raise ApiFailure(INVALID_REQUEST, "Broker id must not be empty")
    try:
        number = parse_integer(name, 32)
    except ValueError:
        text = f"Broker id must be an integer, but it is: {name}"
        raise ApiFailure(INVALID_REQUEST, text) from None
    if number != node_id:
        middle = "but" if empty is None else empty
        text = f"Unexpected broker id, expected {node_id} {middle} received {name}"
        raise ApiFailure(INVALID_REQUEST, text)
