"""Partitions added, moved and led: Kafka's commands see what we did, and we what they did."""

from __future__ import annotations

import asyncio
import json
import re
import warnings
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from kafka_admin_proto.admin import AdminClient
from kafka_admin_proto.admin.alter import TopicAlteration
from kafka_admin_proto.admin.operations.configs.altering import ConfigChange
from kafka_admin_proto.admin.operations.configs.resources import ConfigResource
from kafka_admin_proto.admin.operations.partitions.creation import NewPartitions
from kafka_admin_proto.admin.operations.partitions.json_files import (
    PartitionReplicas,
    read_reassignment,
    write_reassignment,
    write_topics_to_move,
)
from kafka_admin_proto.admin.operations.partitions.throttles import (
    FOLLOWERS,
    LEADERS,
    LOG_DIRS_RATE,
    RATES,
    throttling,
)
from kafka_admin_proto.admin.operations.topics.creation import NewTopic
from tests.admin.live.helpers.controllers import active_controller, node_ended, wait_until
from tests.admin.live.helpers.each_broker import replicas_everywhere
from tests.admin.live.helpers.kafka_tools import KafkaTools
from tools.clusters import Cluster

T = TypeVar("T")
Unique = Callable[[str], str]


def ask(cluster: Cluster, what: Callable[[AdminClient], Awaitable[T]]) -> T:
    async def run() -> T:
        async with AdminClient(cluster.bootstrap) as admin:
            return await what(admin)

    return asyncio.run(run())


def create(cluster: Cluster, name: str, replicas: list[list[int]]) -> str:
    topic = NewTopic(name, assignment=dict(enumerate(replicas)))
    (created,) = ask(cluster, lambda admin: admin.create_topics([topic]))
    assert created.complete, created
    return name


def described(
    cluster: Cluster, tools: KafkaTools, topic: str
) -> tuple[list[list[int]], list[int], str]:
    """Replicas and leaders of the partitions, and configs, as kafka-topics.sh shows them."""
    text = tools.run(
        "TopicCommand", "--bootstrap-server", cluster.bootstrap, "--describe", "--topic", topic
    )
    rows = re.findall(r"Partition: (\d+)\tLeader: (\d+)\tReplicas: ([\d,]+)\t", text)
    rows.sort(key=lambda row: int(row[0]))
    replicas = [[int(each) for each in row[2].split(",")] for row in rows]
    configs = re.search(r"Configs: (.*)", text)
    return replicas, [int(row[1]) for row in rows], configs[1].strip() if configs else ""


def tool(
    cluster: Cluster, tools: KafkaTools, folder: Path, action: str, text: str, *more: str
) -> str:
    """What kafka-reassign-partitions.sh prints for a file with this text."""
    file = folder / "file.json"
    file.write_text(text)
    option = "topics-to-move-json-file" if action == "--generate" else "reassignment-json-file"
    at = ("--bootstrap-server", cluster.bootstrap)
    return tools.run("ReassignPartitionsCommand", *at, action, f"--{option}", str(file), *more)


def json_behind(output: str, title: str) -> str:
    return output.split(title)[1].strip().splitlines()[0]


def test_altered_topics(cluster: Cluster, kafka_tools: KafkaTools, unique: Unique) -> None:
    one = create(cluster, unique("altered"), [[1, 2], [2, 3]])
    other = create(cluster, unique("altered"), [[3]])

    def alter(*asked: TopicAlteration) -> None:
        for result in ask(cluster, lambda admin: admin.alter_topics(asked, timeout=30)):
            assert (result.error, result.complete) == (None, True), result
        wait_until(
            lambda: not ask(cluster, lambda admin: admin.list_partition_reassignments()),
            "replicas that moved have arrived",
        )

    grown = TopicAlteration(
        one, partitions=5, replication_factor=3, configs={"retention.ms": "1000"}
    )
    alter(grown, TopicAlteration(other, assignment={0: [3], 1: [1, 2, 3]}))
    replicas, _, configs = described(cluster, kafka_tools, one)
    assert [sorted(each) for each in replicas] == [[1, 2, 3]] * 5
    assert replicas[0][:2] == [1, 2]
    assert "retention.ms=1000" in configs
    assert described(cluster, kafka_tools, other)[0] == [[3], [1, 2, 3]]
    alter(
        TopicAlteration(one, replication_factor=1, delete_configs=["retention.ms"]),
        TopicAlteration(other, replication_factor=1, partitions=4),
    )
    replicas, leaders, configs = described(cluster, kafka_tools, one)
    assert [len(each) for each in replicas] == [1] * 5
    assert max(map(leaders.count, (1, 2, 3))) == 2
    assert "retention.ms" not in configs
    assert [len(each) for each in described(cluster, kafka_tools, other)[0]] == [1] * 4
    again = ask(cluster, lambda admin: admin.alter_topics([TopicAlteration(one, partitions=5)]))
    assert again[0].steps == []


