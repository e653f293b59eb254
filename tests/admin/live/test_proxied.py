"""A producer that goes through a proxy to a real cluster: outages, and faults of the proxy."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kafka_admin_proto.admin import NewTopic, SyncAdminClient
from kafka_admin_proto.proxy import SyncProxy
from tests.admin.live.helpers.controllers import node_ended
from tools.clusters import Cluster

_FLUSH_S = 60.0
_PAUSE_S = 0.005
_READ = 500


@pytest.fixture
def proxy(kraft_cluster: Cluster) -> Iterator[SyncProxy]:
    with SyncProxy(kraft_cluster.bootstrap) as found:
        yield found


@pytest.fixture
def producer(proxy: SyncProxy, unique: Callable[[str], str]) -> _Producer:
    """It writes to a new topic."""
    name = unique("proxied")
    with SyncAdminClient(proxy.bootstrap_servers) as client:
        (made,) = client.create_topics([NewTopic(name, 1, 3)])
        assert made.complete, made
    return _Producer(proxy.bootstrap_servers, name)


@pytest.mark.explore
def test_all_nodes_are_restarted(kraft_cluster: Cluster, producer: _Producer) -> None:
    """The last one after it was killed."""
    rolled = threading.Event()

    def produce() -> None:
        while not rolled.wait(_PAUSE_S):
            producer.produce()

    writer = threading.Thread(target=produce)
    writer.start()
    try:
        *stopped, killed = kraft_cluster.nodes
        for node in stopped:
            with node_ended(kraft_cluster, node):
                time.sleep(1)
        with node_ended(kraft_cluster, killed, crash=True):
            time.sleep(1)
    finally:
        rolled.set()
        writer.join()
    assert producer.count > _READ
    producer.check()


@pytest.mark.parametrize(
    "fault",
    [{"error": "NOT_LEADER_OR_FOLLOWER"}, {"cut": "after"}, {"cut": "before"}, {"delay_ms": 300}],
    ids=str,
)
def test_requests_fail(proxy: SyncProxy, producer: _Producer, fault: dict[str, Any]) -> None:
    played = proxy.faults.add(api="Produce", topic=producer.name, count=1, **fault)
    for _ in range(_READ):
        producer.produce()
        time.sleep(_PAUSE_S / 5)
    producer.check()
    assert played.fired == 1


class _Producer:
    """A producer of librdkafka that counts from 0."""

    def __init__(self, servers: str, name: str) -> None:
        self._kafka = pytest.importorskip("confluent_kafka")
        self._servers, self.name = servers, name
        self._producer = self._kafka.Producer(
            {
                "bootstrap.servers": servers,
                "enable.idempotence": True,
                "reconnect.backoff.max.ms": 500,
            }
        )
        self._errors: list[object] = []
        self.count = 0

    def produce(self) -> None:
        self._producer.produce(self.name, b"%d" % self.count, on_delivery=self._reported)
        self._producer.poll(0)
        self.count += 1

    def check(self) -> None:
        """Each number is in the topic's only partition once, in order."""
        assert self._producer.flush(_FLUSH_S) == 0
        assert self._errors == []
        del self._producer  # which would look for the proxy for ever
        consumer = self._kafka.Consumer({"bootstrap.servers": self._servers, "group.id": self.name})
        consumer.assign([self._kafka.TopicPartition(self.name, 0, 0)])
        found: list[bytes] = []
        deadline = time.monotonic() + _FLUSH_S
        while len(found) < self.count and time.monotonic() < deadline:
            found += [each.value() for each in consumer.consume(_READ, 1.0)]
        consumer.close()
        assert found == [b"%d" % number for number in range(self.count)]

    def _reported(self, error: object, _: object) -> None:
        if error is not None:
            self._errors.append(error)
