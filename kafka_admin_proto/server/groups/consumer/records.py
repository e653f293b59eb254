"""Groups of the consumer protocol as records of ``__consumer_offsets``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from kafka_admin_proto import messages as m
from kafka_admin_proto.messages.consumer_group_current_member_assignment_value import (
    ConsumerGroupCurrentMemberAssignmentValue,
    TopicPartitions,
)
from kafka_admin_proto.messages.consumer_group_target_assignment_member_value import (
    ConsumerGroupTargetAssignmentMemberValue,
    TopicPartition,
)
from kafka_admin_proto.server.groups.consumer.members import ConsumerMember, Epochs
from kafka_admin_proto.server.groups.records import CoordinatorRecord


def member_record(group: str, member: ConsumerMember) -> CoordinatorRecord:
    """Who a member is and what it subscribes."""
    value = m.ConsumerGroupMemberMetadataValue(
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=sorted(member.topics),
        subscribed_topic_regex=member.regex,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        server_assignor=member.assignor,
        classic_member_metadata=member.classic,
    )
    return m.ConsumerGroupMemberMetadataKey(group, member.id), value, 0


def assignment_record(group: str, member: ConsumerMember) -> CoordinatorRecord:
    """What a member has."""
    value = ConsumerGroupCurrentMemberAssignmentValue(
        member.epoch,
        member.previous_epoch,
        member.state,
        _rows(member.assigned),
        _rows(member.revoked),
    )
    return m.ConsumerGroupCurrentMemberAssignmentKey(group, member.id), value, 0


def _rows(epochs: Epochs) -> list[TopicPartitions]:
    return [
        TopicPartitions(topic, list(each), list(each.values())) for topic, each in epochs.items()
    ]


def target_record(
    group: str, member_id: str, partitions: Mapping[UUID, Sequence[int]]
) -> CoordinatorRecord:
    """What a member shall have, in the order of Kafka's sets, which decides what it keeps later."""
    rows = [TopicPartition(topic, list(each)) for topic, each in partitions.items()]
    value = ConsumerGroupTargetAssignmentMemberValue(rows)
    return m.ConsumerGroupTargetAssignmentMemberKey(group, member_id), value, 0


def epoch_record(group: str, epoch: int, metadata_hash: int) -> CoordinatorRecord:
    """The epoch of a group, and a hash of the topics that it subscribes."""
    return m.ConsumerGroupMetadataKey(group), m.ConsumerGroupMetadataValue(epoch, metadata_hash), 0


def regex_record(
    group: str, regex: str, value: m.ConsumerGroupRegularExpressionValue | None
) -> CoordinatorRecord:
    """The topics of a regular expression, or the tombstone of one that nobody subscribes."""
    return m.ConsumerGroupRegularExpressionKey(group, regex), value, 0
