"""Topics as the controller knows them, and as they stand in the store."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any
from uuid import UUID

from kafka_admin_proto.simulation.controller.cluster import TOPICS_PATH
from kafka_admin_proto.simulation.world.store import Check, Session
from kafka_admin_proto.topic_ids import (
    METADATA_TOPIC_ID,
    ZERO_TOPIC_ID,
    topic_id_from_text,
    topic_id_to_text,
)

#: No broker that could lead is up.
NO_LEADER = -1
#: In UpdateMetadata, and as a leader epoch in StopReplica: the partition is being deleted.
DURING_DELETE = -2
#: Ids that no topic gets: "no id", and the metadata topic's before it has one.
RESERVED_IDS = (ZERO_TOPIC_ID, METADATA_TOPIC_ID)


@dataclass(slots=True)
class Partition:
    """A partition: where its replicas are, and who leads."""

    replicas: list[int]
    leader: int = NO_LEADER
    isr: list[int] = field(default_factory=list)
    leader_epoch: int = 0
    #: The version of its znode, as ``partition_epoch`` and ``zk_version`` have it.
    partition_epoch: int = 0

    def elect(self, live: Sequence[int]) -> bool:
        """Choose leader and ISR among the live brokers; whether anything is another one.

        A replica of the ISR leads, the present leader if it may. All live replicas are in sync
        while there is a leader: how far they lag is not looked at.
        """
        in_sync = [each for each in self.isr if each in live]
        leader = self.leader if self.leader in in_sync else next(iter(in_sync), NO_LEADER)
        joined = [each for each in self.replicas if each in live and each not in in_sync]
        isr = sorted(in_sync + joined) if in_sync else self.isr
        if (leader, isr) == (self.leader, self.isr):
            return False
        self.leader, self.isr = leader, isr
        self.leader_epoch += 1
        return True


@dataclass(slots=True)
class Topic:
    """A topic; without an id while the protocol is older than ids."""

    name: str
    topic_id: UUID | None
    partitions: dict[int, Partition]

    @property
    def text_id(self) -> str:
        """The id in Kafka's form; empty without one."""
        return "" if self.topic_id is None else topic_id_to_text(self.topic_id)

    def brokers(self) -> list[int]:
        return sorted({broker for each in self.partitions.values() for broker in each.replicas})

    def partitions_on(self, broker: int) -> list[int]:
        return [number for number, each in self.partitions.items() if broker in each.replicas]


def new_topic_id(random: Random) -> UUID:
    """An id for a new topic, as ``topic_ids.random_topic_id`` makes them, of a seeded source."""
    while True:
        topic_id = UUID(int=random.getrandbits(128), version=4)
        if topic_id not in RESERVED_IDS and not topic_id_to_text(topic_id).startswith("-"):
            return topic_id


class TopicStore:
    """Topics in the store, written only while the controller's epoch is still the newest."""

    def __init__(self, session: Session, check: Check) -> None:
        self._session = session
        self._check = check

    def names(self) -> list[str]:
        return self._session.children(TOPICS_PATH)

    def read(self, name: str) -> Topic:
        data = self._read(_topic_path(name))
        text = data.get("topic_id")
        numbers = sorted(map(int, data["partitions"]))
        partitions = {number: Partition(data["partitions"][str(number)]) for number in numbers}
        for number, partition in partitions.items():
            znode = self._session.get(_state_path(name, number))
            if znode is not None:
                state = json.loads(znode[0])
                partition.leader, partition.isr = state["leader"], state["isr"]
                partition.leader_epoch = state["leader_epoch"]
                partition.partition_epoch = znode[1]
        return Topic(name, None if text is None else topic_id_from_text(text), partitions)

    def create(self, topic: Topic, controller_epoch: int) -> None:
        """Make a topic's znodes."""
        self._session.create(_topic_path(topic.name), _topic_data(topic), check=self._check)
        for number, partition in topic.partitions.items():
            path = _state_path(topic.name, number)
            self._session.create(path, _state_data(partition, controller_epoch), check=self._check)

    def write_id(self, topic: Topic) -> None:
        """Write the id that the topic was given after it was created."""
        self._session.set(_topic_path(topic.name), _topic_data(topic), check=self._check)

    def write_state(self, topic: Topic, number: int, controller_epoch: int) -> None:
        """Write a partition's leader and ISR."""
        partition = topic.partitions[number]
        path, data = _state_path(topic.name, number), _state_data(partition, controller_epoch)
        if self._session.get(path) is None:  # the controller crashed between the topic's znodes
            self._session.create(path, data, check=self._check)
        else:
            partition.partition_epoch = self._session.set(path, data, check=self._check)

    def delete(self, name: str) -> None:
        """Remove a topic's znodes."""
        self._session.delete(_topic_path(name), check=self._check)

    def _read(self, path: str) -> dict[str, Any]:
        znode = self._session.get(path)
        data: dict[str, Any] = json.loads(b"{}" if znode is None else znode[0])
        return data


def _topic_path(name: str) -> str:
    return f"{TOPICS_PATH}/{name}"


def _state_path(name: str, number: int) -> str:
    return f"{TOPICS_PATH}/{name}/partitions/{number}/state"


def _topic_data(topic: Topic) -> bytes:
    """Version 2 of the znode has no id, version 3 has one."""
    partitions = {str(number): each.replicas for number, each in topic.partitions.items()}
    data: dict[str, Any] = {"version": 2, "partitions": partitions}
    if topic.topic_id is not None:
        data = {"version": 3, "topic_id": topic.text_id, "partitions": partitions}
    return json.dumps(data, separators=(",", ":")).encode()


def _state_data(partition: Partition, controller_epoch: int) -> bytes:
    data = {
        "controller_epoch": controller_epoch,
        "leader": partition.leader,
        "version": 1,
        "leader_epoch": partition.leader_epoch,
        "isr": partition.isr,
    }
    return json.dumps(data, separators=(",", ":")).encode()
