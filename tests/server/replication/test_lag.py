"""A follower that lags: the ISR, the high watermark, acks, elections and lost records."""

from __future__ import annotations

import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from kafka_admin_proto.messages import ProduceRequest, ProduceResponse
from kafka_admin_proto.messages.produce_request import PartitionProduceData, TopicProduceData
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records import Batch, Record, write_batch
from kafka_admin_proto.server import Cluster, SyncCluster
from kafka_admin_proto.server.apis import Answer, Caller
from kafka_admin_proto.server.replication.replicas import ReplicatedLog
from kafka_admin_proto.server.respond import respond

#: Kafka's replica.lag.time.max.ms, and the longest time until its leaders look for late replicas.
_LAG_S, _CHECK_S = 30.0, 15.0


class Lagging:
    """A cluster of three whose topic t has one partition, led by broker 1."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.advance = cluster.clock.advance
        self.lag = cluster.delay_replication

    @property
    def partition(self) -> Any:
        return self.cluster.state.topic("t").partitions[0]  # type: ignore[union-attr]

    @property
    def replicas(self) -> ReplicatedLog:
        topic = self.cluster.state.topic("t")
        assert topic is not None
        return self.cluster.state.partitions.log(topic, 0)

    @property
    def offsets(self) -> tuple[int, int]:
        """(high watermark, end) of the leader's log."""
        log = self.replicas.log
        return log.high_watermark, log.end_offset

    def produce(self, acks: int = 1) -> Answer:
        """Produce a record; the answer may wait."""
        state = self.cluster.state
        batch = write_batch(Batch.of([Record(0, state.clock.now_ms(), None, b"v")]))
        topic = TopicProduceData("t", partition_data=[PartitionProduceData(0, batch)])
        request = ProduceRequest(None, acks, 60_000, [topic])
        return respond(state, 0, request, Caller(self.partition.leader, 9))

    def finished(self, answer: Answer, *, is_over: bool = False) -> int | None:
        """The error code of an answer to `produce`, None if it waits still."""
        wait = answer.wait
        if wait is not None and not wait.complete(
            answer, self.cluster.state, set(wait.keys), is_over
        ):
            return None
        assert isinstance(answer.response, ProduceResponse)
        return answer.response.responses[0].partition_responses[0].error_code


@asynccontextmanager
async def _lagging(**configs: str) -> AsyncIterator[Lagging]:
    topic = {"assignment": {0: [1, 2, 3]}, "configs": configs}
    async with Cluster(3, topics={"t": topic}, sync_delay_s=0.0) as cluster:
        yield Lagging(cluster)


async def test_a_replica_that_gets_nothing_leaves_the_isr_and_comes_back() -> None:
    async with _lagging() as served:
        served.lag(math.inf, 3)
        epoch = served.partition.partition_epoch
        waiting = served.produce(acks=-1)
        assert served.finished(waiting) is None
        assert served.offsets == (0, 1)
        assert served.cluster.records("t") == []  # consumers read up to the high watermark
        await served.advance(_LAG_S - 1)
        assert served.partition.isr == [1, 2, 3]
        await served.advance(1 + _CHECK_S)
        assert served.partition.isr == [1, 2]
        assert served.partition.partition_epoch == epoch + 1
        assert served.offsets == (1, 1)
        assert served.finished(waiting) == 0
        served.lag(0, 3)
        await served.advance(0.001)
        assert served.partition.isr == [1, 2, 3]
        assert (served.partition.partition_epoch, served.partition.leader_epoch) == (epoch + 2, 0)


async def test_records_arrive_late_and_in_order() -> None:
    async with _lagging() as served:
        served.lag(5, 2)
        first = served.produce(acks=-1)
        await served.advance(3)
        second = served.produce(acks=-1)
        await served.advance(2)
        assert (served.finished(first), served.finished(second)) == (0, None)
        assert served.offsets == (1, 2)
        await served.advance(3)
        assert served.finished(second) == 0
        await served.advance(2 * _LAG_S)
        assert served.partition.isr == [1, 2, 3]


