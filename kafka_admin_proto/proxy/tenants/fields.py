"""Where messages name topics, groups and transactional ids, by their definitions.

Most fields are marked by their ``entityType``. What the definitions do not mark is named here:
resources of configs and ACLs, whose type stands beside them, keys of coordinators, regular
expressions, the consumer protocol within messages of groups, ids of topics and texts of errors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum, auto
from functools import cache
from typing import Any
from uuid import UUID

import msgspec

from kafka_admin_proto.codec import codec
from kafka_admin_proto.codec.entities import struct_in
from kafka_admin_proto.topic_ids import ZERO_TOPIC_ID
from kafka_admin_proto.values import Message
from kafka_admin_proto.wire.types.arrays import Array
from kafka_admin_proto.wire.types.base import WireType
from kafka_admin_proto.wire.types.containers import StructType
from kafka_admin_proto.wire.types.fixed import Number
from kafka_admin_proto.wire.types.nullable import NullableStruct


class Kind(Enum):
    """What a field has."""

    TOPIC = auto()
    GROUP = auto()
    #: A group's id where brokers take an empty one: its offsets may be committed and read.
    MAYBE_EMPTY_GROUP = auto()
    TRANSACTION = auto()
    #: The name beside a ``resource_type``.
    RESOURCE = auto()
    #: The key of a coordinator, whose ``key_type`` the request has.
    KEY = auto()
    #: A regular expression for names.
    PATTERN = auto()
    #: The value of a config beside its ``name``, which says whether it is that of a topic.
    CONFIG = auto()
    SUBSCRIPTION = auto()
    ASSIGNMENT = auto()
    TOPIC_ID = auto()
    #: A sentence about an error.
    TEXT = auto()


_OF_ENTITY = {"topicName": Kind.TOPIC, "groupId": Kind.GROUP, "transactionalId": Kind.TRANSACTION}
_OF_NAME = {
    "resource_name": Kind.RESOURCE,
    "resource_name_filter": Kind.RESOURCE,
    "subscribed_topic_regex": Kind.PATTERN,
    "source_topic_regex": Kind.PATTERN,
    "transactional_id_pattern": Kind.PATTERN,
    "topic_id": Kind.TOPIC_ID,
    "error_message": Kind.TEXT,
    "batch_index_error_message": Kind.TEXT,
    "acknowledge_error_message": Kind.TEXT,
    "status_detail": Kind.TEXT,
}
_OF_MESSAGE = {
    ("FindCoordinatorRequest", "key"): Kind.KEY,
    ("FindCoordinatorRequest", "coordinator_keys"): Kind.KEY,
    ("FindCoordinatorResponse", "key"): Kind.KEY,
    ("JoinGroupRequest", "metadata"): Kind.SUBSCRIPTION,
    ("JoinGroupResponse", "metadata"): Kind.SUBSCRIPTION,
    ("SyncGroupRequest", "assignment"): Kind.ASSIGNMENT,
    ("SyncGroupResponse", "assignment"): Kind.ASSIGNMENT,
    ("DescribeGroupsResponse", "member_metadata"): Kind.SUBSCRIPTION,
    ("DescribeGroupsResponse", "member_assignment"): Kind.ASSIGNMENT,
    ("ConsumerProtocolSubscription", "topics"): Kind.TOPIC,
    ("AlterConfigsRequest", "value"): Kind.CONFIG,
    ("IncrementalAlterConfigsRequest", "value"): Kind.CONFIG,
    ("DescribeConfigsResponse", "value"): Kind.CONFIG,
}
#: Others refuse an empty id of a group, which has to reach them as it is.
_WITH_EMPTY_GROUPS = frozenset(
    f"{name}{kind}"
    for name in ("OffsetCommit", "OffsetFetch", "DescribeGroups", "DeleteGroups", "ListGroups")
    for kind in ("Request", "Response")
)
#: Their topic is that of the metadata quorum, which all tenants share.
_OF_QUORUM = ("DescribeQuorumRequest", "DescribeQuorumResponse")
#: Requests are changed in these, and responses in those.
_IN_RESPONSES_ALONE, _IN_REQUESTS_ALONE = Kind.TEXT, Kind.TOPIC_ID


class NamedField(msgspec.Struct, frozen=True):
    """A field with names, or with such fields ``inner``, in a struct or an array of structs."""

    attribute: str
    kind: Kind | None
    is_array: bool
    is_nullable_struct: bool
    inner: tuple[NamedField, ...]

    @property
    def kinds(self) -> Iterator[Kind]:
        if self.kind is not None:
            yield self.kind
        for each in self.inner:
            yield from each.kinds


@cache
def named_fields(message_name: str, version: int) -> tuple[NamedField, ...]:
    """The fields of a message at a version that are looked at for names."""
    return tuple(_fields(codec(message_name, version).grammar, message_name))


@cache
def has_names(message_name: str, version: int) -> bool:
    return bool(named_fields(message_name, version))


def topic_ids(request: Message, version: int) -> set[UUID]:
    """The ids of topics in a request."""
    found: set[UUID] = set()
    _add_ids(request, _fields_with_ids(request.message_name, version), found)
    found.discard(ZERO_TOPIC_ID)
    return found


@cache
def _fields_with_ids(message_name: str, version: int) -> tuple[NamedField, ...]:
    return _with_ids(named_fields(message_name, version))


def _with_ids(fields: Iterable[NamedField]) -> tuple[NamedField, ...]:
    return tuple(
        msgspec.structs.replace(each, inner=_with_ids(each.inner))
        for each in fields
        if Kind.TOPIC_ID in each.kinds
    )


def _add_ids(owner: Any, fields: tuple[NamedField, ...], ids: set[UUID]) -> None:
    for field in fields:
        value = getattr(owner, field.attribute)
        if not field.inner:
            ids.add(value)
        elif value is not None:
            for each in value if field.is_array else (value,):
                _add_ids(each, field.inner, ids)


def _fields(struct: StructType, message_name: str) -> Iterator[NamedField]:
    for member in struct.members:
        wire_type = member.wire_type
        if wire_type is None:
            continue
        inside = struct_in(wire_type)
        inner = () if inside is None else tuple(_fields(inside, message_name))
        kind = None
        if inside is None and not isinstance(_element(wire_type), Number):
            kind = (
                _OF_MESSAGE.get((message_name, member.attribute))
                or _OF_ENTITY.get(member.entity_type)
                or _OF_NAME.get(member.attribute)
            )
        if kind is not None and not _is_looked_at(message_name, kind):
            kind = None
        if kind is Kind.GROUP and message_name in _WITH_EMPTY_GROUPS:
            kind = Kind.MAYBE_EMPTY_GROUP
        if inner or kind is not None:
            yield NamedField(
                member.attribute,
                kind,
                isinstance(wire_type, Array),
                isinstance(wire_type, NullableStruct),
                inner,
            )


def _element(wire_type: WireType) -> WireType:
    """The type of an array's elements: numbers are places in a list that has the names."""
    return wire_type.element if isinstance(wire_type, Array) else wire_type


def _is_looked_at(message_name: str, kind: Kind) -> bool:
    if kind is Kind.TOPIC and message_name in _OF_QUORUM:
        return False
    is_response = message_name.endswith("Response")
    return kind is not (_IN_REQUESTS_ALONE if is_response else _IN_RESPONSES_ALONE)
