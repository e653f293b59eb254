"""A Fetch waits on a broker that ends: its connection is closed, and nothing waits any more."""

from __future__ import annotations

import asyncio

import pytest

from kafka_admin_proto.protocol import frame, write_request
from kafka_admin_proto.server import Cluster
from tests.server.brokers.test_views import until
from tests.server.handlers.records.asked import fetching
from tests.server.network.test_waits import waiting


@pytest.mark.parametrize("end", ["stop_broker", "kill_broker"])
async def test_the_broker_ends(end: str) -> None:
    async with Cluster(3, topics={"t": 3}) as cluster:
        (topic,) = cluster.state.cluster.topics.values()
        leader = topic.partitions[0].leader
        host, _, port = cluster.bootstrap_servers.split(",")[leader - 1].rpartition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        request = fetching(("t", 0, 0), max_wait_ms=600_000)
        writer.write(frame(write_request(request, 12, 1)))
        await until(lambda: waiting(cluster) == 1)
        await getattr(cluster, end)(leader)
        assert await reader.read() == b""
        assert waiting(cluster) == 0
        writer.close()