def test_a_dry_run_says_what_the_controller_would(cluster: Cluster, unique: Unique) -> None:
    name = create(cluster, unique("dry"), [[1]])
    missing = unique("missing")
    asked = [
        TopicAlteration(name, partitions=3, configs={"no.such.config": "1"}),
        TopicAlteration(missing, partitions=3),
    ]
    results = ask(cluster, lambda admin: admin.alter_topics(asked, dry_run=True))
    assert [each.error for each in results] == ["INVALID_CONFIG", "UNKNOWN_TOPIC_OR_PARTITION"]
    fine = [TopicAlteration(name, partitions=3, replication_factor=2)]
    (result,) = ask(cluster, lambda admin: admin.alter_topics(fine, dry_run=True))
    assert (result.error, result.done) == (None, 0)
    found = ask(cluster, lambda admin: admin.describe_topics([name, missing]))
    assert len(found[0].partitions) == 1
    assert found[1].error == "UNKNOWN_TOPIC_OR_PARTITION"


def test_new_partitions(cluster: Cluster, kafka_tools: KafkaTools, unique: Unique) -> None:
    name = create(cluster, unique("grown"), [[1, 2]])
    wanted = [NewPartitions(name, 3, [[2, 3], [3, 1]]), NewPartitions(unique("missing"), 2)]
    found = ask(cluster, lambda admin: admin.create_partitions(wanted))
    assert [each.error for each in found] == [None, "UNKNOWN_TOPIC_OR_PARTITION"]
    assert found[0].complete
    assert described(cluster, kafka_tools, name)[0] == [[1, 2], [2, 3], [3, 1]]
    (fewer,) = ask(cluster, lambda admin: admin.create_partitions([NewPartitions(name, 2)]))
    assert fewer.error == "INVALID_PARTITIONS"


def test_files_of_kafkas_tool(
    cluster: Cluster, kafka_tools: KafkaTools, unique: Unique, tmp_path: Path
) -> None:
    """Its files are ours to the byte, its assignments pass for ours, and ours for its."""
    name = create(cluster, unique("files"), [[1, 2], [2, 1], [1, 2], [2, 1]])
    generated = partial(ask, cluster, lambda admin: admin.generate_reassignment([name], [1, 2, 3]))
    # A broker names the folder of a replica only when it has made it.
    wait_until(lambda: "any" not in str(generated().current), "the folders of all replicas")
    to_move = write_topics_to_move([name])
    output = tool(cluster, kafka_tools, tmp_path, "--generate", to_move, "--broker-list", "1,2,3")
    theirs = json_behind(output, "Proposed partition reassignment configuration")
    assert write_reassignment(read_reassignment(theirs)) == theirs
    ours = generated()
    current = json_behind(output, "Current partition replica assignment")
    assert write_reassignment(ours.current) == current
    assert ours.moves == 2

    # Ours by its hands, and back by ours with its file.
    output = tool(cluster, kafka_tools, tmp_path, "--execute", write_reassignment(ours.proposed))
    assert "Successfully started partition reassignments" in output
    rollback = json_behind(output, "Current partition replica assignment")
    assert rollback == current

    arrived(cluster, name, ours.proposed)
    verified = tool(cluster, kafka_tools, tmp_path, "--verify", write_reassignment(ours.proposed))
    assert verified.count("is completed.") == 4
    assert described(cluster, kafka_tools, name)[0] == [each.replicas for each in ours.proposed]
    back = read_reassignment(rollback)
    executed = ask(cluster, lambda admin: admin.execute_reassignment(back))
    assert [each.replicas for each in executed.rollback] == [
        each.replicas for each in ours.proposed
    ]
    arrived(cluster, name, back)
    verified = tool(cluster, kafka_tools, tmp_path, "--verify", rollback)
    assert verified.count("is completed.") == 4


