"""A cluster on disk whose topics and configs change, and the state expected after a crash."""

from __future__ import annotations

import copy
import os
import random
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from kafka_admin_proto.messages import ConfigRecord, PartitionRecord, RemoveTopicRecord, TopicRecord
from kafka_admin_proto.records import ClusterState
from kafka_admin_proto.records.metadata.names import TOPIC_RESOURCE
from kafka_admin_proto.server import Cluster
from kafka_admin_proto.server.state import State
from kafka_admin_proto.server.topics.assignments import UNASSIGNED_DIRECTORY
from kafka_admin_proto.values import Message

#: Snapshots and segments of a few batches.
SMALL = {
    "metadata.log.max.record.bytes.between.snapshots": "1500",
    "internal.metadata.log.segment.bytes": "1200",
    "metadata.max.retention.bytes": "6000",
}


def small(release: str) -> dict[str, str]:
    """``SMALL`` in the words of a release: 3.9 has another name for small segments."""
    if release >= "4":
        return SMALL
    segment_bytes = SMALL["internal.metadata.log.segment.bytes"]
    rest = {name: each for name, each in SMALL.items() if not name.startswith("internal.")}
    least = "metadata.log.segment.min.bytes"
    return {**rest, "metadata.log.segment.bytes": segment_bytes, least: segment_bytes}


#: Topic → its id, how many partitions it has, and its configs.
Topics = dict[str, tuple[UUID, int, dict[str, str]]]


def topics_of(state: ClusterState) -> Topics:
    return {
        topic.name: (
            topic.id,
            len(topic.partitions),
            dict(state.configs.get((TOPIC_RESOURCE, topic.name), {})),
        )
        for topic in state.topics.values()
    }


class NoDisk:
    """``os`` without ``fsync``."""

    def fsync(self, file: int) -> None:
        """What is written is seen by all processes at once."""

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)


class Load:
    """Draws changes. ``acknowledged`` is what they came to, ``pending`` what the last one does."""

    def __init__(self, chooser: random.Random) -> None:
        self._chooser = chooser
        self.acknowledged: Topics = {}
        self.pending: Topics = {}

    def change(self, state: State) -> None:
        """Append one drawn change."""
        records, self.pending = self._drawn()
        state.append(records)
        self.acknowledged = self.pending

    def found(self, topics: Topics) -> None:
        """Check the state after a crash: all acknowledged changes, and perhaps the pending one."""
        assert topics in (self.acknowledged, self.pending)
        self.acknowledged = self.pending = topics

    def _drawn(self) -> tuple[list[Message], Topics]:
        after = copy.deepcopy(self.acknowledged)
        kind = self._chooser.choice(("create", "create", "alter", "alter", "delete"))
        if kind == "create" or not after:
            name, topic_id = f"t{self._chooser.randrange(10**6)}", uuid4()
            count = self._chooser.randint(1, 4)
            after[name] = (topic_id, count, {})
            partitions = [
                PartitionRecord(
                    partition_id=number, topic_id=topic_id, replicas=[1], isr=[1], leader=1,
                    directories=[UNASSIGNED_DIRECTORY],
                )
                for number in range(count)
            ]  # fmt: skip
            return [TopicRecord(name, topic_id), *partitions], after
        name = self._chooser.choice(list(after))
        if kind == "delete":
            return [RemoveTopicRecord(after.pop(name)[0])], after
        value = str(self._chooser.randrange(1000))
        after[name][2]["retention.ms"] = value
        return [ConfigRecord(TOPIC_RESOURCE, name, "retention.ms", value)], after


@asynccontextmanager
async def stored(
    folder: Path, brokers: int = 1, configs: Mapping[str, str] | None = None
) -> AsyncIterator[State]:
    """The state of a cluster in the folder, with small segments and snapshots."""
    settings = {**SMALL, **(configs or {})}
    async with Cluster(brokers, data=folder, configs=settings) as cluster:
        yield cluster.state
