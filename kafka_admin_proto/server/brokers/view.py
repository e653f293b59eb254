"""A node's view of the cluster: a replay of the metadata log, with functions that search it.

The active controller has the whole log (``State`` in ``server/state.py``). A broker may lag behind:
its view is then a replay of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

import msgspec

from kafka_admin_proto.messages import (
    AccessControlEntryRecord,
    ConfigRecord,
    PartitionRecord,
    RemoveAccessControlEntryRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from kafka_admin_proto.records.metadata.cluster_state import ClusterState
from kafka_admin_proto.records.metadata.entities import Broker, Partition, Topic
from kafka_admin_proto.records.metadata.replay import MetadataReplay
from kafka_admin_proto.server.configs.definitions import Definitions, definitions
from kafka_admin_proto.server.configs.parsing import parse
from kafka_admin_proto.server.configs.sources import BrokerConfigs, Configs, topic_value
from kafka_admin_proto.server.releases import ReleaseNumber
from kafka_admin_proto.server.topics.names import collision_key
from kafka_admin_proto.values import Message

if TYPE_CHECKING:
    from kafka_admin_proto.server.configs.topics import TopicDefaults
    from kafka_admin_proto.server.security.authorizer.rules import Authorizer, AuthorizerSettings
    from kafka_admin_proto.server.state import State

#: ``resource_type`` in configs' requests and records.
TOPIC_RESOURCE = 2
BROKER_RESOURCE = 4
BROKER_LOGGER_RESOURCE = 8
CLIENT_METRICS_RESOURCE = 16
GROUP_RESOURCE = 32
#: All of them, those of groups last.
RESOURCES = (
    TOPIC_RESOURCE, BROKER_RESOURCE, BROKER_LOGGER_RESOURCE, CLIENT_METRICS_RESOURCE,
    GROUP_RESOURCE,
)  # fmt: skip

_NO_CONFIGS: Configs = {}


class LastSeen(msgspec.Struct, frozen=True):
    """The end of a controller's log when it ended, and the time (ms since 1970)."""

    end_offset: int
    timestamp: int


class Quorum(msgspec.Struct):
    """The quorum of controllers: the active one and its epoch.

    Without an active controller ``available`` is False, ``controller`` is the last active one, and
    ``waiting`` are functions that resume requests which need a controller. ``last_seen`` has the
    controllers that do not run.
    """

    controller: int
    epoch: int = 1
    available: bool = True
    waiting: list[Callable[[], None]] = []
    last_seen: dict[int, LastSeen] = {}


