"""KIP-4's timeout: an answer waits until the controller's own metadata has the topics."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

from kafka_admin_proto.messages import CreateTopicsRequest
from kafka_admin_proto.messages.create_topics_request import CreatableTopic
from kafka_admin_proto.protocol import frame, read_response, write_request
from kafka_admin_proto.server import Cluster
from kafka_admin_proto.server.network.limits import NetworkLimits
from tests.server.brokers.test_views import until
from tests.server.handlers.records.asked import fetching
from tests.server.handlers.test_create_topics import topic

_LONG_MS = 60_000
#: Clients that wait at the same time.
_MANY = 300


@asynccontextmanager
async def held_back(**settings: Any) -> AsyncIterator[Cluster]:
    """A cluster with KIP-4's rules whose controller, broker 1, sees no changes."""
    async with Cluster(3, rules="kip-4", **settings) as cluster:
        cluster.delay_metadata(math.inf, 1)
        yield cluster


class Client:
    """A connection to the controller."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    def create(self, *topics: CreatableTopic, version: int = 1, **fields: Any) -> None:
        request = CreateTopicsRequest(list(topics), **{"timeout_ms": _LONG_MS, **fields})
        self.writer.write(frame(write_request(request, version, 1)))

    async def codes(self, version: int = 1) -> list[int]:
        """The codes of the next answer."""
        size = int.from_bytes(await self.reader.readexactly(4), "big")
        payload = await self.reader.readexactly(size)
        body: Any = read_response(payload, api_key=19, api_version=version).body
        return [each.error_code for each in body.topics]


@asynccontextmanager
async def client_of(cluster: Cluster) -> AsyncIterator[Client]:
    host, _, port = cluster.bootstrap_servers.split(",")[0].rpartition(":")
    client = Client(*await asyncio.open_connection(host, int(port)))
    try:
        yield client
    finally:
        client.writer.close()


def waiting(cluster: Cluster) -> int:
    """How many answers wait."""
    service: Any = vars(cluster)["_parts"].service
    return len(vars(service.waits)["_waits"])


#: Enough topics for a large request.
_HEAP = [topic(f"more-{number}") for number in range(60)]


@pytest.mark.parametrize("version", [0, 1, 7])
@pytest.mark.parametrize("more", [[], _HEAP])
async def test_it_blocks_until_the_controller_has_the_topics(
    version: int, more: list[CreatableTopic]
) -> None:
    """c38: the answer comes when its view has them."""
    async with held_back() as cluster, client_of(cluster) as client:
        client.create(topic("a"), topic("b", 0), *more, version=version)
        await until(lambda: waiting(cluster) == 1)
        assert cluster.state.topic("a") is not None
        await cluster.clock.advance(_LONG_MS / 1000 - 10)
        assert waiting(cluster) == 1
        cluster.delay_metadata(0, 1)
        assert await client.codes(version) == [0, 37] + [0] * len(more)


@pytest.mark.parametrize("version", [0, 1, 7])
@pytest.mark.parametrize("more", [[], _HEAP])
async def test_a_timeout_that_ends_first(version: int, more: list[CreatableTopic]) -> None:
    """c41: the topic is there, and the controller hears of it later."""
    async with held_back() as cluster, client_of(cluster) as client:
        client.create(topic("a"), topic("b", 0), *more, version=version)
        await until(lambda: waiting(cluster) == 1)
        await cluster.clock.advance(_LONG_MS / 1000)
        assert await client.codes(version) == [7, 37] + [7] * len(more)
        assert cluster.state.topic("a") is not None
        cluster.delay_metadata(0, 1)
        client.create(topic("a"), version=version)
        assert await client.codes(version) == [36]  # it was created at a later time


async def test_it_takes_the_delay_of_the_controller() -> None:
    """c38: as long as its metadata is behind."""
    lagging = Cluster(rules="kip-4", propagation_delay_s=40)
    async with lagging as cluster, client_of(cluster) as client:
        client.create(topic("a"))
        await until(lambda: waiting(cluster) == 1)
        await cluster.clock.advance(30)
        assert waiting(cluster) == 1
        await cluster.clock.advance(10)
        assert await client.codes() == [0]


async def test_a_partition_without_a_leader_is_waited_for() -> None:
    """c39–c40: a fenced broker leads nothing."""
    async with held_back() as cluster, client_of(cluster) as client:
        client.create(topic("a", assignment={0: [1], 1: [2]}), topic("b"))
        await until(lambda: waiting(cluster) == 1)
        cluster.fence_broker(2)
        cluster.delay_metadata(0, 1)
        await cluster.clock.advance(_LONG_MS / 1000 - 10)
        assert waiting(cluster) == 1
        cluster.unfence_broker(2)
        assert await client.codes() == [0, 0]


async def test_a_topic_that_is_there_in_time_has_no_error() -> None:
    """c53–c55: the late one has its own."""
    async with held_back() as cluster, client_of(cluster) as client:
        client.create(topic("a", assignment={0: [2]}), topic("b", assignment={0: [1]}))
        await until(lambda: waiting(cluster) == 1)
        cluster.fence_broker(2)
        cluster.delay_metadata(0, 1)
        await cluster.clock.advance(_LONG_MS / 1000)
        assert await client.codes() == [7, 0]


@pytest.mark.parametrize(
    ("fields", "code"), [({"timeout_ms": 0}, 7), ({"validate_only": True}, 0), ({"topics": 0}, 37)]
)
async def test_these_do_not_wait(fields: dict[str, Any], code: int) -> None:
    """c42–c43: what has no time, or creates nothing."""
    async with held_back() as cluster, client_of(cluster) as client:
        client.create(topic("a", fields.pop("topics", 1)), **fields)
        assert await client.codes() == [code]


async def test_other_brokers_and_other_rules_are_not_waited_for() -> None:
    """c39–c40: the controller's own cache counts."""
    async with Cluster(3, rules="kip-4") as cluster, client_of(cluster) as client:
        cluster.delay_metadata(math.inf, 2)
        client.create(topic("a"))
        assert await client.codes() == [0]
    async with Cluster(3) as cluster, client_of(cluster) as client:
        cluster.delay_metadata(math.inf)
        client.create(topic("a"), version=7)
        assert await client.codes(7) == [0]


