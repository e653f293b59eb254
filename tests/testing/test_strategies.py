"""The public strategies: valid values, and all that a version allows among them."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, find, given, settings

from kafka_admin_proto import CreateTopicsRequest, MetadataRequest, codec
from kafka_admin_proto.testing import messages

SEARCH = settings(max_examples=2000, database=None, suppress_health_check=list(HealthCheck))


@given(messages(CreateTopicsRequest, 0))
def test_a_class_gives_typed_values_that_fit_the_version(request: CreateTopicsRequest) -> None:
    assert not request.validate_only  # v0 does not have it
    assert CreateTopicsRequest.decode(request.encode(0), 0) == request


@given(messages("CreateTopicsRequest", 7, unknown_tags=False))
def test_unknown_tags_can_be_left_out(request: CreateTopicsRequest) -> None:
    assert request.unknown_tagged_fields == ()
    assert codec(CreateTopicsRequest, 7).non_canonical(request.encode(7)) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "wanted",
    [
        lambda request: request.unknown_tagged_fields,
        lambda request: request.topics is None,
        lambda request: request.topics == [],
        lambda request: request.topics and request.topics[0].name is None,
        lambda request: request.topics and request.topics[0].name == "",
        lambda request: request.topics and request.topics[0].topic_id.int == 0,
        lambda request: request.topics and len(request.topics) > 1,
    ],
)
def test_all_that_a_version_allows_is_found(wanted: Any) -> None:
    find(messages(MetadataRequest, 12), lambda request: bool(wanted(request)), settings=SEARCH)


def test_without_hypothesis() -> None:
    script = (
        "import sys; sys.modules['hypothesis'] = None\n"
        "from kafka_admin_proto.testing import messages"
    )
    failed = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert "MissingExtraError: kafka_admin_proto.testing needs hypothesis" in failed.stderr
