"""Another project's admin client, as a second witness."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def kafka_python_admin(bootstrap: str, **options: Any) -> Iterator[Any]:
    """A KafkaAdminClient, closed behind the block. Its own warnings are not the tests' concern."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from kafka import KafkaAdminClient

        client = KafkaAdminClient(bootstrap_servers=bootstrap, **options)
        with contextlib.closing(client):
            yield client


def brokers_of(bootstrap: str, **options: Any) -> dict[int, tuple[int, str | None]]:
    """Port and rack of each broker by its id, as kafka-python describes the cluster."""
    with kafka_python_admin(bootstrap, **options) as client:
        rows = client.describe_cluster()["brokers"]
    return {row["broker_id"]: (row["port"], row["rack"]) for row in rows}
