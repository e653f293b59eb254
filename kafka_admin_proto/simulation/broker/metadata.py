"""A broker's metadata of the cluster: Kafka's ZkMetadataCache, filled by UpdateMetadata."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

from kafka_admin_proto.messages.update_metadata_request import (
    UpdateMetadataPartitionState,
    UpdateMetadataTopicState,
)
from kafka_admin_proto.schema.scalars import ZERO_UUID
from kafka_admin_proto.simulation.broker.storage.logs import Partition

#: The leader of a partition that is deleted.
LEADER_DURING_DELETE = -2


@dataclass(slots=True)
class MetadataCache:
    """Topics, their ids, and the live brokers."""

    topic_ids: dict[str, UUID] = field(default_factory=dict)
    partitions: dict[str, dict[int, UpdateMetadataPartitionState]] = field(default_factory=dict)
    live_brokers: set[int] = field(default_factory=set)

    def __contains__(self, partition: Partition) -> bool:
        topic, index = partition
        return index in self.partitions.get(topic, {})

    def name_of(self, topic_id: UUID) -> str | None:
        names = [name for name, known in self.topic_ids.items() if known == topic_id]
        return names[-1] if names else None

    def forget_topics(self) -> None:
        """Before an update that has all topics."""
        self.topic_ids.clear()
        self.partitions.clear()

    def update(
        self,
        topics: list[UpdateMetadataTopicState],
        live_brokers: set[int],
        *,
        unknown_deletion_keeps_id: bool,
    ) -> None:
        """Take in topics; those that are not named stay as they are. Live brokers are all.

        The zero id takes a known id away.
        """
        for topic in topics:
            if topic.topic_id == ZERO_UUID:
                self.topic_ids.pop(topic.topic_name, None)
        for topic in topics:
            if topic.topic_id != ZERO_UUID:
                self.topic_ids[topic.topic_name] = topic.topic_id
        for topic in topics:
            name = topic.topic_name
            for partition in topic.partition_states:
                if partition.leader == LEADER_DURING_DELETE:
                    self._remove(name, partition.partition_index)
                else:
                    known = self.partitions.setdefault(name, {})
                    known[partition.partition_index] = partition
            if name not in self.partitions and not unknown_deletion_keeps_id:
                self.topic_ids.pop(name, None)
        self.live_brokers = live_brokers

    def deletions_before(
        self, topics: list[UpdateMetadataTopicState]
    ) -> list[UpdateMetadataTopicState]:
        """The topics that a KRaft controller's full update leaves out, as deletions to apply first.

        As shipped: topics by their ids, and of topics that stay the new partitions.
        """
        new = {topic.topic_id: topic for topic in topics}
        deleted = []
        for name, topic_id in self.topic_ids.items():
            known = self.partitions.get(name)
            if known is None:
                continue
            if topic_id not in new:
                gone = list(known)
            else:
                stated = [each.partition_index for each in new[topic_id].partition_states]
                gone = [index for index in stated if index not in known]
            if gone:
                rows = [
                    UpdateMetadataPartitionState(partition_index=each, leader=LEADER_DURING_DELETE)
                    for each in gone
                ]
                deleted.append(UpdateMetadataTopicState(name, topic_id, rows))
        return deleted

    def _remove(self, topic: str, index: int) -> None:
        known = self.partitions.get(topic)
        if known is not None:
            known.pop(index, None)
            if not known:
                del self.partitions[topic]
                self.topic_ids.pop(topic, None)
