"""Whether configs of subscriptions to clients' metrics can be set."""

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
_MATCHABLE = frozenset(
    {
        "client_instance_id", "client_id", "client_software_name", "client_software_version",
        "client_source_address", "client_source_port",
    }
)  # fmt: skip


def check_metrics_configs(state: State, name: str, configs: Mapping[str, str]) -> None:
    """Raises ApiFailure unless a subscription may have these configs, all of them."""
    if not name:
        raise ApiFailure(codes.INVALID_REQUEST, "Subscription name can't be empty")
    for key in hash_order(configs):
        if key not in state.definitions.metrics:
            raise ApiFailure(codes.INVALID_REQUEST, f"Unknown client metrics configuration: {key}")
    interval, patterns = (_parsed_by_3_9 if state.release < (4,) else _parsed)(state, configs)
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
    values = parse_all(state.definitions.client_metrics, configs)
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