async def test_requests_behind_it_wait_and_other_clients_do_not() -> None:
    async with held_back() as cluster, client_of(cluster) as client, client_of(cluster) as other:
        for number in range(20):  # 20 requests of 20 KB: more than is read of a client that waits
            client.create(topic("a"), topic(f"x{number}" * 10_000, 0), validate_only=number > 0)
        await until(lambda: waiting(cluster) == 1)
        other.create(topic("b"), validate_only=True)
        assert await other.codes() == [0]
        cluster.delay_metadata(0, 1)
        assert [await client.codes() for _ in range(20)] == [[0, 37]] + [[36, 37]] * 19


async def test_a_fault_delays_an_answer_that_has_waited() -> None:
    async with held_back() as cluster, client_of(cluster) as client:
        cluster.faults.add_text("api=CreateTopics delay-ms=10")
        client.create(topic("a"))
        await until(lambda: waiting(cluster) == 1)
        cluster.delay_metadata(0, 1)
        assert await client.codes() == [0]


async def test_a_topic_that_a_fault_refuses_is_not_waited_for() -> None:
    async with held_back() as cluster, client_of(cluster) as client:
        cluster.faults.add_text("api=CreateTopics topic=b error=POLICY_VIOLATION")
        client.create(topic("b"), topic("c"))
        await until(lambda: waiting(cluster) == 1)
        cluster.delay_metadata(0, 1)
        assert await client.codes() == [44, 0]


@pytest.mark.parametrize("more", [[], _HEAP])
async def test_a_client_that_goes_away_is_forgotten_at_once(more: list[CreatableTopic]) -> None:
    async with held_back() as cluster:
        async with client_of(cluster) as client:
            client.create(topic("a"), *more)
            await until(lambda: waiting(cluster) == 1)
        await until(lambda: waiting(cluster) == 0)


async def test_what_a_client_has_sent_behind_it_is_answered_though_it_sends_no_more() -> None:
    """Kafka reads nothing of a client whose answer waits, not even its end."""
    async with held_back() as cluster, client_of(cluster) as client:
        client.create(topic("a"))
        client.create(topic("b"))
        client.writer.write_eof()
        (connection,) = vars(cluster)["_parts"].nodes[1].connections
        await until(lambda: connection._ended and waiting(cluster) == 1)
        cluster.delay_metadata(0, 1)
        assert [await client.codes() for _ in range(2)] == [[0], [0]]
        assert await client.reader.read() == b""
        await until(lambda: not vars(cluster)["_parts"].nodes[1].connections)


async def test_an_idle_client_is_closed_as_others_are() -> None:
    limits = NetworkLimits(idle_ms=100)
    async with held_back(network_limits=limits) as cluster, client_of(cluster) as client:
        client.create(topic("a"))
        await until(lambda: waiting(cluster) == 1)
        await cluster.clock.advance(0.2)
        assert await client.reader.read() == b""
        assert waiting(cluster) == 0


@pytest.mark.exhaustive
async def test_many_clients_wait_side_by_side() -> None:
    async with held_back() as cluster, AsyncExitStack() as opened:
        clients = [await opened.enter_async_context(client_of(cluster)) for _ in range(_MANY)]
        for number, client in enumerate(clients):
            client.create(topic(f"t{number}"))
        await until(lambda: waiting(cluster) == _MANY)
        cluster.delay_metadata(0, 1)
        assert [await client.codes() for client in clients] == [[0]] * _MANY
        assert waiting(cluster) == 0


@pytest.mark.parametrize("ends", ["cluster", "broker"])
async def test_an_end_closes_the_connections_that_wait(ends: str) -> None:
    async with AsyncExitStack() as opened:
        async with held_back() as cluster:
            clients = [await opened.enter_async_context(client_of(cluster)) for _ in range(20)]
            for number, client in enumerate(clients):
                client.create(topic(f"t{number}"))
            await until(lambda: waiting(cluster) == len(clients))
            if ends == "broker":
                await cluster.kill_broker(1)
                assert waiting(cluster) == 0
        assert waiting(cluster) == 0
        for client in clients:
            with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
                await client.codes()


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
