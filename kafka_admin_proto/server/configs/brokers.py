"""Whether a running broker takes a change of its configs, as Kafka's ``DynamicBrokerConfig``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.configs.parsing import ConfigFailure, parse
from kafka_admin_proto.server.configs.sources import BrokerConfigs
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
#: Kafka adds and removes listeners while a broker runs; here they are those of the start.
_OF_START = ("listeners", "advertised.listeners", "listener.security.protocol.map")


def check_broker_configs(state: State, name: str, configs: Mapping[str, str], node_id: int) -> None:
    """Raises ApiFailure unless the broker of that name, or all of them for "", can have these."""
    in_files = state.definitions.in_properties
    fixed = [
        each
        for each in configs
        if each in _OF_START or (each in in_files and in_files[each].update is None)
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
                check(config, parse(config, configs[config.name], state.release))
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
    for each in _THREADS:
        threads = state.definitions.brokers[each]
        found = after.find((each,))
        count = parse(threads, threads.default if found is None else found[1], state.release)
        _check_threads(each, count, state.broker_value(each, node_id))


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
    raise ApiFailure(
        codes.INVALID_REQUEST,
        "Invalid value org.apache.kafka.common.config.ConfigException: Dynamic thread count update "
        f"validation failed for {name}={count}, {fault} for configuration Invalid dynamic "
        "configuration",
    )


def known_as_single(state: State, name: str) -> bool:
    """Whether a config can only be set for a single broker."""
    config = state.definitions.brokers.get(name)
    return config is not None and config.update == _PER_BROKER


def _refused(state: State, text: str, names: list[str], in_3_9: str = "Set") -> ApiFailure:
    """The error; its text has a Java list in 4.3, and in 3.9 a Scala set of class ``in_3_9``."""
    listed = ", ".join(names)
    shown = f"[{listed}]" if state.release >= "4" else f"{in_3_9}({listed})"
    return ApiFailure(codes.INVALID_REQUEST, f"{text}: {shown}")
