"""Waiting until each broker, asked by itself, has heard of what a controller has answered."""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Awaitable, Callable
from typing import Any

from kafka_admin_proto.admin import AdminClient, Reply, Target
from tools.clusters import Cluster

#: Whether a broker has heard of it.
Heard = Callable[[AdminClient], Awaitable[bool]]

#: Seconds: brokers hear within one, but machines may be slow.
_HEARD_S = 60.0
_PAUSE_S = 0.2


class OneBroker(AdminClient):
    """A client that asks one broker what it would ask any."""

    def __init__(self, bootstrap: str, broker: int, **settings: Any) -> None:
        super().__init__(bootstrap, **settings)
        self._one = broker

    async def call(self, *arguments: Any, **named: Any) -> Reply[Any]:
        if named.get("to", Target.ANY) is Target.ANY:
            named["to"] = self._one
        return await super().call(*arguments, **named)


def heard_everywhere(cluster: Cluster, heard: Heard, what: str) -> None:
    """Wait until ``heard`` is true of each broker. AssertionError, with ``what``, if never."""
    asyncio.run(until_heard(cluster, heard, what))


async def until_heard(cluster: Cluster, heard: Heard, what: str) -> None:
    """The same within an event loop."""
    for broker in cluster.nodes:
        async with OneBroker(cluster.bootstrap, broker, timeout=_HEARD_S) as client:
            await until(functools.partial(heard, client), f"broker {broker}: {what}")


async def until(happened: Callable[[], Awaitable[bool]], what: str) -> None:
    """Wait until ``happened`` is true. AssertionError, with ``what``, if never."""
    end = time.monotonic() + _HEARD_S
    while not await happened():
        assert time.monotonic() < end, f"{what}: not within {_HEARD_S:.0f} s"
        await asyncio.sleep(_PAUSE_S)


def replicas_everywhere(cluster: Cluster, topic: str, replicas: list[list[int]]) -> None:
    """Wait until each broker shows these replicas of a topic, and no others."""

    async def heard(client: AdminClient) -> bool:
        (found,) = await client.describe_topics([topic])
        return [each.replicas for each in found.partitions] == replicas

    heard_everywhere(cluster, heard, f"the replicas {replicas} of {topic}")
