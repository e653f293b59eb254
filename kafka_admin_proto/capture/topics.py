"""Topic ids → names, as the messages of a capture tell them (KIP-516)."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from kafka_admin_proto.records.metadata_records import METADATA_TOPIC
from kafka_admin_proto.topic_ids import METADATA_TOPIC_ID

#: Topics that are remembered; a hostile capture may name any number.
MAX_TOPICS = 100_000
#: No topic has a longer name.
_LONGEST = 249

#: Message → its array of topics, and the attribute that is the name.
_TOLD_BY = {
    "MetadataResponse": ("topics", "name"),
    "CreateTopicsResponse": ("topics", "name"),
    "DescribeTopicPartitionsResponse": ("topics", "name"),
    "DeleteTopicsResponse": ("responses", "name"),
}
#: The keys of their apis.
TELLING_KEYS = frozenset({3, 19, 20, 75})


class TopicNames:
    """The names known so far."""

    def __init__(self) -> None:
        self.names: dict[UUID, str] = {METADATA_TOPIC_ID: METADATA_TOPIC}

    def learn(self, message: str, body: Any) -> None:
        """Take the ids and names in a body, if it is of a message that has both."""
        found = _TOLD_BY.get(message)
        if found is None:
            return
        array, name = found
        for topic in getattr(body, array, None) or ():
            topic_id, said = getattr(topic, "topic_id", None), getattr(topic, name, None)
            if (
                topic_id is not None
                and topic_id.int
                and said
                and len(said) <= _LONGEST
                and len(self.names) < MAX_TOPICS
            ):
                self.names[topic_id] = said
