"""Resources that a caller may not describe are left out, or refused without a hint."""

from __future__ import annotations

from typing import Any

from kafka_admin_proto.messages import (
    CreateTopicsRequest,
    DeleteTopicsRequest,
    DescribeClusterRequest,
    DescribeLogDirsRequest,
    DescribeTopicPartitionsRequest,
    ElectLeadersRequest,
    MetadataRequest,
)
from kafka_admin_proto.messages.delete_topics_request import DeleteTopicState
from kafka_admin_proto.messages.metadata_request import MetadataRequestTopic
from kafka_admin_proto.server.security.authorizer import rules
from kafka_admin_proto.topic_ids import ZERO_TOPIC_ID
from tests.server.handlers.test_create_topics import topic
from tests.server.security.authorizer.test_apis import allow, secured
from tests.server.served import Served

_EVE, _BOB = "User:eve", "User:bob"
_DENIED = 29


def named(served: Served, name: str, *, create: bool = False, principal: str = _EVE) -> Any:
    """What Metadata says of a topic that is named."""
    request = MetadataRequest([MetadataRequestTopic(name=name)], create, True, True)
    (found,) = served.ask(request, 10, principal=principal).topics
    return found


def test_topics() -> None:
    served = secured()
    assert served.ask(MetadataRequest(None), principal=_EVE).topics == []
    assert served.ask(DescribeTopicPartitionsRequest([]), principal=_EVE).topics == []
    there, absent = named(served, "a"), named(served, "absent")
    assert (there.error_code, there.topic_id, there.partitions) == (_DENIED, ZERO_TOPIC_ID, [])
    absent.name = "a"
    assert there == absent


def test_a_topic_that_would_be_created() -> None:
    served = secured()
    allow(served, rules.DESCRIBE, rules.TOPIC, "new", _BOB)
    assert named(served, "new", principal=_BOB).error_code == 3
    assert named(served, "new", create=True, principal=_BOB).error_code == _DENIED
    assert served.state.topic("new") is None
    allow(served, rules.CREATE, rules.TOPIC, "new", _BOB)
    assert named(served, "new", create=True, principal=_BOB).error_code == 3
    assert served.state.topic("new") is not None


def test_operations() -> None:
    served = secured()
    allow(served, rules.READ, rules.TOPIC, "a", _BOB)
    bits = 1 << rules.READ | 1 << rules.DESCRIBE
    assert named(served, "a", principal=_BOB).topic_authorized_operations == bits
    described = DescribeClusterRequest(include_cluster_authorized_operations=True)
    listed = MetadataRequest([], False, True)

    def of_cluster() -> list[int]:
        return [
            served.ask(described, principal=_BOB).cluster_authorized_operations,
            served.ask(listed, 10, principal=_BOB).cluster_authorized_operations,
        ]

    allow(served, rules.CREATE, rules.CLUSTER, rules.CLUSTER_NAME, _BOB)
    assert of_cluster() == [0, 0]
    allow(served, rules.ALTER, rules.CLUSTER, rules.CLUSTER_NAME, _BOB)
    assert of_cluster() == [1 << rules.CREATE | 1 << rules.ALTER | 1 << rules.DESCRIBE] * 2


def test_configs_of_a_new_topic() -> None:
    served = secured()
    allow(served, rules.CREATE, rules.TOPIC, "*", _BOB)
    request = CreateTopicsRequest([topic("b", 3)], 1000)
    (row,) = served.ask(request, principal=_BOB).topics
    assert (row.error_code, row.topic_config_error_code) == (0, _DENIED)
    assert (row.configs, row.num_partitions, row.replication_factor) == ([], -1, -1)
    created = served.state.topic("b")
    assert created is not None
    assert len(created.partitions) == 3


def test_names_of_deleted_ids() -> None:
    served = secured()
    found = served.state.topic("a")
    assert found is not None
    request = DeleteTopicsRequest([DeleteTopicState(None, found.id)], [], 1000)
    (row,) = served.ask(request, principal=_EVE).responses
    assert (row.error_code, row.name) == (_DENIED, None)
    allow(served, rules.DESCRIBE, rules.TOPIC, "a", _BOB)
    (row,) = served.ask(request, principal=_BOB).responses
    assert (row.error_code, row.name) == (_DENIED, "a")


def test_versions_without_an_error() -> None:
    served = secured()
    assert served.ask(DescribeLogDirsRequest(None), 1, principal=_EVE).results == []
    elected = served.ask(ElectLeadersRequest(0, None, 1000), 0, principal=_EVE)
    assert elected.replica_election_results == []
