"""Idempotent producers whose answers get lost: each record is in the log once, in order."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator

import pytest

from kafka_admin_proto.server import SyncCluster
from tests.admin.live.helpers.kafka_python import kafka_python
from tests.server.clients.record_clients import PATIENCE_S

_VALUES = [b"%03d" % number for number in range(120)]
#: How long a client waits for an answer before it sends the batch again.
_TIMEOUT_S = 1.0
#: What happens to the first two requests; nothing but a timeout ends the wait for a dropped answer.
_FAULTS = (
    "cut=before",
    "cut=within",
    "error=NOT_LEADER_OR_FOLLOWER",
    "error=NOT_ENOUGH_REPLICAS_AFTER_APPEND",
    pytest.param("drop=request", marks=pytest.mark.exhaustive),
    pytest.param("drop=answer", marks=pytest.mark.exhaustive),
)
#: (bootstrap servers, topic): write the values, a few in each batch, several batches in flight.
Write = Callable[[str, str], None]


def _kafka_python(servers: str, topic: str) -> None:
    with kafka_python() as kafka:
        producer = kafka.KafkaProducer(
            bootstrap_servers=servers, enable_idempotence=True, batch_size=100, retry_backoff_ms=20,
            request_timeout_ms=int(_TIMEOUT_S * 1000), reconnect_backoff_ms=20,
            delivery_timeout_ms=int(PATIENCE_S * 1000),
        )  # fmt: skip
        with contextlib.closing(producer):
            sent = [producer.send(topic, each, partition=0) for each in _VALUES]
            producer.flush(PATIENCE_S)
            assert sorted(each.get(0).offset for each in sent) == list(range(len(_VALUES)))


def _aiokafka(servers: str, topic: str) -> None:
    aiokafka = pytest.importorskip("aiokafka")

    async def write() -> None:
        async with aiokafka.AIOKafkaProducer(
            bootstrap_servers=servers, enable_idempotence=True, retry_backoff_ms=20,
            request_timeout_ms=int(_TIMEOUT_S * 1000),
        ) as producer:  # fmt: skip
            # It gives up a record that waits longer than a request for its place in a batch.
            for start in range(0, len(_VALUES), 10):
                batch = _VALUES[start : start + 10]
                for each in [await producer.send(topic, value, partition=0) for value in batch]:
                    await each

    asyncio.run(asyncio.wait_for(write(), PATIENCE_S))


def _librdkafka(servers: str, topic: str, *, idempotent: bool = True) -> None:
    confluent_kafka = pytest.importorskip("confluent_kafka")
    errors: list[object] = []
    producer = confluent_kafka.Producer(
        {
            "bootstrap.servers": servers, "enable.idempotence": idempotent, "log_level": 0,
            "acks": "all", "linger.ms": 5, "batch.num.messages": 10, "retry.backoff.ms": 20,
            "request.timeout.ms": int(_TIMEOUT_S * 1000), "reconnect.backoff.ms": 20,
            "socket.timeout.ms": int(_TIMEOUT_S * 1000), "retries": 20,
        }
    )  # fmt: skip
    for each in _VALUES:
        producer.produce(
            topic, each, partition=0, on_delivery=lambda error, _: errors.append(error)
        )
    assert producer.flush(PATIENCE_S) == 0
    assert errors == [None] * len(_VALUES)


_WRITERS: dict[str, Write] = {
    "kafka-python": _kafka_python,
    "aiokafka": _aiokafka,
    "librdkafka": _librdkafka,
}


@pytest.fixture
def cluster() -> Iterator[SyncCluster]:
    with SyncCluster(1, topics={"orders": 1}) as found:
        yield found


def _values(cluster: SyncCluster) -> list[bytes | None]:
    return [each.value for each in cluster.records("orders")]


@pytest.mark.exhaustive
@pytest.mark.parametrize("effect", _FAULTS)
@pytest.mark.parametrize("client", _WRITERS)
def test_each_record_once_and_in_order(cluster: SyncCluster, client: str, effect: str) -> None:
    fault = cluster.faults.add_text(f"api=Produce count=2 {effect}")
    _WRITERS[client](cluster.bootstrap_servers, "orders")
    assert fault.fired == 2
    assert _values(cluster) == _VALUES


def test_without_idempotence_a_lost_answer_doubles_records(cluster: SyncCluster) -> None:
    """What the test above would see of a cluster that does not know a batch again."""
    cluster.faults.add_text("api=Produce count=2 cut=within")
    _librdkafka(cluster.bootstrap_servers, "orders", idempotent=False)
    found = _values(cluster)
    assert set(found) == set(_VALUES)
    assert len(found) > len(_VALUES)
