"""Admin clients that create a topic, with short timeouts: what each says of it."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from kafka_admin_proto.admin import NewTopic, SyncAdminClient
from tests.admin.live.helpers.kafka_python import kafka_python_admin

TIMEOUT_S = 1.5
_TIMEOUT_MS = int(TIMEOUT_S * 1000)
CREATED = "created"

#: Creates a topic of that name; CREATED, or the error's text.
Create = Callable[[str], str]


@contextmanager
def kafka_python(bootstrap: str) -> Iterator[Create]:
    """kafka-python's, which does not wait while it is throttled."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from kafka.admin import NewTopic as Theirs

        settings = {"request_timeout_ms": _TIMEOUT_MS, "retry_backoff_ms": 50}
        with kafka_python_admin(bootstrap, **settings) as client:

            def create(name: str) -> str:
                try:
                    client.create_topics([Theirs(name, 1, 1)])
                except Exception as error:
                    return f"{type(error).__name__}: {error}"
                return CREATED

            yield create


@contextmanager
def aiokafka(bootstrap: str) -> Iterator[Create]:
    """aiokafka's."""
    from aiokafka.admin import AIOKafkaAdminClient
    from aiokafka.admin import NewTopic as Theirs

    async def started() -> AIOKafkaAdminClient:
        client = AIOKafkaAdminClient(
            bootstrap_servers=bootstrap, request_timeout_ms=_TIMEOUT_MS, retry_backoff_ms=50
        )
        await client.start()
        return client

    loop = asyncio.new_event_loop()
    client = loop.run_until_complete(started())

    def create(name: str) -> str:
        try:
            answer = loop.run_until_complete(client.create_topics([Theirs(name, 1, 1)]))
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        ((_, code, message),) = answer.topic_errors
        return f"{code} {message}" if code else CREATED

    try:
        yield create
    finally:
        loop.run_until_complete(client.close())
        loop.close()


@contextmanager
def librdkafka(bootstrap: str) -> Iterator[Create]:
    """confluent-kafka's."""
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AdminClient

    # The module takes it from its C part, and mypy sees no export of it.
    from confluent_kafka.admin import NewTopic as Theirs  # type: ignore[attr-defined]

    client = AdminClient(
        {
            "bootstrap.servers": bootstrap,
            "log_level": 0,
            "socket.timeout.ms": _TIMEOUT_MS,
            "reconnect.backoff.ms": 20,
            "reconnect.backoff.max.ms": 50,
        }
    )

    def create(name: str) -> str:
        topics = client.create_topics([Theirs(name, 1, 1)], request_timeout=TIMEOUT_S)
        try:
            topics[name].result()
        except KafkaException as error:
            return repr(error.args[0])
        return CREATED

    yield create


@contextmanager
def ours(bootstrap: str) -> Iterator[Create]:
    """Our own."""
    with SyncAdminClient(bootstrap, request_timeout=TIMEOUT_S) as client:

        def create(name: str) -> str:
            try:
                (created,) = client.create_topics([NewTopic(name, 1, 1)], timeout=2 * TIMEOUT_S)
            except Exception as error:
                return f"{type(error).__name__}: {error}"
            return CREATED if created.error is None else f"{created.error} {created.message}"

        yield create


CLIENTS: dict[str, Callable[[str], AbstractContextManager[Create]]] = {
    "kafka-python": kafka_python,
    "aiokafka": aiokafka,
    "librdkafka": librdkafka,
    "ours": ours,
}
