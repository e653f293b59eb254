"""The same cluster, described by us and by Java's Admin, field by field.

What is deliberately otherwise is put right where the answers are read (``java_answers``, or here),
with a comment that says why; docs/admin.md has the list.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from operator import itemgetter
from typing import Any

import msgspec
import pytest

from kafka_admin_proto.admin import (
    AclBinding,
    AclOperation,
    AclPermission,
    AdminClient,
    ConfigResource,
    NewTopic,
    PatternType,
    QuotaAlteration,
    ResourceType,
    ScramMechanism,
    ScramUpsertion,
)
from tests.admin.live.helpers.controllers import active_controller
from tests.admin.live.helpers.each_broker import until_heard
from tests.admin.live.helpers.group_members import join_classic, join_consumer
from tests.admin.live.helpers.java_answers import Java, Rows, java_node, sorted_rows
from tests.admin.live.helpers.kafka_tools import KafkaTools
from tools.clusters import Cluster


class Scene(msgspec.Struct):
    """A cluster with something of everything, and our own answers as builtins."""

    cluster: Cluster
    topic: str
    user: str
    groups: list[str]
    has_quorum: bool
    ours: Rows


@pytest.fixture(params=["kraft_cluster", "zookeeper_cluster"], scope="module")
def scene(request: pytest.FixtureRequest, unique: Callable[[str], str]) -> Scene:
    cluster: Cluster = request.getfixturevalue(request.param)
    has_quorum = request.param == "kraft_cluster"
    return asyncio.run(_prepared(cluster, unique, has_quorum))


async def _prepared(cluster: Cluster, unique: Callable[[str], str], has_quorum: bool) -> Scene:
    topic, user, offsets = unique("equal"), unique("equal-user"), unique("equal-offsets")
    classic, consumer = unique("equal-classic"), unique("equal-consumer")
    groups = [classic, consumer, offsets] if has_quorum else [classic, offsets]
    acls = [
        AclBinding(ResourceType.TOPIC, topic, f"User:{user}", AclOperation.READ),
        AclBinding(
            ResourceType.GROUP, "equal-", f"User:{user}", AclOperation.ALL,
            AclPermission.DENY, PatternType.PREFIXED, "10.0.0.1",
        ),
    ]  # fmt: skip
    quotas = [
        QuotaAlteration({"user": user, "client-id": None}, {"producer_byte_rate": 5.0}),
        QuotaAlteration({"ip": "10.0.0.1"}, {"connection_creation_rate": 7.0}),
    ]
    async with AdminClient(cluster.bootstrap, timeout=40) as admin:
        configs: dict[str, str | None] = {"retention.ms": "1000", "cleanup.policy": "compact"}
        await admin.create_topics([NewTopic(topic, 2, 2, configs=configs)])
        await admin.create_acls(acls)
        await admin.alter_client_quotas(quotas)
        other = ScramUpsertion(user, "word", ScramMechanism.SCRAM_SHA_256, 8192)
        await admin.alter_users([ScramUpsertion(user, "word"), other])
        await join_classic(admin, classic, topic, instance_id="one")
        if has_quorum:
            await join_consumer(admin, consumer, topic)
        await admin.alter_group_offsets(offsets, {(topic, 0): 3, (topic, 1): 4})
        resources = [ConfigResource("topic", topic), ConfigResource("broker", "1")]

        async def heard(client: AdminClient) -> bool:
            (described,) = await client.describe_users([user])
            return (
                len(described.credentials) == 2
                and set(acls) <= set(await client.describe_acls())
                and len(await client.describe_client_quotas()) >= len(quotas)
            )

        await until_heard(cluster, heard, "what was changed")
        answers = {
            "cluster": await admin.describe_cluster(),
            "topics": await admin.list_topics(),
            "described": await admin.describe_topics([topic], authorized_operations=True),
            "configs": await admin.describe_configs(resources),
            "log_dirs": await admin.describe_log_dirs([1, 2]),
            "listed": await admin.list_groups(),
            "groups": await admin.describe_groups(groups, authorized_operations=True),
            "offsets": await admin.list_group_offsets({offsets: None}),
            "acls": await admin.describe_acls(),
            "quotas": await admin.describe_client_quotas(),
            "users": await admin.describe_users([user]),
        }
    return Scene(cluster, topic, user, groups, has_quorum, msgspec.to_builtins(answers))


def _our_partitions(assignment: list[Rows] | None) -> list[tuple[str, int]] | None:
    if assignment is None:
        return None
    return [(each["topic"], partition) for each in assignment for partition in each["partitions"]]


def _only(row: Mapping[str, Any], like: Iterable[str]) -> Rows:
    return {name: row[name] for name in like}


def test_cluster_and_topics_as_javas(scene: Scene, kafka_tools: KafkaTools) -> None:
    java = Java(kafka_tools, scene.cluster.bootstrap)
    cluster = java.cluster()
    found = _only(scene.ours["cluster"], cluster)
    found["nodes"] = [java_node(node) for node in found["nodes"]]
    if scene.has_quorum:
        # In KRaft, Metadata names any live broker; ours asks the quorum who leads it.
        assert cluster.pop("controller") in scene.cluster.nodes
        assert found.pop("controller") == active_controller(scene.cluster)
    assert found == cluster
    topics = java.topics()
    assert [_only(row, topics[0]) for row in scene.ours["topics"]] == topics
    described = java.described(scene.topic)
    (row,) = scene.ours["described"]
    assert {"READ", "WRITE", "DELETE"} <= {*row["authorized_operations"]}
    found = _only(row, described)
    found["partitions"] = [_only(each, described["partitions"][0]) for each in row["partitions"]]
    if found["partitions"][0]["elr"] is None:
        # A cluster with ZooKeeper has no eligible leader replicas: Java says [] or None by request.
        for each in described["partitions"]:
            assert not each["elr"]
            assert not each["last_known_elr"]
            each["elr"] = each["last_known_elr"] = None
    assert found == described


def test_configs_and_log_dirs_as_javas(scene: Scene, kafka_tools: KafkaTools) -> None:
    java = Java(kafka_tools, scene.cluster.bootstrap)
    configs = java.configs(f"TOPIC:{scene.topic}", "BROKER:1")
    found = {
        f"{resource['type']}:{resource['name']}": {
            entry["name"]: _only(entry, ("value", "source", "sensitive", "read_only", "type"))
            for entry in resource["configs"]
        }
        for resource in scene.ours["configs"]
    }
    assert found.keys() == configs.keys()
    for resource, entries in configs.items():
        ours_of_it = found[resource]
        assert ours_of_it.keys() == entries.keys()
        assert [
            (name, ours_of_it[name], entry)
            for name, entry in entries.items()
            if ours_of_it[name] != entry
        ] == []
    dirs = java.log_dirs("1", "2")
    ours = {
        str(broker["broker"]): {
            each["path"]: {
                "total_bytes": each["total_bytes"],
                "error": each["error"],
                "replicas": {
                    f"{own['topic']}-{own['partition']}": (
                        itemgetter("size", "offset_lag", "future")(own)
                    )
                    for own in each["replicas"]
                },
            }
            for each in broker["log_dirs"]
        }
        for broker in scene.ours["log_dirs"]
    }
    for each in (ours, dirs):
        for broker in each.values():
            for folder in broker.values():
                # Heartbeats of groups are written between the two questions.
                folder["replicas"] = {
                    name: None if name.startswith("__") else own
                    for name, own in folder["replicas"].items()
                }
    assert ours == dirs


def test_groups_as_javas(scene: Scene, kafka_tools: KafkaTools) -> None:
    java = Java(kafka_tools, scene.cluster.bootstrap)
    listed = java.listed()
    found = {row["group_id"]: row for row in scene.ours["listed"]["groups"]}
    assert not scene.ours["listed"]["failed"]
    for id_ in scene.groups:
        assert _only(found[id_], listed[id_]) == listed[id_]
    assert set(scene.groups) <= listed.keys()
    described = java.groups(scene.groups)
    for row in scene.ours["groups"]:
        expected = described[row["group_id"]]
        ours = _only(row, expected)
        # Java leaves the rack out that a classic member tells in its subscription.
        ours["members"] = [
            {
                **_only(member, _java_member_names()),
                "assignment": _our_partitions(member["assignment"]),
                "target_assignment": _our_partitions(member["target_assignment"]),
            }
            for member in row["members"]
        ]
        assert ours == expected
    (offsets,) = scene.ours["offsets"]
    assert {
        f"{row['topic']}-{row['partition']}": (row["offset"], row["metadata"], row["leader_epoch"])
        for row in offsets["offsets"]
    } == java.offsets(offsets["group_id"])


def _java_member_names() -> tuple[str, ...]:
    return ("member_id", "instance_id", "client_id", "host", "epoch", "upgraded")


def test_access_as_javas(scene: Scene, kafka_tools: KafkaTools) -> None:
    java = Java(kafka_tools, scene.cluster.bootstrap)
    assert sorted_rows(scene.ours["acls"]) == java.acls()
    assert sorted_rows(scene.ours["quotas"]) == java.quotas()
    (user,) = scene.ours["users"]
    credentials = [(row["mechanism"], row["iterations"]) for row in user["credentials"]]
    assert credentials == java.user(scene.user)
