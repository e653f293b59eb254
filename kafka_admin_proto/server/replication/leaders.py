"""The partitions that a broker serves: who leads them, and what clients hear from others."""

from __future__ import annotations

from typing import Any, NamedTuple
from uuid import UUID

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.metadata.entities import Broker, Partition, Topic
from kafka_admin_proto.server.apis import Caller
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.replication.replicas import ReplicatedLog
from kafka_admin_proto.topic_ids import ZERO_TOPIC_ID

#: The epoch of a client that does not know it.
NO_EPOCH = -1


class Hosted(NamedTuple):
    """A replica on the broker that was asked."""

    topic: Topic
    number: int
    partition: Partition
    replicas: ReplicatedLog

    @property
    def key(self) -> tuple[UUID, int]:
        """The key of answers that wait for the partition."""
        return self.topic.id, self.number


def topic_of(view: View, name: str, topic_id: UUID) -> Topic | None:
    """The topic of an id, or of a name where the id is zero, if the broker knows it."""
    return view.topic(name) if topic_id == ZERO_TOPIC_ID else view.topic_by_id(topic_id)


def hosted(
    view: View,
    caller: Caller,
    topic: Topic | None,
    number: int,
    *,
    topic_id: UUID | None = None,
    epoch: int = NO_EPOCH,
    leader_only: bool = True,
) -> Hosted:
    """The replica of a partition on the broker that was asked.

    A broker whose view of the metadata is behind does not lead what another one leads by now: it
    would take records that are lost later.

    Raises ApiFailure: UNKNOWN_TOPIC_OR_PARTITION, NOT_LEADER_OR_FOLLOWER, INCONSISTENT_TOPIC_ID for
    a client that knows another topic of this name, or FENCED_LEADER_EPOCH and UNKNOWN_LEADER_EPOCH
    for one that knows another epoch.
    """
    partition = None if topic is None else topic.partitions.get(number)
    state = view.controller_state
    if topic is None or partition is None or (view is not state and _is_gone(state, topic, number)):
        raise ApiFailure(codes.UNKNOWN_TOPIC_OR_PARTITION)
    node = caller.node_id
    if node not in partition.replicas:
        raise ApiFailure(codes.NOT_LEADER_OR_FOLLOWER)
    if topic_id not in (None, topic.id):
        raise ApiFailure(codes.INCONSISTENT_TOPIC_ID)
    if epoch not in (NO_EPOCH, partition.leader_epoch):
        older = epoch < partition.leader_epoch
        raise ApiFailure(codes.FENCED_LEADER_EPOCH if older else codes.UNKNOWN_LEADER_EPOCH)
    current = partition
    if view is not state:
        current = state.cluster.topics[topic.id].partitions[number]
    if leader_only and not partition.leader == current.leader == node:
        raise ApiFailure(codes.NOT_LEADER_OR_FOLLOWER)
    return Hosted(topic, number, partition, state.partitions.log(topic, number))


def _is_gone(state: View, topic: Topic, number: int) -> bool:
    current = state.topic_by_id(topic.id)
    return current is None or number not in current.partitions


class LeaderHints:
    """The leaders that an answer names to clients of others (KIP-951), and their addresses."""

    def __init__(self, view: View, caller: Caller) -> None:
        self._view = view
        self._listener = caller.listener
        self._brokers: dict[int, Broker] = {}

    def add(self, row: Any, topic: Topic | None, number: int) -> None:
        """Name the leader in the row of a partition, if the broker knows it."""
        partition = None if topic is None else topic.partitions.get(number)
        if partition is None:
            return
        hint, leader = row.current_leader, partition.leader
        hint.leader_id, hint.leader_epoch = leader, partition.leader_epoch
        broker = self._view.cluster.brokers.get(leader)
        if broker is not None and not broker.fenced:
            self._brokers[leader] = broker

    def endpoints(self, row: type[Any]) -> list[Any]:
        return [
            row(node, each.endpoints[self._listener].host, each.endpoints[self._listener].port,
                each.rack)
            for node, each in self._brokers.items()
        ]  # fmt: skip
