"""Topics, configs, the cluster and records of real brokers, beside Kafka's commands and Admin."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from kafka_admin_proto.admin import AdminClient, SyncAdminClient
from kafka_admin_proto.admin.operations.cluster.log_dirs import BrokerLogDirs, ReplicaMove
from kafka_admin_proto.admin.operations.configs.altering import ConfigChange
from kafka_admin_proto.admin.operations.configs.entries import ConfigEntry
from kafka_admin_proto.admin.operations.configs.resources import ConfigResource
from kafka_admin_proto.admin.operations.partitions.records import ALL_RECORDS
from kafka_admin_proto.admin.operations.topics.creation import NewTopic
from kafka_admin_proto.errors import UnsupportedVersionError
from tests.admin.live.helpers.controllers import active_controller, node_ended, wait_until
from tests.admin.live.helpers.each_broker import heard_everywhere
from tests.admin.live.helpers.kafka_python import kafka_python_admin
from tests.admin.live.helpers.kafka_tools import KafkaTools
from tools.clusters import HOST, Cluster

Unique = Callable[[str], str]


def described(tools: KafkaTools, bootstrap: str, topic: str) -> str:
    """What TopicCommand prints of a topic, nothing where it has none."""
    found = tools.outcome(
        "TopicCommand", "--bootstrap-server", bootstrap, "--describe", "--topic", topic
    )
    return found.stdout if found.status == 0 else ""


def test_what_we_create_and_delete_each_broker_knows_at_once(
    cluster: Cluster, admin: SyncAdminClient, kafka_tools: KafkaTools, unique: Unique
) -> None:
    """Asked right after the call returned, by Kafka's command, broker by broker."""
    plain, assigned = unique("plain"), unique("assigned")
    created = admin.create_topics(
        [
            NewTopic(plain, 3, 2, configs={"retention.ms": "7000"}),
            NewTopic(assigned, assignment={0: [3, 1], 1: [2, 3]}),
            NewTopic("not a name", 1, 1),
        ]
    )
    assert [(each.error, each.complete) for each in created] == [
        (None, True),
        (None, True),
        ("INVALID_TOPIC_EXCEPTION", None),
    ]
    assert (created[0].partitions, created[0].replication_factor) == (3, 2)
    values = {each.name: each.value for each in created[0].configs or []}
    assert values["retention.ms"] == "7000"
    for node in cluster.nodes.values():
        bootstrap = f"{HOST}:{node.ports['PLAINTEXT']}"
        text = described(kafka_tools, bootstrap, plain)
        assert f"TopicId: {created[0].topic_id}\tPartitionCount: 3\tReplicationFactor: 2" in text
        assert "retention.ms=7000" in text
        text = described(kafka_tools, bootstrap, assigned)
        replicas = re.findall(r"Partition: (\d).*Leader: (\d).*Replicas: ([\d,]+)", text)
        assert replicas == [("0", "3", "3,1"), ("1", "2", "2,3")]
    assert admin.create_topics([NewTopic(plain)])[0].error == "TOPIC_ALREADY_EXISTS"
    topic_id = created[1].topic_id
    assert topic_id is not None
    deleted = admin.delete_topics([plain, unique("no-such")], topic_ids=[topic_id])
    assert [(each.name, each.error, each.complete) for each in deleted] == [
        (plain, None, True),
        (deleted[1].name, "UNKNOWN_TOPIC_OR_PARTITION", None),
        (assigned, None, True),
    ]
    for node in cluster.nodes.values():
        bootstrap = f"{HOST}:{node.ports['PLAINTEXT']}"
        names = kafka_tools.run("TopicCommand", "--bootstrap-server", bootstrap, "--list").split()
        assert not {plain, assigned} & set(names)


def test_timeouts_that_are_over_and_validation(
    admin: SyncAdminClient, kafka_tools: KafkaTools, cluster: Cluster, unique: Unique
) -> None:
    """0 triggers: the topic is there soon. A validated topic never is."""
    triggered, validated = unique("triggered"), unique("validated")
    [created] = admin.create_topics([NewTopic(triggered, 2, 3)], timeout=0)
    assert (created.error, created.complete) == (None, None)
    [checked] = admin.create_topics([NewTopic(validated, 2, 3)], validate_only=True)
    assert (checked.error, checked.partitions, checked.topic_id) == (None, 2, None)
    [wrong] = admin.create_topics([NewTopic(unique("wrong"), 1, 9)], validate_only=True)
    assert wrong.error == "INVALID_REPLICATION_FACTOR"
    wait_until(lambda: bool(described(kafka_tools, cluster.bootstrap, triggered)), "the topic")
    assert not described(kafka_tools, cluster.bootstrap, validated)
    # Describing what is not there creates nothing, though these brokers create on demand.
    assert admin.describe_topics([validated])[0].error == "UNKNOWN_TOPIC_OR_PARTITION"
    assert validated not in {each.name for each in admin.list_topics()}


