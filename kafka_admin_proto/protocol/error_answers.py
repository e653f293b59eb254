"""Answers with an error code where the response of an api has one, whatever the api.

A request that fails as a whole is answered as by ``getErrorResponse`` of Kafka's requests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, get_args

import msgspec

from kafka_admin_proto.codec import codec
from kafka_admin_proto.protocol.error_forms import MENDED, WITHOUT_ROWS
from kafka_admin_proto.protocol.headers import message_of
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.fields import FieldSpec
from kafka_admin_proto.schema.names import python_name
from kafka_admin_proto.values import Message

Fields = tuple[FieldSpec, ...]

#: The names of a code; the second one is that of AddPartitionsToTxn.
_CODES, _MESSAGE = ("error_code", "partition_error_code"), "error_message"
#: The fields that identify a row: names of requests and responses for the same thing.
ROW_NAMES = ("name", "topic", "topic_name", "user", "key", "transactional_id", "group_id")
_NUMBERS = ("partition_index", "partition_id", "partition", "index")
#: Fields that are copied from a request's row to the response's row, if both have them.
COPIED = ("topic_id", "producer_id", "resource_type", "resource_name", "entity")
#: The node id in FindCoordinator's answer without a coordinator.
_NO_NODE = ("node_id", "port")


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
    mark(response, fields, version, failure)
    of_kafka = request.dialect == "kafka"
    if not (of_kafka and request.api_key in WITHOUT_ROWS):
        lists_of = _rows_of(type(response), fields, fields_of(request), version, failure)
        for attribute, rows in lists_of(request).items():
            setattr(response, attribute, rows)
    if of_kafka and request.api_key in MENDED:
        MENDED[request.api_key](response, request, failure.code, version)
    return response


def set_throttle_time(response: Message, version: int, throttle_ms: int) -> None:
    """Set throttle_time_ms, if the response has the field at this version."""
    for field in fields_of(response):
        if field.name == "ThrottleTimeMs" and version in field.versions:
            # This message has the field, which the base class of messages does not.
            response.throttle_time_ms = throttle_ms  # type: ignore[attr-defined]


def fields_of(message: Message) -> tuple[FieldSpec, ...]:
    """The definitions of a message's fields, with the fields of named structs in their place."""
    return definitions_of(message.message_name, message.dialect)


@cache
def definitions_of(name: str, dialect: str) -> tuple[FieldSpec, ...]:
    """As `fields_of`, by the message's name."""
    spec = catalog().spec(name, dialect)
    common = {each.name: each.fields for each in spec.common_structs}

    def filled(field: FieldSpec) -> FieldSpec:
        inner = common.get(field.type.element, ()) if field.fields is None else field.fields
        if not field.type.is_struct:
            return field
        return msgspec.structs.replace(field, fields=tuple(map(filled, inner)))

    return tuple(map(filled, spec.fields))


# The rows that a request asks for.


def _rows_of(
    answer_class: Any, fields: Fields, asked_fields: Fields, version: int, failure: Failure
) -> Callable[[Any], dict[str, list[Any]]]:
    """A function of a request's struct, which gives the response's lists for it by name.

    The definitions are read once for all rows: a refused request may have many thousands.
    """
    makers = [
        (python_name(field.name), path, make)
        for field in at_version(fields, version)
        if field.type.is_array and field.fields is not None and _has_rows(field.fields, version)
        for path, listed in _lists(asked_fields, version)
        if (make := _row_maker(answer_class, field, listed, version, failure)) is not None
    ]

    def lists_of(asked: Any) -> dict[str, list[Any]]:
        lists: dict[str, list[Any]] = {}
        for name, path, make in makers:
            rows = [make(each) for each in _listed(asked, path)]
            if rows:
                lists[name] = lists.get(name, []) + rows
        return lists

    return lists_of


def _lists(fields: Fields, version: int) -> Iterator[tuple[tuple[str, ...], FieldSpec]]:
    """The lists of a request's struct with their attributes, and those in lists by a path.

    Only AlterReplicaLogDirs has topics by what its answer leaves out.
    """
    for field in at_version(fields, version):
        if field.type.is_array:
            name = python_name(field.name)
            yield (name,), field
            if name == "dirs":
                yield from (
                    ((name, *path), found) for path, found in _lists(field.fields or (), version)
                )


