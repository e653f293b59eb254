"""A broker's metadata of the cluster: Kafka's ZkMetadataCache, filled by UpdateMetadata."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

from kafka_admin_proto.schema.scalars import ZERO_UUID
from kafka_admin_proto.simulation.broker.storage.logs import Partition

#: The leader of a partition that is deleted.
LEADER_DURING_DELETE = -2


@dataclass(frozen=True, slots=True)
class PartitionUpdate:
    """A partition as an UpdateMetadata has it."""

    index: int
    leader: int
    leader_epoch: int


@dataclass(frozen=True, slots=True)
class TopicUpdate:
    """A topic as an UpdateMetadata has it; the zero id takes a known id away."""

    name: str
    topic_id: UUID
    partitions: tuple[PartitionUpdate, ...]


@dataclass(slots=True)
class MetadataCache:
    """Topics, their ids, and the live brokers."""

    topic_ids: dict[str, UUID] = field(default_factory=dict)
    partitions: dict[str, dict[int, PartitionUpdate]] = field(default_factory=dict)
    live_brokers: set[int] = field(default_factory=set)

    def __contains__(self, partition: Partition) -> bool:
        topic, index = partition
        return index in self.partitions.get(topic, {})

    def name_of(self, topic_id: UUID) -> str | None:
        """The topic with the id."""
        names = [name for name, known in self.topic_ids.items() if known == topic_id]
        return names[-1] if names else None

    def update(self, topics: list[TopicUpdate], live_brokers: set[int]) -> None:
        """Take in topics; those that are not named stay as they are. Live brokers are all."""
        for topic in topics:
            if topic.topic_id == ZERO_UUID:
                self.topic_ids.pop(topic.name, None)
        for topic in topics:
            if topic.topic_id != ZERO_UUID:
                self.topic_ids[topic.name] = topic.topic_id
        for topic in topics:
            for partition in topic.partitions:
                if partition.leader == LEADER_DURING_DELETE:
                    self._remove(topic.name, partition.index)
                else:
                    self.partitions.setdefault(topic.name, {})[partition.index] = partition
        self.live_brokers = live_brokers

    def deletions_before(self, topics: list[TopicUpdate]) -> list[TopicUpdate]:
        """The topics that a KRaft controller's full update leaves out, as deletions to apply first.

        As shipped: topics by their ids, and of topics that stay the new partitions.
        """
        new = {topic.topic_id: topic for topic in topics}
        found = []
        for name, topic_id in self.topic_ids.items():
            known = self.partitions.get(name)
            if known is None:
                continue
            if topic_id not in new:
                gone = list(known)
            else:
                gone = [p.index for p in new[topic_id].partitions if p.index not in known]
            if gone:
                rows = tuple(PartitionUpdate(each, LEADER_DURING_DELETE, 0) for each in gone)
                found.append(TopicUpdate(name, topic_id, rows))
        return found

    def _remove(self, topic: str, index: int) -> None:
        known = self.partitions.get(topic)
        if known is not None:
            known.pop(index, None)
            if not known:
                del self.partitions[topic]
                self.topic_ids.pop(topic, None)
