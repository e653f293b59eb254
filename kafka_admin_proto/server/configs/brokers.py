"""Whether a running broker takes a change of its configs, as Kafka's ``DynamicBrokerConfig``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.configs.parsing import ConfigFailure, parse
from kafka_admin_proto.server.configs.sources import BrokerConfigs, topic_value
from kafka_admin_proto.server.configs.together import check_together
from kafka_admin_proto.server.configs.values import check
from kafka_admin_proto.server.failures import ApiFailure

if TYPE_CHECKING:
    from kafka_admin_proto.server.state import State

_THREADS = (
    "num.io.threads", "num.replica.fetchers", "num.recovery.threads.per.data.dir",
    "background.threads", "num.network.threads",
)  # fmt: skip
_PER_BROKER = "per-broker"
#: Values of retentions; the second is of local ones alone.
_UNLIMITED, _AS_KEPT = -1, -2
#: A config of one listener, and those that all brokers may have of it.
_OF_LISTENER = re.compile(r"listener\.name\.[^.]*\.(.*)")
_OF_ANY_LISTENER = ("max.connections", "max.connection.creation.rate", "num.network.threads")
#: Kafka adds and removes listeners while a broker runs; here they are those of the start.
_OF_START = ("listeners", "advertised.listeners", "listener.security.protocol.map")


def check_broker_configs(state: State, name: str, configs: Mapping[str, str], node_id: int) -> None:
    """Raises ApiFailure unless the broker of that name, or all of them for "", can have these."""
    in_files = state.definitions.in_properties
    fixed = [
        each
        for each in configs
        if (each in _OF_START and (name or not known_as_single(state, each)))
        or (each in in_files and in_files[each].update is None)
    ]
    if fixed:
        raise _refused(state, "Cannot update these configs dynamically", fixed)
    secured = [each for each in configs if each.startswith("ssl.") and known_as_single(state, each)]
    if secured:
        raise _refused(
            state,
            "These security configs can be dynamically updated only per-listener using the "
            "listener prefix",
            secured,
            "HashSet",
        )
    try:
        for config in (*state.definitions.broker_quotas, *state.definitions.broker):
            if config.name in configs:
                check(config, parse(config, configs[config.name]))
    except ConfigFailure as failure:
        raise ApiFailure(codes.INVALID_REQUEST, failure.message) from failure
    if not name:
        single = [each for each in configs if known_as_single(state, each)]
        if single:
            raise _refused(
                state,
                "Cannot update these configs at default cluster level, broker id must be specified",
                single,
            )
    now = state.broker_configs(node_id)
    after = BrokerConfigs(
        dynamic=configs if name else now.dynamic,
        dynamic_default=now.dynamic_default if name else configs,
        static=now.static,
    )
    check_together(state.definitions, after, state.release)
    for pool in _THREADS:
        threads = state.definitions.brokers[pool]
        found = after.find((pool,))
        count = parse(threads, threads.default if found is None else found[1])
        _check_threads(pool, count, state.broker_value(pool, node_id))
    for unit in ("ms", "bytes"):
        _check_tiers(state, after, unit)


def _check_tiers(state: State, after: BrokerConfigs, unit: str) -> None:
    """Raises ApiFailure for what is kept locally, or copied late, for longer than a log is kept.

    These are checks of DynamicLogConfig, which a start does not make.
    """

    def value(name: str) -> int:
        topic_config = state.definitions.topics[f"{name}.{unit}"]
        number: int = parse(topic_config, topic_value(topic_config, {}, after)[0])
        return number

    kept, local = value("retention"), value("local.retention")
    name, of_all = f"log.local.retention.{unit}", f"log.retention.{unit}"
    if kept != _UNLIMITED and local != _AS_KEPT:
        if local == _UNLIMITED:
            raise _invalid(name, local, f"Value must not be -1 as {of_all} value is set as {kept}.")
        if local > kept:
            raise _invalid(
                name, local, f"Value must not be more than {of_all} property value: {kept}"
            )
    if f"remote.copy.lag.{unit}" not in state.definitions.topics:
        return
    lag, most = value("remote.copy.lag"), kept if local == _AS_KEPT else local
    if lag > most >= 0:
        fault = f"Value must not exceed {name} (effective value: {most})"
        raise _invalid(f"log.remote.copy.lag.{unit}", lag, fault)


def _check_threads(name: str, count: int, before: int) -> None:
    """Raises ApiFailure for a thread pool that would more than double or halve."""
    if count == before:
        return
    if count <= 0:
        fault = "value should be at least 1"
    elif count < before // 2:
        fault = f"value should be at least half the current value {before}"
    elif count > before * 2:
        fault = f"value should not be greater than double the current value {before}"
    else:
        return
    raise _not_dynamic(f"Dynamic thread count update validation failed for {name}={count}, {fault}")


def _invalid(name: str, value: int, fault: str) -> ApiFailure:
    return _not_dynamic(f"Invalid value {value} for configuration {name}: {fault}")


def _not_dynamic(fault: str) -> ApiFailure:
    """What a part of the broker throws, in the text of what was thrown for it."""
    text = f"Invalid value org.apache.kafka.common.config.ConfigException: {fault}"
    return ApiFailure(
        codes.INVALID_REQUEST, f"{text} for configuration Invalid dynamic configuration"
    )


def known_as_single(state: State, name: str) -> bool:
    """Whether a config can only be set for a single broker, as nearly all of one listener."""
    if of_listener := _OF_LISTENER.fullmatch(name):
        return of_listener[1] not in _OF_ANY_LISTENER
    config = state.definitions.brokers.get(name)
    return config is not None and config.update == _PER_BROKER


def _refused(state: State, text: str, names: list[str], in_3_9: str = "Set") -> ApiFailure:
    """The error. Its text has a Java list since 4.0, in 3.9 a Scala set of class ``in_3_9``."""
    listed = ", ".join(names)
    shown = f"[{listed}]" if state.release >= (4,) else f"{in_3_9}({listed})"
    return ApiFailure(codes.INVALID_REQUEST, f"{text}: {shown}")
