"""The public strategies: valid values, and all that a version allows among them."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from msgspec import structs

from kafka_admin_proto import (
    CreateTopicsRequest,
    FindCoordinatorRequest,
    MetadataRequest,
    OffsetDeleteRequest,
    UnknownMessageError,
    codec,
)
from kafka_admin_proto.testing import messages
from kafka_admin_proto.testing.strategies import wire_values
from kafka_admin_proto.wire.types.base import shown
from kafka_admin_proto.wire.types.fixed import Float64
from tests.helpers.processes import python
from tests.helpers.profile import draws

#: What is found needs not be the smallest.
FIRST = settings(
    max_examples=2000, database=None, phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)  # fmt: skip


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
    find(messages(MetadataRequest, 12), lambda request: bool(wanted(request)), settings=FIRST)


@pytest.mark.exhaustive
@pytest.mark.parametrize("version", [2, 3])  # a length of 16 bits; a varint
@pytest.mark.parametrize("size", [126, 127, 128, 255, 256, 16_382, 16_383, 16_384])
def test_texts_reach_where_their_length_takes_another_byte(size: int, version: int) -> None:
    drawn = messages(FindCoordinatorRequest, version)
    found = find(drawn, lambda each: len(each.key.encode()) == size, settings=FIRST)
    assert FindCoordinatorRequest.decode(found.encode(version), version) == found


@pytest.mark.exhaustive
@pytest.mark.parametrize("count", [3, 4, 126, 127, 128])
def test_arrays_reach_where_their_count_takes_another_byte(count: int) -> None:
    drawn = messages(MetadataRequest, 12, unknown_tags=False)
    found = find(drawn, lambda each: len(each.topics or ()) == count, settings=FIRST)
    assert len({id(topic) for topic in found.topics or ()}) == count  # one may be changed alone
    assert MetadataRequest.decode(found.encode(12), 12) == found


@pytest.mark.parametrize("size", [127, 128])
def test_unknown_tags_reach_where_their_varints_take_another_byte(size: int) -> None:
    drawn = messages(MetadataRequest, 12)
    wanted: list[Callable[[Any], bool]] = [
        lambda each: any(tag == size for tag, _ in each.unknown_tagged_fields),
        lambda each: any(len(data) == size for _, data in each.unknown_tagged_fields),
    ]
    for reached in wanted:
        found = find(drawn, reached, settings=FIRST)
        assert MetadataRequest.decode(found.encode(12), 12) == found


@pytest.mark.exhaustive
@pytest.mark.parametrize(("size", "items"), [(0, 0), (1, 1), (3, 2), (20, 5), (60, 60)])
def test_limits_are_kept_and_reached(size: int, items: int) -> None:
    drawn = messages(OffsetDeleteRequest, 0, max_size=size, max_items=items)
    long = []

    @settings(max_examples=draws(400))
    @given(drawn)
    def check(request: OffsetDeleteRequest) -> None:
        names = [request.group_id, *(topic.name for topic in request.topics)]
        counts = [len(request.topics), *(len(topic.partitions) for topic in request.topics)]
        assert all(len(name.encode()) <= size for name in names)
        assert all(count <= items for count in counts)
        long.append(sum(len(each) > 8 for each in names) + sum(count > 3 for count in counts))

    check()
    assert max(long) <= 1  # in one value: sizes multiply
    find(drawn, lambda each: len(each.topics) == items, settings=FIRST)
    find(drawn, lambda each: len(each.group_id.encode()) == size, settings=FIRST)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"message": 19}, "messages: message: expected type or str, got int"),
        ({"dialect": 4}, "messages: dialect: expected str or None, got int"),
        ({"unknown_tags": "no"}, "messages: unknown_tags: expected bool, got str"),
    ],
)
def test_arguments_of_another_type(arguments: dict[str, Any], said: str) -> None:
    """An api's key alone says neither request nor response."""
    given: dict[str, Any] = {"message": MetadataRequest, "version": 1} | arguments
    with pytest.raises(TypeError, match=said):
        messages(**given)


@pytest.mark.parametrize("limit", ["max_size", "max_items"])
@pytest.mark.parametrize("wrong", [-1, True, 1.5, None, "3"])
def test_limits_that_are_none(limit: str, wrong: object) -> None:
    given_limit: Any = {limit: wrong}
    error = ValueError if wrong == -1 else TypeError
    with pytest.raises(error, match=f"{limit} is an integer from 0 on, not {shown(wrong)}"):
        messages(MetadataRequest, 12, **given_limit)


def test_a_narrow_float_is_drawn_in_its_width() -> None:
    narrow = Float64("float64")
    narrow.scalar = structs.replace(narrow.scalar, name="float32", code="f")

    @given(wire_values(narrow))
    def check(value: float) -> None:
        (read,) = struct.unpack(">f", struct.pack(">f", value))
        assert read == value or math.isnan(value)

    check()


def test_a_class_is_of_its_own_dialect() -> None:
    name = "CreateTopicsRequest"
    assert find(messages(name, 0, dialect="kip-4"), bool, settings=FIRST).dialect == "kip-4"
    kafkas = messages(CreateTopicsRequest, 0, dialect="kafka")
    assert find(kafkas, bool, settings=FIRST).dialect == "kafka"
    with pytest.raises(UnknownMessageError, match="is a class of the dialect 'kafka', not of"):
        messages(CreateTopicsRequest, 0, dialect="kip-4")


def test_without_hypothesis() -> None:
    script = (
        "import sys; sys.modules['hypothesis'] = None\n"
        "from kafka_admin_proto.testing import messages"
    )
    failed = python("-c", script)
    assert "MissingExtraError: kafka_admin_proto.testing needs hypothesis" in failed.stderr
