"""Another project's admin client, as a second witness."""

from __future__ import annotations

import contextlib
import gc
import warnings
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def kafka_python() -> Iterator[Any]:
    """The package. Its own warnings are not the tests' concern, nor are sockets that it leaves.

    These are in cycles, and the collector would find them in another test, as an error of that one.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import kafka

        try:
            yield kafka
        finally:
            gc.collect()


def kafka_python_consumer(kafka: Any, *topics: str, **configs: Any) -> Any:
    """A KafkaConsumer that asks for metadata each second.

    It forgets a subscription of a moment in which it asks for metadata, those of its constructor
    too, and would read nothing until it asks again after five minutes.
    """
    return kafka.KafkaConsumer(*topics, metadata_max_age_ms=1000, **configs)


@contextlib.contextmanager
def kafka_python_admin(bootstrap: str, **options: Any) -> Iterator[Any]:
    """A KafkaAdminClient, closed behind the block."""
    with kafka_python() as kafka:
        client = kafka.KafkaAdminClient(bootstrap_servers=bootstrap, **options)
        with contextlib.closing(client):
            yield client


def brokers_of(bootstrap: str, **options: Any) -> dict[int, tuple[int, str | None]]:
    """Port and rack of each broker by its id, as kafka-python describes the cluster."""
    with kafka_python_admin(bootstrap, **options) as client:
        rows = client.describe_cluster()["brokers"]
    return {row["broker_id"]: (row["port"], row["rack"]) for row in rows}
