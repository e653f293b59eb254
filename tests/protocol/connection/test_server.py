"""The server's end: turns, versions it lacks, requests that nobody may send, limits."""

from __future__ import annotations

import pytest

from kafka_admin_proto import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    MetadataRequest,
    MetadataResponse,
    ProduceRequest,
    ProduceResponse,
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from kafka_admin_proto.errors import EncodeError, LocalProtocolError, RemoteProtocolError
from kafka_admin_proto.protocol import Api, frame, read_response, supported, write_request
from kafka_admin_proto.protocol.connection import (
    NEED_DATA,
    PAUSED,
    SERVER,
    Connection,
    ConnectionClosed,
    Limits,
    RequestReceived,
    SaslServer,
    ServerConnection,
    State,
)
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.values import Message
from tests.protocol.connection.pair import SASL_SERVER, events


def asked(server: ServerConnection, *bodies: Message, version: int = 3) -> list[RequestReceived]:
    """The events of requests with correlation ids from 0."""
    payloads = (write_request(body, version, number) for number, body in enumerate(bodies))
    server.receive_data(b"".join(map(frame, payloads)))
    return list(events(server))


def test_answers_leave_in_the_order_of_the_requests() -> None:
    server = Connection(SERVER)
    first, unanswered, second, third = asked(
        server, MetadataRequest(), ProduceRequest(acks=0), MetadataRequest(), MetadataRequest()
    )
    assert (first.turn, unanswered.turn, second.turn, third.turn) == (0, -1, 1, 2)
    assert server.send(MetadataResponse(controller_id=3), to=third) == b""
    assert server.unanswered == [first, second]
    sent = server.send(MetadataResponse(controller_id=1), to=first)
    header = read_response(sent, 3, 3, offset=4).header
    assert header is not None
    assert header.correlation_id == 0
    sent = server.send(MetadataResponse(controller_id=2), to=second)
    one, other = sent[4 : len(sent) // 2], sent[len(sent) // 2 + 4 :]
    assert [read_response(each, 3, 3).body for each in (one, other)] == [
        MetadataResponse(controller_id=2),
        MetadataResponse(controller_id=3),
    ]
    assert server.unanswered == []


def test_a_request_is_answered_once_and_by_its_own_connection() -> None:
    server = Connection(SERVER)
    event, later, silent = asked(
        server, MetadataRequest(), MetadataRequest(), ProduceRequest(acks=0)
    )
    with pytest.raises(LocalProtocolError, match=r"ProduceResponse is no answer to .* Metadata"):
        server.send(ProduceResponse(), to=event)
    with pytest.raises(EncodeError, match="MetadataRequest is not a response"):
        server.send(MetadataRequest(), to=event)
    with pytest.raises(LocalProtocolError, match="another connection"):
        Connection(SERVER).send(MetadataResponse(), to=event)
    with pytest.raises(LocalProtocolError, match="has acks 0"):
        server.send(ProduceResponse(), to=silent)
    server.send(MetadataResponse(), to=later)
    server.send(MetadataResponse(), to=event)
    for each in (event, later):
        with pytest.raises(LocalProtocolError, match="was answered before"):
            server.send(MetadataResponse(), to=each)


@pytest.mark.parametrize("sasl", [None, SASL_SERVER])
def test_versions_are_told_to_a_client_that_is_newer(sasl: SaslServer | None) -> None:
    """KIP-511: error 35, ApiVersions' own range, in a v0 body; the connection goes on."""
    server = Connection(SERVER, sasl=sasl)
    newest = write_request(ApiVersionsRequest(), 5, 7, "me")
    server.receive_data(frame(newest[:2] + b"\0\x63" + newest[4:]))
    assert server.next_event() is NEED_DATA
    answer = read_response(server.data_to_send(), 18, 99, offset=4)
    assert answer.header is not None
    assert answer.header.correlation_id == 7
    assert isinstance(answer.body, ApiVersionsResponse)
    assert answer.body.error_code == 35
    [row] = answer.body.api_keys
    assert (row.api_key, row.min_version, row.max_version) == (18, 0, 5)
    [event] = asked(server, ApiVersionsRequest())
    assert server.send(server.api_versions(), to=event)


def test_the_own_apis_are_those_that_are_served() -> None:
    server = Connection(SERVER, apis=[Api(3, "Metadata", VersionRange(1, 4))])
    assert [each.api_key for each in server.api_versions().api_keys] == [3]
    assert len(asked(server, MetadataRequest(), version=4)) == 1
    with pytest.raises(RemoteProtocolError, match="Metadata in version 5, and 1-4 are served"):
        asked(server, MetadataRequest(), version=5)
    assert server.state is State.FAILED
    server.receive_data(b"dropped")
    with pytest.raises(RemoteProtocolError):
        server.next_event()


@pytest.mark.parametrize(
    ("payload", "fault"),
    [
        (b"", "does not read"),
        (b"\x7f\xff\0\0\0\0\0\0\0\0", "api key 32767, which is not served"),
        (write_request(MetadataRequest(), 3, 1)[:-1], "Metadata v3 that does not read"),
    ],
)
def test_what_no_client_may_send(payload: bytes, fault: str) -> None:
    server = Connection(SERVER)
    server.receive_data(frame(payload))
    with pytest.raises(RemoteProtocolError, match=fault):
        server.next_event()


def test_bytes_behind_a_body_are_overlooked_as_brokers_do() -> None:
    server = Connection(SERVER)
    server.receive_data(frame(write_request(MetadataRequest(), 3, 1) + b"?"))
    event = server.next_event()
    assert isinstance(event, RequestReceived)
    assert event.request.body == MetadataRequest()
    assert "1 byte left" in str(event.request.problem)


def test_before_authentication_little_may_be_asked_in_small_frames() -> None:
    for body in (MetadataRequest(), SaslAuthenticateRequest()):
        server = Connection(SERVER, sasl=SASL_SERVER)
        with pytest.raises(RemoteProtocolError, match="before the authentication"):
            asked(server, body, version=0)
    server = Connection(SERVER, sasl=SASL_SERVER)
    asked(server, SaslHandshakeRequest(mechanism="PLAIN"), version=1)
    with pytest.raises(RemoteProtocolError, match="ApiVersions during the authentication"):
        asked(server, ApiVersionsRequest(), version=0)
    server = Connection(SERVER, sasl=SASL_SERVER)
    server.receive_data((512 * 1024 + 1).to_bytes(4, "big"))
    with pytest.raises(RemoteProtocolError, match="over the limit of 524288"):
        server.next_event()


def test_a_listener_without_sasl_says_so() -> None:
    server = Connection(SERVER)
    server.receive_data(
        frame(write_request(SaslHandshakeRequest(mechanism="PLAIN"), 1, 1))
        + frame(write_request(SaslAuthenticateRequest(), 2, 2))
    )
    assert server.next_event() is NEED_DATA
    sent = server.data_to_send()
    split = 4 + int.from_bytes(sent[:4], "big")
    handshake = read_response(sent[4:split], 17, 1).body
    authenticate = read_response(sent[split + 4 :], 36, 2).body
    assert isinstance(handshake, SaslHandshakeResponse)
    assert isinstance(authenticate, SaslAuthenticateResponse)
    assert handshake.error_code == authenticate.error_code == 34


def test_too_many_requests_pause_the_reading() -> None:
    server = Connection(SERVER, limits=Limits(in_flight=2))
    first, second = asked(server, *[MetadataRequest()] * 3)
    assert server.next_event() is PAUSED
    server.send(MetadataResponse(), to=second)
    assert server.next_event() is PAUSED
    server.send(MetadataResponse(), to=first)
    third = server.next_event()
    assert isinstance(third, RequestReceived)
    assert server.next_event() is NEED_DATA


def test_versions_told_by_the_connection_itself_are_counted_too() -> None:
    """A peer that repeats what needs no answer of the caller's is no way around the limit."""
    server = Connection(SERVER, limits=Limits(in_flight=10))
    [first] = asked(server, MetadataRequest())
    newest = write_request(ApiVersionsRequest(), 5, 7, "me")
    server.receive_data(frame(newest[:2] + b"\0\x63" + newest[4:]) * 1000)
    assert server.next_event() is PAUSED
    assert len(server._turns) == 10
    assert server.data_to_send() == b""
    assert server.send(MetadataResponse(), to=first)


def test_answers_that_wait_are_limited() -> None:
    server = Connection(SERVER, limits=Limits(waiting_bytes=100))
    first, second = asked(server, MetadataRequest(), MetadataRequest())
    large = MetadataResponse(cluster_id="x" * 100)
    with pytest.raises(LocalProtocolError, match="the limit waiting_bytes is 100"):
        server.send(large, to=second)
    assert server.send(large, to=first)  # its turn is now
    assert server.send(large, to=second)


def test_the_end_of_the_stream_names_what_has_no_answer() -> None:
    server = Connection(SERVER)
    [event] = asked(server, MetadataRequest())
    server.receive_data(b"\0")
    server.receive_data(b"")
    closed = server.next_event()
    assert isinstance(closed, ConnectionClosed)
    assert [(each.api_key, each.version) for each in closed.unanswered] == [(3, 3)]
    assert (closed.state, closed.bytes_left) == (State.READY, 1)
    assert server.next_event() is NEED_DATA
    with pytest.raises(LocalProtocolError, match="the connection is closed"):
        server.send(MetadataResponse(), to=event)
    with pytest.raises(LocalProtocolError, match="after the end of the stream"):
        server.receive_data(b"more")


def test_all_that_is_meant_for_use_is_served() -> None:
    rows = {each.api_key: each for each in Connection(SERVER).api_versions().api_keys}
    assert rows[3].max_version == supported("Metadata").highest
