"""The state that a broker's handlers share; a crash loses all of it but the disk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import UUID

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.simulation.broker.metadata import MetadataCache
from kafka_admin_proto.simulation.broker.replica import Replica
from kafka_admin_proto.simulation.broker.sessions import SessionCache
from kafka_admin_proto.simulation.broker.storage.logs import Logs, Partition
from kafka_admin_proto.simulation.node import NodeContext
from kafka_admin_proto.simulation.rules import Rules

UNKNOWN_BROKER_EPOCH = -1


@dataclass(slots=True)
class BrokerState:
    """One life of a broker."""

    context: NodeContext
    rules: Rules
    logs: Logs
    #: Whether it waits to be migrated to KRaft (zookeeper.metadata.migration.enable).
    migration: bool
    broker_epoch: int = UNKNOWN_BROKER_EPOCH
    controller_epoch: int = 0
    #: The epochs of controller and broker in the last UpdateMetadata that was taken in.
    metadata_epochs: tuple[int, int] | None = None
    #: Whether a LeaderAndIsr has come, since when high watermarks are written.
    checkpointing: bool = False
    metadata: MetadataCache = field(default_factory=MetadataCache)
    replicas: dict[Partition, Replica] = field(default_factory=dict)
    sessions: SessionCache = field(default_factory=SessionCache)
    #: Called with each replica that begins to follow another leader or epoch.
    on_follower: Callable[[Replica], None] = lambda replica: None

    @property
    def broker_id(self) -> int:
        return self.context.node_id

    def stale(self, controller_epoch: int, broker_epoch: int) -> int:
        """The error code of a request for another life of the broker; 0 for this one."""
        if not self.rules.epochs_compared:
            return 0
        if broker_epoch != UNKNOWN_BROKER_EPOCH and broker_epoch < self.broker_epoch:
            return self.rules.stale_broker_epoch
        if controller_epoch < self.controller_epoch:
            return self.rules.stale_controller_epoch
        return 0

    def hosted(self, partition: Partition) -> Replica | int:
        replica = self.replicas.get(partition)
        if replica is not None:
            return replica
        known = partition in self.metadata
        return codes.NOT_LEADER_OR_FOLLOWER if known else codes.UNKNOWN_TOPIC_OR_PARTITION

    def hosted_by_id(self, topic_id: UUID, index: int) -> Replica | int:
        """The replica whose log has the id, or the error: the text's way."""
        for (_, at), replica in self.replicas.items():
            if at == index and replica.topic_id(self.logs) == topic_id:
                return replica
        name = self.metadata.name_of(topic_id)
        if name is None:
            return self.rules.fetch_of_unknown_id
        if (name, index) in self.replicas:
            return self.rules.fetch_of_unequal_id
        return self.hosted((name, index))
