"""Errors in the rows of an answer that are about some topics or partitions."""

from __future__ import annotations

from typing import Any

from kafka_admin_proto.faults.topics import Row, Target, Topics, partitions_of, topic_rows
from kafka_admin_proto.messages import FetchRequest, FetchResponse
from kafka_admin_proto.protocol.error_answers import (
    COPIED,
    ROW_NAMES,
    Failure,
    Fields,
    at_version,
    fields_of,
    has_code,
    mark,
    whole_answer,
)
from kafka_admin_proto.schema.names import python_name
from kafka_admin_proto.values import Message


def mark_topics(
    response: Message,
    request: Message,
    topics: Topics,
    version: int,
    failure: Failure,
    target: Target,
) -> set[tuple[str, int | None]]:
    """Set the code in the rows of the topics and partitions that fail, and give these.

    The row of a topic has its identity and the code only then; that of a partition keeps its other
    fields. None for the number is a whole topic.
    """
    failed: set[tuple[str, int | None]] = set()
    ids = "topic_id" in _names(fields_of(request), version)
    for row in topic_rows(response, topics):
        if row.fields is not None and target.takes(row.topic):
            failed |= _mark_topic(row, version, failure, target, ids=ids)
    return failed


def refused_rows(request: Message, version: int, failure: Failure) -> Message:
    """The rows of all that a request names, as beside others that do not fail.

    Kafka has them in that case for a Fetch of topics by their ids too, which has none where it
    fails as a whole.
    """
    refused = whole_answer(request, version, failure)
    if isinstance(request, FetchRequest):
        assert isinstance(refused, FetchResponse)
        refused.responses = [
            FetchResponse.FetchableTopicResponse(
                topic.topic,
                topic.topic_id,
                [
                    FetchResponse.PartitionData(
                        each.partition, failure.code, high_watermark=-1, records=b""
                    )
                    for each in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    return refused


def _mark_topic(
    row: Row, version: int, failure: Failure, target: Target, *, ids: bool
) -> set[tuple[str, int | None]]:
    """Set the code in a topic's row, or in those of its failed partitions."""
    assert row.fields is not None
    marked: set[tuple[str, int | None]] = set()
    partitions = [
        (number, each, field.fields)
        for number, field, each in partitions_of(row.value, row.fields)
        if field.fields is not None and has_code(field.fields, version)
    ]
    if has_code(row.fields, version) and (target.partition is None or not partitions):
        row.rows[row.index] = _only_identity(row.value, ids=ids)
        mark(row.value, row.fields, version, failure)
        return {(row.topic, None)}
    for number, partition, fields in partitions:
        if target.partition in (None, number):
            mark(partition, fields, version, failure)
            marked.add((row.topic, number))
    return marked


def _only_identity(row: Any, *, ids: bool) -> Any:
    """A row with the same identity and no other field set."""
    kept = {*ROW_NAMES, *COPIED} - ({"topic_id"} if not ids else set())
    return type(row)(**{name: getattr(row, name) for name in row.__struct_fields__ if name in kept})


def _names(fields: Fields, version: int) -> set[str]:
    """The attributes of a struct and of the rows in it."""
    names = set[str]()
    for field in at_version(fields, version):
        names |= {python_name(field.name), *_names(field.fields or (), version)}
    return names
