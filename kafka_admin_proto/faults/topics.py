"""The topics and partitions that a request or response is about, wherever its api has them.

Fields are found by the definitions: names by ``entityType``, ids by their type and name, configs by
the type of their resource.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from fnmatch import fnmatchcase
from typing import Any, Protocol, TypeVar
from uuid import UUID

import msgspec

from kafka_admin_proto.protocol.error_answers import definitions_of, fields_of
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.fields import FieldSpec
from kafka_admin_proto.schema.names import python_name
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.topic_ids import METADATA_TOPIC_ID, ZERO_TOPIC_ID
from kafka_admin_proto.values import Message
from kafka_admin_proto.wire.secrets import METADATA_TOPIC

#: ``resource_type`` of a topic's configs.
_TOPIC_RESOURCE = 2
_PARTITION_NUMBERS = ("PartitionIndex", "PartitionId", "Partition", "Index")
_PARTITION_LISTS = ("Partitions", "PartitionIndexes")

_M = TypeVar("_M", bound=Message)


class Topic(Protocol):
    """A topic that is there."""

    @property
    def name(self) -> str:
        """Its name."""


class Topics(Protocol):
    """The topics that are there, as a broker or a proxy knows them."""

    @property
    def topic_names(self) -> Iterable[str]:
        """The names of all."""

    def topic_by_id(self, topic_id: UUID) -> Topic | None:
        """The topic of that id; None for one that is not known."""


class Target(msgspec.Struct, frozen=True):
    """Topics by a shell pattern (``orders-*``), and one of their partitions or all."""

    topic: str
    partition: int | None = None

    def takes(self, name: str) -> bool:
        """Whether the target includes a topic."""
        return fnmatchcase(name, self.topic)

    def is_asked_for(self, request: Message, topics: Topics) -> bool:
        """Whether a request is about the target; one for all topics is about existing ones."""
        if asks_for_all(request):
            return any(map(self.takes, topics.topic_names))
        return any(
            self.takes(row.topic)
            and (self.partition is None or self.partition in (row.partitions or (self.partition,)))
            for row in topic_rows(request, topics)
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


def with_partitions(
    message: _M, topics: Topics, wanted: Callable[[str, int], bool]
) -> tuple[_M, bool]:
    """A copy of a message with the partitions that are ``wanted``, and whether it has any.

    Topics that it names without partitions, or that are not there by their id, are left out.
    """
    kept = deepcopy(message)
    has_any = False
    for rows in {id(row.rows): row.rows for row in topic_rows(kept, topics)}.values():
        left = []
        for row in (each for each in topic_rows(kept, topics) if each.rows is rows):
            lists: dict[str, list[Any]] = {}
            for number, field, each in partitions_of(row.value, row.fields or ()):
                lists.setdefault(python_name(field.name), [])
                if wanted(row.topic, number):
                    lists[python_name(field.name)].append(each)
            if any(lists.values()):
                left.append(row.value)
                for name, partitions in lists.items():
                    setattr(row.value, name, partitions)
        rows[:] = left
        has_any = has_any or bool(left)
    return kept, has_any


def split(message: _M, topics: Topics, target: Target) -> tuple[_M, _M, bool]:
    """A request in two: the topics and partitions of the target, and all else.

    Also whether the second names topics. A topic without partitions is of the target as a whole.
    """
    taken, left = deepcopy(message), deepcopy(message)
    _cut(taken, topics, target, keeps_target=True)
    return taken, left, _cut(left, topics, target, keeps_target=False)


def _cut(message: Message, topics: Topics, target: Target, *, keeps_target: bool) -> bool:
    """Leave one part of `split` in a message; whether that names topics."""
    is_left = False
    for rows in {id(row.rows): row.rows for row in topic_rows(message, topics)}.values():
        known = {row.index: row for row in topic_rows(message, topics) if row.rows is rows}
        kept = []
        for index, value in enumerate(rows):
            row = known.get(index)
            if row is None or not target.takes(
                row.topic
            ):  # a topic that is not known by its id, or no topic
                keeps = not keeps_target
            elif target.partition is None or row.partitions is None:
                keeps = keeps_target
            else:
                keeps = _cut_partitions(row, target.partition, keeps_target=keeps_target)
            if keeps:
                kept.append(value)
        rows[:] = kept
        is_left = is_left or bool(kept)
    return is_left


def _cut_partitions(row: Row, partition: int, *, keeps_target: bool) -> bool:
    lists: dict[str, list[Any]] = {}
    for number, field, each in partitions_of(row.value, row.fields or ()):
        listed = lists.setdefault(python_name(field.name), [])
        if (number == partition) is keeps_target:
            listed.append(each)
    for name, partitions in lists.items():
        setattr(row.value, name, partitions)
    return any(lists.values())


def topic_ids(message: Message) -> set[UUID]:
    """The ids of topics in a message, whether the topics are known or not."""
    return set(_ids(message, fields_of(message)))


def _ids(value: Any, fields: tuple[FieldSpec, ...]) -> Iterator[UUID]:
    for field in fields:
        value_of_field = getattr(value, python_name(field.name))
        if field.name == "TopicId" and value_of_field != ZERO_TOPIC_ID:
            yield value_of_field
        elif field.type.is_array and field.fields is not None:
            for each in value_of_field or ():
                yield from _ids(each, field.fields)


def is_about_topics(api_key: int, versions: VersionRange) -> bool:
    """Whether requests of an api can name topics, by name, by id or as resources of configs."""
    return has_field(api_key, "request", versions, _names_topics)


def has_message(api_key: int, versions: VersionRange) -> bool:
    """Whether answers of an api have a field for the text of an error."""
    return has_field(api_key, "response", versions, lambda field: field.name == "ErrorMessage")


def _names_topics(field: FieldSpec) -> bool:
    return field.entity_type == "topicName" or field.name in ("TopicId", "ResourceType")


def has_field(
    api_key: int, kind: str, versions: VersionRange, is_one: Callable[[FieldSpec], bool]
) -> bool:
    """Whether a message has such a field in one of the versions; drafts' messages have them all."""

    def among(fields: tuple[FieldSpec, ...], versions: VersionRange) -> bool:
        return any(
            is_one(field) or among(field.fields or (), field.versions & versions)
            for field in fields
            if not (field.versions & versions).empty
        )

    name = catalog().name_of(api_key, kind)
    return name is None or among(definitions_of(name, "kafka"), versions)


