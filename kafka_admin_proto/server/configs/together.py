"""Configs of a node that are valid each and contradict each other, which no node starts with.

Kafka's checks are in the constructors of ``GroupCoordinatorConfig`` and ``ShareGroupConfig`` and in
``KafkaConfig.validateValues``. A running broker refuses a change that leads to a contradiction.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.configs.definitions import Definitions
from kafka_admin_proto.server.configs.groups import TAGS, has_repeated_tag
from kafka_admin_proto.server.configs.parsing import parse
from kafka_admin_proto.server.configs.sources import BrokerConfigs, topic_value
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.groups.consumer.assignors import (
    CLASSES_OF_ASSIGNORS,
    PACKAGE_OF_ASSIGNORS,
)
from kafka_admin_proto.server.java import parse_integer, trim
from kafka_admin_proto.server.releases import ReleaseNumber

#: The first is at least, at most, or less than the second.
_LEAST, _MOST, _LESS = "greater than or equal to", "less than or equal to", "less than"
_Bound = tuple[str, str, str]
_TAGS = f"group.{TAGS}"
_BYTES_PER_CLEANER = 1 << 20
_CODECS = ("offsets.topic.compression.codec", "share.coordinator.state.topic.compression.codec")
_CODEC_IDS = range(5)
_OVERRIDES = "max.connections.per.ip.overrides"
#: Kafka's ``Utils.validHostPattern``.
_HOST = re.compile(r"[0-9A-Za-z\-%._:]*")
_SHARE_ASSIGNORS = {f"{PACKAGE_OF_ASSIGNORS}.SimpleAssignor": "simple"}
_STREAMS_ASSIGNORS = {
    "org.apache.kafka.coordinator.group.streams.assignor.StickyTaskAssignor": "sticky"
}


def _group_bounds() -> Iterator[_Bound]:
    """In the order of Kafka's constructors."""
    for kind in ("group.consumer.", "group.share.", "group.streams."):
        for name in ("heartbeat.interval.ms", "session.timeout.ms", "assignment.interval.ms"):
            least, most = f"{kind}min.{name}", f"{kind}max.{name}"
            yield most, _LEAST, least
            yield kind + name, _LEAST, least
            yield kind + name, _MOST, most
        yield f"{kind}heartbeat.interval.ms", _LESS, f"{kind}session.timeout.ms"
    yield "group.streams.num.standby.replicas", _MOST, "group.streams.max.standby.replicas"
    streams = "group.streams."
    yield f"{streams}task.offset.interval.ms", _LEAST, f"{streams}min.task.offset.interval.ms"
    yield f"{streams}num.warmup.replicas", _MOST, f"{streams}max.warmup.replicas"
    share = "group.share."
    for name in ("delivery.count.limit", "partition.max.record.locks", "record.lock.duration.ms"):
        yield f"{share}max.{name}", _LEAST, share + name
        yield share + name, _LEAST, f"{share}min.{name}"
    yield f"{share}max.share.sessions", _LEAST, f"{share}max.size"


_GROUP_BOUNDS = tuple(_group_bounds())


class _Node:
    """The values of a node's configs, by their names or by those of topics."""

    def __init__(self, known: Definitions, broker: BrokerConfigs, release: ReleaseNumber) -> None:
        self._known, self._broker = known, broker
        self.is_3_9, self.is_4_4 = release < (4,), release >= (4, 4)

    def text(self, name: str) -> str | None:
        found = self._broker.find((name,))
        return self._known.brokers[name].default if found is None else found[1]

    def value(self, name: str) -> Any:
        return parse(self._known.brokers[name], self.text(name))

    def of_topics(self, topic_config: str) -> int:
        config = self._known.topics[topic_config]
        text, _ = topic_value(config, {}, self._broker)
        number: int = parse(config, text)
        return number

    def has(self, *names: str) -> bool:
        return self._known.brokers.keys() >= {*names}


def check_together(known: Definitions, broker: BrokerConfigs, release: ReleaseNumber) -> None:
    """Check a node's configs, which are valid each.

    Raises ApiFailure for one that contradicts another, and for a value that Kafka reads at a start
    alone.
    """
    node = _Node(known, broker, release)
    for check in (_check_groups, _check_log, _check_replicas, _check_connections, _check_topics):
        check(node)


