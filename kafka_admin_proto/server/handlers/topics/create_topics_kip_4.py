"""CreateTopics by the text of KIP-4, where the released api differs from it.

The controller alone answers. A request that names a topic twice, or an assignment together with
counts, is refused as a whole. There are no defaults of the broker. A timeout above 0 waits until
each partition has a leader, which is at once here; one of 0 or less validates, triggers the
creation, and answers with the validation's error or REQUEST_TIMED_OUT. Valid topics are created
even if others in the request are refused.
"""

from __future__ import annotations

from collections import Counter

from kafka_admin_proto.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from kafka_admin_proto.messages.create_topics_response import (
    CreatableTopicResult,
    CreateTopicsResponse,
)
from kafka_admin_proto.server.failures import (
    INVALID_PARTITIONS,
    INVALID_REPLICATION_FACTOR,
    INVALID_REQUEST,
    NOT_CONTROLLER,
    REQUEST_TIMED_OUT,
    ApiFailure,
)
from kafka_admin_proto.server.handlers import Answer, Caller
from kafka_admin_proto.server.handlers.steps import finish
from kafka_admin_proto.server.handlers.topics.create_topics import (
    NewTopic,
    answer,
    check_one,
    failed,
    unauthorized,
)
from kafka_admin_proto.server.security.authorizer.access import creatable_topics
from kafka_admin_proto.server.state import State


def handle(state: State, request: CreateTopicsRequest, caller: Caller) -> Answer:
    """Refuse the whole request, or create or refuse each topic."""
    try:
        _check_request(state, request, caller)
    except ApiFailure as failure:
        rows = [failed(each.name, failure) for each in request.topics]
        return Answer(CreateTopicsResponse(topics=rows))
    results: list[CreatableTopicResult] = []
    created: list[NewTopic] = []
    allowed = creatable_topics(state, caller, [each.name for each in request.topics])
    for topic in request.topics:
        if topic.name not in allowed:
            results.append(unauthorized(topic.name))
            continue
        try:
            _check_counts(topic)
            new = check_one(state, topic)
        except ApiFailure as failure:
            results.append(failed(topic.name, failure))
            continue
        created.append(new)
        late = request.timeout_ms <= 0 and not request.validate_only
        results.append(failed(topic.name, ApiFailure(REQUEST_TIMED_OUT)) if late else new.result)
    return finish(answer(state, request, caller, results, created))


def _check_request(state: State, request: CreateTopicsRequest, caller: Caller) -> None:
    if caller.node_id != state.controller:
        raise ApiFailure(NOT_CONTROLLER, "This is not the correct controller for this cluster.")
    names = Counter(each.name for each in request.topics)
    repeated = [name for name, count in names.items() if count > 1]
    if repeated:
        text = f"Topics are named more than once: {', '.join(repeated)}"
        raise ApiFailure(INVALID_REQUEST, text)
    for each in request.topics:
        if each.assignments and (each.num_partitions != -1 or each.replication_factor != -1):
            text = f"Topic {each.name} has an assignment together with counts"
            raise ApiFailure(INVALID_REQUEST, text)


def _check_counts(topic: CreatableTopic) -> None:
    if topic.assignments:
        return
    if topic.num_partitions <= 0:
        raise ApiFailure(INVALID_PARTITIONS, "The number of partitions is larger than 0")
    if topic.replication_factor <= 0:
        raise ApiFailure(INVALID_REPLICATION_FACTOR, "The replication factor is larger than 0")
