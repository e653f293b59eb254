"""Operations on topics, and on their partitions and replicas."""

from __future__ import annotations

from kafka_admin_proto.tables.rows.calls import Json, items, text, topic_id
from kafka_admin_proto.tables.rows.operations.operation import (
    Operation,
    Operations,
    answered,
    by_name,
    partition_errors,
    rest,
)


def create_topics(request: Json, response: Json) -> Operations:
    return _of_topics("create topic", request, items(response, "topics"))


def create_partitions(request: Json, response: Json) -> Operations:
    return _of_topics("create partitions", request, items(response, "results"))


def _of_topics(what: str, request: Json, answers: list[Json]) -> Operations:
    named = by_name(answers, "name")
    for item in items(request, "topics"):
        answer = named.get(text(item.get("name")), {})
        yield answered(what, item, answer, timeoutMs=request.get("timeoutMs"))


def delete_topics(request: Json, response: Json) -> Operations:
    asked = items(request, "topics")
    old = request.get("topicNames")
    if isinstance(old, list):
        asked = [{"name": name} for name in old]
    answers = items(response, "responses")
    named, by_id = by_name(answers, "name"), by_name(answers, "topicId")
    for item in asked:
        name, its_id = text(item.get("name")), topic_id(item.get("topicId"))
        answer = (by_id.get(its_id) if name is None else named.get(name)) or {}
        topic = {"name": name if name is not None else answer.get("name")}
        found = answered("delete topic", topic, answer, timeoutMs=request.get("timeoutMs"))
        found.topic_id = its_id or found.topic_id
        yield found


def _of_partitions(what: str, request: Json, response: Json, answers: str) -> Operations:
    """Operations whose answers are by partition, in the response's field of that name."""
    by_topic = by_name(items(response, answers), "name")
    for item in items(request, "topics"):
        name = text(item.get("name"))
        codes, message = partition_errors(by_topic.get(name, {}), "partitions", "partitionIndex")
        yield Operation(
            what,
            name,
            rest(item, "name", timeoutMs=request.get("timeoutMs")),
            [response.get("errorCode"), *codes],
            text(response.get("errorMessage")) or message,
        )


def delete_records(request: Json, response: Json) -> Operations:
    return _of_partitions("delete records", request, response, "topics")


def reassign(request: Json, response: Json) -> Operations:
    return _of_partitions("reassign partitions", request, response, "responses")


def elect_leaders(request: Json, response: Json) -> Operations:
    of_all = {"electionType": request.get("electionType"), "timeoutMs": request.get("timeoutMs")}
    answers = by_name(items(response, "replicaElectionResults"), "topic")
    if request.get("topicPartitions") is None:  # of all topics
        failed = [partition_errors(a, "partitionResult", "partitionId") for a in answers.values()]
        codes = [code for found, _ in failed for code in found]
        yield Operation("elect leaders", None, rest({}, **of_all), [
            response.get("errorCode"), *codes])  # fmt: skip
        return
    for item in items(request, "topicPartitions"):
        name = text(item.get("topic"))
        codes, message = partition_errors(answers.get(name, {}), "partitionResult", "partitionId")
        yield Operation(
            "elect leaders",
            name,
            rest(item, "topic", **of_all),
            [response.get("errorCode"), *codes],
            message,
        )


def move_replicas(request: Json, response: Json) -> Operations:
    answers = by_name(items(response, "results"), "topicName")
    for folder in items(request, "dirs"):
        for item in items(folder, "topics"):
            name = text(item.get("name"))
            codes, message = partition_errors(answers.get(name, {}), "partitions", "partitionIndex")
            parameters = rest(item, "name", path=folder.get("path"))
            yield Operation("move replicas", name, parameters, codes, message)
