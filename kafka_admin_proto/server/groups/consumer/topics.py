"""The topics of the cluster, as the coordinators of groups see them."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import TYPE_CHECKING
from uuid import UUID

if TYPE_CHECKING:
    from kafka_admin_proto.records.metadata.entities import Topic
    from kafka_admin_proto.server.state import State


class KnownTopics:
    """Topics by name and by id."""

    def __init__(self, state: State) -> None:
        self._state = state
        #: The offset of the last record that made a topic.
        self.version: int = state.cluster.offset

    @property
    def names(self) -> list[str]:
        """The names of all topics."""
        return list(self._state.topic_names)

    def find(self, name: str) -> Topic | None:
        """The topic of a name."""
        return self._state.topic(name)

    def name_of(self, topic_id: UUID) -> str | None:
        """The name of a topic."""
        topic = self._state.topic_by_id(topic_id)
        return None if topic is None else topic.name

    def ids(self, names: Iterable[str]) -> list[UUID]:
        """The ids of those topics that there are."""
        return [each.id for each in map(self.find, names) if each is not None]

    def count(self, name: str) -> int | None:
        """The number of partitions of a topic, None if it is not there."""
        topic = self.find(name)
        return None if topic is None else len(topic.partitions)

    def counts(self, ids: Iterable[UUID]) -> dict[UUID, int]:
        """The numbers of partitions of topics."""
        topics = {each: self._state.topic_by_id(each) for each in ids}
        return {each: len(topic.partitions) for each, topic in topics.items() if topic is not None}

    def hash(self, names: Iterable[str]) -> int:
        """A number of 64 bits that changes with the ids, partitions and racks of topics.

        It is 0 where none of the topics is there.
        """
        topics = [each for each in map(self.find, sorted(names)) if each is not None]
        if not topics:
            return 0
        digest = blake2b(digest_size=8)
        for each in topics:
            racks = [self._racks(part.replicas) for part in each.partitions.values()]
            digest.update(repr((each.id, each.name, racks)).encode())
        return int.from_bytes(digest.digest(), "big", signed=True)

    def _racks(self, replicas: Iterable[int]) -> list[str]:
        brokers = [self._state.cluster.brokers.get(each) for each in replicas]
        return sorted(each.rack for each in brokers if each is not None and each.rack is not None)
