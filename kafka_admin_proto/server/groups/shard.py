"""The groups and offsets that one partition of ``__consumer_offsets`` keeps, on its leader.

``GroupCoordinatorShard`` in Kafka.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from kafka_admin_proto.messages import (
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
    GroupMetadataKey,
    GroupMetadataValue,
    OffsetCommitKey,
    OffsetCommitValue,
    ShareGroupMetadataKey,
    ShareGroupMetadataValue,
    StreamsGroupMetadataKey,
    StreamsGroupMetadataValue,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.batches.model import Batch, Record
from kafka_admin_proto.records.segments.known_topics import CONSUMER_OFFSETS
from kafka_admin_proto.server.coordination.loading import StrangeRecord, check_epoch, read_record
from kafka_admin_proto.server.coordination.shard import CoordinatorShard, Leads, Then, unheard
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.groups.consumer.assignors import CLASSES_OF_ASSIGNORS
from kafka_admin_proto.server.groups.consumer.group import CONSUMER_GROUP_KEYS, ConsumerGroup
from kafka_admin_proto.server.groups.consumer.topics import KnownTopics
from kafka_admin_proto.server.groups.group import Group
from kafka_admin_proto.server.groups.modern import ModernGroup
from kafka_admin_proto.server.groups.records import (
    CommittedOffset,
    ConsumerGroupKey,
    CoordinatorRecord,
    ShareGroupKey,
    StreamsGroupKey,
    committed_offset,
    group_of,
    written,
)
from kafka_admin_proto.server.groups.share.group import SHARE_GROUP_KEYS, ShareGroup
from kafka_admin_proto.server.groups.streams.group import (
    STREAMS_GROUP_KEYS,
    StreamsGroup,
    delay_key,
)
from kafka_admin_proto.server.releases import ReleaseNumber
from kafka_admin_proto.values import Message
from kafka_admin_proto.wire.types.base import shown

if TYPE_CHECKING:
    from kafka_admin_proto.server.apis import WaitKey
    from kafka_admin_proto.server.clock import Clock
    from kafka_admin_proto.server.replication.replicas import ReplicatedLog

_MINUTE_MS = 60_000
#: Configs of streams groups that 4.3 has; it has no warm-up tasks, tags, nor offsets of tasks.
_STREAMS_OF_4_3 = ("num.standby.replicas", "initial.rebalance.delay.ms")
GroupT = TypeVar("GroupT")


class GroupLimits(NamedTuple):
    """Times of one group in which the coordinator assigns."""

    session_ms: int
    heartbeat_ms: int
    assignment_interval_ms: int


class Limits:
    """The release of a broker, and its configs that are about groups, as they are when asked."""

    def __init__(
        self,
        release: ReleaseNumber,
        config: Callable[[str], Any],
        of_group: Callable[[str, str], Any],
    ) -> None:
        self.release = release
        self._config = config
        self._of_group = of_group

    def _number(self, name: str) -> int:
        number: int = self._config(name)
        return number

    @property
    def min_session_ms(self) -> int:
        return self._number("group.min.session.timeout.ms")

    @property
    def max_session_ms(self) -> int:
        return self._number("group.max.session.timeout.ms")

    @property
    def initial_delay_ms(self) -> int:
        return self._number("group.initial.rebalance.delay.ms")

    @property
    def max_size(self) -> int:
        return self._number("group.max.size")

    @property
    def max_metadata_length(self) -> int:
        return self._number("offset.metadata.max.bytes")

    @property
    def retention_ms(self) -> int:
        return self._number("offsets.retention.minutes") * _MINUTE_MS

    @property
    def retention_check_ms(self) -> int:
        return self._number("offsets.retention.check.interval.ms")

    @property
    def commit_timeout_ms(self) -> int:
        return self._number("offsets.commit.timeout.ms")

    @property
    def max_consumers(self) -> int:
        return self._number("group.consumer.max.size")

    @property
    def assignors(self) -> list[str]:
        names: list[str] = self._config("group.consumer.assignors")
        return [CLASSES_OF_ASSIGNORS.get(each, each) for each in names]

    @property
    def migration(self) -> str:
        policy: str = self._config("group.consumer.migration.policy")
        return policy.lower()

    @property
    def regex_refresh_ms(self) -> int:
        return self._number("group.consumer.regex.refresh.interval.ms")

    def of_group(
        self, name: str, kind: Literal["consumer", "share", "streams"] = "consumer"
    ) -> GroupLimits:
        """The configs of a group of that protocol, of the broker where it has none."""
        return GroupLimits(
            session_ms=self._of_group(name, f"{kind}.session.timeout.ms"),
            heartbeat_ms=self._of_group(name, f"{kind}.heartbeat.interval.ms"),
            assignment_interval_ms=self._of_group(name, f"{kind}.assignment.interval.ms"),
        )

    @property
    def max_shares(self) -> int:
        """The most members of a share group."""
        return self._number("group.share.max.size")

    @property
    def max_streams(self) -> int:
        """The most members of a streams group."""
        return self._number("group.streams.max.size")

    def of_streams(self, name: str, key: str) -> Any:
        """A config of a streams group, without "streams.": 0 where the release has none."""
        has_key = self.release >= (4, 4) or key in _STREAMS_OF_4_3
        return self._of_group(name, f"streams.{key}") if has_key else 0

    @property
    def initialize_retry_ms(self) -> int:
        return self._number("group.share.initialize.retry.interval.ms")

    @property
    def compression(self) -> int:
        return self._number("offsets.topic.compression.codec")


class Shard(CoordinatorShard):
    """Groups by name, and offsets by group, topic and partition."""

    def __init__(
        self,
        leads: Leads,
        replicas: ReplicatedLog,
        limits: Limits,
        topics: KnownTopics,
        clock: Clock,
        sent: list[Callable[[WaitKey], None]],
    ) -> None:
        self.groups: dict[str, Group] = {}
        #: Groups of the other types; a name is in one of the four.
        self.consumer_groups: dict[str, ConsumerGroup] = {}
        self.share_groups: dict[str, ShareGroup] = {}
        self.streams_groups: dict[str, StreamsGroup] = {}
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
        yield from self.consumer_groups.values()
        yield from self.share_groups.values()
        yield from self.streams_groups.values()

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
        return any(
            name in each
            for each in (
                self.groups, self.consumer_groups, self.share_groups, self.streams_groups,
            )
        )  # fmt: skip

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
                if isinstance(key, OffsetCommitKey):  # groups have changed already
                    producer_id = None if producer is None else producer[0]
                    self._apply_offset(key, value, offset + index, producer_id)
                elif isinstance(key, SHARE_GROUP_KEYS):
                    self._apply_share_group(key, value)
                elif isinstance(key, STREAMS_GROUP_KEYS):
                    self._apply_streams_group(key, value)
                elif not isinstance(key, GroupMetadataKey):
                    self._apply_consumer_group(key, value)
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
        if isinstance(value, GroupMetadataValue):
            check_epoch(value.generation)
        elif isinstance(
            value, ConsumerGroupMetadataValue | ShareGroupMetadataValue | StreamsGroupMetadataValue
        ):
            check_epoch(value.epoch)
        if isinstance(key, OffsetCommitKey):
            producer_id = batch.producer_id if batch.is_transactional else None
            self._apply_offset(key, value, record.offset, producer_id)
        elif isinstance(key, GroupMetadataKey):
            self._check_others("classic", key.group)
            self._apply_group(key, value)
        elif isinstance(key, CONSUMER_GROUP_KEYS):
            self._check_others("consumer", key.group_id)
            self._apply_consumer_group(key, value)
        elif isinstance(key, SHARE_GROUP_KEYS):
            self._check_others("share", key.group_id)
            self._apply_share_group(key, value)
        elif isinstance(key, STREAMS_GROUP_KEYS):
            self._check_others("streams", key.group_id)
            self._apply_streams_group(key, value)
        else:
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
            "consumer": self.consumer_groups,
            "share": self.share_groups,
            "streams": self.streams_groups,
        }
        if any(name in each for other, each in groups.items() if other != kind):
            raise StrangeRecord(
                f"it is of a {kind} group, and {shown(name)} is of another protocol"
            )

    def _apply_group(self, key: GroupMetadataKey, value: Message | None) -> None:
        if isinstance(value, GroupMetadataValue):
            self.groups[key.group] = group_of(key.group, value, self.now_ms)
        else:
            self.groups.pop(key.group, None)

    def _apply_consumer_group(self, key: ConsumerGroupKey, value: Message | None) -> None:
        name = key.group_id
        if value is None and isinstance(key, ConsumerGroupMetadataKey):
            self.consumer_groups.pop(name, None)
        elif value is not None or name in self.consumer_groups:
            if name not in self.consumer_groups:
                self.groups.pop(name, None)  # of offsets alone
                self.consumer_groups[name] = ConsumerGroup(name)
            self.consumer_groups[name].apply(key, value)

    def _apply_share_group(self, key: ShareGroupKey, value: Message | None) -> None:
        name = key.group_id
        if value is None and isinstance(key, ShareGroupMetadataKey):
            self.share_groups.pop(name, None)
        elif value is not None or name in self.share_groups:
            self.share_groups.setdefault(name, ShareGroup(name)).apply(key, value, self.now_ms)

    def _apply_streams_group(self, key: StreamsGroupKey, value: Message | None) -> None:
        name = key.group_id
        if value is None and isinstance(key, StreamsGroupMetadataKey):
            self.streams_groups.pop(name, None)
            self.cancel(delay_key(name))
        elif value is not None or name in self.streams_groups:
            if name not in self.streams_groups:
                self.groups.pop(name, None)  # of offsets alone
                self.streams_groups[name] = StreamsGroup(name)
            self.streams_groups[name].apply(key, value)

    def _apply_offset(
        self, key: OffsetCommitKey, value: Message | None, offset: int, producer_id: int | None
    ) -> None:
        name, place = key.group, (key.topic, key.partition)
        if isinstance(value, OffsetCommitValue):
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
