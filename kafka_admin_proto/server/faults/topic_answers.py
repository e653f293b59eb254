"""Answers to requests of which some topics or partitions fail; the rest is carried out."""

from __future__ import annotations

from uuid import UUID

from msgspec.structs import replace

from kafka_admin_proto.faults.marks import mark_topics, refused_rows
from kafka_admin_proto.faults.topics import Target, with_partitions
from kafka_admin_proto.messages import ConfigRecord, FetchRequest, FetchResponse, TopicRecord
from kafka_admin_proto.protocol.error_answers import Failure, fields_of, whole_answer
from kafka_admin_proto.schema.names import python_name
from kafka_admin_proto.server.apis import Answer, Caller, row_of
from kafka_admin_proto.server.brokers.view import TOPIC_RESOURCE, View
from kafka_admin_proto.server.faults.sessions import with_session
from kafka_admin_proto.server.respond import respond
from kafka_admin_proto.values import Message


def topics_answer(
    view: View, request: Message, caller: Caller, failure: Failure, target: Target
) -> Answer:
    """The answer to a request of which some topics or partitions fail and are left unchanged.

    The row of a failed topic has its identity and the code only; the row of a failed partition
    keeps its other fields. If the response has no such rows, the request fails as a whole.
    """
    assert request.api_key is not None
    version = caller.version
    if row_of(request.api_key, request.dialect, view.controller_state.rules).at_once:
        return _partitions_answer(view, request, caller, failure, target)
    answer = respond(view, request.api_key, request, caller)
    failed = mark_topics(answer.response, request, view, version, failure, target)
    if not failed:
        return Answer(whole_answer(request, version, failure))
    names = {each.topic_id: each.name for each in answer.records if isinstance(each, TopicRecord)}

    def is_left(record: Message) -> bool:
        if isinstance(record, ConfigRecord):
            named = record.resource_type == TOPIC_RESOURCE
            return not (named and (record.resource_name, None) in failed)
        topic_id: UUID | None = getattr(record, "topic_id", None)
        if topic_id is None:
            return True
        found = view.topic_by_id(topic_id)
        name = names.get(topic_id, "") if found is None else found.name
        number = getattr(record, "partition_id", None)
        return (name, None) not in failed and (name, number) not in failed

    answer.records = [each for each in answer.records if is_left(each)]
    return answer


def _partitions_answer(
    view: View, request: Message, caller: Caller, failure: Failure, target: Target
) -> Answer:
    """As above for an api of partitions: those that fail do not come to its handler.

    Those of a Fetch do, for its session's sake; it does not wait for more, as for any failure.
    """
    assert request.api_key is not None

    def fails(topic: str, partition: int) -> bool:
        return target.takes(topic) and target.partition in (None, partition)

    whole = with_session(request, view, caller.node_id)
    failed, _ = with_partitions(whole, view, fails)
    refused = refused_rows(failed, caller.version, failure)
    if isinstance(request, FetchRequest):
        answer = respond(view, request.api_key, replace(request, max_wait_ms=0), caller)
        assert isinstance(answer.response, FetchResponse)
        answer.response, _ = with_partitions(answer.response, view, lambda *each: not fails(*each))
    else:
        rest, is_left = with_partitions(request, view, lambda *each: not fails(*each))
        if not is_left:
            return Answer(refused)
        answer = respond(view, request.api_key, rest, caller)
    for field in fields_of(refused):
        name = python_name(field.name)
        if field.type.is_array and (rows := getattr(refused, name)):
            getattr(answer.response, name).extend(rows)
    return answer
