"""Where a config's value comes from: a topic's own, a broker's, all brokers', or the default."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from kafka_admin_proto.server.configs.definitions import ConfigDefinition
from kafka_admin_proto.server.java import parse_integer, trim

#: ``config_source`` in answers.
DYNAMIC_TOPIC = 1
DYNAMIC_BROKER = 2
DYNAMIC_DEFAULT_BROKER = 3
STATIC_BROKER = 4
DEFAULT = 5
CLIENT_METRICS = 7
GROUP = 8

_MINUTE_MS = 60_000
_HOUR_MS = 60 * _MINUTE_MS
#: Configs of brokers whose number is not that of the topic's config → their unit.
_UNITS_MS = {
    "log.roll.hours": _HOUR_MS,
    "log.roll.jitter.hours": _HOUR_MS,
    "log.retention.hours": _HOUR_MS,
    "log.retention.minutes": _MINUTE_MS,
    "log.retention.ms": 1,  # of which each negative one is -1
}

Configs = Mapping[str, str | None]


class BrokerConfigs(msgspec.Struct, frozen=True):
    """The configs that one broker was given, by source; names are those of brokers' configs."""

    dynamic: Configs
    dynamic_default: Configs
    static: Configs

    def sources(self) -> Iterator[tuple[int, Configs]]:
        """Each source with its configs, by falling precedence."""
        yield DYNAMIC_BROKER, self.dynamic
        yield DYNAMIC_DEFAULT_BROKER, self.dynamic_default
        yield STATIC_BROKER, self.static

    def find(self, names: tuple[str, ...]) -> tuple[str, str | None, int] | None:
        """(name, text, source) of the first of these names that is set, or None."""
        for source, configs in self.sources():
            for name in names:
                if name in configs:
                    return name, configs[name], source
        return None


def topic_value(
    config: ConfigDefinition, own: Configs, broker: BrokerConfigs
) -> tuple[str | None, int]:
    """A topic config's text, in the topic's unit, and its source."""
    if config.name in own:
        return own[config.name], DYNAMIC_TOPIC
    found = broker.find(config.synonyms)
    if found is None:
        return config.default, DEFAULT
    name, text, source = found
    return _in_milliseconds(name, text), source


def _in_milliseconds(name: str, text: str | None) -> str | None:
    """A broker's config in hours or minutes as the text of the topic's config in milliseconds.

    A negative retention means unlimited in each unit: KafkaConfig.logRetentionTimeMillis.
    """
    unit = _UNITS_MS.get(name)
    if unit is None or text is None:
        return text
    number = parse_integer(trim(text), 64)
    return str(-1 if number < 0 and "retention" in name else number * unit)