def test_the_same_answers_as_javas_admin(
    cluster: Cluster, admin: SyncAdminClient, kafka_tools: KafkaTools, unique: Unique
) -> None:
    """Lists and descriptions, field by field; topics of Kafka's command and of kafka-python."""
    names = [unique("java"), unique("python")]
    kafka_tools.run(
        "TopicCommand", "--bootstrap-server", cluster.bootstrap, "--create", "--topic", names[0],
        "--partitions", "3", "--replication-factor", "3", "--config", "retention.ms=1234567",
    )  # fmt: skip
    with kafka_python_admin(cluster.bootstrap) as other:
        other.create_topics({names[1]: {"num_partitions": 2, "replication_factor": 2}})

    async def listed_there(client: AdminClient) -> bool:
        return {each.name for each in await client.list_topics()} >= set(names)

    heard_everywhere(cluster, listed_there, "we list both topics")

    def java(method: str, *of: str) -> Any:
        return kafka_tools.admin(cluster.bootstrap, method, *of)

    def listed() -> bool:
        ours = [(each.name, each.topic_id, each.internal) for each in admin.list_topics()]
        return ours == sorted(
            (each["name"], each["topicId"], each["internal"]) for each in java("listTopics")
        )

    wait_until(listed, "the same list")
    theirs = java("describeTopics", *names)
    for topic in admin.describe_topics(names, configs=True):
        assert topic.name is not None
        expected = theirs[topic.name]
        assert (topic.topic_id, topic.internal) == (expected["topicId"], expected["internal"])
        for own, other in zip(topic.partitions, expected["partitions"], strict=True):
            assert own.partition == other["partition"]
            assert own.leader == other["leader"]["id"]
            assert own.replicas == [each["id"] for each in other["replicas"]]
            assert own.isr == [each["id"] for each in other["isr"]]
            for name, value in (("elr", own.elr), ("lastKnownElr", own.last_known_elr)):
                # Without DescribeTopicPartitions, Java says null or nothing.
                assert value == ((other[name] and [each["id"] for each in other[name]]) or value)
    assert admin.describe_topics([names[0]], configs=True)[0].configs == {"retention.ms": "1234567"}
    [configs] = admin.describe_configs([ConfigResource("topic", names[0])], synonyms=True)
    [expected] = [each["value"] for each in java("describeConfigs", f"TOPIC:{names[0]}")]
    assert {
        each.name: (each.value, each.source, each.sensitive, each.read_only, each.type)
        for each in configs.configs
    } == {
        name: (each["value"], each["source"], each["isSensitive"], each["isReadOnly"], each["type"])
        for name, each in expected["entries"].items()
    }

    def same_log_dirs() -> bool:
        """What other tests have deleted goes from the disks later; groups write now and then."""
        ours, theirs = {}, {}
        for described in admin.describe_log_dirs():
            for folder in described.log_dirs:
                ours[folder.path] = (folder.total_bytes, {
                    f"{each.topic}-{each.partition}": (each.size, each.offset_lag, each.future)
                    for each in folder.replicas
                    if not each.topic.startswith("__")
                })  # fmt: skip
            answer = java("describeLogDirs", str(described.broker))[str(described.broker)]
            for path, other in answer.items():
                theirs[path] = (other["totalBytes"], {
                    name: (each["size"], each["offsetLag"], each["isFuture"])
                    for name, each in other["replicaInfos"].items()
                    if not name.startswith("__")
                })  # fmt: skip
        return ours == theirs

    wait_until(same_log_dirs, "the same log dirs")


