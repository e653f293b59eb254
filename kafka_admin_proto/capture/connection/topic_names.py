"""The index of topic names: topic ids → names, as the messages of a capture give them (KIP-516)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

from kafka_admin_proto.protocol import api_keys
from kafka_admin_proto.records.metadata.records import METADATA_TOPIC
from kafka_admin_proto.topic_ids import METADATA_TOPIC_ID

#: Topics that are remembered; a hostile capture may name any number.
MAX_TOPICS = 100_000
#: No topic has a longer name.
MAX_NAME_CHARS = 249

#: The messages that have ids and names of topics → their array of topics, and the name's attribute.
_NAMING_MESSAGES = {
    "MetadataResponse": ("topics", "name"),
    "CreateTopicsResponse": ("topics", "name"),
    "DescribeTopicPartitionsResponse": ("topics", "name"),
    "DeleteTopicsResponse": ("responses", "name"),
}
#: The keys of their apis.
NAMING_API_KEYS = frozenset(
    {
        api_keys.METADATA,
        api_keys.CREATE_TOPICS,
        api_keys.DELETE_TOPICS,
        api_keys.DESCRIBE_TOPIC_PARTITIONS,
    }
)


def named_topics(message: str, body: Any) -> Iterator[tuple[UUID, str]]:
    """The topic ids with their names in a body; nothing in a message that has not both."""
    found = _NAMING_MESSAGES.get(message)
    if found is None:
        return
    array, name_attribute = found
    for topic in getattr(body, array, None) or ():
        topic_id, name = getattr(topic, "topic_id", None), getattr(topic, name_attribute, None)
        if topic_id is not None and topic_id.int and name and len(name) <= MAX_NAME_CHARS:
            yield topic_id, name


class TopicNameIndex:
    """The names that a capture has given so far; the first name of an id counts.

    ``ordinal`` is that of the current packet: ordinals grow along the capture. ``changes`` counts
    the names that were added or replaced.
    """

    __slots__ = ("changes", "named", "ordinal")

    def __init__(self) -> None:
        self.ordinal: int = 0
        self.changes: int = 0
        #: Topic id → its name, and the ordinal of the packet that gave it.
        self.named: dict[UUID, tuple[str, int]] = {METADATA_TOPIC_ID: (METADATA_TOPIC, -1)}

    def learn(self, message: str, body: Any) -> None:
        if message in _NAMING_MESSAGES:
            for topic_id, name in named_topics(message, body):
                known = self.named.get(topic_id)
                if known is None and len(self.named) >= MAX_TOPICS:
                    continue
                # An earlier ordinal: a frame waited for the end of its connection.
                if known is None or self.ordinal < known[1]:
                    self.named[topic_id] = name, self.ordinal
                    self.changes += 1

    def now(self) -> TopicNamesAt:
        """The names that are known at this packet; later ones do not change them."""
        return TopicNamesAt(self.named, self.ordinal)

    def at(self, ordinal: int) -> TopicNamesAt:
        """The names that were known at an earlier packet."""
        return TopicNamesAt(self.named, ordinal)


class TopicNamesAt(Mapping[UUID, str]):
    """Topic id → name, of those that were given up to the packet with that ordinal."""

    __slots__ = ("_named", "ordinal")

    def __init__(self, named: dict[UUID, tuple[str, int]], ordinal: int) -> None:
        self._named = named
        self.ordinal: int = ordinal

    def __getitem__(self, topic_id: UUID) -> str:
        name, ordinal = self._named[topic_id]
        if ordinal > self.ordinal:
            raise KeyError(topic_id)
        return name

    def get(self, topic_id: UUID, default: Any = None) -> Any:
        """The name of a topic id; Mapping's own way raises and catches, which takes longer."""
        found = self._named.get(topic_id)
        return default if found is None or found[1] > self.ordinal else found[0]

    def __iter__(self) -> Iterator[UUID]:
        return (
            topic_id for topic_id, (_, ordinal) in self._named.items() if ordinal <= self.ordinal
        )

    def __len__(self) -> int:
        return sum(1 for _ in self)
