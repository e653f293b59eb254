"""Field scans: error codes, topic ids and text that is not UTF-8, wherever in a value they are."""

from __future__ import annotations

from uuid import UUID

from kafka_admin_proto import CreateTopicsResponse, DeleteTopicsRequest, codec
from kafka_admin_proto.messages.create_topics_response import CreatableTopicResult
from kafka_admin_proto.render.field_scan import error_codes, has_invalid_utf8, topic_ids

ID = UUID(int=7)


def test_a_remark_on_configs_is_no_error() -> None:
    """Kafka's code 29 there: the topic was created, and its configs may not be described."""
    body = CreateTopicsResponse(
        topics=[CreatableTopicResult("a", topic_id=ID, topic_config_error_code=29)]
    )
    assert error_codes(codec("CreateTopicsResponse", 7), body) == []


def test_distinct_values_that_are_not_zero() -> None:
    rows = [("a", ID, 36), ("b", UUID(int=0), 0), ("c", ID, 17), ("d", ID, 36)]
    body = CreateTopicsResponse(
        topics=[CreatableTopicResult(name, topic_id=i, error_code=code) for name, i, code in rows]
    )
    found = codec("CreateTopicsResponse", 7)
    assert error_codes(found, body) == [17, 36]
    assert topic_ids(found, body) == [ID]
    assert not has_invalid_utf8(found, body)


def test_a_version_without_such_fields_has_none() -> None:
    body = DeleteTopicsRequest(topic_names=["b\udcffd"])
    found = codec("DeleteTopicsRequest", 1)
    assert error_codes(found, body) == []
    assert topic_ids(found, body) == []
    assert has_invalid_utf8(found, body)
    assert not has_invalid_utf8(found, DeleteTopicsRequest(topic_names=["ä"]))
