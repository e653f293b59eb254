"""Make rows of the table ``admin_audit`` from requests that change topics."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import zip_longest
from typing import Any

import msgspec
import pyarrow as pa

from kafka_admin_proto.tables.rows.calls import Call, Json, error_of, items, text, topic_id
from kafka_admin_proto.tables.rows.derived_table import CALL, ORIGIN, TEXT, DerivedTable

#: ConfigResource.Type.TOPIC and ResourceType.TOPIC alike; ResourceType.ANY, of filters alone.
_TOPIC = 2
_ANY = 1


class _Operation(msgspec.Struct):
    """One operation on one topic; ``answer`` is the part of the response that is about it."""

    what: str
    topic: str | None
    parameters: Json
    codes: list[Any] = []
    message: str | None = None
    topic_id: str | None = None


def audit_rows(call: Call) -> Iterator[Json]:
    """The columns of ``admin_audit`` from a call's bodies, one row for each operation."""
    request = call.request["body"]
    response = None if call.response is None else call.response["body"]
    if not isinstance(request, dict):
        return
    if not isinstance(response, dict):
        response = {}
    names = {**_names(call.request), **_names(call.response)}
    validate = request.get("validateOnly")
    for each in OPERATIONS[call.request["api"]](request, response):
        topic = each.topic
        if topic is None and each.topic_id is not None:
            topic = names.get(each.topic_id)
        yield {
            "operation": each.what,
            "topic": topic,
            "topic_id": each.topic_id,
            "parameters": msgspec.json.encode(each.parameters).decode(),
            "validate_only": validate if isinstance(validate, bool) else None,
            "answered": call.response is not None,
            "error": error_of(*each.codes),
            "message": each.message,
            "latency_us": None if call.response is None else call.response["latency_us"],
        }


def _names(frame: Json | None) -> dict[str, str]:
    return dict((frame and frame.get("topic_names")) or ())


_Operations = Iterator[_Operation]


def _rest(item: Json, *names: str, **more: Any) -> Json:
    """The other fields of an element, and the fields of the request that hold for all elements."""
    kept = {name: value for name, value in item.items() if name not in names}
    return kept | {name: value for name, value in more.items() if value is not None}


def _by_name(answers: list[Json], *names: str) -> dict[Any, Json]:
    """Answers by the fields of those names."""
    if len(names) == 1:
        return {text(each.get(names[0])): each for each in answers}
    return {tuple(map(str, map(each.get, names))): each for each in answers}


def _answered(
    what: str, item: Json, answer: Json, key: str = "name", *dropped: str, **more: Any
) -> _Operation:
    """The operation on the topic that ``key`` of an element names; its parameters are the rest."""
    return _Operation(
        what,
        text(item.get(key)),
        _rest(item, key, *dropped, **more),
        [answer.get("errorCode")],
        text(answer.get("errorMessage")),
        topic_id(answer.get("topicId")),
    )


def _create_topics(request: Json, response: Json) -> _Operations:
    answers = _by_name(items(response, "topics"), "name")
    for item in items(request, "topics"):
        answer = answers.get(text(item.get("name")), {})
        yield _answered("create topic", item, answer, timeoutMs=request.get("timeoutMs"))


def _delete_topics(request: Json, response: Json) -> _Operations:
    asked = items(request, "topics")
    old = request.get("topicNames")
    if isinstance(old, list):
        asked = [{"name": name} for name in old]
    answers = items(response, "responses")
    by_name = _by_name(answers, "name")
    by_id = _by_name(answers, "topicId")
    for item in asked:
        name, its_id = text(item.get("name")), topic_id(item.get("topicId"))
        answer = (by_id.get(its_id) if name is None else by_name.get(name)) or {}
        topic = {"name": name if name is not None else answer.get("name")}
        found = _answered("delete topic", topic, answer, timeoutMs=request.get("timeoutMs"))
        found.topic_id = its_id or found.topic_id
        yield found


def _create_partitions(request: Json, response: Json) -> _Operations:
    answers = _by_name(items(response, "results"), "name")
    for item in items(request, "topics"):
        answer = answers.get(text(item.get("name")), {})
        yield _answered("create partitions", item, answer, timeoutMs=request.get("timeoutMs"))


def _of_partitions(what: str, request: Json, response: Json, answers: str) -> _Operations:
    """Operations whose answers are by partition, in the response's field of that name."""
    by_topic = _by_name(items(response, answers), "name")
    for item in items(request, "topics"):
        name = text(item.get("name"))
        codes, message = _partition_errors(by_topic.get(name, {}), "partitions", "partitionIndex")
        yield _Operation(
            what,
            name,
            _rest(item, "name", timeoutMs=request.get("timeoutMs")),
            [response.get("errorCode"), *codes],
            text(response.get("errorMessage")) or message,
        )


def _partition_errors(answer: Json, inner: str, index: str) -> tuple[list[Any], str | None]:
    """The codes of a topic's partitions, and which of them failed with what, as a sentence."""
    failed = [each for each in items(answer, inner) if error_of(each.get("errorCode"))]
    faults = []
    for each in failed:
        message = text(each.get("errorMessage"))
        fault = f"partition {each.get(index)}: {error_of(each.get('errorCode'))}"
        faults.append(f"{fault} ({message})" if message else fault)
    return [each.get("errorCode") for each in failed], "; ".join(faults) or None


