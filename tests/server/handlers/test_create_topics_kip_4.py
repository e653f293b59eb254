"""CreateTopics with the rules of KIP-4: tests of each sentence about the request's semantics."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_admin_proto.messages import CreateTopicsRequest, MetadataRequest
from kafka_admin_proto.messages.metadata_request import MetadataRequestTopic
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.server.apis import served_apis
from kafka_admin_proto.server.failures import MOST_RECORDS
from kafka_admin_proto.server.releases import RELEASES, ReleaseNumber
from kafka_admin_proto.server.security.authorizer import rules
from tests.server.handlers.test_create_topics import create, topic
from tests.server.security.authorizer.test_apis import SECURED, allow
from tests.server.served import Served


@pytest.fixture(params=RELEASES)
def served(request: pytest.FixtureRequest) -> Served:
    return by_kip_4(request.param)


def by_kip_4(release: str = "4.4", **settings: Any) -> Served:
    served = Served(release, **settings)
    served.state.rules = "kip-4"
    return served


def codes(served: Served, *topics: Any, **fields: Any) -> list[int]:
    return [code for _, code, _ in create(served, *topics, **fields)]


@pytest.mark.parametrize("release", RELEASES)
def test_the_versions_of_the_texts_are_served_beside_the_releases(release: str) -> None:
    """c10–c21: 0 and 1, and those that the release has."""
    versions = {
        each.api_key: each.versions for each in served_apis(ReleaseNumber.parse(release), "kip-4")
    }
    shipped = {each.api_key: each.versions for each in served_apis(ReleaseNumber.parse(release))}
    assert versions.pop(19) == VersionRange(0, shipped.pop(19).highest)
    assert versions == shipped


@pytest.mark.parametrize("version", range(8))
def test_each_version_has_the_same_rules(served: Served, version: int) -> None:
    """c10–c21, c23: version 0 has no message."""
    found = create(served, topic("a"), topic("b", -1, 1), version=version)
    assert [code for _, code, _ in found] == [0, 37]
    text = "Number of partitions must be larger than 0."
    assert found[1][2] == (text if version else "")


# 1. Must be sent to the controller broker.


def test_the_controller_alone_answers(served: Served) -> None:
    """c27: another broker has NOT_CONTROLLER for every topic."""
    served.state.quorum.controller = 2
    assert codes(served, topic("a"), topic("b")) == [41, 41]
    served.state.quorum.controller = 1
    assert codes(served, topic("a")) == [0]


def test_metadata_names_the_controller(served: Served) -> None:
    """c27: a client finds out whom to ask."""
    served.state.quorum.controller = 2
    assert served.ask(MetadataRequest(topics=None), 1).controller_id == 2


def test_any_broker_creates_a_topic_that_a_client_asks_about(served: Served) -> None:
    served.ask(MetadataRequest([MetadataRequestTopic(name="auto")]), 4, node=3)
    assert list(served.state.topic_names) == ["auto"]


# 2. Multiple instructions for the same topic.


def test_a_name_twice_refuses_all(served: Served) -> None:
    """c28: each topic of the request has the error."""
    assert codes(served, topic("a"), topic("b"), topic("a")) == [42, 42, 42]
    assert list(served.state.topic_names) == []


# 3. The principal must be authorized to Create on the Cluster.


@pytest.mark.parametrize(
    ("operation", "kind", "name", "code"),
    [
        (rules.CREATE, rules.CLUSTER, rules.CLUSTER_NAME, 0),
        (rules.CREATE, rules.TOPIC, "a", 31),
        (rules.ALTER, rules.CLUSTER, rules.CLUSTER_NAME, 31),
    ],
)
def test_create_on_the_cluster_alone(operation: int, kind: int, name: str, code: int) -> None:
    """c30, c31: an ACL of a topic does not count."""
    served = by_kip_4(configs=SECURED)
    allow(served, operation, kind, name, "User:bob")
    request = CreateTopicsRequest([topic("a"), topic("b"), topic("b")], 1000)
    found = served.ask(request, 1, principal="User:bob").topics
    assert [each.error_code for each in found] == [code or 42] * 3  # before names are looked at
    if code:
        assert found[0].error_message == "Cluster authorization failed."
    assert list(served.state.topic_names) == []


# 4. Either an assignment, or partitions and a factor.


@pytest.mark.parametrize(("partitions", "factor"), [(1, -1), (-1, 1), (1, 1)])
def test_an_assignment_with_counts_refuses_all(
    served: Served, partitions: int, factor: int
) -> None:
    """c32: other topics of the request as well."""
    both = topic("a", assignment={0: [1]})
    both.num_partitions, both.replication_factor = partitions, factor
    assert codes(served, topic("b"), both) == [42, 42]


def test_counts_are_those_of_the_assignment_and_its_first_replica_leads(served: Served) -> None:
    """c23, c34, c37: an assignment is taken as it is."""
    assert codes(served, topic("a", assignment={0: [3, 1], 1: [2, 3], 2: [1, 2]})) == [0]
    (found,) = served.ask(MetadataRequest(topics=None)).topics
    partitions = sorted(found.partitions, key=lambda each: each.partition_index)
    assert [each.replica_nodes for each in partitions] == [[3, 1], [2, 3], [1, 2]]
    assert [each.leader_id for each in partitions] == [3, 2, 1]


def test_the_server_assigns_where_counts_are_given(served: Served) -> None:
    """c23, c35: each partition has as many replicas as were asked for."""
    assert codes(served, topic("a", 4, 3)) == [0]
    (found,) = served.ask(MetadataRequest(topics=None)).topics
    assert [sorted(each.replica_nodes) for each in found.partitions] == [[1, 2, 3]] * 4


@pytest.mark.parametrize(
    ("partitions", "factor", "code", "text"),
    [
        (-1, -1, 37, "Number of partitions must be larger than 0."),
        (-1, 1, 37, "Number of partitions must be larger than 0."),
        (0, 1, 37, "Number of partitions must be larger than 0."),
        (1, -1, 38, "Replication factor must be larger than 0."),
        (1, 0, 38, "Replication factor must be larger than 0."),
    ],
)
def test_no_defaults_of_the_broker(
    served: Served, partitions: int, factor: int, code: int, text: str
) -> None:
    """c36: -1 is no count."""
    found = create(served, topic("a", partitions, factor), topic("c"), version=1)
    assert found == [("a", code, text), ("c", 0, None)]


# 6. A timeout of 0 or less.


@pytest.mark.parametrize("version", [0, 1, 7])
@pytest.mark.parametrize("timeout_ms", [0, -1])
def test_without_time_topics_are_created_all_the_same(
    served: Served, timeout_ms: int, version: int
) -> None:
    """c42–c43, c44: a topic that is refused has its own error."""
    found = codes(served, topic("a"), topic("b", 0), timeout_ms=timeout_ms, version=version)
    assert found == [7, 37]
    assert list(served.state.topic_names) == ["a"]


def test_a_validation_needs_no_time(served: Served) -> None:
    """p29: with validate_only a timeout of 0 is no error."""
    wanted = topic("a"), topic("b", 0)
    assert codes(served, *wanted, timeout_ms=0, validate_only=True, version=1) == [0, 37]
    assert list(served.state.topic_names) == []


# 7. The request is not transactional.


def test_an_error_of_one_topic_leaves_the_others(served: Served) -> None:
    """c45–c47, c53–c55: each topic has its own answer."""
    wanted = topic("a"), topic("."), topic("b", factor=9), topic("c", nope="1"), topic("d")
    assert codes(served, *wanted) == [0, 17, 38, 40, 0]
    assert list(served.state.topic_names) == ["a", "d"]


def test_topics_for_which_the_log_has_no_room_are_refused_one_by_one() -> None:
    """c45–c47: those that fit are created."""
    served = by_kip_4()
    wanted = topic("a", 6000), topic("b", 6000), topic("c", MOST_RECORDS - 6003), topic("d")
    assert codes(served, *wanted, validate_only=True) == [0, 44, 0, 44]
