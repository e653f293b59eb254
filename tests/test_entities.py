"""Fields by the type of the entity that they name, as proxies look for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kafka_admin_proto import DeleteTopicsRequest, EncodeError, MetadataRequest, VoteRequest, codec
from kafka_admin_proto.codec import Codec
from kafka_admin_proto.schema.fields import ENTITY_TYPES, FieldSpec
from kafka_admin_proto.schema.names import python_name
from kafka_admin_proto.schema.scalars import SCALARS
from tests.fuzz.seeds import filled
from tests.helpers.every_message import each_layout
from tests.helpers.mistyped import mistyped


@each_layout()
def test_each_marked_field_is_found(found: Codec[Any]) -> None:
    """Beside what the definition says, read without the wire tree; the rest keeps its value."""
    for entity_type, element in ENTITY_TYPES.items():
        marked = list(marked_fields(found, found.spec.fields, entity_type))
        assert found.entity_fields(entity_type) == marked
        value, sample = filled(found.grammar), SCALARS[element].sample
        for expected in (sample, 2 * sample):
            seen: list[Any] = []

            def change(entity: Any, seen: list[Any] = seen) -> Any:
                seen.append(entity)
                return 2 * entity

            found.replace_entities(value, entity_type, change)
            assert seen == [expected] * len(marked)


def marked_fields(
    found: Codec[Any], fields: tuple[FieldSpec, ...], entity_type: str
) -> Iterator[str]:
    for field in fields:
        if found.version not in field.versions:
            continue
        name = python_name(field.name)
        if field.entity_type == entity_type:
            yield name
        if field.type.is_struct:
            inner = found.spec.structs()[field.type.element].fields
            yield from (f"{name}.{path}" for path in marked_fields(found, inner, entity_type))


def test_nulls_and_fields_of_other_versions_are_left() -> None:
    """An absent name is empty: a prefix in front of it would be a value that is not written."""
    topic = MetadataRequest.MetadataRequestTopic(name=None)
    request = MetadataRequest(topics=[topic])
    codec(MetadataRequest, 12).replace_entities(request, "topicName", str.upper)
    assert topic.name is None
    by_id = DeleteTopicsRequest(topic_names=["a"])
    assert codec(DeleteTopicsRequest, 6).entity_fields("topicName") == ["topics.name"]
    codec(DeleteTopicsRequest, 6).replace_entities(by_id, "topicName", str.upper)
    assert by_id.topic_names == ["a"]
    codec(DeleteTopicsRequest, 5).replace_entities(by_id, "topicName", str.upper)
    assert by_id.topic_names == ["A"]


def test_mistakes_are_said() -> None:
    found = codec(MetadataRequest, 12)
    for mistake in ("topic", "TopicName", ""):
        with pytest.raises(ValueError, match="is not an entity type: expected one of transactio"):
            found.entity_fields(mistake)
    with pytest.raises(EncodeError, match="expected a MetadataRequest, got VoteRequest"):
        found.replace_entities(mistyped(VoteRequest()), "topicName", str.upper)


async def _later(name: str) -> str:
    return name


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("orders", "change: expected a function, got str"),
        (None, "change: expected a function, got NoneType"),
        (_later, "change: a coroutine function, whose calls would never run"),
    ],
)
def test_a_change_is_a_function(change: object, said: str) -> None:
    """It is looked at where the message names nothing, too."""
    with pytest.raises(TypeError, match=said):
        codec(MetadataRequest, 12).replace_entities(
            MetadataRequest(), "topicName", mistyped(change)
        )
