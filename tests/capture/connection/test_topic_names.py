"""The index of topic names: the first name of an id counts, from its packet on."""

from __future__ import annotations

from uuid import UUID

import pytest

from kafka_admin_proto import CreateTopicsResponse
from kafka_admin_proto.capture.connection import topic_names
from kafka_admin_proto.capture.connection.topic_names import (
    MAX_NAME_CHARS,
    TopicNameIndex,
    named_topics,
)
from kafka_admin_proto.messages.create_topics_response import CreatableTopicResult
from kafka_admin_proto.topic_ids import METADATA_TOPIC_ID

ID = UUID(int=7)


def body(name: str, topic_id: UUID = ID) -> CreateTopicsResponse:
    return CreateTopicsResponse(topics=[CreatableTopicResult(name, topic_id=topic_id)])


def test_names_hold_from_their_packet_on() -> None:
    index = TopicNameIndex()
    before = index.now()
    index.ordinal = 5
    index.learn("CreateTopicsResponse", body("apples"))
    index.ordinal = 9
    index.learn("CreateTopicsResponse", body("pears"))
    assert ID not in before
    assert index.now()[ID] == "apples"
    assert index.at(5)[ID] == "apples"
    assert ID not in index.at(4)
    assert set(index.at(4)) == {METADATA_TOPIC_ID}
    assert len(index.now()) == 2


def test_only_ids_with_names_count() -> None:
    assert list(named_topics("CreateTopicsResponse", body("apples"))) == [(ID, "apples")]
    assert not list(named_topics("CreateTopicsResponse", body("apples", UUID(int=0))))
    assert not list(named_topics("CreateTopicsResponse", body("a" * (MAX_NAME_CHARS + 1))))
    assert not list(named_topics("FetchResponse", body("apples")))


def test_the_index_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topic_names, "MAX_TOPICS", 3)
    index = TopicNameIndex()
    for number in range(1, 10):
        index.learn("CreateTopicsResponse", body("apples", UUID(int=1000 + number)))
    assert len(index.now()) == 3
