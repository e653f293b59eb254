"""The topics and partitions that a request or response is about, wherever its api has them.

Fields are found by the definitions: names by ``entityType``, ids by their type and name, configs by
the type of their resource.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from functools import cache
from typing import Any
from uuid import UUID

import msgspec

from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.fields import FieldSpec
from kafka_admin_proto.schema.names import python_name
from kafka_admin_proto.server.brokers.view import TOPIC_RESOURCE, View
from kafka_admin_proto.topic_ids import ZERO_TOPIC_ID
from kafka_admin_proto.values import Message

_PARTITION_NUMBERS = ("PartitionIndex", "PartitionId", "Partition")
_PARTITION_LISTS = ("Partitions", "PartitionIndexes")


class Target(msgspec.Struct, frozen=True):
    """Topics by a shell pattern (``orders-*``), and one of their partitions or all."""

    topic: str
    partition: int | None = None

    def takes(self, name: str) -> bool:
        """Whether the target includes a topic."""
        return fnmatchcase(name, self.topic)

    def is_asked_for(self, request: Message, view: View) -> bool:
        """Whether a request is about the target; one for all topics is about existing ones."""
        if asks_for_all(request):
            return any(map(self.takes, view.topic_names))
        return any(
            self.takes(row.topic)
            and (self.partition is None or self.partition in (row.partitions or (self.partition,)))
            for row in topic_rows(request, view)
        )


class Row(msgspec.Struct):
    """One topic in a message: the list with its row, and the index of the row.

    ``partitions`` are those that the row lists, None if it has no such list. ``fields`` are the
    definitions of the row's own fields, None in a list of names.
    """

    rows: list[Any]
    index: int
    topic: str
    partitions: frozenset[int] | None
    fields: tuple[FieldSpec, ...] | None

    @property
    def value(self) -> Any:
        """The row itself."""
        return self.rows[self.index]


def fields_of(message: Message) -> tuple[FieldSpec, ...]:
    """The definitions of a message's fields, with the fields of named structs in their place."""
    return _fields(message.message_name, message.dialect)


@cache
def _fields(name: str, dialect: str) -> tuple[FieldSpec, ...]:
    spec = catalog().spec(name, dialect)
    common = {each.name: each.fields for each in spec.common_structs}

    def filled(field: FieldSpec) -> FieldSpec:
        inner = common.get(field.type.element, ()) if field.fields is None else field.fields
        if not field.type.is_struct:
            return field
        return msgspec.structs.replace(field, fields=tuple(map(filled, inner)))

    return tuple(map(filled, spec.fields))


def topic_rows(message: Message, view: View) -> Iterator[Row]:
    """Every topic in a message, those of lists in lists too."""

    def name_of(topic_id: UUID) -> str | None:
        topic = view.topic_by_id(topic_id)
        return None if topic is None else topic.name

    yield from _rows(message, fields_of(message), name_of)


def asks_for_all(message: Message) -> bool:
    """Whether a request's list of topics is null, which stands for every topic."""
    return any(
        getattr(message, python_name(field.name), ()) is None
        for field in fields_of(message)
        if field.type.is_array
        and any(each.entity_type == "topicName" for each in field.fields or ())
    )


def partitions_of(row: Any, fields: tuple[FieldSpec, ...]) -> Iterator[tuple[int, FieldSpec, Any]]:
    """The numbers of a row's partitions, the field that lists them and the rows of their own."""
    for field in fields:
        listed = getattr(row, python_name(field.name), None)
        if not field.type.is_array or not listed:
            continue
        if field.fields is None:
            if field.name in _PARTITION_LISTS:
                for number in listed:
                    yield number, field, number
            continue
        number_of = next((f.name for f in field.fields if f.name in _PARTITION_NUMBERS), None)
        if number_of is not None:
            for each in listed:
                yield getattr(each, python_name(number_of)), field, each


def _rows(
    value: Any, fields: tuple[FieldSpec, ...], name_of: Callable[[UUID], str | None]
) -> Iterator[Row]:
    for field in fields:
        inside = getattr(value, python_name(field.name), None)
        if not field.type.is_array or not inside:
            continue
        if field.fields is None:
            if field.entity_type == "topicName":
                yield from (Row(inside, i, name, None, None) for i, name in enumerate(inside))
            continue
        for index, each in enumerate(inside):
            topic = _topic(each, field.fields, name_of)
            if topic is None:
                yield from _rows(each, field.fields, name_of)
                continue
            numbers = [number for number, _, _ in partitions_of(each, field.fields)]
            yield Row(inside, index, topic, frozenset(numbers) if numbers else None, field.fields)


def _topic(
    row: Any, fields: tuple[FieldSpec, ...], name_of: Callable[[UUID], str | None]
) -> str | None:
    """The topic of a row; None for a row of another kind."""
    for field in fields:
        found = getattr(row, python_name(field.name))
        if field.entity_type == "topicName" and not field.type.is_array and found is not None:
            return str(found)
        if field.name == "TopicId" and found != ZERO_TOPIC_ID and name_of(found) is not None:
            return name_of(found)
    if getattr(row, "resource_type", None) == TOPIC_RESOURCE:
        return str(row.resource_name)
    return None
