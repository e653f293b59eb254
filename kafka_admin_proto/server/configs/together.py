"""Configs of a node that are valid each and contradict each other, which no node starts with.

Kafka's checks are in the constructors of ``GroupCoordinatorConfig`` and ``ShareGroupConfig`` and in
``KafkaConfig.validateValues``. A running broker refuses a change that leads to a contradiction.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.configs.definitions import Definitions
from kafka_admin_proto.server.configs.parsing import parse
from kafka_admin_proto.server.configs.sources import BrokerConfigs, topic_value
from kafka_admin_proto.server.failures import ApiFailure

#: The first is at least, at most, or less than the second.
_LEAST, _MOST, _LESS = "greater than or equal to", "less than or equal to", "less than"
_Bound = tuple[str, str, str]
_BYTES_PER_CLEANER = 1 << 20


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
    share = "group.share."
    for name in ("delivery.count.limit", "partition.max.record.locks", "record.lock.duration.ms"):
        yield f"{share}max.{name}", _LEAST, share + name
        yield share + name, _LEAST, f"{share}min.{name}"
    yield f"{share}max.share.sessions", _LEAST, f"{share}max.size"


_GROUP_BOUNDS = tuple(_group_bounds())


def check_together(known: Definitions, broker: BrokerConfigs, release: str) -> None:
    """Check a node's configs, which are valid each.

    Raises ApiFailure for one that contradicts another.
    """

    def value(name: str) -> Any:
        config = known.brokers[name]
        found = broker.find((name,))
        return parse(config, config.default if found is None else found[1], release)

    def of_topics(topic_config: str) -> int:
        config = known.topics[topic_config]
        number: int = parse(config, topic_value(config, {}, broker)[0], release)
        return number

    is_3_9 = release < "4"
    if is_3_9:
        most_acks = value("offsets.topic.replication.factor")
        if not -1 <= value("offsets.commit.required.acks") <= most_acks:
            raise _refused(
                "offsets.commit.required.acks must be greater or equal to -1 and less or equal to "
                "offsets.topic.replication.factor"
            )
    for name, relation, other in _GROUP_BOUNDS:
        if not {name, other} <= known.brokers.keys() or (is_3_9 and relation == _LESS):
            continue
        left, right = value(name), value(other)
        if not {_LEAST: left >= right, _MOST: left <= right, _LESS: left < right}[relation]:
            expected = relation.replace("or equal", "or equals") if is_3_9 else relation
            raise _refused(f"{name} must be {expected} {other}")
    if not is_3_9 and (count := len(value("group.share.assignors"))) != 1:
        raise _refused(
            f"group.share.assignors must contain exactly one assignor, but found {count}"
        )
    protocols = value("group.coordinator.rebalance.protocols")
    if "classic" not in (each.lower() for each in protocols):
        raise _refused("Disabling the 'classic' protocol is not supported.")
    _require(of_topics("segment.ms") >= 1, "log.roll.ms must be greater than or equal to 1")
    jitter = of_topics("segment.jitter.ms")
    _require(jitter >= 0, "log.roll.jitter.ms must be greater than or equal to 0")
    retention = of_topics("retention.ms")
    _require(
        retention >= 1 or retention == -1,
        "log.retention.ms must be unlimited (-1) or, greater than or equal to 1",
    )
    cleaners = value("log.cleaner.threads")
    _require(cleaners >= 1, "log.cleaner.threads must be at least 1")  # Kafka divides by zero
    _require(
        value("log.cleaner.dedupe.buffer.size") >= cleaners * (_BYTES_PER_CLEANER + 1),
        "log.cleaner.dedupe.buffer.size must be at least 1MB per cleaner thread.",
    )
    wait = value("replica.fetch.wait.max.ms")
    _require(
        wait <= value("replica.socket.timeout.ms"),
        "replica.socket.timeout.ms should always be at least replica.fetch.wait.max.ms to prevent "
        "unnecessary socket timeouts",
    )
    _require(
        wait <= value("replica.lag.time.max.ms"),
        "replica.fetch.wait.max.ms should always be less than or equal to replica.lag.time.max.ms "
        "to prevent frequent changes in ISR",
    )
    queued = value("queued.max.request.bytes")
    _require(
        queued <= 0 or queued >= value("socket.request.max.bytes"),
        "queued.max.request.bytes must be larger or equal to socket.request.max.bytes",
    )
    _require(
        value("max.connections.per.ip") != 0 or bool(value("max.connections.per.ip.overrides")),
        "max.connections.per.ip can be set to zero only if max.connections.per.ip.overrides "
        "property is set.",
    )
    delay = value("connection.failed.authentication.delay.ms")
    idle = value("connections.max.idle.ms")
    _require(
        idle < 0 or delay < idle,
        f"connection.failed.authentication.delay.ms={delay} should always be less than "
        f"connections.max.idle.ms={idle} to prevent failed authentication responses from timing "
        "out",
    )
    least, most = of_topics("min.compaction.lag.ms"), of_topics("max.compaction.lag.ms")
    if least > most:
        text = f"conflict topic config setting min.compaction.lag.ms ({least}) > "
        raise ApiFailure(codes.INVALID_CONFIG, f"{text}max.compaction.lag.ms ({most})")


def _refused(text: str) -> ApiFailure:
    return ApiFailure(codes.INVALID_REQUEST, text)


def _require(is_right: bool, text: str) -> None:
    """Scala's require."""
    if not is_right:
        raise _refused(f"requirement failed: {text}")
