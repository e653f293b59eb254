"""A reference cluster that has something of each kind that commands ask for.

Broker 3 gets no more records of others: it is not in sync with partition 1 of orders, and leads
partition 2 no more. Clients may do everything, whatever ACLs there are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from kafka_admin_proto import messages as m
from kafka_admin_proto.admin import ConfigChange, ConfigResource, ScramUpsertion, SyncAdminClient
from kafka_admin_proto.messages.join_group_request import JoinGroupRequestProtocol
from kafka_admin_proto.messages.sync_group_request import SyncGroupRequestAssignment
from kafka_admin_proto.records.metadata.entities import Topic
from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.server.security.authorizer.rules import STANDARD_AUTHORIZER
from tests.server.groups.stories import Member

TOPICS: Mapping[str, Mapping[str, Any]] = {
    "orders": {"assignment": {0: [1, 2], 1: [2, 3], 2: [3, 1]}, "configs": {"retention.ms": 1000}},
    "payments": {"assignment": {0: [1]}},
    "__consumer_offsets": {"assignment": {0: [1, 2]}},
}
CONFIGS: Mapping[str, str | int] = {
    "authorizer.class.name": STANDARD_AUTHORIZER,
    "super.users": "User:ANONYMOUS",
    "broker.session.timeout.ms": 600_000,  # one that is killed stays live for the others
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.num.partitions": 1,
}
PATIENCE_S = 20
#: Records of each partition of orders, and the offsets that the group billing has committed.
RECORDS = 100
COMMITTED = {("orders", 0): 40, ("orders", 1): 100}
_BOB = {
    "resource_type": "TOPIC", "name": "orders", "principal": "User:bob", "operation": "READ",
    "permission": "ALLOW",
}  # fmt: skip


@contextmanager
def filled_cluster(release: str = "4.4", **topics: Any) -> Iterator[SyncCluster]:
    """The cluster, of a release, with further topics by name."""
    with SyncCluster(
        3,
        release=release,
        racks=("a", "b", "c"),
        topics={**TOPICS, **topics},
        configs=CONFIGS,
        acls=[_BOB],
    ) as cluster:
        _produce(cluster, 0, 2)
        cluster.delay_replication(math.inf, 3)
        cluster.fence_broker(3)
        cluster.unfence_broker(3)
        _produce(cluster, 1)
        cluster.clock.advance(1)  # broker 3 has all of partition 2
        with SyncAdminClient(cluster.bootstrap_servers) as admin:
            admin.alter_group_offsets("billing", COMMITTED)
            admin.alter_users([ScramUpsertion("alice", "secret")])
            broker = ConfigResource("broker", "1")
            admin.change_configs([ConfigChange(resource=broker, set={"log.cleaner.threads": "2"})])
        cluster.requests.clear()
        yield cluster


def _produce(cluster: SyncCluster, *partitions: int) -> None:
    records = [{"value": "v", "partition": each} for each in partitions]
    cluster.produce("orders", records * RECORDS)


def topic_of(cluster: SyncCluster, name: str) -> Topic:
    """A topic that is there."""
    topic = cluster.state.topic(name)
    assert topic is not None
    return topic


def replicas_of(cluster: SyncCluster, name: str) -> list[list[int]]:
    """The replicas of each partition of a topic."""
    topic = topic_of(cluster, name)
    return [topic.partitions[number].replicas for number in sorted(topic.partitions)]


def configs_of(cluster: SyncCluster, name: str) -> Mapping[str, str]:
    """The configs that are set for a topic."""
    return cluster.state.cluster.configs.get((2, name), {})


def requests_of(cluster: SyncCluster, api: str) -> list[Any]:
    """The bodies of the requests of an api, but for those that filled the cluster."""
    return [each.body for each in cluster.requests.of(api)]


def join(cluster: SyncCluster, group: str, *assigned: Sequence[int]) -> list[str]:
    """Let members join a group, each with partitions of orders. Returns their ids."""
    address, *_ = cluster.bootstrap_servers.split(",")  # the coordinator of all groups
    members = [Member(address) for _ in assigned]
    protocols = [JoinGroupRequestProtocol("range", b"")]
    join = m.JoinGroupRequest(group, 60_000, 10_000, protocol_type="consumer", protocols=protocols)
    for member in members:
        member.send(join, 3)
    cluster.wait_for(lambda: len(cluster.requests.of("JoinGroup")) == len(members))
    cluster.clock.advance(10)  # the first generation waits for more members
    joined = [member.receive(PATIENCE_S) for member in members]
    rows = [
        SyncGroupRequestAssignment(each.member_id, _assignment(partitions))
        for each, partitions in zip(joined, assigned, strict=True)
    ]
    for member, each in zip(members, joined, strict=True):
        assignments = rows if each.member_id == each.leader else []
        sync = m.SyncGroupRequest(
            group, each.generation_id, each.member_id, assignments=assignments
        )
        member.send(sync, 2)
    for member in members:
        member.receive(PATIENCE_S)
        member.close()
    cluster.requests.clear()
    return [each.member_id for each in joined]


def _assignment(partitions: Sequence[int]) -> bytes:
    value = m.ConsumerProtocolAssignment
    topics = [value.TopicPartition("orders", [*partitions])] if partitions else []
    return b"\0\0" + value(topics).encode(0)
