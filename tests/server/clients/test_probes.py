"""Producers of other projects, with their defaults: each probes the cluster with ApiVersions."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Iterator

import pytest

from kafka_admin_proto.admin import NewTopic, SyncAdminClient
from kafka_admin_proto.server import SyncCluster
from tests.admin.live.helpers.kafka_python import kafka_python, kafka_python_admin
from tests.admin.live.helpers.kafka_tools import KafkaTools
from tools.kafka_releases import NEWEST
from tools.oracles.jars import fetch_runtime

_FLUSH_S = 30.0


@pytest.fixture(scope="module", params=["4.4", "3.9"])
def cluster(request: pytest.FixtureRequest) -> Iterator[SyncCluster]:
    with SyncCluster(1, release=request.param) as found:
        with SyncAdminClient(found.bootstrap_servers) as admin:
            (created,) = admin.create_topics([NewTopic("probed", 1, 1)])
            assert created.error is None
        yield found


@pytest.mark.exhaustive
def test_kafka_python_finds_the_release(cluster: SyncCluster) -> None:
    with kafka_python_admin(cluster.bootstrap_servers) as admin:
        found = admin.get_broker_version_data(1).broker_version
    newest = (4, 3)  # that kafka-python knows
    assert found == min(cluster.state.release, newest)


def values(cluster: SyncCluster) -> list[bytes | None]:
    return [each.value for each in cluster.records("probed")]


@pytest.mark.exhaustive
def test_kafka_pythons_producer(cluster: SyncCluster) -> None:
    with kafka_python() as kafka:
        producer = kafka.KafkaProducer(bootstrap_servers=cluster.bootstrap_servers)
        producer.send("probed", b"kafka-python").get(_FLUSH_S)
        producer.close()
    assert b"kafka-python" in values(cluster)


def test_aiokafkas_producer(cluster: SyncCluster) -> None:
    async def produce() -> None:
        from aiokafka import AIOKafkaProducer

        async with AIOKafkaProducer(bootstrap_servers=cluster.bootstrap_servers) as producer:
            await asyncio.wait_for(producer.send_and_wait("probed", b"aiokafka"), _FLUSH_S)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        asyncio.run(produce())
    assert b"aiokafka" in values(cluster)


def test_librdkafkas_producer(cluster: SyncCluster) -> None:
    from confluent_kafka import Producer

    found: list[object] = []
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
    producer.produce("probed", b"librdkafka", on_delivery=lambda error, _: found.append(error))
    assert producer.flush(_FLUSH_S) == 0
    assert found == [None]
    assert b"librdkafka" in values(cluster)


@pytest.fixture(scope="module")
def kafka_tools() -> Iterator[KafkaTools]:
    tools = KafkaTools(fetch_runtime(NEWEST))
    yield tools
    tools.close()


@pytest.mark.exhaustive
def test_javas_producer(cluster: SyncCluster, kafka_tools: KafkaTools) -> None:
    kafka_tools.run(
        "ConsoleProducer", "--sync", "--topic", "probed",
        "--bootstrap-server", cluster.bootstrap_servers, stdin="java\n",
    )  # fmt: skip
    assert b"java" in values(cluster)