async def test_a_lag_beyond_the_bound_costs_the_place_in_the_isr() -> None:
    async with _lagging() as served:
        served.lag(_LAG_S + 2 * _CHECK_S, 2)
        served.produce()
        await served.advance(_LAG_S + _CHECK_S)
        assert served.partition.isr == [1, 3]
        await served.advance(_CHECK_S)  # it has arrived
        assert sorted(served.partition.isr) == [1, 2, 3]


async def test_too_few_replicas_in_sync() -> None:
    async with _lagging(**{"min.insync.replicas": "2"}) as served:
        served.lag(math.inf, 2)
        served.lag(math.inf, 3)
        waiting = served.produce(acks=-1)
        assert served.finished(waiting, is_over=True) == codes.REQUEST_TIMED_OUT
        await served.advance(_LAG_S + _CHECK_S)
        assert served.partition.isr == [1]
        assert served.finished(served.produce(acks=-1)) == codes.NOT_ENOUGH_REPLICAS
        assert served.finished(served.produce(acks=1)) == 0
        assert served.offsets == (0, 2)  # as in Kafka it stays while too few have the records


@pytest.mark.parametrize("unclean", ["true", "false"])
async def test_an_unclean_election_loses_records(unclean: str) -> None:
    async with _lagging(**{"unclean.leader.election.enable": unclean}) as served:
        served.produce()
        served.lag(math.inf, 2)
        served.lag(math.inf, 3)
        served.produce()
        await served.advance(_LAG_S + _CHECK_S)
        served.produce()
        assert (served.partition.isr, served.offsets) == ([1], (3, 3))
        await served.cluster.stop_broker(1)
        if unclean == "false":
            assert served.partition.leader == -1
            return
        assert served.partition.leader == 2
        assert served.offsets == (1, 1)
        served.produce()
        await served.cluster.start_broker(1)
        await served.advance(0.001)
        assert [each.offset for each in served.cluster.records("t")] == [0, 1]


async def test_a_leader_that_was_late_has_no_records_of_the_others() -> None:
    """A follower within the ISR leads, and what only acks=1 has acknowledged is gone."""
    async with _lagging() as served:
        served.lag(math.inf, 2)
        assert served.finished(served.produce()) == 0
        await served.cluster.stop_broker(1)
        assert (served.partition.leader, served.partition.leader_epoch) == (2, 1)
        assert served.offsets == (0, 0)


async def test_a_lag_outlives_its_broker() -> None:
    async with _lagging() as served:
        served.lag(math.inf, 3)
        await served.cluster.stop_broker(3)
        served.produce()
        await served.cluster.start_broker(3)
        await served.advance(1)
        assert served.partition.isr == [1, 2]
        served.lag(1, 3)
        await served.advance(2)
        assert sorted(served.partition.isr) == [1, 2, 3]


def test_lags_that_cannot_be() -> None:
    with pytest.raises(RuntimeError, match="not been started"):
        Cluster(2).delay_replication(1, 1)
    with SyncCluster(2) as cluster:
        with pytest.raises(ValueError, match="0 or more seconds, not -1"):
            cluster.delay_replication(-1, 1)
        with pytest.raises(ValueError, match="3"):
            cluster.delay_replication(1, 3)
    with SyncCluster(1) as cluster, pytest.raises(ValueError, match="has no followers"):
        cluster.delay_replication(1, 1)


async def test_many_records_that_are_late_cost_little() -> None:
    """Each append sets a timer for each follower that lags."""
    async with _lagging() as served:
        served.lag(1, 2)
        start = time.thread_time()
        for _ in range(2_000):
            served.produce()
        await served.advance(2)
        assert served.offsets == (2_000, 2_000)
        assert time.thread_time() - start < 5
