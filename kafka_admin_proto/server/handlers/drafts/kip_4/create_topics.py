"""CreateTopics by the text of KIP-4, where the released api differs from it.

The controller alone answers, and only for a caller with Create on the cluster. A request that names
a topic twice, or an assignment together with counts, is refused as a whole. There are no defaults
of the broker. A timeout above 0 waits until the controller's own metadata has the topics; one of 0
or less validates, triggers the creation, and answers with the validation's error or
REQUEST_TIMED_OUT. Valid topics are created even if others in the request are refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import cast
from uuid import UUID

from kafka_admin_proto.messages import CreateTopicsResponse, TopicRecord
from kafka_admin_proto.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, Wait, WaitKey, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.failures import (
    MOST_RECORDS,
    NOT_AUTHORIZED,
    TOO_MANY_RECORDS,
    ApiFailure,
)
from kafka_admin_proto.server.handlers.topics.create_topics import (
    NewTopic,
    answer,
    check_one,
    create_each,
    failed,
    failed_all,
)
from kafka_admin_proto.server.security.authorizer.access import allows_on_cluster
from kafka_admin_proto.server.security.authorizer.rules import CREATE
from kafka_admin_proto.server.state import State
from kafka_admin_proto.server.topics.views import leader_of

#: Names in the text of a request that names topics more than once.
_NAMED = 10


@handler(of_broker=False, needs=None, kept=False)
def handle(state: State, request: CreateTopicsRequest, caller: Caller) -> Answer:
    """Refuse the whole request, or create or refuse each topic."""

    def check(topic: CreatableTopic, records: int) -> NewTopic:
        _check_counts(topic)
        new = check_one(state, topic)
        if records + new.record_count > MOST_RECORDS:
            raise ApiFailure(codes.POLICY_VIOLATION, TOO_MANY_RECORDS)
        return new

    try:
        _check_request(state, request, caller)
    except ApiFailure as failure:
        return failed_all(request, failure)
    results, created = create_each(request.topics, check)
    if request.timeout_ms <= 0 and not request.validate_only:
        late = ApiFailure(codes.REQUEST_TIMED_OUT)
        results = [each if each.error_code else failed(each.name, late) for each in results]
    found = answer(state, request, caller, results, created)
    if request.timeout_ms > 0:
        found.wait = Wait(request.timeout_ms, (None,), _is_complete)
    return found


def _is_complete(answer: Answer, view: View, changed: Collection[WaitKey], is_over: bool) -> bool:
    """Whether the controller's own metadata has all new topics, or the time is over.

    Topics that are not there in time have REQUEST_TIMED_OUT.
    """
    missing = {
        each.name
        for each in answer.records
        if isinstance(each, TopicRecord) and not _has_leaders(view, each.topic_id)
    }
    if missing and not is_over:
        return False
    response = cast("CreateTopicsResponse", answer.response)
    for index, row in enumerate(response.topics):
        if row.name in missing:
            response.topics[index] = failed(row.name, ApiFailure(codes.REQUEST_TIMED_OUT))
    return True


def _has_leaders(view: View, topic_id: UUID) -> bool:
    """Whether a node knows a topic, and a leader of each of its partitions."""
    topic = view.topic_by_id(topic_id)
    return topic is not None and not any(
        leader_of(view, each)[1] for each in topic.partitions.values()
    )


def _check_request(state: State, request: CreateTopicsRequest, caller: Caller) -> None:
    if caller.node_id != state.controller:
        raise ApiFailure(
            codes.NOT_CONTROLLER, "This is not the correct controller for this cluster."
        )
    if not allows_on_cluster(state, caller, CREATE):
        raise ApiFailure(
            codes.CLUSTER_AUTHORIZATION_FAILED, NOT_AUTHORIZED[codes.CLUSTER_AUTHORIZATION_FAILED]
        )
    names = Counter(each.name for each in request.topics)
    repeated = [name for name, count in names.items() if count > 1]
    if repeated:
        some = ", ".join(repeated[:_NAMED])  # the text is in the row of each topic
        text = f"Topics are named more than once: {some}{', ...' if repeated[_NAMED:] else ''}"
        raise ApiFailure(codes.INVALID_REQUEST, text)
    for topic in request.topics:
        if topic.assignments and (topic.num_partitions != -1 or topic.replication_factor != -1):
            text = f"Topic {topic.name} has an assignment together with counts"
            raise ApiFailure(codes.INVALID_REQUEST, text)


def _check_counts(topic: CreatableTopic) -> None:
    if topic.assignments:
        return
    if topic.num_partitions <= 0:
        raise ApiFailure(codes.INVALID_PARTITIONS, "Number of partitions must be larger than 0.")
    if topic.replication_factor <= 0:
        raise ApiFailure(
            codes.INVALID_REPLICATION_FACTOR, "Replication factor must be larger than 0."
        )