def test_the_cluster_as_kafka_describes_it(
    cluster: Cluster, admin: SyncAdminClient, kafka_tools: KafkaTools
) -> None:
    ours = admin.describe_cluster(authorized_operations=True)
    theirs = kafka_tools.admin(cluster.bootstrap, "describeCluster")
    assert ours.cluster_id == theirs["clusterId"]
    assert [(each.id, each.host, each.port, each.rack) for each in ours.nodes] == sorted(
        (each["id"], each["host"], each["port"], each["rack"]) for each in theirs["nodes"]
    )
    assert ours.controller == active_controller(cluster)
    assert {"CREATE", "ALTER", "DESCRIBE"} <= set(ours.authorized_operations or [])
    versions = admin.broker_versions()
    assert [each.broker for each in versions] == [1, 2, 3]
    assert {"Metadata", "CreateTopics"} <= {api.name for api in versions[0].apis}
    features = admin.describe_features()
    theirs = kafka_tools.admin(cluster.bootstrap, "describeFeatures")
    assert {each.name: each.level for each in features.finalized} == {
        name: each["maxVersionLevel"] for name, each in theirs["finalizedFeatures"].items()
    }
    if cluster.others:
        with pytest.raises(UnsupportedVersionError, match="with ZooKeeper has no quorum"):
            admin.describe_quorum()
        return
    quorum = admin.describe_quorum()
    theirs = kafka_tools.admin(cluster.bootstrap, "describeMetadataQuorum")
    assert (quorum.leader, quorum.epoch) == (theirs["leaderId"], theirs["leaderEpoch"])
    assert [each.id for each in quorum.voters] == [each["replicaId"] for each in theirs["voters"]]
    assert {str(each.id): each.listeners[0].port for each in quorum.nodes} == {
        name: each["endpoints"][0]["port"] for name, each in theirs["nodes"].items()
    }


def test_configs_changed(
    cluster: Cluster, admin: SyncAdminClient, kafka_tools: KafkaTools, unique: Unique
) -> None:
    """Of a topic, a broker, all brokers and a logger; ConfigCommand sees it, and we see its own."""
    name = unique("configs")
    admin.create_topics([NewTopic(name, 1, 3)])
    topic, broker = ConfigResource("topic", name), ConfigResource("broker", "2")
    everyone, logger = ConfigResource("broker"), ConfigResource("broker_logger", "3")

    def change(resource: ConfigResource, **changes: Any) -> str | None:
        [result] = admin.alter_configs([ConfigChange(resource=resource, **changes)])
        return result.error

    def shown(kind: str, entity: str) -> str:
        of = ["--entity-default"] if not entity else ["--entity-name", entity]
        return kafka_tools.run(
            "ConfigCommand", "--bootstrap-server", cluster.bootstrap, "--describe",
            "--entity-type", kind, *of,
        )  # fmt: skip

    assert change(topic, set={"cleanup.policy": "compact", "retention.ms": "7000"}) is None
    assert change(topic, append={"cleanup.policy": "delete"}, delete=["retention.ms"]) is None
    assert change(topic, subtract={"cleanup.policy": "compact"}) is None
    assert change(broker, set={"log.cleaner.threads": "2"}) is None
    assert change(everyone, set={"log.cleaner.io.buffer.size": "600000"}) is None
    assert change(logger, set={"kafka.log.LogCleaner": "DEBUG"}) in (None, "INVALID_CONFIG")
    assert change(topic, set={"no.such.config": "1"}) == "INVALID_CONFIG"
    wait_until(
        lambda: (
            "cleanup.policy=delete" in (text := shown("topics", name))
            and "retention.ms" not in text.split("synonyms")[0]
        ),
        "the topic's configs",
    )
    wait_until(lambda: "log.cleaner.threads=2" in shown("brokers", "2"), "the broker's config")
    wait_until(lambda: "size=600000" in shown("brokers", ""), "the default of all brokers")
    assert change(broker, delete=["log.cleaner.threads"]) is None
    assert change(everyone, delete=["log.cleaner.io.buffer.size"]) is None
    [replaced] = admin.replace_configs({topic: {"retention.ms": "9000"}})
    assert replaced.error is None
    wait_until(
        lambda: admin.describe_topics([name], configs=True)[0].configs == {"retention.ms": "9000"},
        "all of the topic's configs replaced",
    )

    def threads() -> ConfigEntry:
        [own] = admin.describe_configs([broker], keys=["log.cleaner.threads"], documentation=True)
        [entry] = own.configs
        return entry

    wait_until(lambda: threads().value == "1", "the broker's config at its default")
    assert threads().type == "INT"
    assert threads().documentation


