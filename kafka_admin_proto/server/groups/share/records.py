"""Share groups as records of ``__consumer_offsets``."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from uuid import UUID

import msgspec

from kafka_admin_proto import messages as m
from kafka_admin_proto.messages.share_group_current_member_assignment_value import (
    ShareGroupCurrentMemberAssignmentValue,
    TopicPartitions,
)
from kafka_admin_proto.messages.share_group_state_partition_metadata_value import (
    ShareGroupStatePartitionMetadataValue,
    TopicInfo,
    TopicPartitionsInfo,
)
from kafka_admin_proto.messages.share_group_target_assignment_member_value import (
    ShareGroupTargetAssignmentMemberValue,
    TopicPartition,
)
from kafka_admin_proto.server.groups.modern import STABLE, Target
from kafka_admin_proto.server.groups.records import CoordinatorRecord
from kafka_admin_proto.server.groups.share.members import ShareMember


class Initialized(msgspec.Struct, frozen=True):
    """The partitions of a topic that have a state, or get one; ``since_ms`` as of its record."""

    name: str
    partitions: frozenset[int]
    since_ms: int = 0


class StatePartitions(msgspec.Struct, frozen=True):
    """The partitions of a share group, by topic and by how far the share coordinator is with them.

    ``deleting`` are the names of topics whose state is being deleted.
    """

    initializing: Mapping[UUID, Initialized] = {}
    initialized: Mapping[UUID, Initialized] = {}
    deleting: Mapping[UUID, str] = {}

    def without(self, gone: Collection[UUID]) -> StatePartitions:
        """The same without these topics."""
        return StatePartitions(
            {topic: each for topic, each in self.initializing.items() if topic not in gone},
            {topic: each for topic, each in self.initialized.items() if topic not in gone},
            {topic: name for topic, name in self.deleting.items() if topic not in gone},
        )


def member_record(group: str, member: ShareMember) -> CoordinatorRecord:
    """Who a member is and what it subscribes."""
    value = m.ShareGroupMemberMetadataValue(
        member.rack_id, member.client_id, member.client_host, sorted(member.topics)
    )
    return m.ShareGroupMemberMetadataKey(group, member.id), value, 0


def assignment_record(group: str, member: ShareMember) -> CoordinatorRecord:
    """What a member has."""
    rows = [TopicPartitions(topic, list(each)) for topic, each in member.assigned.items()]
    value = ShareGroupCurrentMemberAssignmentValue(
        member.epoch, member.previous_epoch, STABLE, rows
    )
    return m.ShareGroupCurrentMemberAssignmentKey(group, member.id), value, 0


def target_record(group: str, member_id: str, partitions: Target) -> CoordinatorRecord:
    """What a member shall have."""
    rows = [TopicPartition(topic, list(each)) for topic, each in partitions.items()]
    value = ShareGroupTargetAssignmentMemberValue(rows)
    return m.ShareGroupTargetAssignmentMemberKey(group, member_id), value, 0


def epoch_record(group: str, epoch: int, metadata_hash: int) -> CoordinatorRecord:
    """The epoch of a group, and a hash of the topics that it subscribes."""
    return m.ShareGroupMetadataKey(group), m.ShareGroupMetadataValue(epoch, metadata_hash), 0


def state_record(group: str, partitions: StatePartitions) -> CoordinatorRecord:
    """The partitions for which the share coordinator has a state."""
    value = ShareGroupStatePartitionMetadataValue(
        _infos(partitions.initializing),
        _infos(partitions.initialized),
        [TopicInfo(topic, name) for topic, name in partitions.deleting.items()],
    )
    return m.ShareGroupStatePartitionMetadataKey(group), value, 0


def _infos(topics: Mapping[UUID, Initialized]) -> list[TopicPartitionsInfo]:
    return [
        TopicPartitionsInfo(topic, each.name, sorted(each.partitions))
        for topic, each in topics.items()
    ]


def state_partitions(value: ShareGroupStatePartitionMetadataValue, now_ms: int) -> StatePartitions:
    """The partitions of a record."""

    def topics(rows: Iterable[TopicPartitionsInfo]) -> dict[UUID, Initialized]:
        return {
            each.topic_id: Initialized(each.topic_name, frozenset(each.partitions), now_ms)
            for each in rows
        }

    deleting = {each.topic_id: each.topic_name for each in value.deleting_topics}
    return StatePartitions(
        topics(value.initializing_topics), topics(value.initialized_topics), deleting
    )
