"""Operations on groups and on their offsets at topics."""

from __future__ import annotations

from kafka_admin_proto.tables.rows.calls import Json, items, text, topic_id
from kafka_admin_proto.tables.rows.operations.operation import (
    Operation,
    Operations,
    by_name,
    partition_errors,
    rest,
)

_GROUP = "GROUP"


def delete_groups(request: Json, response: Json) -> Operations:
    answers = by_name(items(response, "results"), "groupId")
    asked = request.get("groupsNames")
    for group in map(text, asked if isinstance(asked, list) else ()):
        answer = answers.get(group, {})
        yield Operation(
            "delete group",
            None,
            {},
            [answer.get("errorCode")],
            text(answer.get("errorMessage")),
            resource_type=_GROUP,
            resource_name=group,
        )


def delete_offsets(request: Json, response: Json) -> Operations:
    return _offsets("delete offsets", request, response, "topics", "name")


def delete_share_offsets(request: Json, response: Json) -> Operations:
    return _offsets("delete share offsets", request, response, "responses", "topicName")


def alter_share_offsets(request: Json, response: Json) -> Operations:
    return _offsets("alter share offsets", request, response, "responses", "topicName")


def _offsets(what: str, request: Json, response: Json, array: str, key: str) -> Operations:
    """One operation for each topic of a group; answers are in the response's ``array``."""
    answers = by_name(items(response, array), key)
    for item in items(request, "topics"):
        topic = text(item.get(key))
        answer = answers.get(topic, {})
        codes, message = partition_errors(answer, "partitions", "partitionIndex")
        yield Operation(
            what,
            topic,
            rest(item, key),
            [response.get("errorCode"), answer.get("errorCode"), *codes],
            text(response.get("errorMessage")) or text(answer.get("errorMessage")) or message,
            topic_id(answer.get("topicId")),
            _GROUP,
            text(request.get("groupId")),
        )