def _check_groups(node: _Node) -> None:
    for name in _CODECS:
        if node.has(name) and node.value(name) not in _CODEC_IDS:
            raise _refused(f"{name}: Unknown compression type id: {node.value(name)}")
    if node.is_3_9:
        most_acks = node.value("offsets.topic.replication.factor")
        if not -1 <= node.value("offsets.commit.required.acks") <= most_acks:
            raise _refused(
                "offsets.commit.required.acks must be greater or equal to -1 and less or equal to "
                "offsets.topic.replication.factor"
            )
    for name, relation, other in _GROUP_BOUNDS:
        if not node.has(name, other) or (node.is_3_9 and relation == _LESS):
            continue
        left, right = node.value(name), node.value(other)
        if not {_LEAST: left >= right, _MOST: left <= right, _LESS: left < right}[relation]:
            expected = relation.replace("or equal", "or equals") if node.is_3_9 else relation
            raise _refused(f"{name} must be {expected} {other}")
    if node.has(_TAGS) and has_repeated_tag(node.text(_TAGS)):
        raise _refused(f"{_TAGS} must not contain duplicate tag keys.")
    _check_assignors(node, "group.consumer.assignors", CLASSES_OF_ASSIGNORS)
    if not node.is_3_9:
        if (count := len(node.value("group.share.assignors"))) != 1:
            raise _refused(
                f"group.share.assignors must contain exactly one assignor, but found {count}"
            )
        _check_assignors(node, "group.share.assignors", _SHARE_ASSIGNORS)
    if node.has("group.streams.assignors"):
        _check_assignors(node, "group.streams.assignors", _STREAMS_ASSIGNORS)
    protocols = node.value("group.coordinator.rebalance.protocols")
    if "classic" not in (each.lower() for each in protocols):
        raise _refused("Disabling the 'classic' protocol is not supported.")


def _check_assignors(node: _Node, name: str, classes: Mapping[str, str]) -> None:
    """Brokers of 3.9 have the names of classes alone; others would be plugins of Java."""
    names = node.value(name)
    if not names:  # Kafka 3.9 ends when a group wants one
        raise _refused(f"{name} is empty; there are {', '.join(classes)}")
    there = [*classes] if node.is_3_9 else [*classes, *classes.values()]
    for each in names:
        if each not in there:
            raise _refused(f"{name}: Class {each} cannot be found; there are {', '.join(there)}")
    if node.is_4_4 and len({classes.get(each, each) for each in names}) < len(names):
        raise _refused(f"{name} has an assignor twice, by its name and its class: {names}")


def _check_log(node: _Node) -> None:
    segment, retention = node.of_topics("segment.ms"), node.of_topics("retention.ms")
    _require(segment >= 1, "log.roll.ms must be greater than or equal to 1")
    jitter = node.of_topics("segment.jitter.ms")
    _require(jitter >= 0, "log.roll.jitter.ms must be greater than or equal to 0")
    _require(
        retention >= 1 or retention == -1,
        "log.retention.ms must be unlimited (-1) or, greater than or equal to 1",
    )
    cleaners = node.value("log.cleaner.threads")
    _require(cleaners >= 1, "log.cleaner.threads must be at least 1")  # Kafka divides by zero
    _require(
        node.value("log.cleaner.dedupe.buffer.size") >= cleaners * (_BYTES_PER_CLEANER + 1),
        "log.cleaner.dedupe.buffer.size must be at least 1MB per cleaner thread.",
    )


def _check_replicas(node: _Node) -> None:
    wait = node.value("replica.fetch.wait.max.ms")
    _require(
        wait <= node.value("replica.socket.timeout.ms"),
        "replica.socket.timeout.ms should always be at least replica.fetch.wait.max.ms to prevent "
        "unnecessary socket timeouts",
    )
    _require(
        wait <= node.value("replica.lag.time.max.ms"),
        "replica.fetch.wait.max.ms should always be less than or equal to replica.lag.time.max.ms "
        "to prevent frequent changes in ISR",
    )


def _check_connections(node: _Node) -> None:
    queued = node.value("queued.max.request.bytes")
    _require(
        queued <= 0 or queued >= node.value("socket.request.max.bytes"),
        "queued.max.request.bytes must be larger or equal to socket.request.max.bytes",
    )
    overrides = node.value(_OVERRIDES) or ""
    _check_overrides(overrides)
    _require(
        node.value("max.connections.per.ip") != 0 or bool(overrides),
        f"max.connections.per.ip can be set to zero only if {_OVERRIDES} property is set.",
    )
    delay = node.value("connection.failed.authentication.delay.ms")
    idle = node.value("connections.max.idle.ms")
    _require(
        idle < 0 or delay < idle,
        f"connection.failed.authentication.delay.ms={delay} should always be less than "
        f"connections.max.idle.ms={idle} to prevent failed authentication responses from timing "
        "out",
    )


def _check_overrides(text: str) -> None:
    """Check ADDRESS:COUNT, split by commas; empty ones at the end count as none, as in Java."""
    for override in text.rstrip(", ").split(",") if text.strip(", ") else ():
        host, colon, count = override.rpartition(":")
        try:
            parse_integer(trim(count), 32)
        except ValueError:
            colon = ""
        if not colon or _HOST.fullmatch(trim(host)) is None:
            raise _refused(f"{_OVERRIDES} has {trim(override)!r}; expected ADDRESS:COUNT")


def _check_topics(node: _Node) -> None:
    least, most = node.of_topics("min.compaction.lag.ms"), node.of_topics("max.compaction.lag.ms")
    if least > most:
        text = f"conflict topic config setting min.compaction.lag.ms ({least}) > "
        raise ApiFailure(codes.INVALID_CONFIG, f"{text}max.compaction.lag.ms ({most})")


def _refused(text: str) -> ApiFailure:
    return ApiFailure(codes.INVALID_REQUEST, text)


def _require(is_right: bool, text: str) -> None:
    if not is_right:
        raise _refused(f"requirement failed: {text}")
