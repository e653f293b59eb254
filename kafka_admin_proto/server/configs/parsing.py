"""A config's text as a value, and back: ``ConfigDef.parseType`` and ``convertToString`` of Kafka.

The reason for refusing a text is sent to clients, so the sentences are Kafka's.
"""

from __future__ import annotations

from typing import Any

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.configs.definitions import ConfigDefinition
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.java import (
    double_text,
    list_text,
    parse_double,
    parse_integer,
    trim,
)

_BITS = {"INT": 32, "SHORT": 16, "LONG": 64}
#: The blanks that Java's patterns know as ``\s``.
_BLANKS = " \t\n\x0b\f\r"


class ConfigFailure(ApiFailure):
    """A value that Kafka's ConfigDef refuses: a ConfigException there."""

    def __init__(self, message: str) -> None:
        super().__init__(codes.INVALID_CONFIG, message)


def parse(config: ConfigDefinition, text: str | None) -> Any:
    """Parse a text as the config's type; None stays None. Raises ConfigFailure."""
    if text is None:
        return None
    kind, name = config.type, config.name
    trimmed = trim(text)
    if kind == "BOOLEAN":
        if trimmed.lower() not in ("true", "false"):
            raise invalid(name, text, "Expected value to be either true or false")
        return trimmed.lower() == "true"
    if kind == "LIST":
        if not trimmed:
            return []
        items = [each.strip(_BLANKS) for each in trimmed.split(",")]
        return list(dict.fromkeys(items)) if config.drops_repeated else items
    try:
        if kind in _BITS:
            return parse_integer(trimmed, _BITS[kind])
        if kind == "DOUBLE":
            return parse_double(trimmed)
    except ValueError:
        raise invalid(name, text, f"Not a number of type {kind}") from None
    return trimmed


def to_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return double_text(value)
    return ",".join(value) if isinstance(value, list) else str(value)


def invalid(name: str, value: object, message: str) -> ConfigFailure:
    return ConfigFailure(f"Invalid value {shown(value)} for configuration {name}: {message}")


def shown(value: object) -> str:
    """A parsed value as Kafka's errors show it."""
    if value is None:
        return "null"
    return list_text(value) if isinstance(value, list) else to_text(value) or ""
