"""The groups and offsets that one partition of ``__consumer_offsets`` keeps, on its leader.

``GroupCoordinatorShard`` in Kafka.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeVar

from kafka_admin_proto import messages as m
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.batches.model import Batch, Record
from kafka_admin_proto.records.segments.known_topics import CONSUMER_OFFSETS
from kafka_admin_proto.server.apis import WaitKey
from kafka_admin_proto.server.clock import Clock
from kafka_admin_proto.server.coordination.loading import StrangeRecord, check_epoch, read_record
from kafka_admin_proto.server.coordination.shard import CoordinatorShard, Leads, Then, unheard
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.groups.consumer.assignors import CLASSES_OF_ASSIGNORS
from kafka_admin_proto.server.groups.consumer.group import ConsumerGroup
from kafka_admin_proto.server.groups.consumer.topics import KnownTopics
from kafka_admin_proto.server.groups.group import Group
from kafka_admin_proto.server.groups.modern import Kind, ModernGroup
from kafka_admin_proto.server.groups.records import (
    CommittedOffset,
    CoordinatorRecord,
    committed_offset,
    group_of,
    written,
)
from kafka_admin_proto.server.groups.share.group import ShareGroup
from kafka_admin_proto.server.groups.streams.group import StreamsGroup, delay_key
from kafka_admin_proto.server.releases import ReleaseNumber
from kafka_admin_proto.server.replication.replicas import ReplicatedLog
from kafka_admin_proto.values import Message
from kafka_admin_proto.wire.types.base import shown

_MINUTE_MS = 60_000
#: Configs of streams groups that 4.3 has; it has no warm-up tasks, tags, nor offsets of tasks.
_STREAMS_OF_4_3 = ("num.standby.replicas", "initial.rebalance.delay.ms")
GroupT = TypeVar("GroupT")
#: Removes a member of a group; the function gets 0 once that is replicated, or an error code.
Remove = Callable[["Shard", Any, Any, Then], None]


class GroupLimits(NamedTuple):
    """Times of one group in which the coordinator assigns."""

    session_ms: int
    heartbeat_ms: int
    assignment_interval_ms: int


class _Number:
    """A config that is a number, in ``unit`` of what it is here."""

    def __init__(self, config: str, unit: int = 1) -> None:
        self._config = config
        self._unit = unit

    def __get__(self, limits: Limits, owner: type[Limits]) -> int:
        number: int = limits.config(self._config)
        return number * self._unit


class Limits:
    """The release of a broker, and its configs that are about groups, as they are when asked."""

    min_session_ms: _Number = _Number("group.min.session.timeout.ms")
    max_session_ms: _Number = _Number("group.max.session.timeout.ms")
    initial_delay_ms: _Number = _Number("group.initial.rebalance.delay.ms")
    max_size: _Number = _Number("group.max.size")
    max_metadata_length: _Number = _Number("offset.metadata.max.bytes")
    retention_ms: _Number = _Number("offsets.retention.minutes", _MINUTE_MS)
    retention_check_ms: _Number = _Number("offsets.retention.check.interval.ms")
    commit_timeout_ms: _Number = _Number("offsets.commit.timeout.ms")
    max_consumers: _Number = _Number("group.consumer.max.size")
    regex_refresh_ms: _Number = _Number("group.consumer.regex.refresh.interval.ms")
    max_shares: _Number = _Number("group.share.max.size")
    max_streams: _Number = _Number("group.streams.max.size")
    initialize_retry_ms: _Number = _Number("group.share.initialize.retry.interval.ms")
    compression: _Number = _Number("offsets.topic.compression.codec")

    def __init__(
        self,
        release: ReleaseNumber,
        config: Callable[[str], Any],
        of_group: Callable[[str, str], Any],
    ) -> None:
        self.release = release
        self.config = config
        self._of_group = of_group

    @property
    def assignors(self) -> list[str]:
        names: list[str] = self.config("group.consumer.assignors")
        return [CLASSES_OF_ASSIGNORS.get(each, each) for each in names]

    @property
    def migration(self) -> str:
        policy: str = self.config("group.consumer.migration.policy")
        return policy.lower()

    def of_group(
        self, name: str, kind: Literal["consumer", "share", "streams"] = "consumer"
    ) -> GroupLimits:
        """The configs of a group of that protocol, of the broker where it has none."""
        return GroupLimits(
            session_ms=self._of_group(name, f"{kind}.session.timeout.ms"),
            heartbeat_ms=self._of_group(name, f"{kind}.heartbeat.interval.ms"),
            assignment_interval_ms=self._of_group(name, f"{kind}.assignment.interval.ms"),
        )

    def of_streams(self, name: str, key: str) -> Any:
        """A config of a streams group, without "streams.": 0 where the release has none."""
        has_key = self.release >= (4, 4) or key in _STREAMS_OF_4_3
        return self._of_group(name, f"streams.{key}") if has_key else 0


class Shard(CoordinatorShard):
    """Groups by name, and offsets by group, topic and partition.

    ``removes`` are what removes members whose time is over.
    """

    def __init__(
        self,
        leads: Leads,
        replicas: ReplicatedLog,
        limits: Limits,
        topics: KnownTopics,
        clock: Clock,
        sent: list[Callable[[WaitKey], None]],
        removes: Mapping[Kind, Remove],
    ) -> None:
        self.groups: dict[str, Group] = {}
        #: Groups of the other types; a name is in one of the four.
        self.consumer_groups: dict[str, ConsumerGroup] = {}
        self.share_groups: dict[str, ShareGroup] = {}
        self.streams_groups: dict[str, StreamsGroup] = {}
        self._modern: tuple[tuple[type[ModernGroup[Any, Any]], dict[str, Any]], ...] = (
            (ConsumerGroup, self.consumer_groups),
            (ShareGroup, self.share_groups),
            (StreamsGroup, self.streams_groups),
        )
        self.removes = removes
        self.offsets: dict[str, dict[tuple[str, int], CommittedOffset]] = {}
        #: Those of transactions that are under way, by producer id.
        self._pending_offsets: dict[int, dict[str, dict[tuple[str, int], CommittedOffset]]] = {}
        self.limits = limits
        self.topics = topics
        super().__init__(leads, replicas, clock, sent)

    def consumer_group(self, name: str) -> ConsumerGroup:
        """The group of the consumer protocol of a name. Raises ApiFailure."""
        return self._found(self.consumer_groups, name, "consumer")

    def share_group(self, name: str) -> ShareGroup:
        """The share group of a name. Raises ApiFailure."""
        return self._found(self.share_groups, name, "share")

    def streams_group(self, name: str) -> StreamsGroup:
        """The streams group of a name. Raises ApiFailure."""
        return self._found(self.streams_groups, name, "streams")

    @property
    def modern_groups(self) -> Iterator[ModernGroup[Any, Any]]:
        """All groups in which the coordinator assigns."""
        for _, groups in self._modern:
            yield from groups.values()

    def modern_group(self, name: str) -> ModernGroup[Any, Any] | None:
        """The group of a name, if there is one in which the coordinator assigns."""
        return next((groups[name] for _, groups in self._modern if name in groups), None)

    def _found(self, groups: Mapping[str, GroupT], name: str, kind: str) -> GroupT:
        if name not in groups:
            what = f"is not a {kind} group" if self.has_group(name) else "not found"
            raise ApiFailure(codes.GROUP_ID_NOT_FOUND, f"Group {name} {what}.")
        return groups[name]

    def share_group_or_new(self, name: str) -> ShareGroup:
        """The share group of a name, or a new one, of which there is no record yet.

        Raises ApiFailure for the name of another group.
        """
        return self.share_group(name) if self.has_group(name) else ShareGroup(name)

    def has_group(self, name: str) -> bool:
        """Whether there is a group of that name, of any protocol."""
        return name in self.groups or any(name in groups for _, groups in self._modern)

    def append(
        self,
        records: Sequence[CoordinatorRecord],
        then: Then = unheard,
        producer: tuple[int, int] | None = None,
    ) -> None:
        """Append records; ``then`` gets 0 once they are replicated, or an error code.

        Since Kafka 4 a request that has no records waits too, for those of the requests before it
        (``CoordinatorRuntime``). Offsets of a ``producer``, an id and an epoch, count when its
        transaction commits.
        """
        limits = self.limits
        if not records:
            if limits.release < (4,):
                then(0)
            else:
                self.after_writes(then, limits.commit_timeout_ms)
            return

        def applied(offset: int) -> None:
            for index, (key, value, _) in enumerate(records):
                if isinstance(key, m.OffsetCommitKey):  # groups have changed already
                    producer_id = None if producer is None else producer[0]
                    self._apply_offset(key, value, offset + index, producer_id)
                elif not isinstance(key, m.GroupMetadataKey):
                    self._apply_modern(key, value)
                elif value is None or key.group not in self.groups:
                    self._apply_group(key, value)

        self.write(
            [written(each) for each in records], applied, then,
            timeout_ms=limits.commit_timeout_ms, compression=limits.compression, producer=producer,
        )  # fmt: skip

    def end_transaction(self, producer_id: int, *, commit: bool) -> None:
        """A marker is in the log: the offsets of the transaction count, or are forgotten."""
        ended = self._pending_offsets.pop(producer_id, {})
        for name, offsets in ended.items() if commit else ():
            committed = self.offsets.setdefault(name, {})
            for place, each in offsets.items():
                if place not in committed or committed[place].record_offset < each.record_offset:
                    committed[place] = each

    def unstable(self, group: str) -> set[tuple[str, int]]:
        """The partitions of a group with offsets of transactions that are under way."""
        return {place for each in self._pending_offsets.values() for place in each.get(group, ())}

    def _apply(self, batch: Batch, record: Record) -> None:
        key, value = read_record(CONSUMER_OFFSETS, record)
        if isinstance(value, m.GroupMetadataValue):
            check_epoch(value.generation)
        elif isinstance(
            value,
            m.ConsumerGroupMetadataValue | m.ShareGroupMetadataValue | m.StreamsGroupMetadataValue,
        ):
            check_epoch(value.epoch)
        if isinstance(key, m.OffsetCommitKey):
            producer_id = batch.producer_id if batch.is_transactional else None
            self._apply_offset(key, value, record.offset, producer_id)
        elif isinstance(key, m.GroupMetadataKey):
            self._check_others("classic", key.group)
            self._apply_group(key, value)
        elif not self._apply_modern(key, value, is_loaded=True):
            raise StrangeRecord(f"no group that is served has a record {key.message_name}")

    def _is_simple(self, name: str) -> bool:
        """Whether a group has offsets alone, so that a group of another protocol may begin."""
        group = self.groups.get(name)
        return group is None or (group.state == "Empty" and group.protocol_type is None)

    def _check_others(self, kind: str, name: str) -> None:
        """Raises StrangeRecord for the name of a group of another protocol."""
        begins = kind in ("consumer", "streams") and self._is_simple(name)
        groups: dict[str, Container[str]] = {
            "classic": {} if begins else self.groups,
            **{each.kind: there for each, there in self._modern},
        }
        if any(name in each for other, each in groups.items() if other != kind):
            raise StrangeRecord(
                f"it is of a {kind} group, and {shown(name)} is of another protocol"
            )

    def _apply_group(self, key: m.GroupMetadataKey, value: Message | None) -> None:
        if isinstance(value, m.GroupMetadataValue):
            self.groups[key.group] = group_of(key.group, value, self.now_ms)
        else:
            self.groups.pop(key.group, None)

    def _apply_modern(self, key: Any, value: Message | None, *, is_loaded: bool = False) -> bool:
        """Apply a record of a group in which the coordinator assigns; whether it is one.

        Raises StrangeRecord for one that ``is_loaded`` and names a group of another protocol.
        """
        for kind, groups in self._modern:
            if not isinstance(key, kind.keys):
                continue
            name = key.group_id
            if is_loaded:
                self._check_others(kind.kind, name)
            if value is None and isinstance(key, kind.keys[0]):
                groups.pop(name, None)
                if kind is StreamsGroup:
                    self.cancel(delay_key(name))
            elif value is not None or name in groups:
                if name not in groups:
                    self.groups.pop(name, None)  # of offsets alone
                    groups[name] = kind(name)
                groups[name].apply(key, value, self.now_ms)
            return True
        return False

    def _apply_offset(
        self, key: m.OffsetCommitKey, value: Message | None, offset: int, producer_id: int | None
    ) -> None:
        name, place = key.group, (key.topic, key.partition)
        if isinstance(value, m.OffsetCommitValue):
            if not self.has_group(name):
                self.groups[name] = Group(name, self.now_ms)
            offsets = self.offsets
            if producer_id is not None:
                offsets = self._pending_offsets.setdefault(producer_id, {})
            offsets.setdefault(name, {})[place] = committed_offset(value, offset)
            return
        for offsets in (self.offsets, *self._pending_offsets.values()):
            if name in offsets:
                offsets[name].pop(place, None)
                if not offsets[name]:
                    del offsets[name]
