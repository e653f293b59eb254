"""Requests that only a raw client sends: drawn ones with fields that no tool would write.

Each field is found by the definitions, so every api has them: nulls, empty and repeated rows, ids
beside names, codes of no enum, numbers out of range. What would end or hang a real node, or would
not be the same twice, is left out with its reason below.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

from kafka_admin_proto.protocol.error_answers import fields_of
from kafka_admin_proto.schema.fields import FieldSpec
from kafka_admin_proto.schema.names import python_name
from kafka_admin_proto.topic_ids import METADATA_TOPIC_ID, ZERO_TOPIC_ID
from kafka_admin_proto.values import Message
from tests.server.differential.requests.drawing import Draws, Ids, Step, patience_of
from tests.server.differential.requests.pools import FOREIGN

#: Codes of no enum of Kafka's, of every enum's edges, and of bytes that are negative.
_CODES = [0, 1, 3, 4, 16, 32, 127, -1, -128]
#: Odd values by the name of a field.
_BY_NAME: dict[str, list[Any]] = {
    "resource_name": ["", "-1", "abc", "01", "+2", "1", "2", "3", "2147483648", "a"],
    # 0 and 1 are groups and transactions, for which a real cluster creates its topics.
    "key_type": [2, 3, 127, -1, -128],
    "num_partitions": [0, -1, -2, 1],
    "replication_factor": [0, -1, -2, 1, 32_767],
    "count": [0, -1, -(1 << 31)],
    "partition_index": [-1, 7, (1 << 31) - 1],
    "broker_id": [0, -1, 7],
    "response_partition_limit": [0, -1, -(1 << 31)],
    "iterations": [0, -1, 4095, 4096, 16_384, 16_385],
    "max_version_level": [-1, -32_768, 32_767],
    "principal": ["", "alice", ":", "User:", ":alice", "user:alice", "Group:g"],
    "host": ["", "localhost", "::1", "*", "127.0.0.0/8", "10.0.0.0/33", "::1/x"],
    "entity_type": ["", "User", "users", "user", "ip", "client-id", "group"],
    "entity_name": ["", "<default>", "10.0.0.1", "no such host"],
    # Features that all nodes have would be set, and stay so.
    "feature": ["", "no.such", "metadata.version"],
}
#: Odd values by the type of a field. Numbers that the numbers of brokers, partitions and voters
#: have are odd enough; a NaN is not equal to itself.
_BY_TYPE: dict[str, list[Any]] = {
    "string": ["", " ", "x", "a", "..", "1", "a,,a", "\U0001f600", "__cluster_metadata"],
    "int8": _CODES,
    "int16": _CODES,
    "int32": [0, -1, 7, -(1 << 31), (1 << 31) - 1],
    "uuid": [ZERO_TOPIC_ID, METADATA_TOPIC_ID, FOREIGN, UUID(int=(1 << 128) - 1)],
    "float64": [0.0, -1.0, 0.5, 1e300, float("inf")],
    "bytes": [b"", b"\0"],
}
#: Metadata, CreateTopics, CreatePartitions, AlterPartitionReassignments: topics may be placed.
_PLACING = frozenset({3, 19, 37, 45})
#: (what has the field, the field's name, the values that it may get)
_Place = tuple[Any, str, list[Any]]


def raw(*makers: Callable[[Draws], Step]) -> Callable[[Draws], Step]:
    """Draws a step of one of these, with one to three of its fields made odd."""

    def drawn(draws: Draws) -> Step:
        step = draws.one(makers)(draws)
        plain = step.make
        if plain is None:
            return step
        picks = [(draws.within(0, 99), draws.within(0, 99)) for _ in range(draws.one([1, 1, 2, 3]))]

        def make(ids: Ids) -> Message:
            return _odd(plain(ids), step.version, picks)

        shown = make(Ids({}, {}))
        step.make = make
        if shown.api_key in _PLACING:
            step.placed = sorted({*step.placed, *_topics(shown, fields_of(shown))})
        step.patience_s = patience_of(shown)
        return step

    return drawn


def _odd(request: Message, version: int, picks: list[tuple[int, int]]) -> Message:
    """A copy of a request with these fields changed: (the field's number, the value's number)."""
    request = copy.deepcopy(request)
    for number, choice in picks:
        places = list(_places(request, fields_of(request), version))
        if places:
            owner, name, values = places[number % len(places)]
            setattr(owner, name, values[choice % len(values)])
    return request


def _places(value: Any, fields: tuple[FieldSpec, ...], version: int) -> Iterator[_Place]:
    for field in fields:
        name = python_name(field.name)
        if version not in field.versions or name == "timeout_ms":  # usual steps have it
            continue
        now = getattr(value, name)
        values = _odd_values(field, now, version)
        if values:
            yield value, name, values
        rows = now if field.type.is_array else [now]
        for row in (rows or ()) if field.fields else ():
            if row is not None:
                yield from _places(row, field.fields or (), version)


def _odd_values(field: FieldSpec, now: Any, version: int) -> list[Any]:
    kind = field.type
    values: list[Any] = [None] if version in field.nullable_versions else []
    odd = _BY_NAME.get(python_name(field.name), _BY_TYPE.get(kind.element, []))
    if not kind.is_array:
        return values + odd
    rows = list(now or ())
    return [*values, [], [*rows, *rows[:1]], *([*rows, each] for each in odd)]


def _topics(value: Any, fields: tuple[FieldSpec, ...]) -> Iterator[str]:
    """The topics that a request names."""
    for field in fields:
        found = getattr(value, python_name(field.name))
        if field.entity_type == "topicName" and isinstance(found, str):
            yield found
        elif field.fields and field.type.is_array:
            for row in found or ():
                yield from _topics(row, field.fields)
