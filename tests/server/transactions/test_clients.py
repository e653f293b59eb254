"""Transactional producers of kafka-python, aiokafka and librdkafka."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kafka_admin_proto.admin import SyncAdminClient
from kafka_admin_proto.server import SyncCluster
from tests.admin.live.helpers.kafka_python import kafka_python, kafka_python_consumer

_PATIENCE_S = 30.0
#: (bootstrap servers, transactional id): write "kept", abort "lost", write "also kept".
Write = Callable[[str, str], None]
_WRITTEN = ((b"kept", True), (b"lost", False), (b"also kept", True))


def _kafka_python(servers: str, name: str) -> None:
    with kafka_python() as kafka:
        producer = kafka.KafkaProducer(
            bootstrap_servers=servers, transactional_id=name, max_block_ms=int(_PATIENCE_S * 1000)
        )
        with contextlib.closing(producer):
            producer.init_transactions()
            for value, commit in _WRITTEN:
                producer.begin_transaction()
                producer.send(name, value).get(_PATIENCE_S)
                (producer.commit_transaction if commit else producer.abort_transaction)()


def _aiokafka(servers: str, name: str) -> None:
    aiokafka = pytest.importorskip("aiokafka")

    async def write() -> None:
        async with aiokafka.AIOKafkaProducer(
            bootstrap_servers=servers, transactional_id=name
        ) as producer:
            for value, commit in _WRITTEN:
                await producer.begin_transaction()
                await producer.send_and_wait(name, value)
                await (producer.commit_transaction() if commit else producer.abort_transaction())

    asyncio.run(asyncio.wait_for(write(), _PATIENCE_S))


def _librdkafka(servers: str, name: str) -> None:
    confluent_kafka = pytest.importorskip("confluent_kafka")
    producer = confluent_kafka.Producer(
        {"bootstrap.servers": servers, "transactional.id": name, "linger.ms": 0}
    )
    producer.init_transactions(_PATIENCE_S)
    for value, commit in _WRITTEN:
        producer.begin_transaction()
        producer.produce(name, value)
        producer.flush(_PATIENCE_S)
        (producer.commit_transaction if commit else producer.abort_transaction)(_PATIENCE_S)


_WRITERS = {"kafka-python": _kafka_python, "aiokafka": _aiokafka, "librdkafka": _librdkafka}


_TOPICS = (*_WRITERS, "fenced", "relayed")


@pytest.fixture(scope="module")
def cluster() -> Iterator[SyncCluster]:
    with SyncCluster(
        3, topics={each: {"partitions": 1, "replication_factor": 3} for each in _TOPICS}
    ) as found:
        yield found


@pytest.mark.parametrize("client", _WRITERS)
def test_a_consumer_of_committed_records_reads_no_others(cluster: SyncCluster, client: str) -> None:
    _WRITERS[client](cluster.bootstrap_servers, client)
    assert _read(cluster.bootstrap_servers, client, 2) == [b"kept", b"also kept"]
    assert [each.value for each in cluster.records(client)] == [b"kept", b"lost", b"also kept"]


def _read(servers: str, topic: str, count: int) -> list[bytes]:
    """The first committed records."""
    with kafka_python() as kafka:
        consumer = kafka_python_consumer(
            kafka, topic, bootstrap_servers=servers, auto_offset_reset="earliest",
            isolation_level="read_committed", consumer_timeout_ms=int(_PATIENCE_S * 1000),
        )  # fmt: skip
        with contextlib.closing(consumer):
            return [next(consumer).value for _ in range(count)]


def test_another_producer_of_the_id_fences_the_first(cluster: SyncCluster) -> None:
    confluent_kafka = pytest.importorskip("confluent_kafka")
    topic = "fenced"
    first, second = (
        confluent_kafka.Producer(
            {"bootstrap.servers": cluster.bootstrap_servers, "transactional.id": topic}
        )
        for _ in range(2)
    )
    first.init_transactions(_PATIENCE_S)
    first.begin_transaction()
    first.produce(topic, b"of a zombie")
    first.flush(_PATIENCE_S)
    second.init_transactions(_PATIENCE_S)
    with pytest.raises(confluent_kafka.KafkaException) as failure:
        first.commit_transaction(_PATIENCE_S)
    assert failure.value.args[0].fatal()
    second.begin_transaction()
    second.produce(topic, b"kept")
    second.commit_transaction(_PATIENCE_S)
    assert _read(cluster.bootstrap_servers, topic, 1) == [b"kept"]


def test_offsets_count_when_their_transaction_commits(cluster: SyncCluster) -> None:
    confluent_kafka = pytest.importorskip("confluent_kafka")
    producer = confluent_kafka.Producer(
        {"bootstrap.servers": cluster.bootstrap_servers, "transactional.id": "relay"}
    )
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": cluster.bootstrap_servers, "group.id": "relay",
            "auto.offset.reset": "earliest", "enable.auto.commit": False,
        }
    )  # fmt: skip
    place = confluent_kafka.TopicPartition("relayed", 0)

    def committed() -> int:
        (found,) = consumer.committed([place], _PATIENCE_S)
        offset: int = found.offset
        return offset

    cluster.produce("relayed", [b"0", b"1", b"2"])
    consumer.subscribe(["relayed"])
    try:
        assert consumer.poll(_PATIENCE_S).value() == b"0"
        producer.init_transactions(_PATIENCE_S)
        for offset, commit, expected in ((2, False, -1001), (3, True, 3)):
            producer.begin_transaction()
            offsets = [confluent_kafka.TopicPartition("relayed", 0, offset)]
            members = consumer.consumer_group_metadata()
            producer.send_offsets_to_transaction(offsets, members, _PATIENCE_S)
            end = producer.commit_transaction if commit else producer.abort_transaction
            end(_PATIENCE_S)
            assert committed() == expected
    finally:
        consumer.close()


def test_a_transaction_goes_on_after_its_coordinator_has_stopped(tmp_path: Path) -> None:
    """Also after a start of the whole cluster, which has its state on disk."""
    confluent_kafka = pytest.importorskip("confluent_kafka")
    configs = {"offsets.topic.num.partitions": 1, "transaction.state.log.num.partitions": 1}
    orders = {"partitions": 1, "replication_factor": 3}
    with SyncCluster(
        3, data=tmp_path / "data", topics={"orders": orders}, configs=configs
    ) as cluster:
        producer = confluent_kafka.Producer(
            {"bootstrap.servers": cluster.bootstrap_servers, "transactional.id": "t"}
        )
        producer.init_transactions(_PATIENCE_S)
        producer.begin_transaction()
        producer.produce("orders", b"kept")
        producer.flush(_PATIENCE_S)
        with SyncAdminClient(cluster.bootstrap_servers) as admin:
            leader = admin.describe_transactions(["t"])[0].coordinator
        assert leader is not None
        cluster.stop_broker(leader)
        producer.commit_transaction(_PATIENCE_S)
        assert _read(cluster.bootstrap_servers, "orders", 1) == [b"kept"]
        cluster.start_broker(leader)
        producer.begin_transaction()
        producer.produce("orders", b"open")
        producer.flush(_PATIENCE_S)
    with SyncCluster(3, data=tmp_path / "data", configs=configs) as cluster:
        again = confluent_kafka.Producer(
            {"bootstrap.servers": cluster.bootstrap_servers, "transactional.id": "t"}
        )
        again.init_transactions(_PATIENCE_S)
        again.begin_transaction()
        again.produce("orders", b"also kept")
        again.commit_transaction(_PATIENCE_S)
        assert _read(cluster.bootstrap_servers, "orders", 2) == [b"kept", b"also kept"]
