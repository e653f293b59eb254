"""``kap`` on real clusters, looked at with Kafka's own commands."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kafka_admin_proto.admin import AdminClient
from tests.admin.live.helpers.controllers import wait_until
from tests.admin.live.helpers.each_broker import replicas_everywhere
from tests.admin.live.helpers.group_members import join_classic
from tests.admin.live.helpers.kafka_tools import KafkaTools
from tests.helpers.kap import run_kap
from tools.clusters import Cluster

Unique = Callable[[str], str]


def run(cluster: Cluster, command: str, code: int | None = 0, data: str | None = None) -> Any:
    """The JSON object that a command prints, which is to end with this code; None: any."""
    environment = {"KAP_BOOTSTRAP_SERVER": cluster.bootstrap, "KAP_OUTPUT": "json"}
    result = run_kap(command, data=data, env=environment)
    assert code in (None, result.exit_code), result.output
    return json.loads(result.stdout)


def described(tools: KafkaTools, cluster: Cluster, topic: str) -> str:
    return tools.run(
        "TopicCommand", "--bootstrap-server", cluster.bootstrap, "--describe", "--topic", topic
    )


def test_a_topic_from_its_creation_to_its_end(
    cluster: Cluster, kafka_tools: KafkaTools, unique: Unique
) -> None:
    name = unique("kap")
    create = (
        f"topics create {name} --partitions 2 --replication-factor 2 --config retention.ms=9000"
    )
    (made,) = run(cluster, create)["topics"]
    assert made["complete"] is True
    there = described(kafka_tools, cluster, name)
    assert "PartitionCount: 2" in there
    assert "ReplicationFactor: 2" in there
    assert "retention.ms=9000" in there
    (again,) = run(cluster, create, 1)["errors"]
    assert again["error"] == "TOPIC_ALREADY_EXISTS"
    assert (
        run(cluster, f"topics create {name} --dry-run", 1)["errors"][0]["error"] == again["error"]
    )

    (plan,) = run(cluster, f"topics alter {name} --partitions 4 --dry-run")["topics"]
    assert [step["step"] for step in plan["steps"]] == ["add_partitions"]
    assert "PartitionCount: 2" in described(kafka_tools, cluster, name)
    change = "--partitions 4 --replication-factor 3 --config retention.ms=8000"
    assert run(cluster, f"topics alter {name} {change} --yes")["errors"] == []
    # Replicas that are still copied do not count for Kafka's command.
    wait_until(
        lambda: "ReplicationFactor: 3" in described(kafka_tools, cluster, name), "three replicas"
    )
    there = described(kafka_tools, cluster, name)
    assert "PartitionCount: 4" in there
    assert "retention.ms=8000" in there
    (found,) = run(cluster, f"topics describe {name} --lag")["topics"]
    assert [each["partition"] for each in found["partitions"]] == [0, 1, 2, 3]
    assert all(len(each["lag"]) == 3 for each in found["partitions"])

    assert run(cluster, f"topics delete {name}", 2)["errors"][0]["error"] == "UsageError"
    assert run(cluster, f"topics delete {name} --yes")["errors"] == []
    listed = kafka_tools.run("TopicCommand", "--bootstrap-server", cluster.bootstrap, "--list")
    assert name not in listed.split()
    (gone,) = run(cluster, f"topics delete {name} --yes", 1)["errors"]
    assert gone["error"] == "UNKNOWN_TOPIC_OR_PARTITION"


def test_the_cluster_and_its_quorum(cluster: Cluster, request: pytest.FixtureRequest) -> None:
    found = run(cluster, "cluster describe")
    assert sorted(each["id"] for each in found["brokers"]) == sorted(cluster.nodes)
    assert {each["rack"] for each in found["brokers"]} == {"east", "west", "north"}
    assert {f"{each['host']}:{each['port']}" for each in found["brokers"]} == set(
        cluster.bootstrap.split(",")
    )
    if "zookeeper" in request.node.name:
        (error,) = run(cluster, "quorum describe", 1)["errors"]
        assert error["error"] == "UnsupportedVersionError"
    else:
        quorum = run(cluster, "quorum describe")
        assert quorum["leader"] == found["controller"]
        assert sorted(each["id"] for each in quorum["voters"]) == sorted(cluster.nodes)
    assert [each["error"] for each in run(cluster, "ping")["brokers"]] == [None] * 3


def test_moving_leading_configuring(
    cluster: Cluster, kafka_tools: KafkaTools, unique: Unique, tmp_path: Path
) -> None:
    name, file = unique("moved"), tmp_path / "move.json"
    first, second, third = sorted(cluster.nodes)
    run(cluster, f"topics create {name} --replica-assignment {first}:{second}")
    move = {"topic": name, "partition": 0, "replicas": [third, second]}
    file.write_text(json.dumps({"version": 1, "partitions": [move]}))
    ours = f"--reassignment-json-file {file}"
    run(cluster, f"partitions reassign {ours} --throttle 10000000 --execute")

    def is_completed() -> bool:
        state = run(cluster, f"partitions verify {ours}", None)
        return bool(state["done"]) and state["partitions"][0]["state"] == "completed"

    wait_until(is_completed, "the partition on its new brokers")
    replicas_everywhere(cluster, name, [[third, second]])
    verified = kafka_tools.run(
        "ReassignPartitionsCommand", "--bootstrap-server", cluster.bootstrap,
        "--reassignment-json-file", str(file), "--verify",
    )  # fmt: skip
    assert f"Reassignment of partition {name}-0 is completed." in verified
    (leader,) = run(cluster, f"leaders elect --topic {name}")["partitions"]
    assert leader["error"] is None
    assert f"Leader: {third}" in described(kafka_tools, cluster, name)
    run(cluster, f"configs set --topic {name} max.message.bytes=2000")

    def is_set() -> bool:
        (got,) = run(cluster, f"configs get --topic {name} --key max.message.bytes")["resources"]
        return [each["value"] for each in got["configs"]] == ["2000"]

    wait_until(is_set, "the config, as we get it")
    wait_until(
        lambda: "max.message.bytes=2000" in described(kafka_tools, cluster, name), "the config"
    )
    run(cluster, f"topics delete {name} --yes")


def test_any_request(cluster: Cluster, unique: Unique) -> None:
    name = unique("raw")
    asked = json.dumps({"topics": [{"name": name, "numPartitions": 1, "replicationFactor": 1}],
                        "timeoutMs": 5000})  # fmt: skip
    found = run(cluster, "request CreateTopics --version 5 --controller", data=asked)
    assert found["response"]["topics"][0]["errorCode"] == 0
    refused = run(cluster, "request CreateTopics --version 5 --controller", 1, data=asked)
    assert [each["error"] for each in refused["errors"]] == ["TOPIC_ALREADY_EXISTS"]
    run(cluster, f"topics delete {name} --yes")


def test_a_member_without_a_commit_is_described_as_by_kafkas_command(
    cluster: Cluster, kafka_tools: KafkaTools, unique: Unique
) -> None:
    topic, group = unique("kap-read"), unique("kap-group")
    run(cluster, f"topics create {topic} --partitions 2 --replication-factor 1")

    async def join() -> str:
        async with AdminClient(cluster.bootstrap, timeout=60) as admin:
            return await join_classic(admin, group, topic)

    member = asyncio.run(join())
    (found,) = run(cluster, f"groups describe {group}")["groups"]
    kafkas = [
        line.split()[1:7]
        for line in kafka_tools.run(
            "ConsumerGroupCommand", "--bootstrap-server", cluster.bootstrap,
            "--describe", "--group", group,
        ).splitlines()
        if line.startswith(group)
    ]  # fmt: skip
    keys = ("topic", "partition", "offset", "end_offset", "lag", "member_id")
    ours = [["-" if each[key] is None else str(each[key]) for key in keys]
            for each in found["offsets"]]  # fmt: skip
    assert ours == sorted(kafkas)
    assert [each[2] for each in ours] == ["-", "-"]
    assert {each[5] for each in ours} == {member}
