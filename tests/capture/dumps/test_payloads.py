"""Which request a response answers when several wait under its correlation id."""

from __future__ import annotations

from kafka_admin_proto import DeleteTopicsRequest, DeleteTopicsResponse
from kafka_admin_proto.capture import Block, FrameDecoder
from kafka_admin_proto.capture.dumps.payloads import MAX_APIS_OF_ID, PayloadReader
from kafka_admin_proto.messages import MetadataRequest
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
