"""Topic ids → names, as the messages of a capture tell them (KIP-516)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

from kafka_admin_proto.records.metadata.records import METADATA_TOPIC
from kafka_admin_proto.topic_ids import METADATA_TOPIC_ID

#: Topics that are remembered; a hostile capture may name any number.
MAX_TOPICS = 100_000
#: No topic has a longer name.
MAX_NAME_CHARS = 249

#: Message → its array of topics, and the attribute that is the name.
_TOLD_BY = {
    "MetadataResponse": ("topics", "name"),
    "CreateTopicsResponse": ("topics", "name"),
    "DescribeTopicPartitionsResponse": ("topics", "name"),
    "DeleteTopicsResponse": ("responses", "name"),
}
#: The keys of their apis.
NAMING_API_KEYS = frozenset({3, 19, 20, 75})


class TopicNameIndex:
    """What a capture has told, and where it did: the first telling of an id counts.

    Places are numbers that grow along the capture; ``now`` is the current one.
    """

    def __init__(self) -> None:
        self.now = 0
        self.told: dict[UUID, tuple[str, int]] = {METADATA_TOPIC_ID: (METADATA_TOPIC, -1)}

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
                and len(said) <= MAX_NAME_CHARS
                and len(self.told) < MAX_TOPICS
            ):
                self.told.setdefault(topic_id, (said, self.now))

    def so_far(self) -> TopicNamesAt:
        """The names that are known now, whatever is told later."""
        return TopicNamesAt(self.told, self.now)


class TopicNamesAt(Mapping[UUID, str]):
    """Topic id → name, of those that were told up to a place."""

    __slots__ = ("_told", "at")

    def __init__(self, told: dict[UUID, tuple[str, int]], at: int) -> None:
        self._told = told
        self.at: int = at

    def __getitem__(self, topic_id: UUID) -> str:
        name, at = self._told[topic_id]
        if at > self.at:
            raise KeyError(topic_id)
        return name

    def __iter__(self) -> Iterator[UUID]:
        return (topic_id for topic_id, (_, at) in self._told.items() if at <= self.at)

    def __len__(self) -> int:
        return sum(1 for _ in self)
