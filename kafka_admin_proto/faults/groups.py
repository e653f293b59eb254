"""The groups that a request is about, wherever its api has them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kafka_admin_proto.faults.topics import has_field
from kafka_admin_proto.messages import FindCoordinatorRequest
from kafka_admin_proto.protocol import api_keys
from kafka_admin_proto.protocol.error_answers import fields_of
from kafka_admin_proto.schema.fields import FieldSpec
from kafka_admin_proto.schema.names import python_name
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.values import Message

#: The type of FindCoordinator's keys that are groups.
_GROUP_KEYS = 0


def groups_of(message: Message) -> Iterator[str]:
    """The names of all groups in a request."""
    if isinstance(message, FindCoordinatorRequest):
        if message.key_type == _GROUP_KEYS:
            yield from (message.key, *message.coordinator_keys)
        return
    yield from _names(message, fields_of(message))


def is_about_groups(api_key: int, versions: VersionRange) -> bool:
    """Whether requests of an api can name groups."""
    return api_key == api_keys.FIND_COORDINATOR or has_field(
        api_key, "request", versions, lambda field: field.entity_type == "groupId"
    )


def _names(value: Any, fields: tuple[FieldSpec, ...]) -> Iterator[str]:
    for field in fields:
        groups = getattr(value, python_name(field.name), None)
        if field.entity_type == "groupId" and groups is not None:
            yield from groups if field.type.is_array else (groups,)
        elif field.fields is not None and field.type.is_array:
            for each in groups or ():
                yield from _names(each, field.fields)
