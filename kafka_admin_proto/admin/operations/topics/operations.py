"""Creating, deleting, listing and describing topics, in one class."""

from __future__ import annotations

from kafka_admin_proto.admin.operations.topics.creation import CreateTopics
from kafka_admin_proto.admin.operations.topics.deletion import DeleteTopics
from kafka_admin_proto.admin.operations.topics.partition_search import FindPartitions


class TopicOperations(CreateTopics, DeleteTopics, FindPartitions):
    """Create, delete, list and describe."""
