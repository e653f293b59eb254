"""One config of a resource, with names for the numbers that brokers answer."""

from __future__ import annotations

from typing import Any

from kafka_admin_proto.messages.create_topics_response import CreatableTopicConfigs
from kafka_admin_proto.messages.describe_configs_response import DescribeConfigsResourceResult
from kafka_admin_proto.render.meanings import name_of
from kafka_admin_proto.wire.secrets import MASK, MaskedStruct, is_secret_name

#: Source of a topic's own value, on the wire.
TOPIC_CONFIG = 1
_DEFAULT = 5
#: Kafka's names on the wire that its clients and tools show otherwise.
_SHOWN_SOURCES = {
    "TOPIC_CONFIG": "DYNAMIC_TOPIC_CONFIG",
    "CLIENT_METRICS_CONFIG": "DYNAMIC_CLIENT_METRICS_CONFIG",
    "GROUP_CONFIG": "DYNAMIC_GROUP_CONFIG",
}


class _Value(MaskedStruct, frozen=True):
    """A named value, which ``repr`` masks where the name says that it is a credential."""

    name: str
    value: str | None

    def _shown(self, field: str) -> Any:
        value = getattr(self, field)
        is_secret = field == "value" and value is not None and is_secret_name(self.name)
        return MASK if is_secret else value


class ConfigSynonym(_Value, frozen=True):
    """One of the places that a value may come from; the first of them wins."""

    source: str | None


class ConfigEntry(_Value, frozen=True):
    """One config of a resource.

    ``value`` is None for a ``sensitive`` one: brokers do not send it, and one that does is not
    passed on. ``source`` is Kafka's name
    (DYNAMIC_TOPIC_CONFIG, DEFAULT_CONFIG). ``type`` (INT, LIST) and ``documentation`` are there
    where they were asked for and the broker has them, ``synonyms`` likewise.
    """

    source: str | None
    is_default: bool
    read_only: bool
    sensitive: bool
    type: str | None = None
    documentation: str | None = None
    synonyms: list[ConfigSynonym] | None = None


def entry_of_created(config: CreatableTopicConfigs) -> ConfigEntry:
    """A config in the answer to CreateTopics."""
    return ConfigEntry(
        name=config.name,
        value=None if config.is_sensitive else config.value,
        source=source_name(config.config_source),
        is_default=config.config_source == _DEFAULT,
        read_only=config.read_only,
        sensitive=config.is_sensitive,
    )


def entry_of_described(
    config: DescribeConfigsResourceResult, *, synonyms: bool, documentation: bool
) -> ConfigEntry:
    """A config in the answer to DescribeConfigs."""
    source = config.config_source
    return ConfigEntry(
        name=config.name,
        value=None if config.is_sensitive else config.value,
        source=source_name(source),
        is_default=config.is_default if source < 0 else source == _DEFAULT,
        read_only=config.read_only,
        sensitive=config.is_sensitive,
        type=name_of("config_type", config.config_type) if config.config_type else None,
        documentation=(config.documentation or None) if documentation else None,
        synonyms=[
            ConfigSynonym(
                name=each.name,
                value=None if config.is_sensitive else each.value,
                source=source_name(each.source),
            )
            for each in config.synonyms
        ]
        if synonyms
        else None,
    )


def is_override(config: DescribeConfigsResourceResult) -> bool:
    """Whether the value was set for the topic itself.

    The oldest brokers (DescribeConfigs 0) only say whether it is the default.
    """
    if config.config_source < 0:
        return not config.is_default
    return config.config_source == TOPIC_CONFIG


def source_name(source: int) -> str | None:
    """The name of a source in Kafka's clients and tools; None where the broker sends none."""
    if source < 0:
        return None
    name = name_of("config_source", source)
    return _SHOWN_SOURCES.get(name, name)
