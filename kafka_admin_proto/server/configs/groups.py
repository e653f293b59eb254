"""Whether configs of a group can be set: Kafka's ``GroupConfig.validate``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.configs.values import parse_all
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.java import hash_order, list_text, trim

if TYPE_CHECKING:
    from kafka_admin_proto.server.state import State

#: Places in the table that 4.3 checks names in: it has the broker's configs of groups as well.
_TABLE_OF_4_3 = 32
#: Configs of groups that the broker bounds: ``group.consumer.min.…`` and ``….max.…`` for
#: consumers. In the order of ``GroupConfig.validateValues``.
_BOUNDED = (
    "consumer.heartbeat.interval.ms", "consumer.session.timeout.ms",
    "consumer.assignment.interval.ms",
    "share.heartbeat.interval.ms", "share.session.timeout.ms", "share.record.lock.duration.ms",
    "share.delivery.count.limit", "share.partition.max.record.locks",
    "share.assignment.interval.ms",
    "streams.heartbeat.interval.ms", "streams.session.timeout.ms", "streams.num.standby.replicas",
    "streams.assignment.interval.ms", "streams.task.offset.interval.ms",
    "streams.num.warmup.replicas",
)  # fmt: skip
#: 4.3 has no value for these in the check where the group has none: ``extractGroupConfigMap``.
_UNSET = "assignment.interval.ms"
#: A group without one has the first of its broker's.
STREAMS_ASSIGNOR, _ASSIGNORS = "streams.assignor.name", "group.streams.assignors"
TAGS = "streams.rack.aware.assignment.tags"
_DEAD_LETTERS = "errors.deadletterqueue.topic.name"
_COMMA = re.compile(r"[ \t\n\x0b\f\r]*,[ \t\n\x0b\f\r]*")


def broker_synonym(key: str) -> str:
    """The broker's config with the value of groups that do not set their own; not all exist."""
    return _ASSIGNORS if key == STREAMS_ASSIGNOR else f"group.{key}"


def has_repeated_tag(text: str | None) -> bool:
    """Whether a list of tags names one twice, which a parsed list does not say."""
    tags = _COMMA.split(trim(text or ""))
    return len(set(tags)) < len(tags)


def check_group_configs(state: State, name: str, configs: Mapping[str, str]) -> None:
    """Raises ApiFailure unless a group may have these configs, all of them."""
    if not name:
        raise ApiFailure(codes.INVALID_REQUEST, "Default group resources are not allowed.")
    is_4_3 = state.release < (4, 4)
    for key in hash_order(configs, _TABLE_OF_4_3) if is_4_3 else hash_order(configs):
        if key not in state.definitions.groups:
            raise _refused(f"Unknown group config name: {key}")
    for text in _faults_of_4_3(state, configs) if is_4_3 else _faults(state, configs):
        raise _refused(text)


def _faults(state: State, configs: Mapping[str, str]) -> Iterator[str]:
    """What 4.4 refuses a group's configs for. Raises ConfigFailure for a value that is wrong alone.

    It looks only at configs that the group sets, but for a session without the heartbeats of one.
    """
    if has_repeated_tag(configs.get(TAGS)):
        yield f"{TAGS} must not contain duplicate tag keys."
    values = parse_all(state.definitions.group, configs)
    for key in (each for each in _BOUNDED if each in configs):
        least, most = (
            None if each not in state.definitions.brokers else state.broker_value(each)
            for each in _bounds(key)
        )
        too_low = least is not None and values[key] < least
        if too_low or (most is not None and values[key] > most):
            if least is None:
                yield f"{key} must be less than or equal to {most}"
            elif most is None:
                yield f"{key} must be greater than or equal to {least}"
            else:
                yield f"{key} must be in the range {least} to {most} inclusive."
    assignors: list[str] = state.broker_value(_ASSIGNORS)
    if STREAMS_ASSIGNOR in configs and values[STREAMS_ASSIGNOR] not in assignors:
        yield (
            f"{STREAMS_ASSIGNOR} '{values[STREAMS_ASSIGNOR]}' is not a registered task assignor. "
            f"Registered assignors are: {list_text(assignors)}."
        )
    of_broker = {
        key: state.broker_value(f"group.{key}")
        for pair in _SESSIONS
        for key in pair
        if key not in configs
    }
    yield from _short_sessions({**values, **of_broker})
    if (configs.get(_DEAD_LETTERS) or "").startswith("__"):
        yield f"{_DEAD_LETTERS}: DLQ topic name must not start with '__'"


def _faults_of_4_3(state: State, configs: Mapping[str, str]) -> Iterator[str]:
    """The same of 4.3, where a group has from the controller what it does not set."""
    of_broker = {
        key: state.broker_value(f"group.{key}")
        for key in state.definitions.groups
        if f"group.{key}" in state.definitions.brokers
        if not key.endswith(_UNSET) and key not in configs
    }
    values = parse_all(state.definitions.group, configs) | of_broker
    for key in (each for each in _BOUNDED if each in configs or each in of_broker):
        least, most = _bounds(key)
        if least in state.definitions.brokers and values[key] < state.broker_value(least):
            yield f"{key} must be greater than or equal to {least}"
        if values[key] > state.broker_value(most):
            yield f"{key} must be less than or equal to {most}"
    yield from _short_sessions(values)


def _bounds(key: str) -> tuple[str, str]:
    """The broker's configs that bound a group's; the least of some does not exist."""
    kind, _, rest = key.partition(".")
    rest = rest.removeprefix("num.")
    return f"group.{kind}.min.{rest}", f"group.{kind}.max.{rest}"


_SESSIONS = tuple(
    (f"{kind}.session.timeout.ms", f"{kind}.heartbeat.interval.ms")
    for kind in ("consumer", "share", "streams")
)


def _short_sessions(values: Mapping[str, Any]) -> Iterator[str]:
    for session, heartbeat in _SESSIONS:
        if values[session] <= values[heartbeat]:
            yield f"{session} must be greater than {heartbeat}"


def _refused(text: str) -> ApiFailure:
    return ApiFailure(codes.INVALID_CONFIG, text)
