"""Requests drawn for two clusters at once, valid and invalid, biased to the edges."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

import msgspec

from kafka_admin_proto.messages import (
    AlterConfigsRequest,
    AlterPartitionReassignmentsRequest,
    ApiVersionsRequest,
    CreatePartitionsRequest,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    DescribeClusterRequest,
    DescribeConfigsRequest,
    DescribeTopicPartitionsRequest,
    ElectLeadersRequest,
    IncrementalAlterConfigsRequest,
    ListConfigResourcesRequest,
    MetadataRequest,
    alter_configs_request,
    alter_partition_reassignments_request,
    create_partitions_request,
    create_topics_request,
    delete_topics_request,
    describe_configs_request,
    describe_topic_partitions_request,
    elect_leaders_request,
    incremental_alter_configs_request,
    metadata_request,
)
from kafka_admin_proto.values import Message

#: The ids of a cluster's topics by name.
Ids = Mapping[str, UUID]

#: Names of groups and of subscriptions to clients' metrics.
RESOURCES = ("one", "two")
_FOREIGN = UUID("12345678-1234-4234-8234-123456789012")
_NAMES = [
    "a", "b", "c", "d", "a.b", "a_b", "a.b_c", "a_b.c", "UPPER-case", "x" * 249,
    "__share_group_state",
]  # fmt: skip
_ODD_NAMES = [
    "", ".", "..", "x" * 250, "sp ace", "caf\u00e9", "a/b", "__cluster_metadata", "...",
    "\U0001f600", "x" * 260, "null\0",
]  # fmt: skip
_TOPIC_CONFIGS: dict[str, list[str]] = {
    "retention.ms": ["1000", "-1", "-2", "x", " 7 ", "", "9223372036854775808", "+5", "1e3"],
    "retention.bytes": ["-1", "0", "-5", "1_000"],
    "cleanup.policy": ["compact", "delete", "compact,delete", "compact, delete", "", "foo",
                       "delete,delete", "delete,", "DELETE", "none"],
    "segment.bytes": ["1048576", "1", "13", "2147483648", "0x10", "-1"],
    "segment.ms": ["1", "0", "604800000"],
    "min.insync.replicas": ["1", "2", "0", "7", "-1"],
    "min.cleanable.dirty.ratio": ["0", "1", "0.25", "1.5", "-0.1", "abc", "1e-5", "NaN", ".5"],
    "compression.type": ["zstd", "none", "uncompressed", "ZSTD", "producer", "gzip"],
    "compression.gzip.level": ["-1", "1", "9", "0", "10"],
    "compression.zstd.level": ["3", "-131072", "23"],
    "compression.lz4.level": ["0", "17"],
    "preallocate": ["true", "FALSE", "maybe", " true", "1"],
    "message.timestamp.type": ["CreateTime", "LogAppendTime", "createtime"],
    "message.timestamp.after.max.ms": ["1", "-1"],
    "leader.replication.throttled.replicas": ["*", "0:1", "0:1,1:2", "0:1,*", "a", "", "0:1,"],
    "follower.replication.throttled.replicas": ["0:1", "x:y"],
    "min.compaction.lag.ms": ["0", "100", "10"],
    "max.compaction.lag.ms": ["5", "100", "0"],
    "unclean.leader.election.enable": ["true", "false", "yes"],
    "max.message.bytes": ["0", "-1", "1000012"],
    "index.interval.bytes": ["0", "-1"],
    "flush.messages": ["1", "0"],
    "flush.ms": ["0", "1000"],
    "file.delete.delay.ms": ["0", "-1"],
    "remote.storage.enable": ["false", "true"],
    "local.retention.ms": ["-2", "-3", "5"],
    "local.retention.bytes": ["-2", "10"],
    "remote.log.copy.disable": ["true"],
    "remote.log.delete.on.disable": ["true", "x"],
    "delete.retention.ms": ["0", "-1"],
    "message.format.version": ["2.8", "0.1"],
    "message.downconversion.enable": ["true"],
    "no.such.config": ["1"],
    "Retention.ms": ["1"],
    "": ["", "1"],
    "zz": ["1"],
}  # fmt: skip
_BROKER_CONFIGS: dict[str, list[str]] = {
    "log.retention.ms": ["1000000", "-1", "x", "0"],
    "log.retention.bytes": ["-1", "1000000"],
    "message.max.bytes": ["1000000", "-1", "x"],
    "log.segment.bytes": ["1048576", "1", "2000000"],
    "log.cleaner.delete.retention.ms": ["86400000", "-1"],
    "log.cleaner.min.cleanable.ratio": ["0.5", "2"],
    "log.cleanup.policy": ["delete", "compact", "compact,delete", "foo", ""],
    "compression.type": ["producer", "zstd", "foo"],
    "min.insync.replicas": ["1", "2", "0", "x"],
    "unclean.leader.election.enable": ["false", "x"],
    "log.message.timestamp.type": ["CreateTime", "LogAppendTime", "x"],
    "num.io.threads": ["4", "100", "1", "0"],
    "background.threads": ["10", "2"],
    "log.cleaner.min.compaction.lag.ms": ["0", "5"],
    "log.cleaner.max.compaction.lag.ms": ["1", "1000"],
    "log.roll.ms": ["1000", "0"],
    "num.partitions": ["2"],
    "default.replication.factor": ["2"],
    "node.id": ["7"],
    "log.retention.hours": ["5"],
    "log.preallocate": ["false", "true"],
    "max.connections.per.ip": ["1000", "-1"],
    "no.such.config": ["1", ""],
    "leader.replication.throttled.rate": ["1000000", "-1", "x"],
    "ssl.keystore.password": ["secret"],
    "max.connections": ["10000"],
    "log.index.interval.bytes": ["4096"],
    "log.flush.interval.ms": ["1000"],
}  # fmt: skip
_GROUP_CONFIGS: dict[str, list[str]] = {
    "consumer.session.timeout.ms": ["45000", "50000", "1", "x", "0", "99999999", "5000"],
    "consumer.heartbeat.interval.ms": ["5000", "1", "100000", "15000"],
    "share.session.timeout.ms": ["45000", "1"],
    "share.record.lock.duration.ms": ["15000", "1000", "9999999", "5"],
    "share.delivery.count.limit": ["5", "1", "99999"],
    "share.auto.offset.reset": ["latest", "earliest", "x", "by_duration:PT1H"],
    "share.isolation.level": ["read_committed", "x"],
    "streams.num.standby.replicas": ["0", "1", "99", "-1"],
    "streams.session.timeout.ms": ["45000", "1"],
    "no.such.config": ["1"],
}
_METRICS_CONFIGS: dict[str, list[str]] = {
    "interval.ms": ["100", "99", "3600000", "3600001", "x", "60000"],
    "metrics": ["*", "", "org.apache.kafka", "a,b"],
    "match": ["client_id=x", "client_id=[", "foo=bar", "client_id", "", "client_id=a=b",
              "client_id=a,client_source_port=9"],
    "no.such.config": ["1"],
}  # fmt: skip
_KINDS: dict[int, dict[str, list[str]]] = {
    2: _TOPIC_CONFIGS, 4: _BROKER_CONFIGS, 16: _METRICS_CONFIGS, 32: _GROUP_CONFIGS,
}  # fmt: skip


class Step(msgspec.Struct):
    """A request for one node of both clusters; ``make`` builds it with a cluster's own ids.

    ``placed`` are topics for which the placer may choose replicas, ``touched`` those to look at.
    """

    node: int
    version: int
    make: Callable[[Ids], Message]
    placed: list[str] = []
    touched: list[tuple[int, str]] = []


class Drawer:
    """Draws steps for clusters of ``nodes`` nodes that take ``versions`` by api key."""

    def __init__(self, seed: int, nodes: int, versions: Mapping[int, tuple[int, int]]) -> None:
        self._random = random.Random(seed)
        self._nodes = nodes
        self._versions = versions
        self._known: list[str] = []

    def step(self, existing: list[str]) -> Step:
        """The next step; ``existing`` are the topics that are there."""
        self._known = existing
        draws = [
            (self._create_topics, 30), (self._delete_topics, 8), (self._create_partitions, 10),
            (self._incremental, 16), (self._alter, 6), (self._describe, 8), (self._metadata, 8),
            (self._describe_partitions, 5), (self._describe_cluster, 2), (self._api_versions, 1),
            (self._reassign, 6), (self._elect, 4), (self._list_resources, 1),
        ]  # fmt: skip
        functions, weights = zip(*draws, strict=True)
        if len(existing) > 14:
            return self._delete_topics()
        step: Step = self._random.choices(functions, weights)[0]()
        return step

    def _version(self, key: int) -> int:
        low, high = self._versions[key]
        return high if self._random.random() < 0.4 else self._random.randint(low, high)

    def _one(self, items: Any) -> Any:
        return self._random.choice(items)

    def _rarely(self, one_in: int = 8) -> bool:
        return self._random.randrange(one_in) == 0

    def _node(self) -> int:
        return self._random.randrange(self._nodes)

    def _name(self) -> str:
        draw = self._random.random()
        if draw < 0.35 and self._known:
            return str(self._one(self._known))
        return str(self._one(_ODD_NAMES if draw > 0.88 else _NAMES))

    def _timeout(self) -> int:
        return self._one([0, -1, -100]) if self._rarely(14) else 20_000

    def _broker(self) -> int:
        if self._rarely(12):
            return int(self._one([0, -1, self._nodes + 1, 2**31 - 1]))
        return self._random.randint(1, self._nodes)

    def _replicas(self, count: int) -> list[int]:
        if self._rarely():
            return [self._broker() for _ in range(self._random.randrange(4))]
        found = list(range(1, self._nodes + 1))
        self._random.shuffle(found)
        return found[:count]

    def _pairs(self, kind: int, nulls: bool = True) -> list[tuple[str, str | None]]:
        known = _KINDS[kind]
        names = [self._one(list(known)) for _ in range(self._one([0, 1, 1, 1, 2, 2, 3]))]
        if not self._rarely(12):
            names = list(dict.fromkeys(names))
        return [
            (each, None if nulls and self._rarely(12) else self._one(known[each])) for each in names
        ]

    def _create_topics(self) -> Step:
        version = self._version(19)
        topics = []
        for _ in range(self._one([0, 1, 1, 1, 1, 1, 2, 2, 3, 4])):
            assignments = []
            partitions = self._one([1, 1, 2, 3, 5, -1, -1, 0, -2])
            factor = self._one([1, 1, 2, 3, -1, -1, 0, -2, 4, 9])
            if self._rarely(3):
                count, size = self._random.randint(1, 4), self._random.randint(1, self._nodes)
                assignments = [
                    create_topics_request.CreatableReplicaAssignment(index, self._replicas(size))
                    for index in range(count)
                ]
                if self._rarely(6):
                    self._one(assignments).partition_index = self._one([-1, 0, 1, 7])
                if not self._rarely(5):
                    partitions = factor = -1
            configs = [
                create_topics_request.CreatableTopicConfig(name, value)
                for name, value in (self._pairs(2) if self._rarely(2) else [])
            ]
            topics.append(
                create_topics_request.CreatableTopic(
                    self._name(), partitions, factor, assignments, configs
                )
            )
        validate = version >= 1 and self._rarely(5)
        if self._rarely(30) and topics:
            topics[0].num_partitions, topics[0].assignments = self._one([9_999, 10_000, 10_001]), []
            topics[0].replication_factor, validate = 1, version >= 1
        if self._rarely(25) and topics:
            topics.append(topics[0])
        request = CreateTopicsRequest(
            topics=topics, timeout_ms=self._timeout(), validate_only=validate
        )
        names = [each.name for each in topics]
        return Step(
            self._node(), version, lambda _: request,
            [each.name for each in topics if not each.assignments],
            [(2, each) for each in names],
        )  # fmt: skip

    def _delete_topics(self) -> Step:
        version = self._version(20)
        names = [self._name() for _ in range(self._one([0, 1, 1, 1, 2, 3]))]
        by_id = [self._name() for _ in range(self._one([0, 0, 1, 1, 2]))] if version >= 6 else []
        timeout, both, zero = self._timeout(), self._rarely(12), self._rarely(12)

        def make(ids: Ids) -> Message:
            if version < 6:
                return DeleteTopicsRequest(topic_names=names, timeout_ms=timeout)
            kind = delete_topics_request.DeleteTopicState
            topics = [kind(each) for each in names]
            topics += [kind(None, ids.get(each, _FOREIGN)) for each in by_id]
            if both:
                topics.append(kind("a", _FOREIGN))
            if zero:
                topics.append(kind(None))
            return DeleteTopicsRequest(topics=topics, timeout_ms=timeout)

        return Step(self._node(), version, make)

    def _create_partitions(self) -> Step:
        version = self._version(37)
        topics, placed = [], []
        for _ in range(self._one([0, 1, 1, 1, 2])):
            name, count = self._name(), self._one([1, 2, 3, 4, 5, 6, 7, 0, -1])
            assignments = None
            if self._rarely(3):
                size = self._random.randint(1, self._nodes)
                assignments = [
                    create_partitions_request.CreatePartitionsAssignment(self._replicas(size))
                    for _ in range(self._random.randrange(4))
                ]
            else:
                placed.append(name)
            topics.append(create_partitions_request.CreatePartitionsTopic(name, count, assignments))
        request = CreatePartitionsRequest(
            topics=topics, timeout_ms=self._timeout(), validate_only=self._rarely(5)
        )
        return Step(self._node(), version, lambda _: request, placed)

    def _resource(self, node: int) -> tuple[int, str]:
        kind = self._one([2, 2, 2, 2, 4, 4, 4, 16, 32, 32])
        if kind == 2:
            return kind, self._name()
        if kind == 4:
            names = ["", str(node + 1), "x", "-1", "99", str(self._random.randint(1, self._nodes))]
            return kind, self._random.choices(names, [4, 6, 1, 1, 1, 1])[0]
        return kind, self._one([*RESOURCES, *RESOURCES, ""])

    def _incremental(self) -> Step:
        version, node = self._version(44), self._node()
        rows, touched = [], []
        for _ in range(self._one([1, 1, 1, 1, 2, 3])):
            kind, name = self._resource(node)
            touched.append((kind, name))
            configs = []
            for key, value in self._pairs(kind):
                what = self._one([0, 0, 0, 1, 1, 2, 3])
                configs.append(incremental_alter_configs_request.AlterableConfig(key, what, value))
            rows.append(incremental_alter_configs_request.AlterConfigsResource(kind, name, configs))
        if self._rarely(15):
            rows.append(incremental_alter_configs_request.AlterConfigsResource(
                self._one([0, 1, 3, 64]), "x"))  # fmt: skip
        request = IncrementalAlterConfigsRequest(resources=rows, validate_only=self._rarely(5))
        return Step(node, version, lambda _: request, touched=touched)

    def _alter(self) -> Step:
        version, node = self._version(33), self._node()
        rows, touched = [], []
        for _ in range(self._one([1, 1, 2])):
            kind, name = self._resource(node)
            touched.append((kind, name))
            configs = [
                alter_configs_request.AlterableConfig(key, value)
                for key, value in self._pairs(kind)
            ]
            rows.append(alter_configs_request.AlterConfigsResource(kind, name, configs))
        request = AlterConfigsRequest(resources=rows, validate_only=self._rarely(5))
        return Step(node, version, lambda _: request, touched=touched)

    def _describe(self) -> Step:
        version, node = self._version(32), self._node()
        rows = []
        for _ in range(self._one([1, 1, 2, 3])):
            kind, name = self._resource(node)
            keys = None if self._rarely(2) else [self._one(list(_KINDS[kind])) for _ in range(3)]
            rows.append(describe_configs_request.DescribeConfigsResource(kind, name, keys))
        if self._rarely(20):
            rows.append(describe_configs_request.DescribeConfigsResource(self._one([1, 3]), "x"))
        request = DescribeConfigsRequest(
            resources=rows, include_synonyms=version >= 1 and bool(self._random.randrange(2))
        )
        return Step(node, version, lambda _: request)

    def _metadata(self) -> Step:
        version = self._version(3)
        names = [self._name() for _ in range(self._one([0, 1, 2, 3]))]
        by_id = version >= 12 and self._rarely(2)
        everything = version >= 1 and self._rarely(4)
        create = version < 4 or self._rarely(12)
        if create and version >= 4:
            names = names[:1]
        operations, cluster = self._rarely(2), self._rarely(2)

        def make(ids: Ids) -> Message:
            kind = metadata_request.MetadataRequestTopic
            topics = [
                kind(ids.get(each, _FOREIGN), None) if by_id else kind(name=each) for each in names
            ]
            request = MetadataRequest(topics=None if everything else topics)
            if version >= 4:
                request.allow_auto_topic_creation = create
            if version >= 8:
                request.include_topic_authorized_operations = operations
            if 8 <= version <= 10:
                request.include_cluster_authorized_operations = cluster
            return request

        placed = [] if everything or by_id or not create else names
        return Step(self._node(), version, make, placed)

    def _describe_partitions(self) -> Step:
        version = self._version(75)
        names = [self._name() for _ in range(self._one([0, 0, 1, 2, 3]))]
        cursor = None
        if self._rarely(3):
            cursor = describe_topic_partitions_request.Cursor(
                self._name(), self._one([0, 0, 1, 2, -1, 9])
            )
        request = DescribeTopicPartitionsRequest(
            topics=[describe_topic_partitions_request.TopicRequest(each) for each in names],
            response_partition_limit=self._one([2000, 1, 2, 3, 5, 0, -1]),
            cursor=cursor,
        )
        return Step(self._node(), version, lambda _: request)

    def _describe_cluster(self) -> Step:
        version = self._version(60)
        request = DescribeClusterRequest(include_cluster_authorized_operations=self._rarely(2))
        if version >= 1:
            request.endpoint_type = self._one([1, 1, 2, 3, 0])
        if version >= 2:
            request.include_fenced_brokers = self._rarely(2)
        return Step(self._node(), version, lambda _: request)

    def _partition(self) -> int:
        return int(self._one([0, 0, 0, 1, 1, 2, 3, 7, -1]))

    def _reassign(self) -> Step:
        version = self._version(45)
        topics, placed = [], []
        for _ in range(self._one([0, 1, 1, 1, 2])):
            name = self._name()
            placed.append(name)  # until what is added is in sync, and by whom first
            rows = []
            for number in dict.fromkeys(self._partition() for _ in range(self._one([1, 1, 2]))):
                replicas = self._replicas(self._random.randint(1, self._nodes))
                cancelled = self._rarely(6)
                rows.append(
                    alter_partition_reassignments_request.ReassignablePartition(
                        number, None if cancelled else replicas
                    )
                )
            topics.append(alter_partition_reassignments_request.ReassignableTopic(name, rows))
        request = AlterPartitionReassignmentsRequest(timeout_ms=self._timeout(), topics=topics)
        return Step(self._node(), version, lambda _: request, placed)

    def _elect(self) -> Step:
        version = self._version(43)
        topics = None
        if not self._rarely(5):
            topics = [
                elect_leaders_request.TopicPartitions(
                    self._name(), [self._partition() for _ in range(self._one([0, 1, 1, 2]))]
                )
                for _ in range(self._one([0, 1, 1, 2]))
            ]
        request = ElectLeadersRequest(topic_partitions=topics, timeout_ms=self._timeout())
        if version >= 1:
            request.election_type = self._one([0, 0, 0, 1, 2])
        return Step(self._node(), version, lambda _: request)

    def _list_resources(self) -> Step:
        version = self._version(74)
        request = ListConfigResourcesRequest()
        if version >= 1:
            kinds = [2, 4, 8, 16, 32, 32, 99]
            request.resource_types = [self._one(kinds) for _ in range(self._one([0, 1, 1, 2]))]
        return Step(self._node(), version, lambda _: request)

    def _api_versions(self) -> Step:
        version = self._version(18)
        request = ApiVersionsRequest()
        if version >= 3:
            request.client_software_name = self._one(["x", "", "-x", "a.b-c", "a b"])
            request.client_software_version = self._one(["1", "1.0", "!"])
        return Step(self._node(), version, lambda _: request)