def _delete_records(request: Json, response: Json) -> _Operations:
    return _of_partitions("delete records", request, response, "topics")


def _reassign(request: Json, response: Json) -> _Operations:
    return _of_partitions("reassign partitions", request, response, "responses")


def _alter_configs(request: Json, response: Json) -> _Operations:
    answers = _by_name(items(response, "responses"), "resourceType", "resourceName")
    for item in items(request, "resources"):
        if item.get("resourceType") != _TOPIC:
            continue
        key = str(item.get("resourceType")), str(item.get("resourceName"))
        yield _answered("alter config", item, answers.get(key, {}), "resourceName", "resourceType")


def _elect_leaders(request: Json, response: Json) -> _Operations:
    of_all = {"electionType": request.get("electionType"), "timeoutMs": request.get("timeoutMs")}
    answers = _by_name(items(response, "replicaElectionResults"), "topic")
    if request.get("topicPartitions") is None:  # of all topics
        failed = [_partition_errors(a, "partitionResult", "partitionId") for a in answers.values()]
        codes = [code for found, _ in failed for code in found]
        yield _Operation("elect leaders", None, _rest({}, **of_all), [
            response.get("errorCode"), *codes])  # fmt: skip
        return
    for item in items(request, "topicPartitions"):
        name = text(item.get("topic"))
        codes, message = _partition_errors(answers.get(name, {}), "partitionResult", "partitionId")
        yield _Operation(
            "elect leaders",
            name,
            _rest(item, "topic", **of_all),
            [response.get("errorCode"), *codes],
            message,
        )


def _move_replicas(request: Json, response: Json) -> _Operations:
    answers = _by_name(items(response, "results"), "topicName")
    for folder in items(request, "dirs"):
        for item in items(folder, "topics"):
            name = text(item.get("name"))
            codes, message = _partition_errors(
                answers.get(name, {}), "partitions", "partitionIndex"
            )
            parameters = _rest(item, "name", path=folder.get("path"))
            yield _Operation("move replicas", name, parameters, codes, message)


def _create_acls(request: Json, response: Json) -> _Operations:
    answers = items(response, "results")
    for item, answer in _with_answers(items(request, "creations"), answers):
        if item.get("resourceType") == _TOPIC:
            yield _answered("create acl", item, answer, "resourceName", "resourceType")


def _delete_acls(request: Json, response: Json) -> _Operations:
    """Filters of topics' ACLs, and those of all resources, which have these among them."""
    answers = items(response, "filterResults")
    for item, answer in _with_answers(items(request, "filters"), answers):
        kind = item.get("resourceTypeFilter")
        if kind not in (_TOPIC, _ANY):
            continue
        of_any = {"resourceTypeFilter": kind} if kind == _ANY else {}
        keys = ("resourceNameFilter", "resourceTypeFilter")
        yield _answered("delete acl", item, answer, *keys, **of_any)


def _with_answers(asked: list[Json], answers: list[Json]) -> Iterator[tuple[Json, Json]]:
    """Pair elements with answers by their position."""
    return zip_longest(asked, answers[: len(asked)], fillvalue={})


#: Api → what makes operations of its request's and response's body.
OPERATIONS: dict[str, Callable[[Json, Json], _Operations]] = {
    "CreateTopics": _create_topics,
    "DeleteTopics": _delete_topics,
    "CreatePartitions": _create_partitions,
    "DeleteRecords": _delete_records,
    "AlterConfigs": _alter_configs,
    "IncrementalAlterConfigs": _alter_configs,
    "AlterPartitionReassignments": _reassign,
    "ElectLeaders": _elect_leaders,
    "AlterReplicaLogDirs": _move_replicas,
    "CreateAcls": _create_acls,
    "DeleteAcls": _delete_acls,
}


#: One row for each operation on a topic that a request asks for. ``operation`` is a verb and what
#: it is done to: create topic, delete topic, create partitions, delete records, alter config,
#: reassign partitions, elect leaders (``topic`` null: of all), move replicas, create acl and delete
#: acl (``topic`` is the resource's name, which may be a prefix; a filter for ``delete acl``: null
#: for all names, and with a ``resourceTypeFilter`` of 1 in ``parameters`` for resources of all
#: types, topics among them). ``parameters`` is the rest of the request's element as JSON, secrets
#: masked; ``error`` is a name, null for success and where no response was captured (``answered``
#: tells which).
_SCHEMA = pa.schema(
    [
        *ORIGIN,
        *CALL,
        ("operation", TEXT),
        ("topic", TEXT),
        ("topic_id", TEXT),
        ("parameters", TEXT),
        ("validate_only", pa.bool_()),
        ("answered", pa.bool_()),
        ("error", TEXT),
        ("message", TEXT),
        ("latency_us", pa.int64()),
    ]
)
TABLE = DerivedTable(
    name="admin_audit", schema=_SCHEMA, apis=OPERATIONS, rows=audit_rows, names_topics=True
)
