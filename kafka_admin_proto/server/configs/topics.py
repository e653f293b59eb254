"""Whether configs of a topic can be set, as Kafka's ``LogConfig`` decides, and what then counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_admin_proto.server.configs.definitions import Definitions
from kafka_admin_proto.server.configs.sources import BrokerConfigs, Configs, topic_value
from kafka_admin_proto.server.configs.values import ConfigFailure, parse_all
from kafka_admin_proto.server.failures import INVALID_CONFIG, ApiFailure
from kafka_admin_proto.server.java import hash_order


def check_topic_configs(
    release: str,
    known: Definitions,
    broker: BrokerConfigs,
    configs: Mapping[str, str],
    existing: Configs,
) -> None:
    """Raises ApiFailure (INVALID_CONFIG) unless a topic may have these configs, all of them.

    ``existing`` are those that it has so far; ``broker`` those of the controller.
    """
    for name in hash_order(configs):
        if name not in known.topics:
            raise ApiFailure(INVALID_CONFIG, f"Unknown topic config name: {name}")
    combined: dict[str, str | None] = {
        each.name: topic_value(each, {}, broker)[0] for each in known.topic if not each.internal
    }
    values = parse_all(known.topic, {**combined, **configs}, release)
    _check_lags(values)
    if values["remote.storage.enable"]:
        raise ConfigFailure(
            "Tiered Storage functionality is disabled in the broker. "
            "Topic cannot be configured with remote log storage."
        )


def _check_lags(values: Mapping[str, Any]) -> None:
    least, most = values["min.compaction.lag.ms"], values["max.compaction.lag.ms"]
    if least > most:
        raise ApiFailure(
            INVALID_CONFIG,
            f"conflict topic config setting min.compaction.lag.ms ({least}) > "
            f"max.compaction.lag.ms ({most})",
        )
