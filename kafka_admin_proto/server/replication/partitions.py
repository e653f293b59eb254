"""The logs of all partitions of a cluster, which follow the metadata log."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

import msgspec

from kafka_admin_proto.loggers import SERVER
from kafka_admin_proto.messages import ConfigRecord, PartitionChangeRecord, RemoveTopicRecord
from kafka_admin_proto.records.metadata.entities import Topic
from kafka_admin_proto.server.brokers.view import BROKER_RESOURCE, TOPIC_RESOURCE
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.partitions.compaction import compact
from kafka_admin_proto.server.partitions.log import PartitionLog
from kafka_admin_proto.server.partitions.retention import apply_retention
from kafka_admin_proto.server.partitions.settings import LogSettings
from kafka_admin_proto.server.replication.fetch_sessions import FetchSessions
from kafka_admin_proto.server.replication.lags import Lags
from kafka_admin_proto.server.replication.replicas import ReplicatedLog
from kafka_admin_proto.values import Message

if TYPE_CHECKING:
    from kafka_admin_proto.server.clock import Timers
    from kafka_admin_proto.server.partitions.disk.log_dir import LogDir
    from kafka_admin_proto.server.state import State


class Partitions:
    """The logs of a cluster's partitions; each is made when it is first asked for.

    ``changed`` are called with the topic id and number of a partition whose log, leader or ISR has
    changed, or that was deleted.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self._logs: dict[UUID, dict[int, ReplicatedLog]] = {}
        self._lags = Lags(state)
        self._sessions: dict[int, FetchSessions] = {}
        self._dir: LogDir | None = None
        self.changed: list[Callable[[tuple[UUID, int]], None]] = []
        state.followers.append(self._appended)

    def log(self, topic: Topic, number: int) -> ReplicatedLog:
        replicas = self._logs.get(topic.id, {}).get(number)
        if replicas is None:
            now_ms = self._state.clock.now_ms()
            settings = self._settings(topic.name)
            if self._dir is None:
                log = PartitionLog(topic.name, number, settings, now_ms)
            else:
                log = self._dir.open(topic.name, number, topic.id, settings, now_ms)
            changed = partial(self._has_changed, (topic.id, number))
            replicas = ReplicatedLog(log, topic.partitions[number], self._lags, changed)
            self._logs.setdefault(topic.id, {})[number] = replicas
        return replicas

    def load(self, folder: Path) -> list[str]:
        """Keep the logs in a folder, and open those that there are; sentences about repairs.

        Raises KeptFileError and OSError for what cannot be read.
        """
        from kafka_admin_proto.server.partitions.disk.log_dir import LogDir

        state = self._state
        log_dir = self._dir = LogDir(folder, lambda delay_s, call: state.later(delay_s, call))
        try:
            for name, number, topic_id in list(log_dir.partitions()):
                topic = state.topic(name)
                if topic is None or topic_id != topic.id or number not in topic.partitions:
                    path = log_dir.set_aside(name, number)
                    log_dir.notes.append(
                        f"{name}-{number} is of no topic that is there: now {path}"
                    )
                else:
                    self.log(topic, number)
            log_dir.begin()
        except BaseException:
            self._dir = None
            log_dir.release()
            raise
        return log_dir.notes

    def close(self, broker_epoch: int) -> None:
        """The cluster has ended: let all logs be on disk. Raises OSError."""
        if self._dir is not None:
            log_dir, self._dir = self._dir, None
            log_dir.close(broker_epoch, self._state.clock.now_ms())

    def size_bytes(self, topic_id: UUID, number: int) -> int:
        replicas = self._logs.get(topic_id, {}).get(number)
        return 0 if replicas is None else replicas.log.size_bytes

    def lag(self, topic_id: UUID, number: int, node: int) -> int:
        """The records that the leader has and a node's replica has not."""
        replicas = self._logs.get(topic_id, {}).get(number)
        return 0 if replicas is None else max(0, replicas.log.end_offset - replicas.end_on(node))

    def sessions(self, node: int) -> FetchSessions:
        kept = self._sessions.get(node)
        if kept is None:
            slots = self._state.broker_value("max.incremental.fetch.session.cache.slots", node)
            kept = self._sessions[node] = FetchSessions(slots)
        return kept

    def left(self, node: int) -> None:
        """A node has ended: its replicas get no more records, and its sessions are gone."""
        self._lags.left(node)
        self._sessions.pop(node, None)
        self._change_lag(node)

    def came(self, node: int) -> None:
        """A node has started; its replicas have all records when they are in sync again."""
        self._lags.came(node)
        if self._lags.of(node):
            self._change_lag(node)

    def delay(self, node: int, delay_s: float) -> None:
        """Let a node's replicas get records ``delay_s`` seconds late; with ``math.inf`` no more."""
        self._lags.set(node, delay_s)
        self._change_lag(node)

    def may_join(self, topic_id: UUID, number: int, node: int) -> bool:
        """Whether a replica on a node that runs has what it needs to be in sync."""
        replicas = self._logs.get(topic_id, {}).get(number)
        return replicas is None or not replicas.is_behind(node)

    def late(self) -> Iterator[tuple[Topic, int, list[int]]]:
        """The partitions with replicas in sync that are late (replica.lag.time.max.ms)."""
        most_ms = self._state.broker_value("replica.lag.time.max.ms")
        now_ms = self._state.clock.now_ms()
        for topic_id, number, replicas in self._all():
            topic = self._state.topic_by_id(topic_id)
            nodes = replicas.late(now_ms, most_ms)
            if topic is not None and nodes:
                yield topic, number, nodes

    def _change_lag(self, node: int) -> None:
        for _, _, replicas in self._all():
            replicas.change_lag(node)

    def runs(self, node: int) -> bool:
        return self._lags.runs(node)

    def keep_clean(self, timers: Timers) -> None:
        """Remove old records and forget producers as often as the brokers' configs say."""
        self._repeat(timers, "log.retention.check.interval.ms", apply_retention)
        self._repeat(timers, "log.cleaner.backoff.ms", compact)
        self._repeat(
            timers, "producer.id.expiration.check.interval.ms", PartitionLog.expire_producers
        )
        if self._dir is not None:
            self._repeat(timers, "log.flush.scheduler.interval.ms", _flush_old)
            for config, name in self._dir.checkpoints.items():
                self._write_often(timers, config, name)

    def _repeat(
        self, timers: Timers, config: str, work: Callable[[PartitionLog, int], None]
    ) -> None:
        def due() -> None:
            now_ms = self._state.clock.now_ms()
            for _, _, replicas in self._all():
                with _logged(replicas.log.name):
                    work(replicas.log, now_ms)
            timers.later(interval_s, due)

        interval_s = self._state.broker_value(config) / 1000
        timers.later(interval_s, due)

    def _write_often(self, timers: Timers, config: str, name: str) -> None:
        def due() -> None:
            if self._dir is not None:
                with _logged(name):
                    self._dir.write(name)
            timers.later(interval_s, due)

        interval_s = self._state.broker_value(config) / 1000
        timers.later(interval_s, due)

    def _has_changed(self, key: tuple[UUID, int]) -> None:
        for each in self.changed:
            each(key)

    def _all(self) -> Iterator[tuple[UUID, int, ReplicatedLog]]:
        for topic_id, logs in self._logs.items():
            for number, each in logs.items():
                yield topic_id, number, each

    def _settings(self, name: str) -> LogSettings:
        """The settings of a topic's logs, by its configs and the brokers'."""
        state = self._state
        defaults = {each: text for each, (text, _) in state.topic_defaults.texts.items()}
        of_topic = LogSettings.of(
            {**defaults, **state.configs(TOPIC_RESOURCE, name)}, state.release
        )
        expiration_ms = state.broker_value("producer.id.expiration.ms")
        return msgspec.structs.replace(of_topic, producer_id_expiration_ms=expiration_ms)

    def _appended(self, records: Sequence[Message], offset: int) -> None:
        """Follow the metadata log."""
        if not self._logs:
            return
        for record in records:
            if isinstance(record, PartitionChangeRecord):
                self._change(record.topic_id, record.partition_id)
            elif isinstance(record, RemoveTopicRecord):
                for number, replicas in self._logs.pop(record.topic_id, {}).items():
                    if self._dir is not None:
                        with _logged(replicas.log.name):
                            self._dir.delete(replicas.log)
                    self._has_changed((record.topic_id, number))
            elif isinstance(record, ConfigRecord):
                if record.resource_type == TOPIC_RESOURCE:
                    self._configure(record.resource_name)
                elif record.resource_type == BROKER_RESOURCE:
                    for topic_id in self._logs:
                        topic = self._state.topic_by_id(topic_id)
                        if topic is not None:
                            self._configure(topic.name)

    def _change(self, topic_id: UUID, number: int) -> None:
        replicas = self._logs.get(topic_id, {}).get(number)
        topic = self._state.topic_by_id(topic_id)  # None if a later record removes it
        if replicas is not None and topic is not None:
            replicas.change(topic.partitions[number], self._state.clock.now_ms())

    def _configure(self, name: str) -> None:
        topic = self._state.topic(name)
        logs = {} if topic is None else self._logs.get(topic.id, {})
        if logs:
            settings = self._settings(name)
            for each in logs.values():
                each.log.settings = settings


def _flush_old(log: PartitionLog, now_ms: int) -> None:
    if now_ms - log.flushed_ms >= log.settings.flush_ms:
        log.flush(now_ms)


@contextmanager
def _logged(what: str) -> Iterator[None]:
    """Log that a file cannot be read or written, and go on: the work is due again later."""
    try:
        yield
    except (OSError, ApiFailure) as error:
        SERVER.warning("%s: %s", what, error)
