"""The requested topics of TopicMetadata v1, as both drafts have them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.metadata.entities import Topic
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.topics.names import is_valid


def wanted_topics(state: View, names: Iterable[str]) -> Iterator[tuple[str, Topic | None]]:
    """Each named topic once, or all topics if no topic is named; None for an unknown name."""
    for name in dict.fromkeys(names) or list(state.topic_names):
        yield name, state.topic(name)


def code_of_missing(name: str) -> int:
    """The error code of a topic that does not exist."""
    return codes.UNKNOWN_TOPIC_OR_PARTITION if is_valid(name) else codes.INVALID_TOPIC_EXCEPTION
