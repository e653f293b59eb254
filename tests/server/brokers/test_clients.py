"""Admin clients whose brokers end one after another: they go on with those that run.

The others than ours send what changes something to the controller that Metadata named once, and
are slow to learn of another one or never do, so that they ask for what any broker answers.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from kafka_admin_proto.admin.operations.topics.creation import NewTopic as OurNewTopic
from kafka_admin_proto.admin.sync import SyncAdminClient
from kafka_admin_proto.server import SyncCluster
from tests.helpers.waiting import until
from tests.server.brokers.test_lifecycle import AT_ONCE

_SECONDS = 30
#: Asks for something, or raises; called with a new topic's name.
Ask = Callable[[str], object]


#: kafka-python leaves sockets open when a broker ends: it has a process of its own.
_KAFKA_PYTHON = """
import sys
from kafka import KafkaAdminClient

admin = KafkaAdminClient(
    bootstrap_servers=sys.argv[1], retry_backoff_ms=10, reconnect_backoff_ms=10
)
for line in sys.stdin:
    try:
        answer = len(admin.list_topics())
    except Exception as error:
        answer = repr(error)
    print(answer, flush=True)
"""


@contextlib.contextmanager
def kafka_python(servers: str) -> Iterator[Ask]:
    command = [sys.executable, "-W", "ignore", "-c", _KAFKA_PYTHON, servers]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        requests, answers = process.stdin, process.stdout

        def ask(name: str) -> None:
            requests.write(f"{name}\n")
            requests.flush()
            assert answers.readline().strip().isdecimal()

        yield ask
        process.communicate(timeout=_SECONDS)


@contextlib.contextmanager
def aiokafka(servers: str) -> Iterator[Ask]:
    from aiokafka.admin import AIOKafkaAdminClient

    with warnings.catch_warnings(), asyncio.Runner() as runner:
        warnings.simplefilter("ignore")

        async def started() -> Any:
            admin = AIOKafkaAdminClient(bootstrap_servers=servers, retry_backoff_ms=10)
            await admin.start()
            return admin

        admin = runner.run(started())
        yield lambda _: runner.run(admin.list_topics())
        runner.run(admin.close())


@contextlib.contextmanager
def librdkafka(servers: str) -> Iterator[Ask]:
    import confluent_kafka.admin

    client: Any = confluent_kafka.admin
    settings = {
        "bootstrap.servers": servers,
        "log_level": 0,
        "reconnect.backoff.ms": 10,
        "reconnect.backoff.max.ms": 50,
    }
    admin = client.AdminClient(settings)
    yield lambda _: admin.list_topics(timeout=_SECONDS)


@contextlib.contextmanager
def ours(servers: str) -> Iterator[Ask]:
    with SyncAdminClient(servers) as admin:

        def create(name: str) -> None:
            (created,) = admin.create_topics([OurNewTopic(name, 1, 2)])
            assert created.error is None

        yield create


def _is_fenced(cluster: SyncCluster, broker: int) -> bool:
    return cluster.state.cluster.brokers[broker].fenced


@pytest.mark.parametrize("client", [kafka_python, aiokafka, librdkafka, ours])
def test_a_client_goes_on_with_another_broker(
    client: Callable[[str], contextlib.AbstractContextManager[Ask]],
) -> None:
    with (
        SyncCluster(3, configs=AT_ONCE, sync_delay_s=0.0) as cluster,
        client(cluster.bootstrap_servers) as ask,
    ):
        ask("first")
        for each, end in ((1, cluster.stop_broker), (2, cluster.kill_broker)):
            end(each)
            until(partial(_is_fenced, cluster, each))
            _sooner_or_later(ask, f"without-{each}")
            cluster.start_broker(each)


def _sooner_or_later(ask: Ask, name: str) -> None:
    """A client may report that a connection ended amid a request; the next try goes elsewhere."""
    end = time.monotonic() + _SECONDS
    for attempt in itertools.count():
        try:
            ask(f"{name}-{attempt}")
        except Exception as error:
            assert time.monotonic() < end, error
        else:
            return
