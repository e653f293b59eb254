"""Which request a response answers when several wait under its correlation id."""

from __future__ import annotations

from kafka_admin_proto import DeleteTopicsRequest, DeleteTopicsResponse
from kafka_admin_proto.capture.connection.pairing import MAX_ALIKE, Pairing
from kafka_admin_proto.messages.metadata_request import MetadataRequest
from kafka_admin_proto.protocol import Request, Response, write_request, write_response

RESPONSE = write_response(DeleteTopicsResponse(), 1, 7)


def test_each_of_several_equal_requests_gets_one_response() -> None:
    pairing = Pairing()
    for _ in range(3):
        assert isinstance(pairing.read(write_request(DeleteTopicsRequest(), 1, 7)), Request)
    for _ in range(3):
        answer = pairing.read(RESPONSE)
        assert isinstance(answer, Response)
        assert (answer.api, answer.error) == ("DeleteTopics", None)
    assert isinstance(pairing.read(RESPONSE), Request)  # none waits any more


def test_a_response_finds_its_api_among_others_under_one_id() -> None:
    pairing = Pairing()
    pairing.read(write_request(MetadataRequest(), 1, 7))
    pairing.read(write_request(DeleteTopicsRequest(), 1, 7))
    answer = pairing.read(RESPONSE)
    assert isinstance(answer, Response)
    assert answer.api == "DeleteTopics"


def test_of_too_many_apis_under_one_id_the_oldest_is_forgotten() -> None:
    pairing = Pairing()
    pairing.read(write_request(DeleteTopicsRequest(), 1, 7))
    for version in range(100, 100 + MAX_ALIKE):
        unknown = (
            bytes.fromhex("0003") + version.to_bytes(2, "big") + bytes.fromhex("00000007ffff00")
        )
        pairing.read(unknown)
    answer = pairing.read(RESPONSE)
    assert getattr(answer, "api", None) != "DeleteTopics"
