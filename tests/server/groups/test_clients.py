"""Consumers of kafka-python, aiokafka and librdkafka in groups, and `kap` about these."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_admin_proto.server import SyncCluster
from tests.admin.live.helpers.kafka_python import kafka_python, kafka_python_consumer
from tests.helpers.kap import ended, run_kap

_RECORDS = [f"{number}".encode() for number in range(10)]
_PATIENCE_S = 30.0


def _kafka_python(servers: str, group: str, count: int) -> list[bytes]:
    with kafka_python() as kafka:
        consumer = kafka_python_consumer(
            kafka, "orders", bootstrap_servers=servers, group_id=group,
            auto_offset_reset="earliest", enable_auto_commit=False,
            consumer_timeout_ms=int(_PATIENCE_S * 1000),
        )  # fmt: skip
        with contextlib.closing(consumer):
            found = [next(consumer).value for _ in range(count)]
            consumer.commit()
    return found


def _aiokafka(servers: str, group: str, count: int) -> list[bytes]:
    aiokafka = pytest.importorskip("aiokafka")

    async def read() -> list[bytes]:
        async with aiokafka.AIOKafkaConsumer(
            "orders", bootstrap_servers=servers, group_id=group, auto_offset_reset="earliest",
            enable_auto_commit=False,
        ) as consumer:  # fmt: skip
            found = [(await consumer.getone()).value for _ in range(count)]
            await consumer.commit()
            return found

    return asyncio.run(asyncio.wait_for(read(), _PATIENCE_S))


def _librdkafka(servers: str, group: str, count: int) -> list[bytes]:
    confluent_kafka = pytest.importorskip("confluent_kafka")
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": servers, "group.id": group, "auto.offset.reset": "earliest",
            "enable.auto.commit": False, "enable.auto.offset.store": False,
        }
    )  # fmt: skip
    found: list[bytes] = []
    deadline = time.monotonic() + _PATIENCE_S
    consumer.subscribe(["orders"])
    try:
        while len(found) < count and time.monotonic() < deadline:
            message = consumer.poll(0.5)
            if message is not None and not message.error():
                found.append(message.value())
                consumer.commit(message, asynchronous=False)
    finally:
        consumer.close()
    return found


_READERS = {"kafka-python": _kafka_python, "aiokafka": _aiokafka, "librdkafka": _librdkafka}


@pytest.fixture(scope="module")
def cluster() -> Iterator[SyncCluster]:
    configs = {"group.initial.rebalance.delay.ms": 0}
    with SyncCluster(
        3, configs=configs, topics={"orders": {"partitions": 1, "replication_factor": 3}}
    ) as found:
        found.produce("orders", _RECORDS)
        yield found


@pytest.mark.exhaustive
@pytest.mark.parametrize("client", _READERS)
def test_a_consumer_goes_on_where_it_was(cluster: SyncCluster, client: str) -> None:
    """Also after its coordinator has stopped, and another broker has loaded the group."""
    read = _READERS[client]
    servers, group = cluster.bootstrap_servers, f"of {client}"
    assert read(servers, group, 4) == _RECORDS[:4]
    assert read(servers, group, 2) == _RECORDS[4:6]
    assert _listed(cluster)[group]["state"] == "Empty"
    stopped = int(_listed(cluster)[group]["coordinator"])
    cluster.stop_broker(stopped)
    assert read(servers, group, 4) == _RECORDS[6:]
    cluster.start_broker(stopped)
    described = _kap(cluster, "groups", "describe", group)
    assert '"lag": 0' in described
    _kap(cluster, "groups", "delete", group, "--yes")
    assert group not in _listed(cluster)


def _listed(cluster: SyncCluster) -> dict[str, Any]:
    """The groups by name, as `kap` lists them."""
    return {
        each["group_id"]: each for each in json.loads(_kap(cluster, "groups", "list"))["groups"]
    }


def _kap(cluster: SyncCluster, *words: str) -> str:
    given = [*words, "--bootstrap-server", cluster.bootstrap_servers, "--output", "json"]
    return ended(run_kap(*given)).stdout


@pytest.mark.exhaustive
def test_groups_are_there_after_a_start(tmp_path: Path) -> None:
    """With ``data`` the topic of the groups is on disk as all others are."""
    for first, last in ((0, 4), (4, 10)):
        with SyncCluster(1, data=tmp_path / "data", topics={"orders": 1}) as cluster:
            if first == 0:
                cluster.produce("orders", _RECORDS)
            count = last - first
            found = _kafka_python(cluster.bootstrap_servers, "billing", count)
            assert found == _RECORDS[first:last]


def test_two_members_share_the_partitions() -> None:
    with kafka_python() as kafka, SyncCluster(1, topics={"orders": {"partitions": 2}}) as cluster:
        members = [
            kafka_python_consumer(
                kafka, "orders", bootstrap_servers=cluster.bootstrap_servers, group_id="billing",
                heartbeat_interval_ms=100,
            )
            for _ in range(2)
        ]  # fmt: skip

        def assigned(expected: list[int]) -> None:
            deadline = time.monotonic() + _PATIENCE_S
            while [len(each.assignment()) for each in members] != expected:
                assert time.monotonic() < deadline, [each.assignment() for each in members]
                for each in members:
                    each.poll(timeout_ms=50)

        try:
            assigned([1, 1])
            members.pop().close()
            assigned([2])
        finally:
            for each in members:
                each.close()
