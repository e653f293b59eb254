"""Admin clients on our cluster: kafka-python's, aiokafka's, librdkafka's and our own.

What they get beside a real cluster is in ``clients/``.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafka_admin_proto.admin import AdminClient
from kafka_admin_proto.admin.operations.topics.creation import NewTopic as OurNewTopic
from kafka_admin_proto.server import SyncCluster
from tests.server.clients.pair import Side
from tests.server.clients.python_clients import SCRIPTS


@pytest.fixture(scope="module")
def cluster() -> Iterator[SyncCluster]:
    with SyncCluster(3) as found:
        yield found


@pytest.mark.parametrize(
    ("name", "again"),
    [
        ("kafka-python", "TopicAlreadyExistsError: [Error 36]"),
        ("aiokafka", "Topic 'aio' already exists."),
        ("confluent-kafka", "Topic 'ck' already exists."),
    ],
)
def test_others(cluster: SyncCluster, name: str, again: str) -> None:
    servers = cluster.bootstrap_servers
    shown = SCRIPTS[name](Side(servers, servers))
    refused = ("again", "fewer", "acls", "partitions again", "delete again")
    failed = [step for step, text in shown.items() if "Error" in text and step not in refused]
    assert failed == []
    assert again in shown["again"]


async def test_our_own(cluster: SyncCluster) -> None:
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