def _listed(asked: Any, path: tuple[str, ...]) -> Iterator[Any]:
    name, *rest = path
    for item in getattr(asked, name) or ():
        if rest:
            yield from _listed(item, tuple(rest))
        else:
            yield item


def _has_rows(fields: Fields, version: int) -> bool:
    """Whether the rows are topics, partitions or others with a code, or have such rows."""
    return any(
        python_name(each.name) in (*_CODES, *_NUMBERS) or _has_rows(each.fields or (), version)
        for each in at_version(fields, version)
    )


def _row_maker(
    answer_class: Any, field: FieldSpec, listed: FieldSpec, version: int, failure: Failure
) -> Callable[[Any], Any] | None:
    """A function of one item of a request's list, which gives the row for it; or None."""
    assert field.fields is not None
    names = {python_name(each.name): each for each in at_version(field.fields, version)}
    row_class = _row_class(answer_class, python_name(field.name))
    marks = _marks(field.fields, version, failure)
    if listed.fields is None:
        wanted = ROW_NAMES if listed.type.element == "string" else _NUMBERS
        name = next((each for each in wanted if each in names), None)
        return None if name is None else lambda asked: row_class(**{**marks, name: asked})
    theirs = {python_name(each.name) for each in at_version(listed.fields, version)}
    copied = []
    for group in (ROW_NAMES, _NUMBERS, *((each,) for each in COPIED)):
        own = next((each for each in group if each in names), None)
        other = next((each for each in group if each in theirs), None)
        if own is not None and other is not None:
            copied.append((own, other, version in names[own].nullable_versions))
    if not copied and not _is_bare(field.fields, version):
        return None
    lists_of = _rows_of(row_class, field.fields, listed.fields, version, failure)

    def row(asked: Any) -> Any:
        values: dict[str, Any] = {**marks, **lists_of(asked)}
        for own, other, nullable in copied:
            value = getattr(asked, other)
            if own == "entity":
                part = _row_class(row_class, own)
                value = [part(each.entity_type, each.entity_name) for each in value]
            if value is not None or nullable:
                values[own] = value
        return row_class(**values)

    return row


def _is_bare(fields: Fields, version: int) -> bool:
    """Whether a row has only a code, a message and lists."""
    return all(
        each.type.is_array or python_name(each.name) in (*_CODES, _MESSAGE)
        for each in at_version(fields, version)
    )


@cache
def _row_class(value_class: Any, name: str) -> Any:
    (found,) = (each for each in msgspec.structs.fields(value_class) if each.name == name)
    return _struct_in(found.type)


def _struct_in(annotation: Any) -> Any:
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        return annotation
    return next((found for each in get_args(annotation) if (found := _struct_in(each))), None)


# Codes in rows.


def _marks(fields: Fields, version: int, failure: Failure) -> dict[str, Any]:
    """The fields of a struct that say the failure, with their values."""
    marks: dict[str, Any] = {}
    coded = has_code(fields, version)
    for field in at_version(fields, version):
        name = python_name(field.name)
        if name in _CODES:
            marks[name] = failure.code
        elif coded and name in _NO_NODE:
            marks[name] = -1
        elif name == _MESSAGE:
            nullable = version in field.nullable_versions
            marks[name] = failure.message or (None if nullable else "")
    return marks


def mark(value: Any, fields: Fields, version: int, failure: Failure) -> None:
    """Set the code in a struct, whose lists have no codes of their own."""
    for name, found in _marks(fields, version, failure).items():
        setattr(value, name, found)


def has_code(fields: Fields, version: int) -> bool:
    """Whether a struct has a field for an error code."""
    return any(python_name(each.name) in _CODES for each in at_version(fields, version))


def at_version(fields: Iterable[FieldSpec], version: int) -> Iterator[FieldSpec]:
    """The fields that a version has."""
    return (each for each in fields if version in each.versions)
