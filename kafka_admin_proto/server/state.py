"""The cluster that handlers answer from: the replay of its metadata log, and what finds things.

Nothing changes but by ``append``: records of the log, applied by the rules of ``records/``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from kafka_admin_proto.messages.config_record import ConfigRecord
from kafka_admin_proto.messages.partition_change_record import PartitionChangeRecord
from kafka_admin_proto.messages.remove_topic_record import RemoveTopicRecord
from kafka_admin_proto.messages.topic_record import TopicRecord
from kafka_admin_proto.records.cluster_state import Broker, ClusterState, Partition, Topic
from kafka_admin_proto.records.metadata_replay import MetadataReplay
from kafka_admin_proto.server.configs.definitions import Definitions, definitions
from kafka_admin_proto.server.configs.sources import BrokerConfigs, Configs
from kafka_admin_proto.server.policies import AlterConfigPolicy, CreateTopicPolicy
from kafka_admin_proto.server.topic_names import collision_key
from kafka_admin_proto.values import Message

if TYPE_CHECKING:
    from kafka_admin_proto.server.configs.topics import TopicDefaults

#: ``resource_type`` in configs' requests and records.
TOPIC_RESOURCE = 2
BROKER_RESOURCE = 4
BROKER_LOGGER_RESOURCE = 8
CLIENT_METRICS_RESOURCE = 16
GROUP_RESOURCE = 32

_NO_CONFIGS: Configs = {}


class Log(Protocol):
    """Where records are kept; ``append`` returns when they are safe."""

    def append(self, records: Sequence[Message], offset: int) -> None:
        """Keep a batch whose first record has that offset."""

    def applied(self, cluster: ClusterState) -> None:
        """The cluster is now as the batches say: a snapshot of it may be kept."""


class State:
    """A cluster of one release.

    ``static`` are the configs that each node was started with, by its id. ``log`` is None for a
    cluster that is in memory only.
    """

    def __init__(
        self,
        release: str,
        cluster_id: str,
        static: Mapping[int, Mapping[str, str]],
        cluster: ClusterState | None = None,
        log: Log | None = None,
    ) -> None:
        self.release = release
        self.cluster_id = cluster_id
        self.static = static
        self.epoch = 1
        #: The id of the active controller.
        self.controller = min(static)
        #: "shipped", or "kip-4" for CreateTopics by the letter of the proposal.
        self.rules = "shipped"
        self.create_topic_policy: CreateTopicPolicy | None = None
        self.alter_config_policy: AlterConfigPolicy | None = None
        #: Seconds from an assignment until its new replicas are in sync.
        self.sync_delay_s = 0.1
        #: Partitions, by topic id and number, whose replicas are to be in sync after that.
        self.reassigned: list[tuple[UUID, int]] = []
        self._topic_defaults: TopicDefaults | None = None
        self._log = log
        self._replay = MetadataReplay(cluster)
        self._ids: dict[str, UUID] = {}
        self._colliding: dict[str, dict[str, None]] = {}
        for topic in self.cluster.topics.values():
            self._index(topic.name, topic.id)
            self.reassigned += [
                (topic.id, number)
                for number, partition in topic.partitions.items()
                if is_reassigning(partition)
            ]

    @property
    def cluster(self) -> ClusterState:
        """What the log says, as the replay of ``records/`` has it."""
        return self._replay.state

    @property
    def definitions(self) -> Definitions:
        """The configs and features of the release."""
        return definitions(self.release)

    @property
    def end_offset(self) -> int:
        """The offset that the next record gets."""
        return self.cluster.offset + 1

    # Finding.

    def topic(self, name: str) -> Topic | None:
        """The topic of that name."""
        topic_id = self._ids.get(name)
        return None if topic_id is None else self.cluster.topics[topic_id]

    def topic_by_id(self, topic_id: UUID) -> Topic | None:
        """The topic of that id."""
        return self.cluster.topics.get(topic_id)

    @property
    def topic_names(self) -> Iterable[str]:
        """The names of all topics, as they were created."""
        return self._ids

    def colliding(self, name: str) -> str | None:
        """An existing topic whose metrics would have this topic's names; None without one."""
        key = collision_key(name)
        return None if key is None else next(iter(self._colliding.get(key, ())), None)

    def live_brokers(self) -> list[Broker]:
        """Brokers that clients may talk to, by id."""
        brokers = self.cluster.brokers
        return [brokers[each] for each in sorted(brokers) if not brokers[each].fenced]

    def is_active(self, broker_id: int) -> bool:
        """Whether a broker is registered, not fenced, and not about to end."""
        broker = self.cluster.brokers.get(broker_id)
        return broker is not None and not broker.fenced and not broker.in_controlled_shutdown

    def configs(self, resource_type: int, name: str) -> Configs:
        """The configs that were set for a resource."""
        return self.cluster.configs.get((resource_type, name), _NO_CONFIGS)

    def broker_configs(self, node_id: int) -> BrokerConfigs:
        """The configs of a broker by source."""
        return BrokerConfigs(
            dynamic=self.configs(BROKER_RESOURCE, str(node_id)),
            dynamic_default=self.configs(BROKER_RESOURCE, ""),
            static=self.static[node_id],
        )

    def broker_value(self, name: str, node_id: int | None = None) -> str | None:
        """The text of a broker's config, the controller's by default."""
        broker = self.broker_configs(self.controller if node_id is None else node_id)
        config = self.definitions.brokers[name]
        found = broker.find((name,))
        return config.default if found is None else found[1]

    @property
    def topic_defaults(self) -> TopicDefaults:
        """What counts for a topic without configs of its own, as the controller sees it."""
        if self._topic_defaults is None:
            from kafka_admin_proto.server.configs.topics import TopicDefaults  # not for a start

            broker = self.broker_configs(self.controller)
            self._topic_defaults = TopicDefaults(self.release, self.definitions, broker)
        return self._topic_defaults

    # Changing.

    def append(self, records: Sequence[Message]) -> None:
        """Write records to the log, all or none, and apply them.

        Raises OSError where they could not be kept; nothing has changed then.
        """
        if not records:
            return
        offset = self.end_offset
        if self._log is not None:
            self._log.append(records, offset)
        for index, record in enumerate(records):
            removed = (
                self.topic_by_id(record.topic_id) if isinstance(record, RemoveTopicRecord) else None
            )
            for _, error in self._replay.apply(record, offset + index, self.epoch):
                raise error
            if isinstance(record, TopicRecord):
                self._index(record.name, record.topic_id)
            elif removed is not None:
                self._forget(removed)
            elif isinstance(record, ConfigRecord) and record.resource_type == BROKER_RESOURCE:
                self._topic_defaults = None
            elif isinstance(record, PartitionChangeRecord) and record.replicas is not None:
                self.reassigned.append((record.topic_id, record.partition_id))
        if self._log is not None:
            self._log.applied(self.cluster)

    def pass_offset(self) -> None:
        """Count a control record that the log has at the end offset."""
        self._replay.skip(self.end_offset, self.epoch)

    def _index(self, name: str, topic_id: UUID) -> None:
        self._ids[name] = topic_id
        key = collision_key(name)
        if key is not None:
            self._colliding.setdefault(key, {})[name] = None

    def _forget(self, topic: Topic) -> None:
        del self._ids[topic.name]
        key = collision_key(topic.name)
        if key is not None:
            del self._colliding[key][topic.name]
            if not self._colliding[key]:
                del self._colliding[key]


def is_reassigning(partition: Partition) -> bool:
    """Whether replicas of a partition are being added or removed."""
    return bool(partition.adding_replicas or partition.removing_replicas)
