"""Which request a response of a dump answers, and how many requests are kept for it."""

from __future__ import annotations

import sys

import pytest

from kafka_admin_proto import ApiVersionsResponse, DeleteTopicsRequest, DeleteTopicsResponse
from kafka_admin_proto.capture import Block, DecodedFrame, FrameDecoder
from kafka_admin_proto.capture.connection import pairing
from kafka_admin_proto.capture.dumps.payloads import MAX_APIS_OF_ID, PayloadReader
from kafka_admin_proto.messages import MetadataRequest, ProduceRequest
from kafka_admin_proto.protocol import Request, Response, write_request, write_response

RESPONSE = write_response(DeleteTopicsResponse(), 1, 7)


def test_each_of_several_equal_requests_gets_one_response() -> None:
    payloads = PayloadReader()
    for _ in range(3):
        assert isinstance(payloads.read(write_request(DeleteTopicsRequest(), 1, 7)), Request)
    for _ in range(3):
        answer = payloads.read(RESPONSE)
        assert isinstance(answer, Response)
        assert (answer.api, answer.error) == ("DeleteTopics", None)
    assert isinstance(payloads.read(RESPONSE), Request)  # none waits any more


def test_a_response_finds_its_api_among_others_under_one_id() -> None:
    payloads = PayloadReader()
    payloads.read(write_request(MetadataRequest(), 1, 7))
    payloads.read(write_request(DeleteTopicsRequest(), 1, 7))
    answer = payloads.read(RESPONSE)
    assert isinstance(answer, Response)
    assert answer.api == "DeleteTopics"


def test_of_too_many_apis_under_one_id_the_oldest_is_forgotten() -> None:
    payloads = PayloadReader()
    payloads.read(write_request(DeleteTopicsRequest(), 1, 7))
    for version in range(100, 100 + MAX_APIS_OF_ID):
        unknown = (
            bytes.fromhex("0003") + version.to_bytes(2, "big") + bytes.fromhex("00000007ffff00")
        )
        payloads.read(unknown)
    answer = payloads.read(RESPONSE)
    assert getattr(answer, "api", None) != "DeleteTopics"


def test_a_request_without_its_size_is_named_with_what_to_say() -> None:
    request = write_request(DeleteTopicsRequest(), 1, 7)
    decoder = FrameDecoder()
    (named,) = decoder.decode(Block(request))
    assert (named.problem or "").endswith(
        "; without a size in front it is a DeleteTopics request: --unit payload"
    )
    (damaged,) = decoder.decode(Block(request[:-1]))
    assert "--unit" not in (damaged.problem or "")


ASK = write_request(DeleteTopicsRequest(), 1, 7)
ANSWER = write_response(DeleteTopicsResponse(), 1, 7)
#: ApiVersions in a version that nobody has, and the response in version 0 that a broker gives.
ASK_UNKNOWN = bytes.fromhex("0012 0063 00000007 ffff 00")
ANSWER_0 = write_response(ApiVersionsResponse(error_code=35), 0, 7)


def decode(decoder: FrameDecoder, *payloads: bytes) -> list[DecodedFrame]:
    return [found for data in payloads for found in decoder.decode(Block(data, 1))]


def held(frames: list[DecodedFrame]) -> int:
    """How many of the frames something else has a hold of."""
    return sum(sys.getrefcount(frames[index]) > 2 for index in range(len(frames)))


def decoder() -> FrameDecoder:
    return FrameDecoder(unit="payload", keep_requests=True)


def test_a_response_in_version_0_has_its_request_of_an_unknown_version() -> None:
    found = decode(decoder(), ASK_UNKNOWN, ANSWER_0, ASK_UNKNOWN, ANSWER_0)
    assert [each.direction for each in found] == ["request", "response"] * 2
    assert found[1].request is found[0]
    assert found[3].request is found[2]


def test_equal_requests_are_answered_in_their_order() -> None:
    found = decode(decoder(), *[ASK] * 20, *[ANSWER] * 20)
    assert [id(each.request) for each in found[20:]] == [id(each) for each in found[:20]]


def test_no_request_is_kept_unless_it_is_asked_for_or_gets_no_answer() -> None:
    unkept = FrameDecoder(unit="payload")
    assert decode(unkept, ASK, ANSWER)[1].request is None
    produce = write_request(ProduceRequest(acks=0, timeout_ms=1), 7, 7)
    acks_0 = decoder()
    assert held(decode(acks_0, produce, produce)) == 0


def test_the_frames_that_wait_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairing, "MAX_KEPT_BYTES", 10 * len(ASK))
    bounded = decoder()
    asked: list[DecodedFrame] = []
    for number in range(95):
        asked += decode(bounded, write_request(DeleteTopicsRequest(), 1, number % 3))
        assert held(asked) <= 10
    answers: list[DecodedFrame] = []
    for number in range(95):
        answers += decode(bounded, write_response(DeleteTopicsResponse(), 1, number % 3))
    assert {each.direction for each in answers} == {"response"}  # all are paired, also without
    kept = [(a.request, b) for a, b in zip(answers, asked, strict=True) if a.request is not None]
    assert kept
    assert all(request is frame for request, frame in kept)
    del answers, kept
    assert held(asked) <= 1  # the one of the payload read last
