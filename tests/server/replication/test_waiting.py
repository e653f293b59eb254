"""A Fetch that waits: until there are records, or its time is over."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from kafka_admin_proto.admin import AdminClient, FetchedRecords
from kafka_admin_proto.server import Cluster

Change = Callable[[Cluster], Awaitable[None]]


def fetched(change: Change) -> FetchedRecords:
    """What a Fetch of up to a minute has after a change that comes while it waits.

    It reads the log when it comes, and again after the change.
    """

    async def run() -> FetchedRecords:
        async with (
            Cluster(1, topics={"orders": 1}) as cluster,
            AdminClient(cluster.bootstrap_servers, timeout=600) as client,
        ):
            (topic,) = cluster.state.cluster.topics.values()
            log = cluster.state.partitions.log(topic, 0).log
            reads = 0
            batches = log.batches

            def counted(*given: int, **options: int) -> object:
                nonlocal reads
                reads += 1
                return batches(*given, **options)  # type: ignore[arg-type]

            log.batches = counted  # type: ignore[method-assign, assignment]
            waiting = asyncio.ensure_future(client.fetch({("orders", 0): 0}, max_wait=60))
            while not reads:
                await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert reads == 1, "nothing has changed since it was read"
            await change(cluster)
            (found,) = await asyncio.wait_for(waiting, 30)
            assert reads == 2
            return found

    return asyncio.run(run())


def test_records_end_the_wait() -> None:
    async def produce(cluster: Cluster) -> None:
        cluster.produce("orders", [b"paid"])

    found = fetched(produce)
    assert [each.value for each in found.records] == [b"paid"]
    assert (found.next_offset, found.error) == (1, None)


def test_the_time_ends_the_wait() -> None:
    async def advance(cluster: Cluster) -> None:
        await cluster.clock.advance(60)

    found = fetched(advance)
    assert (list(found.records), found.next_offset, found.error) == ([], 0, None)
