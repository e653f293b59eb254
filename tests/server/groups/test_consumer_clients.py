"""Consumers of librdkafka in groups of KIP-848's protocol, and in those of both protocols."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any

import pytest

from kafka_admin_proto.server import SyncCluster

_RECORDS = [f"{number}".encode() for number in range(10)]
_PATIENCE_S = 30.0
_CONFIGS = {
    "group.consumer.heartbeat.interval.ms": 200,
    "group.consumer.min.heartbeat.interval.ms": 200,
}


@contextlib.contextmanager
def _consumer(servers: str, **options: Any) -> Iterator[Any]:
    confluent_kafka = pytest.importorskip("confluent_kafka")
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": servers, "group.id": "billing", "auto.offset.reset": "earliest",
            "enable.auto.commit": False, **options,
        }
    )  # fmt: skip
    consumer.subscribe(["orders"])
    try:
        yield consumer
    finally:
        consumer.close()


def _read(consumer: Any, count: int) -> list[bytes]:
    found: list[bytes] = []
    deadline = time.monotonic() + _PATIENCE_S
    while len(found) < count and time.monotonic() < deadline:
        message = consumer.poll(0.2)
        if message is not None and not message.error():
            found.append(message.value())
            consumer.commit(message, asynchronous=False)
    return found


@pytest.fixture(scope="module")
def cluster() -> Iterator[SyncCluster]:
    topics = {"orders": {"partitions": 2, "replication_factor": 3}}
    with SyncCluster(3, configs=_CONFIGS, topics=topics) as found:
        for number in (0, 1):
            records = [{"value": each, "partition": number} for each in _RECORDS[number::2]]
            found.produce("orders", records)
        yield found


_CONSUMER = {"group.protocol": "consumer"}


def test_a_consumer_goes_on_where_it_was(cluster: SyncCluster) -> None:
    """Also after its coordinator has stopped, and another broker has loaded the group."""
    with _consumer(cluster.bootstrap_servers, **_CONSUMER) as consumer:
        first = _read(consumer, 4)
        found = cluster.group("billing")
        assert (found.type, found.state) == ("consumer", "Stable")
        node = cluster.state.coordinators.led("billing").leads.node
        cluster.stop_broker(node)
        first += _read(consumer, 2)
    cluster.start_broker(node)
    with _consumer(cluster.bootstrap_servers, **_CONSUMER) as consumer:
        assert sorted(first + _read(consumer, 4)) == _RECORDS
    assert cluster.group("billing").lag == {("orders", 0): 0, ("orders", 1): 0}
    assert cluster.group("billing").state == "Empty"


@pytest.mark.exhaustive
@pytest.mark.parametrize("protocols", [("consumer",) * 2, ("classic", "consumer")])
def test_two_members_share_the_partitions(cluster: SyncCluster, protocols: tuple[str, str]) -> None:
    """Also of both protocols: the group is upgraded, and downgraded when the newer one leaves."""
    servers, group = cluster.bootstrap_servers, f"of {protocols}"
    one_given = {"group.id": group, "group.protocol": protocols[0]}
    with _consumer(servers, **one_given) as one:
        _until_assigned([one], [2])
        assert cluster.group(group).type == protocols[0]
        with _consumer(servers, **{"group.id": group, "group.protocol": protocols[1]}) as two:
            _until_assigned([one, two], [1, 1])
            assert cluster.group(group).type == "consumer"
        _until_assigned([one], [2])
        assert cluster.group(group).type == protocols[0]


def _until_assigned(members: list[Any], expected: list[int]) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while [len(each.assignment()) for each in members] != expected:
        assert time.monotonic() < deadline, [each.assignment() for each in members]
        for each in members:
            each.poll(0.05)
