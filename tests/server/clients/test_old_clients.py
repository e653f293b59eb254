"""Clients of brokers from before record batches: their message sets are taken and given."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import pytest

from kafka_admin_proto.records.batches.model import COMPRESSIONS
from kafka_admin_proto.server import SyncCluster
from tests.admin.live.helpers.kafka_python import kafka_python, kafka_python_consumer

_COUNT = 20
_WAIT_S = 30


@pytest.fixture
def cluster() -> Iterator[SyncCluster]:
    with SyncCluster(topics={"orders": 1}, release="3.9") as found:
        yield found


def _values(values: list[bytes | None]) -> list[int]:
    return [int(each or b"") for each in values]


@pytest.mark.parametrize("compression", COMPRESSIONS[:4])
def test_librdkafka(cluster: SyncCluster, compression: str) -> None:
    confluent_kafka = pytest.importorskip("confluent_kafka")
    config: dict[str, str | int | float | bool] = {
        "bootstrap.servers": cluster.bootstrap_servers,
        "api.version.request": False,
        "broker.version.fallback": "0.9.0.1",
        "log_level": 0,
    }
    producer = confluent_kafka.Producer(
        {**config, "compression.type": compression, "linger.ms": 50}
    )
    for number in range(_COUNT):
        producer.produce("orders", key="k", value=str(number))
    assert not producer.flush(_WAIT_S)
    consumer = confluent_kafka.Consumer(
        {**config, "group.id": "g", "auto.offset.reset": "earliest"}
    )
    consumer.subscribe(["orders"])
    found = consumer.consume(_COUNT, timeout=_WAIT_S)
    consumer.close()
    assert _values([each.value() for each in found]) == list(range(_COUNT))
    assert {each.version for each in cluster.requests.of("Produce")} == {1}
    assert {each.version for each in cluster.requests.of("Fetch")} == {1}


@pytest.mark.exhaustive
@pytest.mark.parametrize("compression", [None, "gzip"])
@pytest.mark.parametrize(("release", "version"), [((0, 9), 1), ((0, 10), 2)])
def test_kafka_python(
    cluster: SyncCluster, release: tuple[int, int], version: int, compression: str | None
) -> None:
    servers = cluster.bootstrap_servers
    with kafka_python() as kafka:
        producer = kafka.KafkaProducer(
            bootstrap_servers=servers, api_version=release, compression_type=compression
        )
        for number in range(_COUNT):
            producer.send("orders", key=b"k", value=str(number).encode())
        producer.flush(_WAIT_S)
        producer.close()
        consumer = kafka_python_consumer(
            kafka, "orders", bootstrap_servers=servers, api_version=release,
            auto_offset_reset="earliest", consumer_timeout_ms=_WAIT_S * 1000,
        )  # fmt: skip
        found = [each.value for each in islice(consumer, _COUNT)]
        consumer.close()
    asked = [(each.time_ms, each.api, each.body) for each in cluster.requests]
    assert _values(found) == list(range(_COUNT)), asked
    assert {each.version for each in cluster.requests.of("Produce")} == {version}
    assert {each.version for each in cluster.requests.of("Fetch")} == {version}