def test_offsets_and_records(
    cluster: Cluster, admin: SyncAdminClient, kafka_tools: KafkaTools, unique: Unique
) -> None:
    """Records of Kafka's producer: GetOffsetShell and we see the same, before and after a part of
    them is deleted.
    """
    name = unique("records")
    admin.create_topics([NewTopic(name, assignment={0: [1, 2], 1: [3, 1]})])
    at = ("--bootstrap-server", cluster.bootstrap)
    kafka_tools.run("ConsoleProducer", *at, "--topic", name, stdin="record\n" * 50)

    def offsets(when: str, spec: Any) -> bool:
        text = kafka_tools.run("GetOffsetShell", *at, "--topic", name, "--time", when)
        theirs = sorted(text.split())
        ours = admin.list_offsets({(name, 1): spec, (name, 0): spec})
        return theirs == sorted(f"{name}:{each.partition}:{each.offset}" for each in ours)

    partitions = [(name, 0), (name, 1)]
    wait_until(
        lambda: sum(
            each.offset or 0 for each in admin.list_offsets(dict.fromkeys(partitions, "latest"))
        ) == 50,
        "50 records",
    )  # fmt: skip
    assert offsets("latest", "latest")
    assert offsets("earliest", "earliest")
    ends = {
        (each.topic, each.partition): each.offset or 0
        for each in admin.list_offsets(dict.fromkeys(partitions, "latest"))
    }
    deleted = admin.delete_records({partitions[0]: ALL_RECORDS, partitions[1]: 0, ("none", 0): 0})
    assert [(each.low_watermark, each.error) for each in deleted] == [
        (ends[partitions[0]], None),
        (0, None),
        (None, "UNKNOWN_TOPIC_OR_PARTITION"),
    ]
    assert offsets("earliest", "earliest")
    [never] = admin.list_offsets({partitions[0]: 4_000_000_000_000})
    assert (never.offset, never.error) == (None, None)
    [described_topic] = admin.describe_topics([name], lag=True)
    for partition in described_topic.partitions:
        assert partition.lag is not None
        assert {each.end_offset for each in partition.lag} <= set(range(51))
        assert partition.lag[0].end_offset == ends[name, partition.partition]


def test_a_move_to_where_the_replica_is(admin: SyncAdminClient, unique: Unique) -> None:
    """The log dir that a replica is in is accepted, another one is not known."""
    name = unique("moved")
    admin.create_topics([NewTopic(name, assignment={0: [2]})])

    def found() -> BrokerLogDirs:
        [described] = admin.describe_log_dirs([2], topics={name: [0]})
        return described

    # A broker knows of its partition before it has made its log.
    wait_until(lambda: bool(found().log_dirs[0].replicas), "the replica")
    path = found().log_dirs[0].path
    moves = [ReplicaMove(name, 0, 2, path), ReplicaMove(name, 0, 3, path)]
    moved = admin.alter_replica_log_dirs(moves)
    assert [each.error for each in moved] == [None, "LOG_DIR_NOT_FOUND"]


def is_without_3(admin: SyncAdminClient, topic: str) -> bool:
    [described] = admin.describe_topics([topic])
    return described.partitions[0].offline == [3]


def test_a_broker_is_away(kraft_cluster: Cluster, kafka_tools: KafkaTools, unique: Unique) -> None:
    """Its partitions have no leader, its lag is not known, and nobody waits for it."""
    alone, shared = unique("alone"), unique("shared")
    at = ("--bootstrap-server", f"{HOST}:{kraft_cluster.nodes[1].ports['PLAINTEXT']}")
    with SyncAdminClient(kraft_cluster.bootstrap) as admin:
        admin.create_topics(
            [NewTopic(alone, assignment={0: [3]}), NewTopic(shared, assignment={0: [1, 2, 3]})]
        )
        with node_ended(kraft_cluster, 3):
            kafka_tools.run("ConsoleProducer", *at, "--topic", shared, stdin="record\n" * 9)
            for name in (alone, shared):
                wait_until(partial(is_without_3, admin, name), "broker 3 is away")
            [without, with_others] = admin.describe_topics([alone, shared], lag=True)
            [partition] = without.partitions
            assert (partition.leader, partition.offline) == (None, [3])
            [replica] = partition.lag or []
            assert (replica.broker, replica.lag) == (3, None)
            assert replica.error in ("NoSuchBrokerError", "RequestTimedOutError")
            lags = {each.broker: each for each in with_others.partitions[0].lag or []}
            assert lags[1].lag == 0
            assert lags[3].lag is None
            [created] = admin.create_topics([NewTopic(unique("new"), 2, 2)], timeout=20)
            assert (created.error, created.complete) == (None, True)
            [deleted] = admin.delete_topics([shared], timeout=20)
            assert (deleted.error, deleted.complete) == (None, True)
            versions = admin.broker_versions([1, 3], timeout=10)
            assert versions[0].error is None
            assert versions[1].error in ("NoSuchBrokerError", "RequestTimedOutError")
