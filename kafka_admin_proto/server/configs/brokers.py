"""Whether a running broker takes a change of its configs, as Kafka's ``DynamicBrokerConfig``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kafka_admin_proto.server.configs.values import ConfigFailure, check, parse
from kafka_admin_proto.server.failures import INVALID_REQUEST, ApiFailure
from kafka_admin_proto.server.java import hash_order

if TYPE_CHECKING:
    from kafka_admin_proto.server.state import State

_PER_BROKER = "per-broker"


def check_broker_configs(
    state: State, name: str, configs: Mapping[str, str], node_id: int
) -> None:
    """Raises ApiFailure unless the broker of that name, or all of them for "", can have these."""
    known = state.definitions.brokers
    fixed = [each for each in hash_order(configs) if each in known and known[each].update is None]
    if fixed:
        raise _refused(state, "Cannot update these configs dynamically", fixed)
    try:
        for config in state.definitions.broker:
            if config.name in configs:
                check(config, parse(config, configs[config.name], state.release))
    except ConfigFailure as failure:
        raise ApiFailure(INVALID_REQUEST, failure.message) from failure
    if not name:
        single = [each for each in hash_order(configs) if known_as_single(state, each)]
        if single:
            raise _refused(
                state,
                "Cannot update these configs at default cluster level, broker id must be specified",
                single,
            )


def known_as_single(state: State, name: str) -> bool:
    """Whether a config is one of each broker, and not of all together."""
    config = state.definitions.brokers.get(name)
    return config is not None and config.update == _PER_BROKER


def _refused(state: State, text: str, names: list[str]) -> ApiFailure:
    listed = ", ".join(names)
    shown = f"[{listed}]" if state.release >= "4" else f"Set({listed})"
    return ApiFailure(INVALID_REQUEST, f"{text}: {shown}")
