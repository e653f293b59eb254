"""DescribeConfigs: the configs of topics, brokers, groups and clients' metrics subscriptions.

Versions: 1 synonyms and sources, 2 a throttle time, 3 types and documentation (KIP-569),
4 flexible. Documentation is what the definition says: Kafka's sentences are Kafka's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

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
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.brokers.view import (
    BROKER_RESOURCE,
    CLIENT_METRICS_RESOURCE,
    GROUP_RESOURCE,
    RESOURCES,
    TOPIC_RESOURCE,
    View,
)
from kafka_admin_proto.server.configs.definitions import ConfigDefinition
from kafka_admin_proto.server.configs.groups import STREAMS_ASSIGNOR, broker_synonym
from kafka_admin_proto.server.configs.order import broker_order
from kafka_admin_proto.server.configs.parsing import parse, to_text
from kafka_admin_proto.server.configs.sources import (
    CLIENT_METRICS,
    DEFAULT,
    DYNAMIC_DEFAULT_BROKER,
    DYNAMIC_TOPIC,
    GROUP,
    BrokerConfigs,
    topic_value,
)
from kafka_admin_proto.server.failures import MALFORMED, NOT_AUTHORIZED, ApiFailure
from kafka_admin_proto.server.java import parse_integer
from kafka_admin_proto.server.repeats import Repeats
from kafka_admin_proto.server.security.authorizer.access import allows, resource_of
from kafka_admin_proto.server.security.authorizer.rules import DESCRIBE_CONFIGS
from kafka_admin_proto.server.topics.names import check_topic_name

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


@handler(of_broker=True, needs=None, kept=True)
def handle(state: View, request: DescribeConfigsRequest, caller: Caller) -> Answer:
    """Describe each resource separately; an unknown resource type fails the request."""
    known = RESOURCES if state.definitions.group else RESOURCES[:-1]
    if any(each.resource_type not in known for each in request.resources):
        raise ApiFailure(codes.INVALID_REQUEST, MALFORMED)
    descriptions = _Descriptions(state, request, caller)
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
            result.configs = descriptions.of(resource)
        except ApiFailure as failure:
            result.error_code, result.error_message = failure.code, failure.message or ""
        results.append(result)
    return Answer(DescribeConfigsResponse(results=results + refused))


class _Described(NamedTuple):
    """All configs of a resource, and the place of each one by its name."""

    configs: list[DescribeConfigsResourceResult]
    places: dict[str, int]


class _Descriptions:
    """Describes the resources of a request, each of them once.

    A resource that is named again has the configs of the first time, as many as `Repeats` allows. A
    group or subscription without configs has those of all
    others without.
    """

    def __init__(self, state: View, request: DescribeConfigsRequest, caller: Caller) -> None:
        self._state = state
        self._request = request
        self._caller = caller
        self._known: dict[tuple[int, str | None], _Described] = {}
        self._repeats = Repeats("configs of resources")

    def of(self, resource: DescribeConfigsResource) -> list[DescribeConfigsResourceResult]:
        """The configs that are asked for. Raises ApiFailure if there are none to describe."""
        kind, name = resource.resource_type, resource.resource_name
        key = self._key(kind, name)
        described = self._known.get(key)
        first = described is None
        if described is None:
            configs = self._described(kind, name)
            places = {each.name: place for place, each in enumerate(configs)}
            described = self._known[key] = _Described(configs, places)
        selected = described.configs
        keys = {each for each in resource.configuration_keys or () if each in described.places}
        if resource.configuration_keys and not self._is_plain(kind):
            selected = [
                selected[place] for place in sorted(described.places[each] for each in keys)
            ]
        if first:
            return selected
        self._repeats.count(len(selected))
        return selected

    def _key(self, kind: int, name: str) -> tuple[int, str | None]:
        """The same for resources with the same description. Raises ApiFailure for a wrong id."""
        if kind == BROKER_RESOURCE and name:
            _check_broker_id(name, self._caller.node_id, empty="or empty string, but")
            return kind, str(self._caller.node_id)
        if kind in (GROUP_RESOURCE, CLIENT_METRICS_RESOURCE):
            return kind, name if not name or self._state.configs(kind, name) else None
        return kind, name

    def _is_plain(self, kind: int) -> bool:
        """Whether all configs are listed, without types: 3.9 does so for a subscription."""
        return kind == CLIENT_METRICS_RESOURCE and self._state.release < (4,)

    def _described(self, kind: int, name: str) -> list[DescribeConfigsResourceResult]:
        state, node_id = self._state, self._caller.node_id
        defined: Sequence[ConfigDefinition] | None = None
        match kind:
            case 2:
                rows, defined = _topic(state, name, node_id), state.definitions.topic
            case 4:
                rows = _broker(state, name, node_id)
                defined = state.definitions.broker if name else None
            case 8:
                _check_broker_id(name, node_id, empty=None)
                rows = {}
            case 16:
                rows = _metrics(state, name)
            case _:
                rows, defined = _group(state, name, node_id), state.definitions.group
        plain = self._is_plain(kind)
        configs = {config.name: config for config in rows}
        shown = configs if defined is None else [each.name for each in defined if not each.internal]
        return [
            DescribeConfigsResourceResult(
                name=config.name,
                value=None if config.sensitive else value,
                read_only=_read_only(config, kind),
                config_source=source,
                is_sensitive=config.sensitive,
                synonyms=(
                    [
                        DescribeConfigsSynonym(each, None if config.sensitive else text, where)
                        for each, text, where in synonyms
                    ]
                    if self._request.include_synonyms
                    else []
                ),
                config_type=0 if plain else _TYPES.index(config.type),
                documentation="" if plain else self._documentation(config),
            )
            for config in (configs[each] for each in broker_order(configs, shown, state.release))
            for value, source, synonyms in (rows[config],)
        ]

    def _documentation(self, config: ConfigDefinition) -> str | None:
        """None if not asked for, and for a config of one listener, as Kafka has it."""
        if not self._request.include_documentation or _LISTENER_CONFIG.fullmatch(config.name):
            return None
        return config.documentation


def _read_only(config: ConfigDefinition, kind: int) -> bool:
    return kind == BROKER_RESOURCE and config.update is None


def _topic(state: View, name: str, node_id: int) -> dict[ConfigDefinition, _Row]:
    check_topic_name(name)
    if state.topic(name) is None:
        raise ApiFailure(codes.UNKNOWN_TOPIC_OR_PARTITION)
    own, broker = state.configs(TOPIC_RESOURCE, name), state.broker_configs(node_id)
    rows: dict[ConfigDefinition, _Row] = {}
    for config in state.definitions.topic:
        if config.internal and config.name not in own:
            continue
        text, source = topic_value(config, own, broker)
        value = to_text(parse(config, text))
        synonyms = _synonyms(state, broker, config.synonyms)
        if source == DYNAMIC_TOPIC:
            synonyms.insert(0, (config.name, value, DYNAMIC_TOPIC))
        rows[config] = value, synonyms[0][2] if synonyms else DEFAULT, synonyms
    return rows


def _broker(state: View, name: str, node_id: int) -> dict[ConfigDefinition, _Row]:
    broker = state.broker_configs(node_id)
    rows: dict[ConfigDefinition, _Row] = {}
    if not name:
        for key, text in broker.dynamic_default.items():
            config = _broker_config(state, key)
            synonyms = _synonyms(state, broker, config.synonyms or (key,), first=key)
            kept = [each for each in synonyms if each[2] == DYNAMIC_DEFAULT_BROKER]
            rows[config] = text, kept[0][2] if kept else DEFAULT, kept
        return rows
    for config in state.definitions.broker:
        found = broker.find((config.name,))
        if config.internal and found is None:
            continue
        names = config.synonyms or (config.name,)
        synonyms = _synonyms(state, broker, names, first=config.name)
        text = config.default if found is None else found[1]
        value = to_text(parse(config, text))
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
        raise ApiFailure(
            codes.INVALID_REQUEST, "Client metrics subscription name must not be empty"
        )
    own = state.configs(CLIENT_METRICS_RESOURCE, name)
    known = state.definitions.metrics
    if state.release < (4,):
        return {known[key]: (text, CLIENT_METRICS, []) for key, text in own.items()}
    rows: dict[ConfigDefinition, _Row] = {}
    for config in known.values():
        if config.name in own:
            value = to_text(parse(config, own[config.name]))
            rows[config] = value, CLIENT_METRICS, [(config.name, value, CLIENT_METRICS)]
        else:
            rows[config] = config.default, DEFAULT, []
    return rows


def _group(state: View, name: str, node_id: int) -> dict[ConfigDefinition, _Row]:
    if not name:
        raise ApiFailure(codes.INVALID_REQUEST, "Group name must not be empty")
    own, broker = state.configs(GROUP_RESOURCE, name), state.broker_configs(node_id)
    rows: dict[ConfigDefinition, _Row] = {}
    for config in state.definitions.group:
        name_of_broker = broker_synonym(config.name)
        if config.internal and config.name not in own and broker.find((name_of_broker,)) is None:
            continue
        if name_of_broker in state.definitions.brokers:
            synonyms = _synonyms(state, broker, (name_of_broker,))
        else:
            synonyms = [(config.name, config.default, DEFAULT)]
        text = own.get(config.name, synonyms[0][1] if synonyms else config.default)
        if config.name == STREAMS_ASSIGNOR and config.name not in own:
            text = (text or "").partition(",")[0].strip()  # the broker's first
        value = to_text(parse(config, text))
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
    synonyms: list[tuple[str, str | None, int]] = []
    for source, configs in broker.sources():
        synonyms += [(name, configs[name], source) for name in names if name in configs]
    for name in names:
        config = state.definitions.brokers.get(name)
        if config is not None and config.default is not None:
            synonyms.append((name, config.default, DEFAULT))
    first = first or (names[0] if names else None)
    while synonyms and synonyms[0][0] != first:
        synonyms.pop(0)
    return synonyms


def _check_broker_id(name: str, node_id: int, *, empty: str | None) -> None:
    if not name:
        raise ApiFailure(codes.INVALID_REQUEST, "Broker id must not be empty")
    try:
        number = parse_integer(name, 32)
    except ValueError:
        text = f"Broker id must be an integer, but it is: {name}"
        raise ApiFailure(codes.INVALID_REQUEST, text) from None
    if number != node_id:
        middle = "but" if empty is None else empty
        text = f"Unexpected broker id, expected {node_id} {middle} received {name}"
        raise ApiFailure(codes.INVALID_REQUEST, text)
