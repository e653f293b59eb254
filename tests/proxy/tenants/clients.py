"""What clients of other projects do as tenants: the topics ``orders`` and ``bills`` are there."""

from __future__ import annotations

import contextlib
import time
from typing import Any

import pytest

from tests.admin.live.helpers.kafka_python import kafka_python, kafka_python_consumer

_PATIENCE_S = 30.0


def read_and_write(servers: str, value: bytes) -> list[bytes]:
    """Write and read in a group of two topics by pattern, whose assignment names them."""
    with kafka_python() as kafka:
        producer = kafka.KafkaProducer(bootstrap_servers=servers)
        with contextlib.closing(producer):
            assert producer.send("orders", value).get(_PATIENCE_S).topic == "orders"
        consumer = kafka_python_consumer(
            kafka, bootstrap_servers=servers, group_id="readers", auto_offset_reset="earliest",
            consumer_timeout_ms=int(_PATIENCE_S * 1000),
        )  # fmt: skip
        with contextlib.closing(consumer):
            consumer.subscribe(pattern="^orders$")
            found = [next(consumer).value]
            assert {each.topic for each in consumer.assignment()} == {"orders"}
            consumer.commit()
        return found


def transact_and_read(servers: str, value: bytes, **options: Any) -> list[bytes]:
    """Write in a transaction, and read in a group."""
    confluent_kafka = pytest.importorskip("confluent_kafka")
    producer = confluent_kafka.Producer(
        {"bootstrap.servers": servers, "transactional.id": "writer", "linger.ms": 0}
    )
    producer.init_transactions(_PATIENCE_S)
    producer.begin_transaction()
    producer.produce("bills", value)
    producer.commit_transaction(_PATIENCE_S)
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": servers, "auto.offset.reset": "earliest",
            "isolation.level": "read_committed", **options,
        }
    )  # fmt: skip
    consumer.subscribe(["^bil.*"])
    found: list[bytes] = []
    deadline = time.monotonic() + _PATIENCE_S
    while not found and time.monotonic() < deadline:
        message = consumer.poll(0.2)
        if message is not None and not message.error():
            assert message.topic() == "bills"
            found.append(message.value())
            consumer.commit(message, asynchronous=False)
    assert {each.topic for each in consumer.assignment()} == {"bills"}
    consumer.close()
    return found
