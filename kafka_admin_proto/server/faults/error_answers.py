"""Answers with an error code where the response of an api has one, whatever the api.

A request that fails as a whole is answered as by ``getErrorResponse`` of Kafka's requests. Where
some topics or partitions fail, their rows say so, and the rest of the request is carried out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, get_args
from uuid import UUID

import msgspec

from kafka_admin_proto.codec import codec
from kafka_admin_proto.messages.alter_user_scram_credentials_response import (
    AlterUserScramCredentialsResponse,
)
from kafka_admin_proto.messages.config_record import ConfigRecord
from kafka_admin_proto.messages.describe_client_quotas_response import DescribeClientQuotasResponse
from kafka_admin_proto.messages.describe_user_scram_credentials_response import (
    DescribeUserScramCredentialsResponse,
)
from kafka_admin_proto.messages.metadata_response import MetadataResponse
from kafka_admin_proto.messages.topic_record import TopicRecord
from kafka_admin_proto.protocol.headers import message_of
from kafka_admin_proto.schema.fields import FieldSpec
from kafka_admin_proto.schema.names import python_name
from kafka_admin_proto.server.brokers.view import TOPIC_RESOURCE, View
from kafka_admin_proto.server.faults.topics import (
    Row,
    Target,
    fields_of,
    partitions_of,
    topic_rows,
)
from kafka_admin_proto.server.handlers import Answer, Caller, respond
from kafka_admin_proto.values import Message

Fields = tuple[FieldSpec, ...]


_CODE, _MESSAGE = "error_code", "error_message"
#: The fields that identify a row: names of requests and responses for the same thing.
_NAMES = ("name", "topic", "topic_name", "user", "key")
_NUMBERS = ("partition_index", "partition_id", "partition")
#: Fields that are copied from a request's row to the response's row, if both have them.
_COPIED = ("topic_id", "resource_type", "resource_name", "entity")
#: The node id in FindCoordinator's answer without a coordinator.
_NO_NODE = ("node_id", "port")
#: DescribeLogDirs, DescribeQuorum, UpdateFeatures: no rows in an answer to a request that failed.
_WITHOUT_ROWS = frozenset({35, 55, 57})


class Failure(msgspec.Struct, frozen=True):
    """An error code, and a message if the user gave one; Kafka's own texts are not sent."""

    code: int
    message: str | None = None


def whole_answer(request: Message, version: int, failure: Failure) -> Message:
    """The answer to a request that failed as a whole: every requested row has the code.

    If the response has no field for a code at this version, the answer has no rows.
    """
    assert request.api_key is not None
    found = message_of(request.api_key, version, "response", request.dialect)
    assert found is not None
    name, dialect = found
    response: Message = codec(name, version, dialect=dialect).value_class()
    fields = fields_of(response)
    if request.api_key not in _WITHOUT_ROWS:
        _add_rows(response, fields, request, fields_of(request), version)
    _mark(response, fields, version, failure)
    if isinstance(response, DescribeClientQuotasResponse):
        response.entries = None
    elif isinstance(response, AlterUserScramCredentialsResponse):  # a row for each user
        response.results = list({each.user: each for each in response.results}.values())
    elif isinstance(response, DescribeUserScramCredentialsResponse):  # Kafka leaves the names empty
        for each in response.results:
            each.user = ""
    elif isinstance(response, MetadataResponse):  # of a topic by its id, too
        for topic in response.topics:
            topic.name = topic.name or ""
    return response


def topics_answer(
    view: View, request: Message, caller: Caller, failure: Failure, target: Target
) -> Answer:
    """The answer to a request of which some topics or partitions fail and are left unchanged.

    The row of a failed topic has its identity and the code only; the row of a failed partition
    keeps its other fields. If the response has no such rows, the request fails as a whole.
    """
    assert request.api_key is not None
    version = caller.version
    answer = respond(view, request.api_key, request, caller)
    failed: set[tuple[str, int | None]] = set()
    ids = "topic_id" in _names(fields_of(request), version)
    for row in topic_rows(answer.response, view):
        if row.fields is not None and target.takes(row.topic):
            failed |= _mark_topic(row, version, failure, target, ids=ids)
    if not failed:
        return Answer(whole_answer(request, version, failure))
    names = {each.topic_id: each.name for each in answer.records if isinstance(each, TopicRecord)}

    def is_left(record: Message) -> bool:
        if isinstance(record, ConfigRecord):
            named = record.resource_type == TOPIC_RESOURCE
            return not (named and (record.resource_name, None) in failed)
        topic_id: UUID | None = getattr(record, "topic_id", None)
        if topic_id is None:
            return True
        found = view.topic_by_id(topic_id)
        name = names.get(topic_id, "") if found is None else found.name
        number = getattr(record, "partition_id", None)
        return (name, None) not in failed and (name, number) not in failed

    return Answer(answer.response, [each for each in answer.records if is_left(each)])


# The rows that a request asks for.