def arrived(cluster: Cluster, topic: str, rows: list[PartitionReplicas]) -> None:
    """Wait until nothing moves any more, and each broker has the replicas that were asked for."""
    wait_until(
        lambda: ask(cluster, lambda admin: admin.verify_reassignment(rows)).done,
        "the replicas have arrived",
    )
    replicas_everywhere(cluster, topic, [each.replicas for each in rows])


def throttles(cluster: Cluster, topic: str) -> dict[str, str | None]:
    """What is set of throttles, by config and what it is set for."""

    async def read(admin: AdminClient) -> dict[str, str | None]:
        resources = [
            ConfigResource("topic", topic),
            *(ConfigResource("broker", str(id_)) for id_ in (1, 2, 3)),
        ]
        names = (*RATES, LOG_DIRS_RATE, LEADERS, FOLLOWERS)
        return {
            f"{found.name} {each.name}": each.value
            for found in await admin.describe_configs(resources)
            for each in found.configs
            if each.name in names and (each.source or "").startswith("DYNAMIC")
        }

    return ask(cluster, read)


def fill(cluster: Cluster, topic: str) -> None:
    """4 MB, which take a throttled replica longer than the test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # kafka-python's own
        from kafka import KafkaProducer

        producer = KafkaProducer(bootstrap_servers=cluster.bootstrap.split(","), acks="all")
        for _ in range(64):
            producer.send(topic, b"x" * 65_000, partition=0)
        producer.flush()
        producer.close()


def early_throttles(topic: str) -> list[ConfigChange]:
    """Throttles of a move of partition 0 from brokers 1 and 2 to 3, at a rate of their own."""
    return throttling({(topic, 0): ({1, 2}, {3})}, 999, {1, 2, 3})


def test_throttled_moves_are_listed_and_cancelled(
    cluster: Cluster, kafka_tools: KafkaTools, unique: Unique, tmp_path: Path
) -> None:
    name = create(cluster, unique("throttled"), [[1, 2]])
    # With ZooKeeper, brokers hear of configs when they come to it: the move below could be over
    # before its own throttle counts. This one is set before there is anything to copy.
    # Each broker takes them up in their order: it has the topic's when it has its own.
    for kind in ("topic", "broker"):
        changes = [each for each in early_throttles(name) if each.resource.type == kind]
        ask(cluster, partial(AdminClient.alter_configs, changes=changes))
    wait_until(lambda: len(throttles(cluster, name)) == 8, "the early throttles")
    fill(cluster, name)
    rows = [PartitionReplicas(name, 0, [3, 1])]
    text = write_reassignment(rows)
    at = ("--bootstrap-server", cluster.bootstrap)
    try:
        began = ask(cluster, lambda admin: admin.execute_reassignment(rows, throttle=1000))
        assert [each.error for each in began.partitions] == [None]
        ours = {f"{name} {LEADERS}": "0:1,0:2", f"{name} {FOLLOWERS}": "0:3"}
        ours |= {f"{broker} {rate}": "1000" for broker in (1, 2, 3) for rate in RATES}
        wait_until(lambda: throttles(cluster, name) == ours, "throttles")
        listed = kafka_tools.run("ReassignPartitionsCommand", *at, "--list")
        assert f"{name}-0: replicas: 3,1,2. adding: 3. removing: 2." in listed
        (moving,) = ask(cluster, lambda admin: admin.list_partition_reassignments())
        assert (moving.replicas, moving.adding, moving.removing) == ([3, 1, 2], [3], [2])
        verified = tool(cluster, kafka_tools, tmp_path, "--verify", text)
        assert f"Reassignment of partition {name}-0 is still in progress." in verified
        state = ask(cluster, lambda admin: admin.verify_reassignment(rows))
        assert state.partitions[0].state == "in_progress"
        assert throttles(cluster, name) == ours
        plan = ask(
            cluster,
            lambda admin: admin.plan_alter_topics([TopicAlteration(name, replication_factor=1)]),
        )
        assert plan.topics[0].error == "REASSIGNMENT_IN_PROGRESS"
    finally:
        cancelled = ask(cluster, lambda admin: admin.cancel_reassignment(rows))
    assert [each.error for each in cancelled.partitions] == [None]
    assert cancelled.throttles_removed
    wait_until(lambda: throttles(cluster, name) == {}, "no throttles")
    replicas_everywhere(cluster, name, [[1, 2]])
    assert described(cluster, kafka_tools, name)[0] == [[1, 2]]

    # Kafka's tool sets the same throttles. It refuses brokers that are fenced for a moment.
    wait_until(lambda: len(ask(cluster, lambda admin: admin.brokers())) == 3, "three live brokers")
    tool(cluster, kafka_tools, tmp_path, "--execute", text, "--throttle", "1000")
    wait_until(lambda: throttles(cluster, name) == ours, "the same throttles")
    tool(cluster, kafka_tools, tmp_path, "--cancel", text)
    wait_until(lambda: throttles(cluster, name) == {}, "no throttles again")


def test_preferred_leaders(
    cluster: Cluster, kafka_tools: KafkaTools, unique: Unique, tmp_path: Path
) -> None:
    name = create(cluster, unique("led"), [[1, 2], [2, 3]])
    order = {0: [2, 1]}
    (altered,) = ask(
        cluster, lambda admin: admin.alter_topics([TopicAlteration(name, assignment=order)])
    )
    assert altered.complete
    found = ask(cluster, lambda admin: admin.elect_leaders([(name, 0), (name, 1), (name, 9)]))
    assert [each.error for each in found] == [None, None, "UNKNOWN_TOPIC_OR_PARTITION"]
    assert found[0].complete
    assert not found[1].elected
    replicas, leaders, _ = described(cluster, kafka_tools, name)
    assert (replicas, leaders) == ([[2, 1], [2, 3]], [2, 2])
    file = tmp_path / "election.json"
    file.write_text(json.dumps({"partitions": [{"topic": name, "partition": 0}]}))
    output = kafka_tools.run(
        "LeaderElectionCommand", "--bootstrap-server", cluster.bootstrap,
        "--election-type", "preferred", "--path-to-json-file", str(file),
    )  # fmt: skip
    assert f"Valid replica already elected for partitions {name}-0" in output
    assert all(each.complete for each in ask(cluster, lambda admin: admin.elect_leaders()))


def test_a_broker_that_ends_before_its_replica_has_come(
    kraft_cluster: Cluster, kafka_tools: KafkaTools, unique: Unique
) -> None:
    """The move is taken, is not complete in time, and comes when the broker is back."""
    name = create(kraft_cluster, unique("late"), [[1, 2]])
    asked = [TopicAlteration(name, assignment={0: [1, 3]})]
    plan = ask(kraft_cluster, lambda admin: admin.plan_alter_topics(asked))
    with node_ended(kraft_cluster, 3, crash=True):
        active_controller(kraft_cluster)  # the node may have been it
        (result,) = ask(kraft_cluster, lambda admin: admin.run_alter_plan(plan, timeout=6))
        assert (result.error, result.complete, result.done) == (None, False, 1)
        texts = [each.text for each in result.missing]
        assert texts  # which brokers are live, and which of them answer, is a matter of time
        assert all("not yet [1, 3]" in each or "does not answer" in each for each in texts), texts
        assert "may still come" in (result.message or "")
        (moving,) = ask(
            kraft_cluster, lambda admin: admin.list_partition_reassignments([(name, 0)])
        )
        assert moving.adding == [3]
    wait_until(
        lambda: described(kraft_cluster, kafka_tools, name)[0] == [[1, 3]],
        "the replica has come",
        60,
    )
