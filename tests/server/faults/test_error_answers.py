"""Errors of faults are where Kafka's getErrorResponse puts them, in every api and version."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from kafka_admin_proto import codec
from kafka_admin_proto.messages import (
    AlterConfigsRequest,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    ElectLeadersRequest,
    IncrementalAlterConfigsRequest,
    MetadataRequest,
    MetadataResponse,
)
from kafka_admin_proto.protocol.versions import Api
from kafka_admin_proto.server.faults.error_answers import Failure, topics_answer, whole_answer
from kafka_admin_proto.server.faults.topics import Target
from kafka_admin_proto.server.handlers import Answer, Caller, served_apis
from kafka_admin_proto.testing.strategies import messages
from kafka_admin_proto.values import Message
from tests.helpers.java_tool import JavaTool
from tests.helpers.profile import draws
from tests.server.handlers.test_create_topics import topic
from tests.server.served import Served
from tools.oracles.jars import fetch
from tools.oracles.libraries import SLF4J

APIS = {api.name: api for release in ("3.9", "4.3") for api in served_apis(release)}
FAILURE = Failure(41)
JAVA = "ErrorResponseTool.java"


@st.composite
def asked(draw: st.DrawFn, api: Api) -> tuple[Message, int]:
    """A request as it is after its way through a version's bytes."""
    version = draw(st.integers(api.versions.lowest, api.versions.highest))
    found = codec(api.api_key, version, "request")
    return found.decode(draw(messages(found.name, version).map(found.encode))), version


def builtins(value: Any) -> Any:
    """A response as lists and dicts, without texts."""
    if isinstance(value, list):
        rows = [builtins(each) for each in value]
        return sorted(rows, key=repr)
    if hasattr(value, "__struct_fields__"):
        return {
            name: builtins(getattr(value, name))
            for name in value.__struct_fields__
            if name != "error_message"
        }
    return value


def codes(shown: Any) -> Iterator[int]:
    """Every error code in a message's JSON, which has what its version has."""
    if isinstance(shown, list):
        for each in shown:
            yield from codes(each)
    elif isinstance(shown, dict):
        for name, value in shown.items():
            yield from [value] if name == "errorCode" else codes(value)


@settings(max_examples=draws(400))
@given(st.sampled_from(sorted(APIS)).flatmap(lambda name: asked(APIS[name])))
def test_a_request_that_failed_has_its_code_in_every_row(case: tuple[Message, int]) -> None:
    request, version = case
    assert request.api_key is not None
    answer = whole_answer(request, version, FAILURE)
    found = codec(request.api_key, version, "response")
    read = found.decode(found.encode(answer))
    assert read == answer
    assert set(codes(found.to_json(read))) <= {41}


@pytest.mark.exhaustive
def test_kafkas_requests_fail_in_the_same_places() -> None:
    jars = fetch("4.3.1", ["kafka-clients", *SLF4J])
    tool = JavaTool(Path(__file__).parents[2] / "java" / JAVA, jars)
    compared = set[str]()

    @settings(max_examples=300, deadline=None, phases=[Phase.generate])
    @given(st.sampled_from(sorted(APIS)).flatmap(lambda name: asked(APIS[name])))
    def same(case: tuple[Message, int]) -> None:
        request, version = case
        key = request.api_key
        assert key is not None
        body = base64.b64encode(request.encode(version)).decode()
        (line,) = tool.ask([f"{key} {version} {FAILURE.code} {body}"])
        if line == "refused":
            return
        theirs = codec(key, version, "response").decode(base64.b64decode(line))
        name = request.message_name.removesuffix("Request")
        assert builtins(whole_answer(request, version, FAILURE)) == builtins(theirs)
        compared.add(name)

    try:
        same()
    finally:
        tool.close()
    assert len(compared) > 20


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


def test_metadata_by_id_that_failed_has_no_names() -> None:
    request = MetadataRequest([MetadataRequest.MetadataRequestTopic(UUID(int=7), None)])
    answer = whole_answer(request, 12, FAILURE)
    assert isinstance(answer, MetadataResponse)
    assert [(each.name, each.topic_id.int) for each in answer.topics] == [("", 7)]


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