def _add_rows(answer: Any, fields: Fields, asked: Any, asked_fields: Fields, version: int) -> None:
    """Add a row for each item of the request's lists that the response has rows for."""
    for field in _at(fields, version):
        if not field.type.is_array or field.fields is None or not _has_rows(field.fields, version):
            continue
        rows = [
            row
            for listed in _at(asked_fields, version)
            if listed.type.is_array
            for each in getattr(asked, python_name(listed.name)) or ()
            if (row := _row(answer, field, each, listed, version)) is not None
        ]
        if rows:
            setattr(answer, python_name(field.name), rows)


def _has_rows(fields: Fields, version: int) -> bool:
    """Whether the rows are topics, partitions or others with a code, or have such rows."""
    return any(
        python_name(each.name) in (_CODE, *_NUMBERS) or _has_rows(each.fields or (), version)
        for each in _at(fields, version)
    )


def _row(answer: Any, field: FieldSpec, asked: Any, listed: FieldSpec, version: int) -> Any:
    """The row of a response's list for one item of a request's list, or None."""
    assert field.fields is not None
    names = {python_name(each.name): each for each in _at(field.fields, version)}
    row = _row_class(answer, python_name(field.name))()
    if listed.fields is None:
        wanted = _NAMES if listed.type.element == "string" else _NUMBERS
        own = next((each for each in wanted if each in names), None)
        if own is None:
            return None
        setattr(row, own, asked)
        return row
    theirs = {python_name(each.name) for each in _at(listed.fields, version)}
    known = False
    for group in (_NAMES, _NUMBERS, *((each,) for each in _COPIED)):
        own = next((each for each in group if each in names), None)
        other = next((each for each in group if each in theirs), None)
        if own is None or other is None:
            continue
        known, value = True, getattr(asked, other)
        if own == "entity":
            value = [_row_class(row, own)(each.entity_type, each.entity_name) for each in value]
        if value is not None or version in names[own].nullable_versions:
            setattr(row, own, value)
    if not known and not _is_bare(field.fields, version):
        return None
    _add_rows(row, field.fields, asked, listed.fields, version)
    return row


def _is_bare(fields: Fields, version: int) -> bool:
    """Whether a row has only a code, a message and lists."""
    return all(
        each.type.is_array or python_name(each.name) in (_CODE, _MESSAGE)
        for each in _at(fields, version)
    )


def _row_class(value: Any, name: str) -> Any:
    """The class of the rows in a list."""
    (found,) = (each for each in msgspec.structs.fields(type(value)) if each.name == name)
    return _struct_in(found.type)


def _struct_in(annotation: Any) -> Any:
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        return annotation
    return next((found for each in get_args(annotation) if (found := _struct_in(each))), None)


# Codes in rows.


def _mark(value: Any, fields: Fields, version: int, failure: Failure) -> bool:
    """Set the code in a struct and in the rows of its lists; False if none has a field for it."""
    found = _has_code(fields, version)
    for field in _at(fields, version):
        name = python_name(field.name)
        if name == _CODE:
            setattr(value, name, failure.code)
        elif found and name in _NO_NODE:
            setattr(value, name, -1)
        elif name == _MESSAGE:
            nullable = version in field.nullable_versions
            setattr(value, name, failure.message or (None if nullable else ""))
        elif field.type.is_array and field.fields is not None:
            for each in getattr(value, name) or ():
                found |= _mark(each, field.fields, version, failure)
    return found


def _mark_topic(
    row: Row, version: int, failure: Failure, target: Target, *, ids: bool
) -> set[tuple[str, int | None]]:
    """Set the code in a topic's row, or in those of its failed partitions."""
    assert row.fields is not None
    marked: set[tuple[str, int | None]] = set()
    partitions = [
        (number, each, field.fields)
        for number, field, each in partitions_of(row.value, row.fields)
        if field.fields is not None and _has_code(field.fields, version)
    ]
    if _has_code(row.fields, version) and (target.partition is None or not partitions):
        row.rows[row.index] = _only_identity(row.value, ids=ids)
        _mark(row.value, row.fields, version, failure)
        return {(row.topic, None)}
    for number, each, fields in partitions:
        if target.partition in (None, number):
            _mark(each, fields, version, failure)
            marked.add((row.topic, number))
    return marked


def _only_identity(row: Any, *, ids: bool) -> Any:
    """A row with the same identity and no other field set."""
    kept = {*_NAMES, *_COPIED} - ({"topic_id"} if not ids else set())
    return type(row)(**{name: getattr(row, name) for name in row.__struct_fields__ if name in kept})


def _names(fields: Fields, version: int) -> set[str]:
    """The attributes of a struct and of the rows in it."""
    found = set[str]()
    for field in _at(fields, version):
        found |= {python_name(field.name), *_names(field.fields or (), version)}
    return found


def _has_code(fields: Fields, version: int) -> bool:
    return any(python_name(each.name) == _CODE for each in _at(fields, version))


def _at(fields: Iterable[FieldSpec], version: int) -> Iterator[FieldSpec]:
    """The fields that a version has."""
    return (each for each in fields if version in each.versions)
