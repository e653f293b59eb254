"""What TopicMetadata v1 has in both drafts: which topics are meant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kafka_admin_proto.records.metadata.entities import Topic
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.failures import INVALID_TOPIC, UNKNOWN_TOPIC_OR_PARTITION
from kafka_admin_proto.server.topics.names import is_valid


def wanted_topics(state: View, names: Iterable[str]) -> Iterator[tuple[str, Topic | None]]:
    """Each topic that is named, once, and all topics where none is; None for an unknown one."""
    for name in dict.fromkeys(names) or list(state.topic_names):
        yield name, state.topic(name)


def code_of_missing(name: str) -> int:
    """The code of a topic that is not there."""
    return UNKNOWN_TOPIC_OR_PARTITION if is_valid(name) else INVALID_TOPIC
