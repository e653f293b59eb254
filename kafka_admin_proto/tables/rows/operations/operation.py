"""One operation that a request asks for, and how elements of requests meet their answers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import msgspec

from kafka_admin_proto.render.meanings import Meaning, meaning_of
from kafka_admin_proto.schema.names import python_name
from kafka_admin_proto.tables.rows.calls import Json, error_of, items, text, topic_id

#: ``resource_type`` of operations on topics, as ConfigResource.Type and ResourceType name it.
TOPIC = "TOPIC"
#: Arrays within arrays that any of the bodies has; lines of request logs may have any number.
_MOST_ARRAYS = 4


class Operation(msgspec.Struct):
    """One operation on one resource; ``codes`` and ``message`` are what the response says of it."""

    what: str
    topic: str | None
    parameters: Json
    codes: list[Any] = []
    message: str | None = None
    topic_id: str | None = None
    resource_type: str | None = TOPIC
    resource_name: str | None = None


Operations = Iterator[Operation]


def with_names(message: str, body: Json, path: str = "") -> Json:
    """The body with the names of Kafka's enums in place of their numbers, where these have one."""
    named: Json = {}
    for key, value in body.items():
        if type(value) is int:
            enum = _enum_at(message, path, key)
            value = (enum and enum.name(value)) or value
        elif isinstance(value, list) and path.count(".") < _MOST_ARRAYS:
            below = f"{path}{_python_name(key)}."
            value = [
                with_names(message, each, below) if isinstance(each, dict) else each
                for each in value
            ]
        named[key] = value
    return named


#: Lines of request logs may have any names.
_python_name = lru_cache(maxsize=1024)(python_name)


@lru_cache(maxsize=1024)
def _enum_at(message: str, path: str, key: str) -> Meaning | None:
    meaning = meaning_of(message, path + _python_name(key))
    return meaning if meaning is not None and meaning.java else None


def value_text(value: Any) -> str | None:
    """What an element says of a resource, as text; a number as its digits."""
    return None if value is None else str(value)


def rest(item: Json, *names: str, **more: Any) -> Json:
    """The other fields of an element, and the fields of the request that hold for all elements."""
    kept = {name: value for name, value in item.items() if name not in names}
    return kept | {name: value for name, value in more.items() if value is not None}


def by_name(answers: list[Json], *names: str) -> dict[Any, Json]:
    if len(names) == 1:
        return {text(each.get(names[0])): each for each in answers}
    return {tuple(map(str, map(each.get, names))): each for each in answers}


def answered(
    what: str, item: Json, answer: Json, key: str = "name", *dropped: str, **more: Any
) -> Operation:
    """The operation on the topic that ``key`` of an element names; its parameters are the rest."""
    return Operation(
        what,
        text(item.get(key)),
        rest(item, key, *dropped, **more),
        [answer.get("errorCode")],
        text(answer.get("errorMessage")),
        topic_id(answer.get("topicId")),
    )


def partition_errors(answer: Json, inner: str, index: str) -> tuple[list[Any], str | None]:
    """The codes of a topic's partitions, and which of them failed with what, as a sentence."""
    failed = [each for each in items(answer, inner) if error_of(each.get("errorCode"))]
    faults = []
    for each in failed:
        message = text(each.get("errorMessage"))
        fault = f"partition {each.get(index)}: {error_of(each.get('errorCode'))}"
        faults.append(f"{fault} ({message})" if message else fault)
    return [each.get("errorCode") for each in failed], "; ".join(faults) or None
