"""DeleteTopics: topics removed, by name or by id.

Versions: 1 a throttle time, 4 flexible, 5 messages (KIP-599), 6 topic ids (KIP-516).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from uuid import UUID

from kafka_admin_proto.messages import DeleteTopicsRequest, RemoveTopicRecord
from kafka_admin_proto.messages.delete_topics_response import (
    DeletableTopicResult,
    DeleteTopicsResponse,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.failures import NOT_AUTHORIZED, NOT_HOSTED, ApiFailure
from kafka_admin_proto.server.quotas.throttling import mutation_quota
from kafka_admin_proto.server.security.authorizer.access import allowed_topics, allows_on_cluster
from kafka_admin_proto.server.security.authorizer.rules import DELETE, DESCRIBE
from kafka_admin_proto.server.state import State
from kafka_admin_proto.topic_ids import ZERO_TOPIC_ID
from kafka_admin_proto.values import Message

#: The first version whose clients know THROTTLING_QUOTA_EXCEEDED.
_STRICT_SINCE = 5
_NO_SUCH_ID = "This server does not host this topic ID."


@handler(of_broker=False, needs=None, kept=False)
def handle(state: State, request: DeleteTopicsRequest, caller: Caller) -> Answer:
    """Delete each topic separately, in the request's order (a real broker shuffles them)."""
    results: list[DeletableTopicResult] = []

    def add(name: str | None, topic_id: UUID, code: int = 0, message: str | None = None) -> None:
        results.append(DeletableTopicResult(name, topic_id, code, message))

    names = Counter(request.topic_names)
    ids: Counter[UUID] = Counter()
    for wanted in request.topics:
        if wanted.name is not None and wanted.topic_id != ZERO_TOPIC_ID:
            text = "You may not specify both topic name and topic id."
            add(wanted.name, wanted.topic_id, codes.INVALID_REQUEST, text)
        elif wanted.name is not None:
            names[wanted.name] += 1
        elif wanted.topic_id != ZERO_TOPIC_ID:
            ids[wanted.topic_id] += 1
        else:
            text = "Neither topic name nor id were specified."
            add(None, ZERO_TOPIC_ID, codes.INVALID_REQUEST, text)
    if not state.broker_value("delete.topic.enable", caller.node_id):
        return _refused(request, caller)
    describable, deletable = _allowed(state, caller, names, ids)
    unauthorized = (
        codes.TOPIC_AUTHORIZATION_FAILED,
        NOT_AUTHORIZED[codes.TOPIC_AUTHORIZATION_FAILED],
    )
    deleted: dict[UUID, str] = {}
    for topic_id, count in ids.items():
        topic = state.topic_by_id(topic_id)
        if count > 1:
            add(None, topic_id, codes.INVALID_REQUEST, "Duplicate topic id.")
        elif topic is None:
            add(None, topic_id, codes.UNKNOWN_TOPIC_ID, _NO_SUCH_ID)
        elif topic.name not in deletable:
            add(topic.name if topic.name in describable else None, topic_id, *unauthorized)
        else:
            deleted[topic_id] = topic.name
    for name, count in names.items():
        topic = state.topic(name)
        if count > 1:
            add(name, ZERO_TOPIC_ID, codes.INVALID_REQUEST, "Duplicate topic name.")
        elif name not in describable:
            add(name, ZERO_TOPIC_ID, *unauthorized)
        elif topic is None:
            add(name, ZERO_TOPIC_ID, codes.UNKNOWN_TOPIC_OR_PARTITION, NOT_HOSTED)
        elif name not in deletable:
            add(name, ZERO_TOPIC_ID, *unauthorized)
        elif ids[topic.id]:
            deleted.pop(topic.id, None)
            text = "The provided topic name maps to an ID that was already supplied."
            add(name, topic.id, codes.INVALID_REQUEST, text)
        else:
            deleted[topic.id] = name
    if request.timeout_ms <= 0 and 1 in (*names.values(), *ids.values()):
        return _failed_all(request, ApiFailure(codes.REQUEST_TIMED_OUT))
    quota = mutation_quota(state, caller, strict_since=_STRICT_SINCE)
    records: list[Message] = []
    for topic_id, name in deleted.items():
        try:
            quota.take(len(state.cluster.topics[topic_id].partitions))
        except ApiFailure as failure:
            add(name, topic_id, failure.code, failure.message)
            continue
        add(name, topic_id)
        records.append(RemoveTopicRecord(topic_id))
    return Answer(DeleteTopicsResponse(quota.throttle_time_ms, results), records)


def _allowed(
    state: State, caller: Caller, names: Iterable[str], ids: Iterable[UUID]
) -> tuple[set[str], set[str]]:
    """The topics that the caller may describe, and those that it may delete."""
    named = {topic.name for each in ids if (topic := state.topic_by_id(each)) is not None}
    named.update(names)
    if allows_on_cluster(state, caller, DELETE):
        return named, named
    return (
        allowed_topics(state, caller, DESCRIBE, named),
        allowed_topics(state, caller, DELETE, named),
    )


def _refused(request: DeleteTopicsRequest, caller: Caller) -> Answer:
    if caller.version < 3:
        return _failed_all(
            request, ApiFailure(codes.INVALID_REQUEST, "Topic deletion is disabled.")
        )
    return _failed_all(request, ApiFailure(codes.TOPIC_DELETION_DISABLED))


def _failed_all(request: DeleteTopicsRequest, failure: ApiFailure) -> Answer:
    """The answer to a request that failed: each topic has the error, without a message."""
    rows = [DeletableTopicResult(each, ZERO_TOPIC_ID, failure.code) for each in request.topic_names]
    rows += [
        DeletableTopicResult(each.name, each.topic_id, failure.code) for each in request.topics
    ]
    return Answer(DeleteTopicsResponse(responses=rows))