def topic_rows(message: Message, topics: Topics) -> Iterator[Row]:
    """Every topic in the lists of a message, those of lists in lists and in structs too."""

    def name_of(topic_id: UUID) -> str | None:
        if topic_id == METADATA_TOPIC_ID:  # no record says what brokers fetch of controllers
            return METADATA_TOPIC
        topic = topics.topic_by_id(topic_id)
        return None if topic is None else topic.name

    yield from _rows(message, fields_of(message), name_of)


def asks_for_all(message: Message) -> bool:
    """Whether a request's list of topics is null, which stands for every topic.

    OffsetFetch has a list for each group.
    """
    return _asks_for_all(message, fields_of(message))


def _asks_for_all(value: Any, fields: tuple[FieldSpec, ...]) -> bool:
    for field in fields:
        if field.type.is_array and field.fields is not None:
            rows = getattr(value, python_name(field.name), ())
            if rows is None and any(each.entity_type == "topicName" for each in field.fields):
                return True
            if any(_asks_for_all(row, field.fields) for row in rows or ()):
                return True
    return False


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
        if not inside:
            continue
        if not field.type.is_array:
            if field.fields is not None:
                yield from _rows(inside, field.fields, name_of)
            continue
        if field.fields is None:
            if field.entity_type == "topicName":
                yield from (Row(inside, i, name, None, None) for i, name in enumerate(inside))
            continue
        for index, item in enumerate(inside):
            topic = _topic(item, field.fields, name_of)
            if topic is None:
                yield from _rows(item, field.fields, name_of)
                continue
            numbers = [number for number, _, _ in partitions_of(item, field.fields)]
            yield Row(inside, index, topic, frozenset(numbers) if numbers else None, field.fields)


def _topic(
    row: Any, fields: tuple[FieldSpec, ...], name_of: Callable[[UUID], str | None]
) -> str | None:
    """The topic of a row; None for a row of another kind."""
    topic_id = getattr(row, "topic_id", ZERO_TOPIC_ID)
    known = None if topic_id == ZERO_TOPIC_ID else name_of(topic_id)
    if known is not None:  # the name beside the id is empty in some messages
        return known
    for field in fields:
        named = getattr(row, python_name(field.name))
        if field.entity_type == "topicName" and not field.type.is_array and named is not None:
            return str(named)
    if getattr(row, "resource_type", None) == _TOPIC_RESOURCE:
        return str(row.resource_name)
    return None
