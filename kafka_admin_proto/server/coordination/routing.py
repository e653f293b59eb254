"""Which broker coordinates a key, and what each one has loaded.

The leader of a partition of the coordinator's topic coordinates the keys of that partition. When
another broker leads it, that one loads its state from the partition's log.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar
from uuid import UUID

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.metadata.entities import Topic
from kafka_admin_proto.server.coordination.shard import CoordinatorShard, Leads
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.java import string_hash
from kafka_admin_proto.server.replication.leaders import hosted

if TYPE_CHECKING:
    from kafka_admin_proto.server.apis import Caller, WaitKey
    from kafka_admin_proto.server.brokers.view import View
    from kafka_admin_proto.server.replication.replicas import ReplicatedLog
    from kafka_admin_proto.server.state import State

#: So many keys, each of at most 32 KiB, have their partitions kept: clients name theirs each time.
_KEYS = 100
ShardT = TypeVar("ShardT", bound=CoordinatorShard)


@lru_cache(_KEYS)
def partition_of(key: str, partitions: int) -> int:
    """The one of ``partitions`` whose leader coordinates a key.

    It follows from the hash without its sign (``Utils.abs`` in Kafka), not from its lower 31 bits
    as a record's partition does; the least number of an int, whose opposite is none, counts as 0.
    """
    value = string_hash(key)
    return (min(value, (1 << 32) - value) & 0x7FFFFFFF) % partitions


class Coordinators(Generic[ShardT]):
    """The shards of a cluster, by partition of ``topic_name``.

    ``sent`` are called with the key of each reply that a request may wait for.
    """

    topic_name: ClassVar[str]

    def __init__(self, state: State) -> None:
        self._state = state
        self._topic_id: UUID | None = None
        self._shards: dict[int, ShardT] = {}
        self.sent: list[Callable[[WaitKey], None]] = []
        state.partitions.changed.append(self._changed)

    def _make(self, leads: Leads, replicas: ReplicatedLog) -> ShardT:
        """The shard of a partition with what its log has."""
        raise NotImplementedError

    def _begin(self, shard: ShardT) -> None:
        """Begin what a shard that was loaded does by itself."""
        raise NotImplementedError

    def shard(self, view: View, caller: Caller, key: str) -> ShardT:
        """The shard of a key on the broker that was asked. Raises ApiFailure."""
        topic = view.topic(self.topic_name)
        if topic is None:
            raise ApiFailure(codes.NOT_COORDINATOR)
        number = partition_of(key, len(topic.partitions))
        try:
            hosted(view, caller, topic, number)
        except ApiFailure:
            raise ApiFailure(codes.NOT_COORDINATOR) from None
        return self._loaded(topic, number)

    def shards(self, view: View, caller: Caller) -> list[ShardT]:
        """The shards that the broker that was asked leads, in the order of their partitions.

        Those whose log cannot be read now are left out.
        """
        topic = view.topic(self.topic_name)
        shards = []
        for number in () if topic is None else sorted(topic.partitions):
            assert topic is not None
            with suppress(ApiFailure):
                hosted(view, caller, topic, number)
                shards.append(self._loaded(topic, number))
        return shards

    def led(self, key: str) -> ShardT:
        """The shard of a key on the broker that leads it, for another broker. Raises ApiFailure."""
        topic = self._state.topic(self.topic_name)
        if topic is not None:
            number = partition_of(key, len(topic.partitions))
            leader = topic.partitions[number].leader
            if leader >= 0 and self._state.partitions.runs(leader):
                return self._loaded(topic, number)
        raise ApiFailure(codes.COORDINATOR_NOT_AVAILABLE)

    def load(self) -> None:
        """Load all shards: the cluster has started with the logs that it had."""
        topic = self._state.topic(self.topic_name)
        if topic is not None:
            for number in topic.partitions:
                self._follow(topic, number)

    def left(self, node: int) -> None:
        """A node has ended, and with it what it had loaded."""
        for number, each in list(self._shards.items()):
            if each.leads.node == node:
                self._unload(number)

    def end(self) -> None:
        """The cluster has ended."""
        for each in self._shards.values():
            each.end()
        self._shards.clear()

    def _loaded(self, topic: Topic, number: int) -> ShardT:
        """The shard of a partition that has a leader, loaded if that is new.

        Raises ApiFailure if its log cannot be read now, as for a partition whose load has failed in
        Kafka.
        """
        partition = topic.partitions[number]
        leads = Leads(partition.leader, partition.leader_epoch)
        found = self._shards.get(number)
        if found is not None and found.leads == leads and self._topic_id == topic.id:
            return found
        self._unload(number)
        replicas = self._state.partitions.log(topic, number)
        self._topic_id = topic.id
        try:
            shard = self._shards[number] = self._make(leads, replicas)
        except ApiFailure:
            raise ApiFailure(codes.NOT_COORDINATOR) from None
        self._begin(shard)
        return shard

    def _follow(self, topic: Topic, number: int) -> None:
        """Load or unload a partition as its leader has it."""
        leader = topic.partitions[number].leader
        if leader >= 0 and self._state.partitions.runs(leader):
            with suppress(ApiFailure):
                self._loaded(topic, number).replicated()
        else:
            self._unload(number)

    def _unload(self, number: int) -> None:
        found = self._shards.pop(number, None)
        if found is not None:
            found.end()

    def _changed(self, key: tuple[UUID, int]) -> None:
        """A partition has other records, or another leader."""
        topic_id, number = key
        if self._topic_id is not None and topic_id == self._topic_id:
            topic = self._state.topic_by_id(topic_id)
            if topic is None:
                self._unload(number)
            else:
                self._follow(topic, number)
