"""A follower that stops fetching, beside one of a real cluster whose process is stopped."""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kafka_admin_proto.messages import (
    CreateTopicsRequest,
    DescribeTopicPartitionsRequest,
    ListOffsetsRequest,
    MetadataRequest,
    ProduceRequest,
)
from kafka_admin_proto.messages.create_topics_request import CreatableTopicConfig
from kafka_admin_proto.messages.list_offsets_request import ListOffsetsPartition, ListOffsetsTopic
from kafka_admin_proto.messages.produce_request import PartitionProduceData, TopicProduceData
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records import Batch, Record, write_batch
from kafka_admin_proto.server import SyncCluster
from tests.helpers.requirements import require_oracle
from tests.helpers.waiting import until
from tests.server.configs.real_configs import configs_of
from tests.server.differential.wire import Nodes
from tests.server.handlers.test_create_topics import topic
from tests.server.releases import real_releases
from tools.clusters import kraft

#: A follower is late after a second; a broker that is stopped keeps its session.
_PROPERTIES = {"replica.lag.time.max.ms": "1000", "broker.session.timeout.ms": "600000"}
_LATE = 3
#: The topics need so many replicas in sync.
_TOPICS = {"two": 2, "three": 3}

Stop = Callable[[bool], None]


class Side:
    """A cluster, and what stops its late follower or lets it go on."""

    def __init__(self, nodes: Nodes, stop: Stop) -> None:
        self.nodes = nodes
        self.stop = stop
        #: The high watermarks when the comparison begins.
        self.first: dict[str, int] = {}

    def produce(self, name: str, acks: int) -> int:
        batch = write_batch(Batch.of([Record(0, int(time.time() * 1000), None, b"v")]))
        data = TopicProduceData(name, partition_data=[PartitionProduceData(0, batch)])
        answer = self.nodes.ask(0, ProduceRequest(None, acks, 300, [data]), 9)
        code: int = answer.responses[0].partition_responses[0].error_code
        return code

    def in_sync(self, name: str) -> list[int]:
        """The ISR; empty while the broker has not heard of the topic."""
        return sorted(each for row in self._partitions(name) for each in row.isr_nodes)

    def facts(self, name: str) -> tuple[Any, ...]:
        """(leader, its epoch, in sync, eligible, high watermark)."""
        (found,) = self._partitions(name)
        offset = self.high_watermark(name) - self.first[name]
        request = DescribeTopicPartitionsRequest([])
        described = {
            each.name: each.partitions[0].eligible_leader_replicas
            for each in self.nodes.ask(0, request, 0).topics
        }
        return (
            found.leader_id, found.leader_epoch, self.in_sync(name), described[name], offset
        )  # fmt: skip

    def high_watermark(self, name: str) -> int:
        wanted = ListOffsetsTopic(name, [ListOffsetsPartition(0, timestamp=-1)])
        listed = self.nodes.ask(0, ListOffsetsRequest(-1, 0, [wanted]), 6)
        offset: int = listed.topics[0].partitions[0].offset
        return offset

    def _partitions(self, name: str) -> list[Any]:
        found = self.nodes.ask(0, MetadataRequest(topics=None), 12).topics
        return [row for each in found if each.name == name for row in each.partitions]


def _steps(side: Side) -> Iterator[object]:
    """What is done to a cluster, and what it says each time."""

    def until_in_sync(*replicas: int) -> None:
        until(lambda: all(side.in_sync(name) == [*replicas] for name in _TOPICS))

    for name, least in _TOPICS.items():
        wanted = topic(name, assignment={0: [1, 2, 3]})
        wanted.configs = [CreatableTopicConfig("min.insync.replicas", str(least))]
        answer = side.nodes.ask(0, CreateTopicsRequest([wanted], 1000), 7)
        assert answer.topics[0].error_code == 0
    until_in_sync(1, 2, 3)
    _led(side)
    side.stop(True)
    yield [(name, side.produce(name, acks)) for name in _TOPICS for acks in (1, -1)]
    yield [side.facts(name)[-1] for name in _TOPICS]
    until_in_sync(1, 2)
    yield [(name, side.produce(name, acks)) for name in _TOPICS for acks in (1, -1)]
    yield [side.facts(name) for name in _TOPICS]
    side.stop(False)
    until_in_sync(1, 2, 3)
    yield [(name, side.produce(name, acks)) for name in _TOPICS for acks in (1, -1)]
    yield [side.facts(name) for name in _TOPICS]


def _led(side: Side) -> None:
    """Produce until new leaders take records."""
    for name in _TOPICS:
        until(lambda name=name: side.produce(name, -1) == 0)  # type: ignore[misc]
        side.first[name] = side.high_watermark(name)


@contextmanager
def _real(folder: Path, release: str) -> Iterator[tuple[Side, dict[str, str]]]:
    with (
        kraft(folder, release, nodes=3, properties=_PROPERTIES) as real,
        Nodes(real.bootstrap) as nodes,
    ):
        process = real.nodes[_LATE].process
        assert process is not None

        def stop(is_stopped: bool) -> None:
            process.send_signal(signal.SIGSTOP if is_stopped else signal.SIGCONT)

        try:
            yield Side(nodes, stop), configs_of(real)
        finally:
            stop(False)


@pytest.mark.explore
@pytest.mark.parametrize("release", real_releases("lag"))
def test_a_late_follower_is_a_real_one(tmp_path: Path, release: str) -> None:
    require_oracle()
    with _real(tmp_path, release) as (theirs, configs):
        expected = list(_steps(theirs))
    with (
        SyncCluster(3, release=release.rpartition(".")[0], configs=configs) as cluster,
        Nodes(cluster.bootstrap_servers) as nodes,
    ):

        def stop(is_stopped: bool) -> None:
            cluster.delay_replication(math.inf if is_stopped else 0, _LATE)

        found = list(_steps(Side(nodes, stop)))
    assert found == expected
    assert ("three", codes.NOT_ENOUGH_REPLICAS) in expected[2]  # type: ignore[operator]
