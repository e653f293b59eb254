"""Whether configs of groups, and of subscriptions to clients' metrics, can be set."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.configs.values import parse_all
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.java import hash_order, parse_integer

if TYPE_CHECKING:
    from kafka_admin_proto.server.state import State

#: Characters that Python is slow to compile in a set, Java's escapes for them, and other escapes.
_WIDE = re.compile(r"[^\x00-\x7f]|\\u[0-9a-fA-F]{4}|(\\.)")
_LEAST_INTERVAL_MS = 100
_MOST_INTERVAL_MS = 3_600_000
#: Places in the table that Kafka checks names in: it has the broker's configs of groups as well.
_TABLE_OF_GROUPS = 32
_MATCHABLE = frozenset(
    {
        "client_instance_id", "client_id", "client_software_name", "client_software_version",
        "client_source_address", "client_source_port",
    }
)  # fmt: skip
#: Configs of groups that the broker bounds: ``group.consumer.min.…`` and ``….max.…`` for
#: consumers. In the order of ``GroupConfig.validateValues``.
_BOUNDED = (
    "consumer.heartbeat.interval.ms", "consumer.session.timeout.ms",
    "consumer.assignment.interval.ms",
    "share.heartbeat.interval.ms", "share.session.timeout.ms", "share.record.lock.duration.ms",
    "share.delivery.count.limit", "share.partition.max.record.locks",
    "share.assignment.interval.ms",
    "streams.heartbeat.interval.ms", "streams.session.timeout.ms", "streams.num.standby.replicas",
    "streams.assignment.interval.ms",
)  # fmt: skip
#: These have no value in the check where the group has none: ``extractGroupConfigMap`` omits them.
_UNSET = "assignment.interval.ms"


def check_metrics_configs(state: State, name: str, configs: Mapping[str, str]) -> None:
    """Raises ApiFailure unless a subscription may have these configs, all of them."""
    if not name:
        raise ApiFailure(codes.INVALID_REQUEST, "Subscription name can't be empty")
    for key in hash_order(configs):
        if key not in state.definitions.metrics:
            raise ApiFailure(codes.INVALID_REQUEST, f"Unknown client metrics configuration: {key}")
    interval, patterns = (_parsed_by_3_9 if state.release < "4" else _parsed)(state, configs)
    if "interval.ms" in configs and not _LEAST_INTERVAL_MS <= interval <= _MOST_INTERVAL_MS:
        raise ApiFailure(
            codes.INVALID_REQUEST,
            f"Invalid value {interval} for interval.ms, interval must be between "
            f"{_LEAST_INTERVAL_MS} and {_MOST_INTERVAL_MS} (1 hour)",
        )
    if "match" in configs:
        for pattern in patterns:
            _check_pattern(pattern)


def _parsed(state: State, configs: Mapping[str, str]) -> tuple[int, list[str]]:
    """(interval in ms, patterns) by the definitions of these configs."""
    values = parse_all(state.definitions.client_metrics, configs, state.release)
    return values["interval.ms"], values["match"]


def _parsed_by_3_9(state: State, configs: Mapping[str, str]) -> tuple[int, list[str]]:
    """The same in 3.9, which does not parse the texts and fails on one that is not a number."""
    try:
        interval = parse_integer(configs.get("interval.ms", "0"), 32)
    except ValueError as error:
        raise ApiFailure(codes.UNKNOWN_SERVER_ERROR) from error
    patterns = configs.get("match", "").split(",")
    while len(patterns) > 1 and not patterns[-1]:  # as Java's split
        patterns.pop()
    return interval, patterns


def _check_pattern(pattern: str) -> None:
    parts = pattern.split("=")
    while parts and not parts[-1]:  # as Java's split
        parts.pop()
    try:
        if len(parts) == 2 and parts[0].strip() in _MATCHABLE:
            re.compile(_WIDE.sub(lambda found: found[1] or "x", parts[1].strip()))
            return
    except (re.error, OverflowError, RecursionError):
        pass
    raise ApiFailure(codes.INVALID_CONFIG, f"Illegal client matching pattern: {pattern}")


def check_group_configs(state: State, name: str, configs: Mapping[str, str]) -> None:
    """Raises ApiFailure unless a group may have these configs, all of them.

    What it does not set it has from the controller: ``GroupConfig.validate``.
    """
    if not name:
        raise ApiFailure(codes.INVALID_REQUEST, "Default group resources are not allowed.")
    for key in hash_order(configs, _TABLE_OF_GROUPS):
        if key not in state.definitions.groups:
            raise ApiFailure(codes.INVALID_CONFIG, f"Unknown group config name: {key}")
    of_broker = {
        key: state.broker_value(f"group.{key}")
        for key in state.definitions.groups
        if f"group.{key}" in state.definitions.brokers
        if not key.endswith(_UNSET) and key not in configs
    }
    values = parse_all(state.definitions.group, configs, state.release) | of_broker
    for key in (each for each in _BOUNDED if each in configs or each in of_broker):
        kind, _, rest = key.partition(".")
        rest = rest.removeprefix("num.")
        least, most = f"group.{kind}.min.{rest}", f"group.{kind}.max.{rest}"
        if least in state.definitions.brokers and values[key] < state.broker_value(least):
            raise ApiFailure(
                codes.INVALID_CONFIG, f"{key} must be greater than or equal to {least}"
            )
        if values[key] > state.broker_value(most):
            raise ApiFailure(codes.INVALID_CONFIG, f"{key} must be less than or equal to {most}")
    for kind in ("consumer", "share", "streams"):
        session, heartbeat = f"{kind}.session.timeout.ms", f"{kind}.heartbeat.interval.ms"
        if values[session] <= values[heartbeat]:
            raise ApiFailure(codes.INVALID_CONFIG, f"{session} must be greater than {heartbeat}")
