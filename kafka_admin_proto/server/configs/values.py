"""The checks of a config's value, as those of Kafka's ``ConfigDef``.

The reason for refusing a value is sent to clients, so the texts are Kafka's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from kafka_admin_proto.server.configs.definitions import ConfigDefinition, Validator
from kafka_admin_proto.server.configs.parsing import ConfigFailure, invalid, parse, shown
from kafka_admin_proto.server.java import list_text, parse_integer

_THROTTLED = re.compile(r"([0-9]+:[0-9]+)?")
#: Java's Duration.parse: sign, days, "T" with what follows, hours, minutes, seconds, fraction.
_DURATION = re.compile(
    r"([-+]?)P(?:([-+]?[0-9]+)D)?"
    r"(T(?:([-+]?[0-9]+)H)?(?:([-+]?[0-9]+)M)?(?:([-+]?[0-9]+)(?:[.,]([0-9]{0,9}))?S)?)?",
    re.IGNORECASE | re.ASCII,
)
_BY_DURATION = "by_duration:"
_UNITS_S = (86_400, 3_600, 60, 1)


def parse_all(
    definitions: tuple[ConfigDefinition, ...], texts: Mapping[str, str | None]
) -> dict[str, Any]:
    """The value of every config, from the given text or the default; as ConfigDef.parse.

    Raises ConfigFailure for the first config, in the order of the definitions, that is wrong.
    """
    return {each.name: parse_checked(each, texts) for each in definitions}


def parse_checked(config: ConfigDefinition, texts: Mapping[str, str | None]) -> Any:
    """The value of one config: the given text, parsed and validated, or the default."""
    if config.name in texts:
        value = parse(config, texts[config.name])
        check(config, value)
        return value
    return parse(config, config.default)


def check(config: ConfigDefinition, value: Any) -> None:
    """Validate a parsed value. Raises ConfigFailure."""
    if config.validator is not None:
        _check(config.validator, config.name, value)


def _check(validator: Validator, name: str, value: Any) -> None:
    match validator.kind:
        case "Range":
            if validator.min is not None and value < validator.min:
                raise invalid(name, value, f"Value must be at least {shown(validator.min)}")
            if validator.max is not None and value > validator.max:
                raise invalid(name, value, f"Value must be no more than {shown(validator.max)}")
        case "ValidString":
            _check_one_of(validator, name, value)
        case "CaseInsensitiveValidString":
            if value.upper() not in validator.values:
                allowed = ", ".join(validator.values)
                message = f"String must be one of (case insensitive): {allowed}"
                raise invalid(name, value, message)
        case "ValidList":
            _check_list(validator, name, value)
        case "NonEmptyString":
            if value == "":
                raise invalid(name, value, "String must be non-empty")
        case "LambdaValidator" | "" if validator.text == "[1,...,9] or -1":
            if value != -1 and not 1 <= value <= 9:
                raise invalid(name, value, "Value must be between 1 and 9 or equal to -1")
        case "LambdaValidator" if name.startswith("remote.log.manager."):  # those of 3.9
            if value != -1 and value < 1:
                raise invalid(name, value, "Value can be -1 or greater than 0")
        case "MetadataVersionValidator":
            if not _is_metadata_version(value, validator.text):
                raise invalid(name, value, f"Version {value} is not a valid version")
        case "ThrottledReplicaListValidator":
            items = [item.strip() for item in value]
            if "".join(items) != "*" and not all(map(_THROTTLED.fullmatch, items)):
                raise invalid(
                    name,
                    value,
                    f"{name} must be the literal '*' or a list of replicas in the following "
                    f"format: {validator.text}",
                )
        case "Validator" if name == "share.auto.offset.reset":
            if value not in ("latest", "earliest") and duration_ms(value or "") is None:
                raise invalid(
                    name,
                    value,
                    f"Invalid value `{value}` for configuration {name}. The value must be either "
                    "'earliest', 'latest' or of the format 'by_duration:<PnDTnHnMn.nS>'.",
                )


def duration_ms(value: str) -> int | None:
    """The milliseconds of "by_duration:…", None for one that Java does not parse or below 0."""
    found = _DURATION.fullmatch(value.removeprefix(_BY_DURATION))
    if found is None or not value.startswith(_BY_DURATION):
        return None
    sign, days, time, hours, minutes, seconds, fraction = found.groups()
    counts = [days, hours, minutes, seconds]
    if not any(counts) or time in ("T", "t"):
        return None
    try:
        numbers = [parse_integer(count or "0", 64) for count in counts]
    except ValueError:
        return None
    parts_s = [number * unit for number, unit in zip(numbers, _UNITS_S, strict=True)]
    nanos = int((fraction or "").ljust(9, "0")) * (-1 if (seconds or "").startswith("-") else 1)
    total = sum(parts_s) * 1_000_000_000 + nanos
    if max(map(abs, parts_s)) >= 1 << 63:
        return None
    total = -total if sign == "-" else total
    return total // 1_000_000 if total >= 0 else None


def _is_metadata_version(value: str, known: str) -> bool:
    """Whether a version is in Kafka's list, or a prefix of a version there: "3.0"."""
    versions = known.strip("[]").split(", ")
    parts = 3 if value.startswith("0.") else 2
    release = ".".join(value.split(".")[:parts])
    return any(release in (each, each.partition("-")[0]) for each in versions)


def _check_one_of(validator: Validator, name: str, value: Any) -> None:
    if value not in validator.values:
        raise invalid(name, value, f"String must be one of: {', '.join(validator.values)}")


def _check_list(validator: Validator, name: str, value: Any) -> None:
    if not value and validator.isEmptyAllowed is False:
        allowed = list_text(validator.values) if validator.values else "any non-empty value"
        raise ConfigFailure(
            f"Configuration '{name}' must not be empty. Valid values include: {allowed}"
        )
    for item in value:
        if not item and validator.isEmptyAllowed is not None:
            raise ConfigFailure(f"Configuration '{name}' values must not be empty.")
        if validator.values:
            _check_one_of(validator, name, item)
