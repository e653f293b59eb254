"""Topics and partitions that fail by a fault, and the rest of the request that is carried out."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from kafka_admin_proto.codec import codec
from kafka_admin_proto.faults.topics import Target, is_about_topics
from kafka_admin_proto.messages import (
    AlterConfigsRequest,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    ElectLeadersRequest,
    IncrementalAlterConfigsRequest,
    MetadataRequest,
    OffsetFetchRequest,
    TopicRecord,
)
from kafka_admin_proto.protocol.error_answers import Failure
from kafka_admin_proto.protocol.versions import Api
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.server.apis import Answer, Caller, served_apis
from kafka_admin_proto.server.brokers.view import TOPIC_RESOURCE
from kafka_admin_proto.server.faults.topic_answers import topics_answer
from kafka_admin_proto.server.releases import ReleaseNumber
from kafka_admin_proto.values import Message
from tests.fuzz.seeds import filled
from tests.server.handlers.test_create_topics import topic
from tests.server.served import Served

_GROUP = OffsetFetchRequest.OffsetFetchRequestGroup


@pytest.fixture
def served() -> Served:
    served = Served()
    topics = [topic("a", partitions=2), topic("b", partitions=2), topic("c.d")]
    served.ask(CreateTopicsRequest(topics, 1000))
    return served


def failed(served: Served, request: Message, target: Target, version: int | None = None) -> Any:
    """The response, when some of a request fails."""
    assert request.api_key is not None
    if version is None:
        version = served.versions[request.api_key].highest
    answer: Answer = topics_answer(
        served.state, request, Caller(1, version), Failure(41, "no"), target
    )
    served.state.append(answer.records)
    return answer.response


def test_topics_that_fail_are_not_created(served: Served) -> None:
    request = CreateTopicsRequest([topic("x1"), topic("y"), topic("x2")], 1000)
    answer = failed(served, request, Target("x*"))
    assert [(each.name, each.error_code) for each in answer.topics] == [
        ("x1", 41),
        ("y", 0),
        ("x2", 41),
    ]
    assert answer.topics[0].num_partitions == -1
    assert answer.topics[0].topic_id.int == 0
    assert answer.topics[0].error_message == "no"
    assert sorted(served.state.topic_names) == ["a", "b", "c.d", "y"]


def test_topics_that_fail_are_not_deleted(served: Served) -> None:
    request = DeleteTopicsRequest(topic_names=["a", "b"], timeout_ms=1000)
    answer = failed(served, request, Target("b"), 5)
    assert [(each.name, each.error_code) for each in answer.responses] == [("a", 0), ("b", 41)]
    assert sorted(served.state.topic_names) == ["b", "c.d"]


def test_metadata_of_topics_and_of_partitions(served: Served) -> None:
    answer = failed(served, MetadataRequest(topics=None), Target("a"))
    found = {each.name: each for each in answer.topics}
    assert {name: each.error_code for name, each in found.items()} == {"a": 41, "b": 0, "c.d": 0}
    assert (found["a"].partitions, len(found["b"].partitions)) == ([], 2)
    assert len(answer.brokers) == 3
    answer = failed(served, MetadataRequest(topics=None), Target("*", 1))
    found = {each.name: each for each in answer.topics}
    rows = {name: [p.error_code for p in each.partitions] for name, each in found.items()}
    assert rows == {"a": [0, 41], "b": [0, 41], "c.d": [0]}
    assert found["a"].error_code == 0
    assert found["a"].partitions[1].replica_nodes != []


def test_partitions_whose_election_fails(served: Served) -> None:
    rows = [ElectLeadersRequest.TopicPartitions("a", [0, 1])]
    answer = failed(served, ElectLeadersRequest(0, rows, 1000), Target("a", 1))
    (found,) = answer.replica_election_results
    assert [each.error_code for each in found.partition_result] == [84, 41]
    assert answer.error_code == 0


@pytest.mark.parametrize("version", [0, 1])
def test_configs_of_topics_that_fail_are_not_altered(served: Served, version: int) -> None:
    resources = [
        IncrementalAlterConfigsRequest.AlterConfigsResource(
            2, name, [IncrementalAlterConfigsRequest.AlterableConfig("retention.ms", 0, "1")]
        )
        for name in ("a", "b")
    ]
    answer = failed(served, IncrementalAlterConfigsRequest(resources), Target("a"), version)
    assert [each.error_code for each in answer.responses] == [41, 0]
    assert served.state.configs(2, "a") == {}
    assert served.state.configs(2, "b") == {"retention.ms": "1"}


def test_where_rows_have_no_code_the_request_fails(served: Served) -> None:
    answer = failed(served, AlterConfigsRequest([]), Target("a"))
    assert answer.responses == []


@pytest.mark.parametrize(
    ("request_", "target", "wanted"),
    [
        (MetadataRequest(topics=None), Target("a"), True),
        (MetadataRequest(topics=None), Target("nowhere"), False),
        (MetadataRequest(topics=[]), Target("*"), False),
        (CreateTopicsRequest([topic("new")]), Target("n*"), True),
        (CreateTopicsRequest([topic("new")]), Target("a"), False),
        (DeleteTopicsRequest(topic_names=["a"]), Target("a", 7), True),
        (ElectLeadersRequest(0, None), Target("b", 1), True),
        (OffsetFetchRequest(groups=[_GROUP("g", topics=None)]), Target("b", 1), True),
        (OffsetFetchRequest(groups=[_GROUP("g", topics=None)]), Target("nowhere"), False),
        (OffsetFetchRequest(groups=[_GROUP("g", topics=[])]), Target("*"), False),
        (
            ElectLeadersRequest(0, [ElectLeadersRequest.TopicPartitions("a", [0])]),
            Target("a", 1),
            False,
        ),
    ],
)
def test_what_requests_are_about(
    served: Served, request_: Message, target: Target, wanted: bool
) -> None:
    assert target.is_asked_for(request_, served.state) is wanted


class EachId:
    """Topics where each id is known."""

    topic_names = ()

    def topic_by_id(self, topic_id: UUID) -> TopicRecord | None:
        return TopicRecord(name="a", topic_id=topic_id)


@pytest.mark.parametrize("api", served_apis(ReleaseNumber(4, 4)), ids=lambda api: api.name)
def test_a_fault_about_topics_fires(api: Api) -> None:
    """Where a topic may be given for an api, a request with all its fields is about one."""
    name = catalog().name_of(api.api_key, "request")
    assert name is not None
    for version in catalog().entry(name).versions:
        request = filled(codec(name, version).grammar)
        for rows in ("resources", "creations"):
            for each in getattr(request, rows, ()):
                each.resource_type = TOPIC_RESOURCE
        if is_about_topics(api.api_key, VersionRange(version, version)):
            assert Target("*").is_asked_for(request, EachId()), version
