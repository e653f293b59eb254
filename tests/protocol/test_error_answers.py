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
from kafka_admin_proto.messages import MetadataRequest, MetadataResponse
from kafka_admin_proto.protocol import Api, api_versions
from kafka_admin_proto.protocol.error_answers import Failure, whole_answer
from kafka_admin_proto.testing import messages
from kafka_admin_proto.values import Message
from tests.helpers.java_tool import JavaTool
from tests.helpers.profile import draws, sample
from tools.kafka_releases import NEWEST
from tools.oracles.jars import fetch
from tools.oracles.libraries import SLF4J

#: Every api that brokers and the proxy answer; Java has no class for what Kafka has dropped.
APIS = {each.name: each for each in api_versions(unstable=True)}
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
    jars = fetch(NEWEST, ["kafka-clients", *SLF4J])
    tool = JavaTool(Path(__file__).parents[1] / "java" / JAVA, jars)
    compared = set[str]()

    @settings(max_examples=3, deadline=None, phases=[Phase.generate])
    @given(st.data())
    def same(api: Api, version: int, data: st.DataObject) -> None:
        found = codec(api.api_key, version, "request")
        request = found.decode(found.encode(data.draw(messages(found.name, version))))
        body = base64.b64encode(request.encode(version)).decode()
        (line,) = tool.ask([f"{api.api_key} {version} {FAILURE.code} {body}"])
        if line == "refused":
            return
        theirs = codec(api.api_key, version, "response").decode(base64.b64decode(line))
        assert builtins(whole_answer(request, version, FAILURE)) == builtins(theirs)
        compared.add(api.name)

    try:
        for api in APIS.values():
            for version in sample(list(api.versions), 1):
                same(api, version)
    finally:
        tool.close()
    assert len(compared) > 70


def test_metadata_by_id_that_failed_has_no_names() -> None:
    request = MetadataRequest([MetadataRequest.MetadataRequestTopic(UUID(int=7), None)])
    answer = whole_answer(request, 12, FAILURE)
    assert isinstance(answer, MetadataResponse)
    assert [(each.name, each.topic_id.int) for each in answer.topics] == [("", 7)]
