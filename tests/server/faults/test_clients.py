"""Each fault as admin clients see it, and that they go on behind it as if nothing had been."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator

import pytest

from kafka_admin_proto.server import SyncCluster
from tests.server.faults.client_scripts import CLIENTS, CREATED, Create

_TIMED_OUT = {
    "kafka-python": "RequestTimedOutError",
    "aiokafka": "RequestTimedOutError",
    "librdkafka": "_TIMED_OUT",
    "ours": "RequestTimedOutError: CreateTopics was not done within 3 s; waiting for the answer",
}
_LOST = {
    "kafka-python": "KafkaConnectionError|created",
    "aiokafka": "KafkaConnectionError",
    "librdkafka": "_TRANSPORT",
    "ours": CREATED,
}
#: Fault → client → what its first call says; as a regular expression.
QUICK = {
    "error=INVALID_PARTITIONS message=no": {
        "kafka-python": "InvalidPartitionsError",
        "aiokafka": "37 no",
        "librdkafka": 'INVALID_PARTITIONS,val=37,str="no"',
        "ours": "INVALID_PARTITIONS no",
    },
    "error=NOT_CONTROLLER": {  # these ask again: kafka-python, and we
        "kafka-python": CREATED,
        "aiokafka": "41 None",
        "librdkafka": "NOT_CONTROLLER",
        "ours": CREATED,
    },
    "delay-ms=50": dict.fromkeys(CLIENTS, CREATED),
    "throttle-ms=50": dict.fromkeys(CLIENTS, CREATED),
    "cut=before": _LOST,
    "cut=within": _LOST,
    "cut=after": {
        **dict.fromkeys(CLIENTS, CREATED),
        "kafka-python": "created|KafkaConnectionError",  # it may see the end before the answer
    },
}
SLOW = {
    "delay-ms=5000": _TIMED_OUT,
    "drop=answer": _TIMED_OUT,
    "garbage=correlation-id": {
        "kafka-python": "CorrelationIdError|KafkaConnectionError|created",
        "aiokafka": "CorrelationIdError",
        "librdkafka": "_TIMED_OUT",
        "ours": CREATED,
    },
    "garbage=size": {
        "kafka-python": "InvalidReceiveError",
        "aiokafka": "RequestTimedOutError",
        "librdkafka": "_BAD_MSG",
        "ours": CREATED,
    },
    "garbage=noise": {
        "kafka-python": "Error|created",
        "aiokafka": "KafkaConnectionError",
        "librdkafka": "_BAD_MSG",
        "ours": CREATED,
    },
}


@pytest.fixture(scope="module", params=CLIENTS)
def client(request: pytest.FixtureRequest) -> Iterator[tuple[str, SyncCluster, Create]]:
    with SyncCluster() as cluster, CLIENTS[request.param](cluster.bootstrap_servers) as create:
        again(create, "first")
        yield request.param, cluster, create


def again(create: Create, name: str) -> None:
    """Ask until it works; a client may still wait for a new connection, or be throttled."""
    wait = threading.Event()
    said = ""
    for turn in range(600):
        said = create(f"{name}-{turn}")
        if said == CREATED:
            return
        wait.wait(0.05)
    raise AssertionError(said)


def seen(client: tuple[str, SyncCluster, Create], fault: str, expected: dict[str, str]) -> None:
    name, cluster, create = client
    topic = re.sub("[^a-z]+", "-", fault)
    with cluster.faults.add_text(f"api=CreateTopics topic={topic} count=1 {fault}") as added:
        said = create(topic)
        assert added.fired == 1
    assert re.search(expected[name], said), said
    again(create, f"after-{topic}")


@pytest.mark.parametrize("fault", QUICK)
def test_what_a_client_sees(client: tuple[str, SyncCluster, Create], fault: str) -> None:
    seen(client, fault, QUICK[fault])


@pytest.mark.exhaustive
@pytest.mark.parametrize("fault", SLOW)
def test_what_a_client_sees_in_a_while(client: tuple[str, SyncCluster, Create], fault: str) -> None:
    seen(client, fault, SLOW[fault])
