"""Admin clients on our cluster: kafka-python's and our own, without knowing whose it is."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from kafka_admin_proto.admin import AdminClient
from kafka_admin_proto.admin.operations.topics.creation import NewTopic as OurNewTopic
from kafka_admin_proto.server import SyncCluster
from tests.admin.live.kafka_python import kafka_python_admin


@pytest.fixture(scope="module")
def cluster() -> Iterator[SyncCluster]:
    with SyncCluster(3) as found:
        yield found


def test_kafka_python(cluster: SyncCluster) -> None:
    with kafka_python_admin(cluster.bootstrap_servers) as admin:
        admin.create_topics({"python": {"num_partitions": 3, "replication_factor": 2}})
        assert "python" in admin.list_topics()
        (described,) = admin.describe_topics(["python"])
        assert len(described["partitions"]) == 3
        assert len(admin.describe_cluster()["brokers"]) == 3
        admin.delete_topics(["python"])
        assert "python" not in admin.list_topics()


def test_our_own(cluster: SyncCluster) -> None:
    async def administer() -> None:
        async with AdminClient(cluster.bootstrap_servers) as admin:
            (created,) = await admin.create_topics([OurNewTopic("ours", 2, 3)])
            assert (created.error, created.complete) == (None, True)
            (described,) = await admin.describe_topics(["ours"])
            assert [len(each.replicas) for each in described.partitions] == [3, 3]
            (deleted,) = await admin.delete_topics(["ours"])
            assert (deleted.error, deleted.complete) == (None, True)
            assert len((await admin.describe_cluster()).nodes) == 3
            await admin.describe_quorum()
            await admin.describe_log_dirs()

    asyncio.run(administer())
