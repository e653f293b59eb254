"""TopicMetadata v1 and DeleteTopic, as far as both drafts have the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kafka_admin_proto.messages import RemoveTopicRecord
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.metadata.entities import Topic
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.state import State
from kafka_admin_proto.server.topics.names import is_valid
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


def wanted_topics(state: View, names: Iterable[str]) -> Iterator[tuple[str, Topic | None]]:
    """Each named topic once, or all topics if no topic is named; None for an unknown name."""
    for name in dict.fromkeys(names) or list(state.topic_names):
        yield name, state.topic(name)


def code_of_missing(name: str) -> int:
    """The error code of a topic that does not exist."""
    return codes.UNKNOWN_TOPIC_OR_PARTITION if is_valid(name) else codes.INVALID_TOPIC_EXCEPTION