class View:
    """One node's view of the cluster, from which handlers answer a broker's own apis.

    ``controller_state`` is the active controller's state, to which a broker forwards all other
    requests.
    """

    controller_state: State

    def __init__(
        self,
        release: ReleaseNumber,
        cluster_id: str,
        static: Mapping[int, Mapping[str, str]],
        quorum: Quorum,
        cluster: ClusterState | None = None,
    ) -> None:
        self.release = release
        self.cluster_id = cluster_id
        self.static = static
        self.quorum = quorum
        self._authorizer_settings = _authorizer_settings(static[min(static)])
        #: Whether the cluster has an authorizer, so that answers depend on the client's principal.
        self.is_authorized: bool = self._authorizer_settings is not None
        self._topic_defaults: TopicDefaults | None = None
        #: By config and node: handlers ask for the same few with each request.
        self._broker_values: dict[tuple[str, int], Any] = {}
        self._authorizer: Authorizer | None = None
        self._replay = MetadataReplay(cluster)
        self._ids: dict[str, UUID] = {}
        self._colliding: dict[str, dict[str, None]] = {}
        for topic in self.cluster.topics.values():
            self._index(topic.name, topic.id)

    @property
    def cluster(self) -> ClusterState:
        """The state that the log makes, by the replay of ``records/``."""
        return self._replay.state

    @property
    def controller(self) -> int:
        return self.quorum.controller

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
        topic_id = self._ids.get(name)
        return None if topic_id is None else self.cluster.topics[topic_id]

    def topic_by_id(self, topic_id: UUID) -> Topic | None:
        return self.cluster.topics.get(topic_id)

    @property
    def topic_names(self) -> Iterable[str]:
        """The names of all topics, as they were created."""
        return self._ids

    def colliding(self, name: str) -> str | None:
        """An existing topic whose name collides with this one in the names of metrics, or None."""
        key = collision_key(name)
        return None if key is None else next(iter(self._colliding.get(key, ())), None)

    def live_brokers(self) -> list[Broker]:
        brokers = self.cluster.brokers
        return [brokers[each] for each in sorted(brokers) if not brokers[each].fenced]

    def usable_brokers(self) -> list[Broker]:
        """Brokers for new replicas, by id.

        These are all but those in controlled shutdown, and those whose directories are all cordoned
        (KIP-1066).
        """
        brokers = self.cluster.brokers
        return [
            brokers[each]
            for each in sorted(brokers)
            if (brokers[each].fenced or not brokers[each].in_controlled_shutdown)
            and has_uncordoned(brokers[each])
        ]

    def is_active(self, broker_id: int) -> bool:
        """Whether a broker is registered, not fenced, and not in controlled shutdown."""
        broker = self.cluster.brokers.get(broker_id)
        return broker is not None and not broker.fenced and not broker.in_controlled_shutdown

    def configs(self, resource_type: int, name: str) -> Configs:
        return self.cluster.configs.get((resource_type, name), _NO_CONFIGS)

    def broker_configs(self, node_id: int) -> BrokerConfigs:
        return BrokerConfigs(
            dynamic=self.configs(BROKER_RESOURCE, str(node_id)),
            dynamic_default=self.configs(BROKER_RESOURCE, ""),
            static=self.static.get(node_id, _NO_CONFIGS),
        )

    def broker_value(self, name: str, node_id: int | None = None) -> Any:
        """A broker's config as its type, the controller's by default; None where it has none."""
        node = self.controller if node_id is None else node_id
        if (name, node) not in self._broker_values:
            config = self.definitions.brokers[name]
            found = self.broker_configs(node).find((name,))
            text = config.default if found is None else found[1]
            self._broker_values[name, node] = parse(config, text)
        return self._broker_values[name, node]

    def topic_value(self, topic: str, name: str) -> Any:
        """A topic's config as its type; where the topic has none it is the controller's."""
        config = self.definitions.topics[name]
        own, broker = self.configs(TOPIC_RESOURCE, topic), self.broker_configs(self.controller)
        return parse(config, topic_value(config, own, broker)[0])

    def group_value(self, group: str, name: str, node_id: int) -> Any:
        """A group's config as its type; where the group has none its broker's, or the default."""
        text = self.configs(GROUP_RESOURCE, group).get(name)
        if text is None and f"group.{name}" in self.definitions.brokers:
            return self.broker_value(f"group.{name}", node_id)
        config = self.definitions.groups[name]
        return parse(config, config.default if text is None else text)

    @property
    def topic_defaults(self) -> TopicDefaults:
        """The config values of a topic without configs of its own, by the controller's configs."""
        if self._topic_defaults is None:
            from kafka_admin_proto.server.configs.topics import TopicDefaults  # slow to import

            broker = self.broker_configs(self.controller)
            self._topic_defaults = TopicDefaults(self.definitions, broker)
        return self._topic_defaults

    @property
    def authorizer(self) -> Authorizer | None:
        """The authorizer of the cluster; None if every client may do everything."""
        if self._authorizer is None and self._authorizer_settings is not None:
            from kafka_admin_proto.server.security.authorizer.rules import (
                Authorizer,  # slow to import
            )

            self._authorizer = Authorizer(
                self._authorizer_settings, self.cluster.acls.values(), self.release
            )
        return self._authorizer

    # Following the log.

    def apply(self, records: Sequence[Message], offset: int, epoch: int) -> None:
        for index, record in enumerate(records):
            removed = (
                self.topic_by_id(record.topic_id) if isinstance(record, RemoveTopicRecord) else None
            )
            for _, error in self._replay.apply(record, offset + index, epoch):
                raise error
            if isinstance(record, PartitionRecord):  # most records are
                continue
            if isinstance(record, TopicRecord):
                self._index(record.name, record.topic_id)
            elif removed is not None:
                self._forget(removed)
            elif isinstance(record, ConfigRecord) and record.resource_type == BROKER_RESOURCE:
                self._topic_defaults = None
                self._broker_values.clear()
            elif isinstance(record, AccessControlEntryRecord | RemoveAccessControlEntryRecord):
                self._authorizer = None

    def skip(self, offset: int, epoch: int) -> None:
        """Count a control record, which changes nothing here."""
        self._replay.skip(offset, epoch)

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


def _authorizer_settings(configs: Mapping[str, str]) -> AuthorizerSettings | None:
    if "authorizer.class.name" not in configs:
        return None
    from kafka_admin_proto.server.security.authorizer.rules import (
        authorizer_settings,  # slow to import
    )

    return authorizer_settings(configs)


def has_uncordoned(broker: Broker) -> bool:
    """Whether a broker has a directory for new replicas, or has said of none."""
    cordoned = broker.cordoned_directories or ()
    return not broker.directories or not set(broker.directories) <= set(cordoned)


def is_reassigning(partition: Partition) -> bool:
    """Whether replicas of a partition are being added or removed."""
    return bool(partition.adding_replicas or partition.removing_replicas)
