"""DeleteTopic, as both drafts have it."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_admin_proto.messages import RemoveTopicRecord
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.state import State
from kafka_admin_proto.values import Message


def deleted(state: State, names: Iterable[str]) -> tuple[dict[str, int], list[Message]]:
    """The error code of each topic, and the records that remove the existing ones."""
    records: list[Message] = []
    by_name = {}
    enabled = state.broker_value("delete.topic.enable")
    for name in names:
        topic = state.topic(name)
        if not enabled:
            by_name[name] = codes.TOPIC_DELETION_DISABLED
        elif topic is None:
            by_name[name] = codes.UNKNOWN_TOPIC_OR_PARTITION
        else:
            by_name[name] = 0
            records.append(RemoveTopicRecord(topic.id))
    return by_name, records
