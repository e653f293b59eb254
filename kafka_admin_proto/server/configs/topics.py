"""The checks of Kafka's ``LogConfig`` for a topic's configs, and the defaults from a broker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.configs.definitions import Definitions
from kafka_admin_proto.server.configs.parsing import ConfigFailure
from kafka_admin_proto.server.configs.sources import BrokerConfigs, topic_value
from kafka_admin_proto.server.configs.values import parse_checked
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.java import hash_order


class TopicDefaults:
    """The config values of a topic without configs of its own, by one broker's configs.

    Kafka checks each new topic's configs together with these values. They are parsed once, and
    ``State`` keeps them until a broker's configs change.
    """

    def __init__(self, known: Definitions, broker: BrokerConfigs) -> None:
        self.known = known
        #: Each config's text and its source, by name.
        self.texts: dict[str, tuple[str | None, int]] = {
            each.name: topic_value(each, {}, broker) for each in known.topic
        }
        self._values: dict[str, Any] = {}
        self._failures: dict[str, ConfigFailure] = {}
        texts = {each.name: self.texts[each.name][0] for each in known.topic if not each.internal}
        for config in known.topic:
            try:
                self._values[config.name] = parse_checked(config, texts)
            except ConfigFailure as failure:  # raised for topics that do not set this config
                self._failures[config.name] = failure

    def check(self, configs: Mapping[str, str]) -> None:
        """Raises ApiFailure (INVALID_CONFIG) unless a topic may have these configs."""
        for name in hash_order(configs):
            if name not in self.known.topics:
                raise ApiFailure(codes.INVALID_CONFIG, f"Unknown topic config name: {name}")
        values = self._values.copy()
        for config in self.known.topic:
            if config.name in configs:
                values[config.name] = parse_checked(config, configs)
            elif config.name in self._failures:
                raise self._failures[config.name].with_traceback(None)
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
            codes.INVALID_CONFIG,
            f"conflict topic config setting min.compaction.lag.ms ({least}) > "
            f"max.compaction.lag.ms ({most})",
        )
