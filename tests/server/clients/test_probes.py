"""Clients of a cluster whose ApiVersions has neither Produce nor Fetch.

Each probes with ApiVersions: its admin client goes on, its producer says that it cannot.
"""

from __future__ import annotations

import asyncio
import subprocess
import warnings
from collections.abc import Iterator

import pytest

from kafka_admin_proto.admin import SyncAdminClient
from kafka_admin_proto.admin.operations.topics.creation import NewTopic
from kafka_admin_proto.server import SyncCluster
from tests.admin.live.helpers.kafka_python import kafka_python_admin
from tests.helpers.java_tool import JVM_OPTIONS
from tests.helpers.requirements import require_oracle
from tools.clusters import NEWEST_BROKER, class_path
from tools.oracles.jars import fetch_runtime

#: The least that librdkafka waits; nothing is sent within it.
_MESSAGE_TIMEOUT_MS = 100
_FLUSH_S = 30.0
_JAVA_S = 120.0
#: What kafka-python takes a release for: it knows 3.9 from 3.3 by Fetch's versions alone.
_FOUND = {"4.3": "4.3", "3.9": "3.3"}


@pytest.fixture(scope="module", params=["4.3", "3.9"])
def cluster(request: pytest.FixtureRequest) -> Iterator[SyncCluster]:
    with SyncCluster(1, release=request.param) as found:
        with SyncAdminClient(found.bootstrap_servers) as admin:
            (created,) = admin.create_topics([NewTopic("probed", 1, 1)])
            assert created.error is None
        yield found


def test_kafka_python_finds_the_release(cluster: SyncCluster) -> None:
    with kafka_python_admin(cluster.bootstrap_servers) as admin:
        found = admin.get_broker_version_data(1).broker_version
    assert ".".join(map(str, found)) == _FOUND[cluster.state.release]


def test_kafka_pythons_producer_says_so(cluster: SyncCluster) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from kafka import KafkaProducer
        from kafka.errors import IncompatibleBrokerVersion

        producer = KafkaProducer(bootstrap_servers=cluster.bootstrap_servers)
        try:
            with pytest.raises(IncompatibleBrokerVersion):
                producer.send("probed", b"value").get(_FLUSH_S)
        finally:
            producer.close(0)


def test_aiokafkas_producer_says_so(cluster: SyncCluster) -> None:
    async def produce() -> None:
        from aiokafka import AIOKafkaProducer
        from aiokafka.errors import IncompatibleBrokerVersion

        producer = AIOKafkaProducer(bootstrap_servers=cluster.bootstrap_servers)
        try:
            await producer.start()
            with pytest.raises(IncompatibleBrokerVersion):
                await asyncio.wait_for(producer.send_and_wait("probed", b"value"), _FLUSH_S)
        finally:
            await producer.stop()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        asyncio.run(produce())


def test_librdkafkas_producer_waits_in_vain(cluster: SyncCluster) -> None:
    from confluent_kafka import Producer

    found: list[str] = []
    producer = Producer(
        {
            "bootstrap.servers": cluster.bootstrap_servers,
            "message.timeout.ms": _MESSAGE_TIMEOUT_MS,
            "log_level": 0,
        }
    )
    producer.produce("probed", b"value", on_delivery=lambda error, _: found.append(str(error)))
    assert producer.flush(_FLUSH_S) == 0
    assert ["Local: Message timed out" in each for each in found] == [True]


@pytest.mark.exhaustive
def test_javas_producer_says_so(cluster: SyncCluster) -> None:
    require_oracle()
    done = subprocess.run(
        ["java", *JVM_OPTIONS, "-cp", class_path(fetch_runtime(NEWEST_BROKER)),
         "org.apache.kafka.tools.ConsoleProducer", "--sync", "--topic", "probed",
         "--bootstrap-server", cluster.bootstrap_servers],
        input="value\n", capture_output=True, text=True, timeout=_JAVA_S, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    text = "UnsupportedVersionException: The node does not support INIT_PRODUCER_ID"
    assert text in done.stderr
