"""Producers and consumers of kafka-python, aiokafka and librdkafka, behind one interface."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest

from tests.admin.live.helpers.kafka_python import kafka_python, kafka_python_consumer

#: Seconds that a client may take for a step.
PATIENCE_S = 30.0
_PATIENCE_MS = int(PATIENCE_S * 1000)


class Row(msgspec.Struct, frozen=True):
    """A record as its producer gives it, and as consumers and the cluster return it."""

    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]
    timestamp: int


CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
#: 2023-11-14; the records are from about then.
WHEN_MS = 1_700_000_000_123
#: What is easily lost: nulls beside empty values, doubled headers, times out of order.
ROWS = (
    Row(b"key", b"value", (("h", b"1"), ("h", b"2"), ("i", b"")), WHEN_MS),
    Row(None, b"no key", (), WHEN_MS - 60_000),
    Row(b"deleted", None, (("why", b"\xff\x00"),), WHEN_MS + 60_000),
    Row(b"", b"", (("empty", b""),), WHEN_MS),
)


def _produce_kafka_python(servers: str, topic: str, codec: str, rows: Sequence[Row]) -> None:
    with kafka_python() as kafka:
        producer = kafka.KafkaProducer(
            bootstrap_servers=servers, compression_type=None if codec == "none" else codec,
            linger_ms=1000,
        )  # fmt: skip
        with contextlib.closing(producer):
            sent = [
                producer.send(
                    topic, key=each.key, value=each.value, headers=list(each.headers),
                    timestamp_ms=each.timestamp, partition=0,
                )
                for each in rows
            ]  # fmt: skip
            producer.flush(PATIENCE_S)
            assert [each.get(0).offset for each in sent] == list(range(len(rows)))


def _produce_aiokafka(servers: str, topic: str, codec: str, rows: Sequence[Row]) -> None:
    aiokafka = pytest.importorskip("aiokafka")

    async def produce() -> None:
        async with aiokafka.AIOKafkaProducer(
            bootstrap_servers=servers, compression_type=None if codec == "none" else codec,
            linger_ms=100,
        ) as producer:  # fmt: skip
            sent = [
                await producer.send(
                    topic, key=each.key, value=each.value, headers=list(each.headers),
                    timestamp_ms=each.timestamp, partition=0,
                )
                for each in rows
            ]  # fmt: skip
            assert [(await each).offset for each in sent] == list(range(len(rows)))

    asyncio.run(asyncio.wait_for(produce(), PATIENCE_S))


def _produce_librdkafka(servers: str, topic: str, codec: str, rows: Sequence[Row]) -> None:
    confluent_kafka = pytest.importorskip("confluent_kafka")
    found: list[Any] = []
    producer = confluent_kafka.Producer(
        {"bootstrap.servers": servers, "compression.type": codec, "linger.ms": 100}
    )
    for each in rows:
        producer.produce(
            topic, each.value, each.key, 0, timestamp=each.timestamp, headers=list(each.headers),
            on_delivery=lambda error, message: found.append((error, message.offset())),
        )  # fmt: skip
    assert producer.flush(PATIENCE_S) == 0
    assert found == [(None, offset) for offset in range(len(rows))]


def _consume_kafka_python(servers: str, topic: str, count: int) -> list[Row]:
    with kafka_python() as kafka:
        consumer = kafka_python_consumer(
            kafka, topic, bootstrap_servers=servers, auto_offset_reset="earliest",
            consumer_timeout_ms=_PATIENCE_MS,
        )  # fmt: skip
        with contextlib.closing(consumer):
            return [_row(next(consumer)) for _ in range(count)]


def _consume_aiokafka(servers: str, topic: str, count: int) -> list[Row]:
    aiokafka = pytest.importorskip("aiokafka")

    async def consume() -> list[Row]:
        async with aiokafka.AIOKafkaConsumer(
            topic, bootstrap_servers=servers, auto_offset_reset="earliest"
        ) as consumer:
            return [_row(await consumer.getone()) for _ in range(count)]

    return asyncio.run(asyncio.wait_for(consume(), PATIENCE_S))


def _row(record: Any) -> Row:
    """A record of kafka-python or aiokafka, whose fields have the same names."""
    return Row(record.key, record.value, tuple(map(tuple, record.headers)), record.timestamp)


def _consume_librdkafka(servers: str, topic: str, count: int) -> list[Row]:
    confluent_kafka = pytest.importorskip("confluent_kafka")
    consumer = confluent_kafka.Consumer({"bootstrap.servers": servers, "group.id": "unused"})
    found: list[Row] = []
    deadline = time.monotonic() + PATIENCE_S
    consumer.assign([confluent_kafka.TopicPartition(topic, 0, 0)])
    try:
        while len(found) < count and time.monotonic() < deadline:
            for each in consumer.consume(count - len(found), 0.1):
                assert each.error() is None
                headers = tuple(each.headers() or ())
                found.append(Row(each.key(), each.value(), headers, each.timestamp()[1]))
    finally:
        consumer.close()
    return found


#: (bootstrap servers, topic, compression, rows for partition 0 of a new topic)
PRODUCERS: dict[str, Callable[[str, str, str, Sequence[Row]], None]] = {
    "kafka-python": _produce_kafka_python,
    "aiokafka": _produce_aiokafka,
    "librdkafka": _produce_librdkafka,
}
#: (bootstrap servers, topic, how many rows) → the first rows
CONSUMERS: dict[str, Callable[[str, str, int], list[Row]]] = {
    "kafka-python": _consume_kafka_python,
    "aiokafka": _consume_aiokafka,
    "librdkafka": _consume_librdkafka,
}
