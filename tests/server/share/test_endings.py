"""What ends while somebody waits for it: time, sessions, connections, leaders and coordinators."""

from __future__ import annotations

import math

import pytest

from kafka_admin_proto import messages as m
from kafka_admin_proto.messages import write_share_group_state_request as written
from kafka_admin_proto.messages.alter_share_group_offsets_request import (
    AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsRequestTopic,
)
from kafka_admin_proto.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
)
from kafka_admin_proto.messages.share_acknowledge_request import (
    AcknowledgementBatch,
    AcknowledgePartition,
    AcknowledgeTopic,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.share.shard import ShareStateShard
from kafka_admin_proto.server.share.state import ShareKey
from tests.server.groups.coordinated import Coordinated, Waiting
from tests.server.share.sharing import Fetcher, Sharer, acks, produce, shared_cluster

_ACCEPT = 1


def _shared(nodes: int = 1) -> Coordinated:
    """A cluster with three records, and a group that reads from the first one on."""
    cluster = shared_cluster(nodes=nodes)
    rows = [AlterableConfig("share.auto.offset.reset", 0, "earliest")]
    cluster.served.ask(m.IncrementalAlterConfigsRequest([AlterConfigsResource(32, "g", rows)]))
    Sharer(cluster, "one").join()
    produce(cluster, 3)
    topic = cluster.state.topic("orders")
    assert topic is not None
    cluster.node = topic.partitions[0].leader
    return cluster


def _key(cluster: Coordinated) -> ShareKey:
    topic = cluster.state.topic("orders")
    assert topic is not None
    return ShareKey("g", topic.id, 0)


def _accept(cluster: Coordinated, one: Fetcher, epoch: int) -> Waiting:
    """Accept all records; the answer may wait."""
    part = AcknowledgePartition(0, [AcknowledgementBatch(0, 2, [_ACCEPT])])
    topics = [AcknowledgeTopic(_key(cluster).topic_id, [part])]
    return cluster.send(m.ShareAcknowledgeRequest("g", one.id, epoch, topics=topics))


def _coordinator_without_followers(cluster: Coordinated) -> int:
    """The broker that coordinates the partition, to which the others do not listen any more."""
    node = cluster.state.share_states.led(_key(cluster).text).leads.node
    for each in {1, 2, 3} - {node}:
        cluster.state.partitions.delay(each, math.inf)
    return node


def test_a_fetch_that_waits_for_days_leaves_nothing_behind() -> None:
    """Its time is the answer's, which ends with its connection."""
    cluster = _shared()
    one = Fetcher(cluster, "one")
    assert one.get() == [(0, 2, 1)]
    before = len(cluster.clock._timers)
    found = [one.send(max_wait_ms=(1 << 31) - 1) for _ in range(10)]
    assert all(each.waits for each in found)
    assert len(cluster.clock._timers) == before
    assert found[0].is_over_with().responses == []


def test_a_change_ends_with_its_coordinator() -> None:
    """Records whose change was not kept are their member's as before."""
    cluster = _shared(nodes=3)
    one = Fetcher(cluster, "one")
    assert one.get() == [(0, 2, 1)]
    node = _coordinator_without_followers(cluster)
    waits = _accept(cluster, one, one.epoch)
    assert waits.waits
    cluster.state.share_states.left(node)
    (row,) = waits.response.responses[0].partitions
    assert row.error_code == codes.COORDINATOR_NOT_AVAILABLE
    one.epoch += 1
    again = _accept(cluster, one, one.epoch)
    cluster.state.share_states.left(node)
    assert again.response.error_code == 0


def test_a_request_of_a_broker_ends_with_the_coordinator() -> None:
    cluster = _shared(nodes=3)
    key = _key(cluster)
    cluster.node = _coordinator_without_followers(cluster)
    part = written.PartitionData(0, 2, 0, 0, 0, [written.StateBatch(0, 2, 2, 1)])
    topics = [written.WriteStateData(key.topic_id, [part])]
    waits = cluster.send(m.WriteShareGroupStateRequest("g", topics))
    assert waits.waits
    cluster.state.share_states.left(cluster.node)
    assert waits.response.results[0].partitions[0].error_code == codes.NOT_COORDINATOR


def test_a_session_is_ended_by_two_requests() -> None:
    """As by a client that asks again on another connection: both get an answer."""
    cluster = _shared(nodes=3)
    one = Fetcher(cluster, "one")
    assert one.get() == [(0, 2, 1)]
    node = _coordinator_without_followers(cluster)
    found = [_accept(cluster, one, -1) for _ in range(2)]
    assert [each.waits for each in found] == [True, False]
    cluster.state.share_states.left(node)
    assert [each.response.error_code for each in found] == [0, 0]


def test_a_partition_that_was_dropped_does_not_end_the_next() -> None:
    """Another leader epoch has written: the member's records go to the partition read anew."""
    cluster = _shared()
    one, two = Fetcher(cluster, "one"), Fetcher(cluster, "two")
    assert one.get() == [(0, 2, 1)]
    broker = cluster.state.shares.of(cluster.node)
    old = broker.find(_key(cluster))
    assert old is not None
    shard = cluster.state.share_states.led(_key(cluster).text)
    shard.initialize(_key(cluster), 9, 0, lambda _: None)
    assert one.acknowledge(acks(0, 0, _ACCEPT)) == codes.NOT_LEADER_OR_FOLLOWER
    cluster.clock.pass_time(20)
    assert two.get() == [(0, 2, 1)]
    new = broker.find(_key(cluster))
    cluster.clock.pass_time(20)
    assert broker.find(_key(cluster)) is new, "the locks of the first one have ended"
    assert two.acknowledge(acks(0, 2, _ACCEPT)) == 0


def test_offsets_are_reset_after_a_consumer_has_closed() -> None:
    """It ends its session, and then its connection."""
    cluster = _shared()
    one = Fetcher(cluster, "one")
    assert one.get() == [(0, 2, 1)]
    assert one.acknowledge(acks(0, 2, _ACCEPT)) == 0
    one.row(share_session_epoch=-1)
    cluster.state.shares.lost(None)
    cluster.ask(m.ShareGroupHeartbeatRequest("g", "one", -1))
    rows = [AlterShareGroupOffsetsRequestPartition(0, 1)]
    asked = [AlterShareGroupOffsetsRequestTopic("orders", rows)]
    altered = cluster.send(m.AlterShareGroupOffsetsRequest("g", asked))
    cluster.clock.pass_time(0.001)
    assert altered.response.error_code == 0
    assert Fetcher(cluster, "two").get() == [(1, 2, 1)]


def test_locks_end_without_a_share_coordinator(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody keeps that, and the records are free all the same."""
    cluster = _shared()
    assert Fetcher(cluster, "one").get() == [(0, 2, 1)]
    writes = []

    def refuse(*_: object) -> None:
        writes.append(1)
        assert len(writes) < 9, "the lock ends again and again"
        raise ApiFailure(codes.COORDINATOR_NOT_AVAILABLE)

    monkeypatch.setattr(ShareStateShard, "change", refuse)
    cluster.clock.pass_time(30)
    assert len(writes) == 1
    assert Fetcher(cluster, "two").get() == [(0, 2, 2)]


@pytest.mark.parametrize("is_there", [True, False])
def test_offsets_are_reset_twice_at_once(monkeypatch: pytest.MonkeyPatch, is_there: bool) -> None:
    """Both requests are answered, also after the attempts at an absent share coordinator."""
    cluster = _shared()
    cluster.ask(m.ShareGroupHeartbeatRequest("g", "one", -1))

    def refuse(*_: object) -> None:
        raise ApiFailure(codes.COORDINATOR_NOT_AVAILABLE)

    if not is_there:
        monkeypatch.setattr(ShareStateShard, "initialize", refuse)
    found = []
    for offset in (1, 2):
        rows = [AlterShareGroupOffsetsRequestPartition(0, offset)]
        asked = [AlterShareGroupOffsetsRequestTopic("orders", rows)]
        found.append(cluster.send(m.AlterShareGroupOffsetsRequest("g", asked)))
    cluster.clock.pass_time(9)
    (first,), (second,) = (each.response.responses[0].partitions for each in found)
    code = 0 if is_there else codes.COORDINATOR_NOT_AVAILABLE
    assert (first.error_code, second.error_code) == (code, code)
