"""The groups that each broker coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from kafka_admin_proto import messages as m
from kafka_admin_proto.server.coordination.routing import Coordinators
from kafka_admin_proto.server.coordination.shard import Leads
from kafka_admin_proto.server.groups.consumer.removal import remove_member as remove_consumer
from kafka_admin_proto.server.groups.consumer.topics import KnownTopics
from kafka_admin_proto.server.groups.modern import Kind, RevokingMember
from kafka_admin_proto.server.groups.offsets import expire_often, forget_topics
from kafka_admin_proto.server.groups.rebalance import expect_heartbeat, prepare
from kafka_admin_proto.server.groups.shard import Limits, Remove, Shard
from kafka_admin_proto.server.groups.share.heartbeat import remove_member as remove_share
from kafka_admin_proto.server.groups.share.initializing import forget_topics as forget_states
from kafka_admin_proto.server.groups.streams.creation_errors import CreationErrors
from kafka_admin_proto.server.groups.streams.removal import remove_member as remove_streams
from kafka_admin_proto.server.groups.timers import expect_heartbeat as expect_modern
from kafka_admin_proto.server.groups.timers import expect_revocation
from kafka_admin_proto.server.topics.names import CONSUMER_OFFSETS
from kafka_admin_proto.values import Message

if TYPE_CHECKING:
    from kafka_admin_proto.server.replication.replicas import ReplicatedLog
    from kafka_admin_proto.server.state import State


_REMOVES: dict[Kind, Remove] = {
    "consumer": remove_consumer, "share": remove_share, "streams": remove_streams,
}  # fmt: skip


class GroupCoordinators(Coordinators[Shard]):
    """The groups of a cluster, by partition of ``__consumer_offsets``."""

    topic_name = CONSUMER_OFFSETS

    def __init__(self, state: State) -> None:
        super().__init__(state)
        self._topics = KnownTopics(state)
        #: Why internal topics of streams groups could not be created.
        self.creation_errors: CreationErrors = CreationErrors(lambda: state.clock.now_ms())
        state.followers.append(self._appended)

    def limits(self, node: int) -> Limits:
        """The configs of a broker that are about groups."""
        state = self._state
        return Limits(
            state.release,
            partial(state.broker_value, node_id=node),
            partial(state.group_value, node_id=node),
        )

    def end_transaction(self, number: int, producer_id: int, *, commit: bool) -> None:
        """A marker of a transaction is in the log of a partition."""
        shard = self._shards.get(number)
        if shard is not None:
            shard.end_transaction(producer_id, commit=commit)

    def _make(self, leads: Leads, replicas: ReplicatedLog) -> Shard:
        limits = self.limits(leads.node)
        return Shard(leads, replicas, limits, self._topics, self._state.clock, self.sent, _REMOVES)

    def _begin(self, shard: Shard) -> None:
        for group in list(shard.groups.values()):
            for member_id in group.members:
                expect_heartbeat(shard, group, member_id)
            if len(group.members) > shard.limits.max_size:
                prepare(shard, group)
        for modern in shard.modern_groups:
            for member in modern.members.values():
                expect_modern(shard, modern, member.id)
                if isinstance(member, RevokingMember) and member.is_revoking:
                    expect_revocation(shard, modern, member)
        expire_often(shard)

    def _appended(self, records: Sequence[Message], offset: int) -> None:
        """Follow the metadata log: offsets of deleted topics are deleted.

        Groups in which the coordinator assigns compare what they subscribe when a topic changes.
        """
        if any(isinstance(each, m.TopicRecord) for each in records):
            self._topics.version = offset
        kinds = (m.TopicRecord, m.PartitionRecord, m.PartitionChangeRecord, m.RemoveTopicRecord)
        if any(isinstance(each, kinds) for each in records):
            for shard in self._shards.values():
                for modern in shard.modern_groups:
                    modern.is_outdated = True
        gone = {each.topic_id for each in records if isinstance(each, m.RemoveTopicRecord)}
        if gone:
            for shard in list(self._shards.values()):
                forget_states(shard, gone)
                topics = {topic for each in shard.offsets.values() for topic, _ in each}
                forget_topics(shard, [each for each in topics if self._state.topic(each) is None])
