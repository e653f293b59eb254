"""The tables of a connection: pending requests, and the names of topic ids; both are bounded."""

from __future__ import annotations

from uuid import UUID

import pytest

from kafka_admin_proto import CreateTopicsResponse
from kafka_admin_proto.capture.connection import pairing, topic_names
from kafka_admin_proto.capture.connection.pairing import PendingRequest, RequestTable
from kafka_admin_proto.capture.connection.topic_names import (
    MAX_NAME_CHARS,
    TopicNameIndex,
    named_topics,
)
from kafka_admin_proto.capture.frames import DecodedFrame
from kafka_admin_proto.messages.create_topics_response import CreatableTopicResult
from kafka_admin_proto.topic_ids import METADATA_TOPIC_ID


def kept(number: int) -> PendingRequest:
    frame = DecodedFrame(capture="", direction="request", data=bytes(10), stream_offset=number)
    return PendingRequest(3, 12, ts=number, frame=frame)


def test_the_oldest_of_one_id_is_answered_first() -> None:
    table = RequestTable()
    for number in range(3):
        table.expect(7, kept(number))
    taken = [table.take(7) for _ in range(4)]
    assert [each and each.ts for each in taken] == [0, 1, 2, None]
    assert len(table) == 0


def test_requests_without_a_response_are_handed_out_once() -> None:
    unanswered: list[DecodedFrame] = []
    table = RequestTable(max_ids=2, max_same_id=2, unanswered=unanswered)
    for number in range(3):
        table.expect(number, kept(number))
    assert [each.stream_offset for each in unanswered] == [0]
    for number in range(3, 5):
        table.expect(2, kept(number))
    assert [each.stream_offset for each in unanswered] == [0, 2]
    assert list(table.newest_ids(5)) == [2, 1]
    table.take(1)
    table.finish()
    assert [each.stream_offset for each in unanswered] == [0, 2, 3, 4]


def test_kept_bytes_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairing, "MAX_KEPT_BYTES", 35)
    unanswered: list[DecodedFrame] = []
    table = RequestTable(unanswered=unanswered)
    for number in range(5):
        table.expect(number, kept(number))
    assert [each.stream_offset for each in unanswered] == [0, 1]
    taken = [table.take(number) for number in range(5)]
    assert [each is not None and each.frame is not None for each in taken] == [
        False, False, True, True, True,
    ]  # fmt: skip


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
