"""Subscriptions and assignments of classic consumer groups, out of the bytes brokers keep."""

from __future__ import annotations

from kafka_admin_proto.admin.operations.common.topic_partitions import (
    TopicPartitions,
    topic_partitions,
)
from kafka_admin_proto.errors import DecodeError
from kafka_admin_proto.messages import ConsumerProtocolSubscription
from kafka_admin_proto.protocol import consumer_protocol


def read_assignment(data: bytes) -> list[TopicPartitions] | None:
    """The partitions of a ConsumerProtocolAssignment, sorted; None where the bytes are none.

    No bytes at all are an empty assignment: that of a member while its group rebalances.
    """
    if not data:
        return []
    try:
        read = consumer_protocol.read_assignment(data)
    except DecodeError:
        return None
    return topic_partitions((each.topic, each.partitions) for each in read.assigned_partitions)


def read_subscription(data: bytes) -> ConsumerProtocolSubscription | None:
    """A ConsumerProtocolSubscription; None where the bytes are none."""
    try:
        return consumer_protocol.read_subscription(data)
    except DecodeError:
        return None
