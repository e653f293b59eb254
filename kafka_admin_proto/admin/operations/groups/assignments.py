"""Subscriptions and assignments of classic consumer groups, out of the bytes brokers keep."""

from __future__ import annotations

from typing import TypeVar

from kafka_admin_proto.admin.operations.common.topic_partitions import (
    TopicPartitions,
    topic_partitions,
)
from kafka_admin_proto.errors import DecodeError, TrailingBytesError
from kafka_admin_proto.messages.consumer_protocol_assignment import ConsumerProtocolAssignment
from kafka_admin_proto.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from kafka_admin_proto.values import Message

_M = TypeVar("_M", bound=Message)

#: The protocol type of consumers, whose bytes these are.
CONSUMER = "consumer"

#: Bytes of the version in front.
_VERSION_BYTES = 2
_NEWEST_VERSION = 3


def read_assignment(data: bytes) -> list[TopicPartitions] | None:
    """The partitions of a ConsumerProtocolAssignment, sorted; None where the bytes are none.

    No bytes at all are an empty assignment: that of a member while its group rebalances.
    """
    if not data:
        return []
    read = _read(ConsumerProtocolAssignment, data)
    if read is None:
        return None
    return topic_partitions((each.topic, each.partitions) for each in read.assigned_partitions)


def read_subscription(data: bytes) -> ConsumerProtocolSubscription | None:
    """A ConsumerProtocolSubscription; None where the bytes are none."""
    return _read(ConsumerProtocolSubscription, data)


def _read(message: type[_M], data: bytes) -> _M | None:
    """Read as Kafka's Java client does: a newer version as the newest known, additions left out."""
    if len(data) < _VERSION_BYTES:
        return None
    version = int.from_bytes(data[:_VERSION_BYTES], "big", signed=True)
    if version < 0:
        return None
    try:
        return message.decode(data[_VERSION_BYTES:], min(version, _NEWEST_VERSION))
    except TrailingBytesError as error:
        return error.value if isinstance(error.value, message) else None
    except DecodeError:
        return None
