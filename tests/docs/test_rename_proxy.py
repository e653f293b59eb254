"""The proxies of pages beyond what they show: of the recipe with other clients, of `python.md`."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from kafka_admin_proto import ApiVersionsRequest, ApiVersionsResponse
from kafka_admin_proto.admin import AdminClient, NewTopic
from kafka_admin_proto.messages.api_versions_response import ApiVersion
from kafka_admin_proto.protocol import (
    api_versions,
    frame,
    read_response,
    write_request,
    write_response,
)
from kafka_admin_proto.proxy import Proxy, SyncProxy
from kafka_admin_proto.server import Cluster, SyncCluster
from tests.admin.live.helpers.kafka_python import kafka_python_admin
from tests.docs.pages import DOCS, imports_from
from tools.site.pages.code_blocks import code_blocks

TOPICS = {"other-x": 1, "team-y": 1, "zebra": 1}


@pytest.fixture
def recipe(tmp_path: Path) -> Iterator[Any]:
    """The module of the page."""
    for block in code_blocks((DOCS / "recipes" / "rename-proxy.md").read_text("utf-8")):
        if block.title:
            (tmp_path / block.title).write_text(block.text, "utf-8")
    with imports_from(tmp_path):
        __import__("rename")
        yield sys.modules["rename"]


@asynccontextmanager
async def clients(recipe: Any) -> AsyncIterator[tuple[AdminClient, AdminClient]]:
    """A client through the proxy, and one of the broker itself."""
    async with (
        Cluster(topics=TOPICS) as cluster,
        Proxy(cluster.bootstrap_servers, [recipe.Rename("team-")]) as proxy,
        AdminClient(proxy.bootstrap_servers) as client,
        AdminClient(cluster.bootstrap_servers) as operator,
    ):
        yield client, operator


async def test_a_team_sees_its_own_topics_alone(recipe: Any) -> None:
    async with clients(recipe) as (client, operator):
        assert [each.name for each in await client.list_topics()] == ["y"]
        assert [each.name for each in await client.describe_topics()] == ["y"]
        log_dirs = await client.describe_log_dirs()
        replicas = [each for broker in log_dirs for log in broker.log_dirs for each in log.replicas]
        assert [each.topic for each in replicas] == ["y"]
        (deleted,) = await client.delete_topics(["other-x"])
        assert deleted.error == "UNKNOWN_TOPIC_OR_PARTITION"
        (created,) = await client.create_topics([NewTopic("other-x", 1)])
        assert created.error is None
        found = {each.name for each in await operator.list_topics()}
        assert found == {*TOPICS, "team-other-x"}


async def test_names_of_the_cluster_and_its_features_pass_as_they_are(recipe: Any) -> None:
    async with clients(recipe) as (client, operator):
        quorum = await client.describe_quorum()
        assert quorum.leader == (await operator.describe_quorum()).leader == 1
        assert (await client.describe_cluster()).controller == 1
        features = await client.describe_features()
        assert features == await operator.describe_features()
        assert "metadata.version" in str(features)
        spoken = await client.broker_versions([1])
        assert "DescribeTopicPartitions" not in str(spoken)


@pytest.fixture
def proxy(kafka_cluster: SyncCluster, recipe: Any) -> Iterator[str]:
    """The address of a proxy that puts "team-" in front of the names."""
    with SyncProxy(kafka_cluster.bootstrap_servers, [recipe.Rename("team-")]) as proxy:
        yield proxy.bootstrap_servers


def names(cluster: SyncCluster) -> set[str]:
    return {topic.name for topic in cluster.state.cluster.topics.values()}


def test_kafka_python(kafka_cluster: SyncCluster, proxy: str) -> None:
    with kafka_python_admin(proxy, request_timeout_ms=10_000) as client:
        from kafka.admin import NewTopic

        client.create_topics([NewTopic("orders", 3, 1)])
        assert client.list_topics() == ["orders"]
        (described,) = client.describe_topics(["orders"])
    assert (described["name"], len(described["partitions"])) == ("orders", 3)
    assert names(kafka_cluster) == {"team-orders"}


def test_confluent_kafka(kafka_cluster: SyncCluster, proxy: str) -> None:
    import confluent_kafka.admin

    admin: Any = confluent_kafka.admin  # its stubs export next to nothing
    client = admin.AdminClient({"bootstrap.servers": proxy})
    created = client.create_topics([admin.NewTopic("orders", 3, 1)])
    created["orders"].result(timeout=10)
    assert list(client.list_topics(timeout=10).topics) == ["orders"]
    assert names(kafka_cluster) == {"team-orders"}


def test_the_filter_for_the_command_line(recipe: Any) -> None:
    """``kap proxy --filter`` makes it without arguments."""
    assert import_module("team").Team().long_name("orders") == recipe.Rename("team-").long_name(
        "orders"
    )


@pytest.fixture
def page_proxy() -> Any:
    blocks = code_blocks((DOCS / "python.md").read_text("utf-8"))
    (text,) = [each.text for each in blocks if "class Proxy:" in each.text]
    names: dict[str, Any] = {}
    exec(text.partition("\nproxy = ")[0], names)
    return names["Proxy"]("team-")


def test_no_request_of_an_unknown_version_passes(page_proxy: Any) -> None:
    for api in api_versions():
        head = api.api_key.to_bytes(2, "big") + (api.versions.highest + 1).to_bytes(2, "big")
        payload = head + bytes.fromhex("00000007 ffff 00 00")
        if api.name == "ApiVersions":
            assert list(page_proxy.from_client(frame(payload))) == [frame(payload)]
            continue
        with pytest.raises(
            ConnectionAbortedError, match=f"a request that is not read here: {api.name}Request"
        ):
            list(page_proxy.from_client(frame(payload)))
    with pytest.raises(ConnectionAbortedError, match="not read here: unknown api key 999"):
        list(page_proxy.from_client(frame(bytes.fromhex("03e7 0000 00000007 ffff 00"))))


def test_no_answer_that_is_not_read_passes(page_proxy: Any) -> None:
    page_proxy.pending.append((3, 12))
    with pytest.raises(
        ConnectionAbortedError, match="a response that is not read here: MetadataResponse"
    ):
        list(page_proxy.from_broker(frame(bytes.fromhex("00000007 00 00"))))


def test_clients_are_told_of_no_version_that_is_not_read_here(page_proxy: Any) -> None:
    list(page_proxy.from_client(frame(write_request(ApiVersionsRequest(), 3, 7))))
    answer = ApiVersionsResponse(api_keys=[ApiVersion(20, 0, 7), ApiVersion(19, 0, 8)])
    (sent,) = page_proxy.from_broker(frame(write_response(answer, 3, 7)))
    body = read_response(sent, 18, 3, offset=4).body
    assert body == ApiVersionsResponse(api_keys=[ApiVersion(20, 0, 6), ApiVersion(19, 0, 7)])
