"""Operations on resources of several types, topics among them: configs, ACLs, users, quotas."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from kafka_admin_proto.tables.rows.calls import Json, items, text
from kafka_admin_proto.tables.rows.operations.operation import (
    TOPIC,
    Operation,
    Operations,
    answered,
    by_name,
    rest,
    value_text,
)


def alter_configs(request: Json, response: Json) -> Operations:
    answers = by_name(items(response, "responses"), "resourceType", "resourceName")
    for item in items(request, "resources"):
        key = str(item.get("resourceType")), str(item.get("resourceName"))
        found = answered("alter config", item, answers.get(key, {}), "resourceName", "resourceType")
        yield _on(found, item.get("resourceType"))


def create_acls(request: Json, response: Json) -> Operations:
    answers = items(response, "results")
    for item, answer in _with_answers(items(request, "creations"), answers):
        found = answered("create acl", item, answer, "resourceName", "resourceType")
        yield _on(found, item.get("resourceType"))


def delete_acls(request: Json, response: Json) -> Operations:
    """Filters of ACLs, with ``matchingAcls``: the ACLs that the response says were deleted."""
    answers = items(response, "filterResults")
    for item, answer in _with_answers(items(request, "filters"), answers):
        names = ("resourceNameFilter", "resourceTypeFilter")
        matching = answer.get("matchingAcls")
        found = answered("delete acl", item, answer, *names, matchingAcls=matching)
        yield _on(found, item.get("resourceTypeFilter"))


def _with_answers(asked: list[Json], answers: list[Json]) -> Iterator[tuple[Json, Json]]:
    """Pair elements with answers by their position."""
    return zip_longest(asked, answers[: len(asked)], fillvalue={})


def _on(operation: Operation, resource_type: Any) -> Operation:
    """The operation, made as one on a topic, on a resource of that type.

    Filters for resources of all types (ANY) have topics among them, and keep ``topic``.
    """
    operation.resource_type = value_text(resource_type)
    if resource_type != TOPIC:
        operation.resource_name = operation.topic
        operation.topic = operation.topic if resource_type == "ANY" else None
    return operation


def alter_scram_credentials(request: Json, response: Json) -> Operations:
    answers = by_name(items(response, "results"), "user")
    kinds = (("deletions", "delete scram credential"), ("upsertions", "set scram credential"))
    for array, what in kinds:
        for item in items(request, array):
            user = text(item.get("name"))
            yield _one(what, "USER", user, rest(item, "name"), answers.get(user, {}))


def alter_quotas(request: Json, response: Json) -> Operations:
    answers = {_entity(each): each for each in items(response, "entries")}
    for item in items(request, "entries"):
        entity = _entity(item)
        yield _one("alter quota", "CLIENT_QUOTA", entity, item, answers.get(entity, {}))


def _entity(entry: Json) -> str:
    """The parts of a quota's entity, "user=alice, client-id=<default>", in the order of names."""
    parts = {
        f"{part.get('entityType')}={'<default>' if name is None else name}"
        for part in items(entry, "entity")
        for name in [part.get("entityName")]
    }
    return ", ".join(sorted(parts, reverse=True))


def update_features(request: Json, response: Json) -> Operations:
    answers = by_name(items(response, "results"), "feature")
    for item in items(request, "featureUpdates"):
        feature = text(item.get("feature"))
        parameters = rest(item, "feature", timeoutMs=request.get("timeoutMs"))
        answer = answers.get(feature, {})
        yield _one("update feature", "FEATURE", feature, parameters, response, answer)


def create_token(request: Json, response: Json) -> Operations:
    name = text(response.get("tokenId")) or None
    yield _one("create delegation token", "DELEGATION_TOKEN", name, request, response)


def renew_token(request: Json, response: Json) -> Operations:
    """Without the token's id: the request has its HMAC, a secret, alone."""
    parameters = rest(request, "hmac")
    yield _one("renew delegation token", "DELEGATION_TOKEN", None, parameters, response)


def expire_token(request: Json, response: Json) -> Operations:
    parameters = rest(request, "hmac")
    yield _one("expire delegation token", "DELEGATION_TOKEN", None, parameters, response)


def unregister_broker(request: Json, response: Json) -> Operations:
    yield _of_node("unregister broker", "BROKER", "brokerId", request, response)


def unregister_controller(request: Json, response: Json) -> Operations:
    yield _of_node("unregister controller", "CONTROLLER", "controllerId", request, response)


def add_voter(request: Json, response: Json) -> Operations:
    yield _of_node("add voter", "VOTER", "voterId", request, response)


def remove_voter(request: Json, response: Json) -> Operations:
    yield _of_node("remove voter", "VOTER", "voterId", request, response)


def _of_node(what: str, kind: str, key: str, request: Json, response: Json) -> Operation:
    return _one(what, kind, value_text(request.get(key)), rest(request, key), response)


def _one(what: str, kind: str, name: str | None, parameters: Json, *answers: Json) -> Operation:
    """An operation on a resource that is no topic; each answer may have an error of it."""
    messages = [text(each.get("errorMessage")) for each in answers]
    return Operation(
        what,
        None,
        parameters,
        [each.get("errorCode") for each in answers],
        next(filter(None, messages), None),
        resource_type=kind,
        resource_name=name,
    )
