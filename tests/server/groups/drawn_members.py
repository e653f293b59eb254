"""What drawn stories of members of the newer protocols have in common.

Each member makes its own id, and each side of a story knows its own epochs.
"""

from __future__ import annotations

import dataclasses
from random import Random
from typing import Any, ClassVar
from uuid import UUID

from kafka_admin_proto import messages as m
from kafka_admin_proto.messages.offset_commit_request import (
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafka_admin_proto.messages.offset_fetch_request import (
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from kafka_admin_proto.messages.streams_group_heartbeat_request import TaskIds
from kafka_admin_proto.values import Message
from tests.server.groups.stories import Side


@dataclasses.dataclass
class Client:
    """What a client of one side knows of itself."""

    epoch: int = 0
    endpoint_epoch: int = 0
    owned: dict[UUID, list[int]] = dataclasses.field(default_factory=dict)
    tasks: tuple[list[TaskIds], ...] = ([], [], [])
    instance: str | None = None


class DrawnMembers:
    """Steps drawn by a seed, of which each side makes requests with its own epochs."""

    #: What members commit and fetch offsets of, and in which versions they fetch them.
    topics: ClassVar[tuple[str, ...]]
    partitions: ClassVar[int]
    fetched: ClassVar[OffsetFetchRequestTopics]
    fetch_versions: ClassVar[tuple[int, ...]]

    def __init__(self, seed: int, steps: int) -> None:
        self._random = Random(seed)
        self._steps = steps
        self._clients: dict[tuple[int, str], Client] = {}

    def _client(self, side: Side, member: str) -> Client:
        return self._clients.setdefault((id(side), member), Client())

    def _odd(self, usual: Any, *others: Any) -> Any:
        return self._random.choice(others) if self._random.random() < 0.05 else usual

    def _commit(self, group: str, member: str) -> tuple[Any, int]:
        random = self._random
        version = random.choice((8, 9, 9, 10))
        name = self._odd(f"~{group}-{member}", "", "nobody")
        error = self._odd(0, 1, -1, -2)
        topic, number = random.choice(self.topics), random.randrange(self.partitions)
        offset = random.randrange(100)

        def make(side: Side) -> Message:
            row = OffsetCommitRequestPartition(number, offset, committed_metadata="")
            there = OffsetCommitRequestTopic(topic, partitions=[row])
            if version >= 10:
                there.name, there.topic_id = "", side.topic_ids[topic]
            epoch = self._client(side, name).epoch + error if name else -1
            return m.OffsetCommitRequest(group, epoch, name, None, topics=[there])

        return make, version

    def _fetch(self, group: str, member: str) -> tuple[Any, int]:
        version = self._random.choice(self.fetch_versions)
        name = self._odd(f"~{group}-{member}", None, "nobody")
        error = self._odd(0, 1, -1)
        topic = self._random.choice((None, self.fetched))

        def make(side: Side) -> Message:
            rows = None if topic is None else [topic]
            if topic is not None and version >= 10:
                topic_id, numbers = side.topic_ids[topic.name], topic.partition_indexes
                rows = [OffsetFetchRequestTopics("", topic_id, numbers)]
            epoch = self._client(side, name).epoch + error if name else -1
            known = (name, epoch) if version >= 9 else (None, -1)
            asked = OffsetFetchRequestGroup(group, known[0], known[1], topics=rows)
            return m.OffsetFetchRequest(groups=[asked], topics=[])

        return make, version

    def _delete(self, group: str, member: str) -> tuple[Any, int]:
        return lambda _: m.DeleteGroupsRequest([group]), 2
