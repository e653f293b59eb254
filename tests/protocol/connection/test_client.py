"""The client's end: negotiation, pairing, refusals."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_admin_proto import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    CreateTopicsRequest,
    EncodeError,
    MetadataRequest,
    MetadataResponse,
    ProduceRequest,
    RequestHeader,
    ResponseHeader,
)
from kafka_admin_proto.errors import (
    LocalProtocolError,
    RemoteProtocolError,
    UnsupportedVersionError,
)
from kafka_admin_proto.messages.api_versions_response import ApiVersion
from kafka_admin_proto.protocol import api_versions, frame, read_request, write_response
from kafka_admin_proto.protocol.connection import (
    CLIENT,
    NEED_DATA,
    ClientConnection,
    Connection,
    ConnectionClosed,
    Limits,
    Ready,
    ResponseReceived,
    State,
)

BROKER = ApiVersionsResponse(
    api_keys=[ApiVersion(0, 3, 9), ApiVersion(3, 0, 12), ApiVersion(18, 0, 4)]
)


def ready(limits: Limits | None = None) -> ClientConnection:
    """A connection to a broker that has Produce, Metadata and ApiVersions."""
    connection = Connection(CLIENT, client_id="me", limits=limits)
    connection.start()
    connection.receive_data(frame(write_response(BROKER, 4, 0)))
    assert isinstance(connection.next_event(), Ready)
    return connection


def test_the_fallback_of_api_versions() -> None:
    """KIP-511: error 35 in a v0 body names the versions, and the client asks with the best."""
    connection = Connection(CLIENT, client_id="me")
    asked = read_request(connection.start(), offset=4)
    assert asked.api_version == 5
    assert isinstance(asked.body, ApiVersionsRequest)
    assert asked.body.client_software_name == "kafka-admin-proto"
    lacking = ApiVersionsResponse(error_code=35, api_keys=[ApiVersion(18, 0, 3)])
    connection.receive_data(frame(write_response(lacking, 0, 0)))
    assert connection.next_event() is NEED_DATA
    assert read_request(connection.data_to_send(), offset=4).api_version == 3
    connection.receive_data(frame(write_response(BROKER, 3, 1)))
    event = connection.next_event()
    assert isinstance(event, Ready)
    assert event.apis[3].highest == 12
    assert connection.state is State.READY


def test_apis_that_cannot_be_negotiated() -> None:
    metadata = [each for each in api_versions() if each.name == "Metadata"]
    with pytest.raises(ValueError, match="apis lacks ApiVersions"):
        Connection(CLIENT, apis=metadata)
    connection = Connection(CLIENT)
    connection.start()
    with pytest.raises(LocalProtocolError, match="start is called once"):
        connection.start()
    foreign = ApiVersionsResponse(error_code=35, api_keys=[ApiVersion(18, 77, 78)])
    connection.receive_data(frame(write_response(foreign, 0, 0)))
    with pytest.raises(RemoteProtocolError, match="ApiVersions: no version"):
        connection.next_event()


def test_a_version_that_only_the_broker_has() -> None:
    connection = Connection(CLIENT)
    connection.start()
    newer = ApiVersionsResponse(api_keys=[ApiVersion(3, 77, 78), ApiVersion(18, 0, 4)])
    connection.receive_data(frame(write_response(newer, 4, 0)))
    assert isinstance(connection.next_event(), Ready)
    with pytest.raises(UnsupportedVersionError, match="no version of Metadata in common: we have"):
        connection.send(MetadataRequest())


def test_answers_come_with_what_was_given_at_the_request() -> None:
    connection = ready()
    connection.send(MetadataRequest(), context="first")
    connection.send(ProduceRequest(acks=0))
    connection.send(MetadataRequest(), version=1, context="second")
    answers = [write_response(MetadataResponse(), 12, 1), write_response(MetadataResponse(), 1, 3)]
    connection.receive_data(b"".join(map(frame, answers)))
    for context in ("first", "second"):
        event = connection.next_event()
        assert isinstance(event, ResponseReceived)
        assert event.request.context == context
        assert event.response.body == MetadataResponse()
    assert connection.next_event() is NEED_DATA


def test_a_wrong_correlation_id_is_the_brokers_fault() -> None:
    connection = ready()
    connection.send(MetadataRequest())
    connection.receive_data(frame(write_response(MetadataResponse(), 12, 7)))
    with pytest.raises(RemoteProtocolError, match=r"correlation id 7.*Metadata v12, has 1$"):
        connection.next_event()
    with pytest.raises(RemoteProtocolError):
        connection.next_event()


def test_a_close_names_what_is_unanswered() -> None:
    connection = ready()
    connection.send(MetadataRequest(), context="lost")
    connection.receive_data(b"\0\0")
    connection.receive_data(b"")
    event = connection.next_event()
    assert isinstance(event, ConnectionClosed)
    assert [each.context for each in event.unanswered] == ["lost"]
    assert event.bytes_left == 2
    assert connection.next_event() is NEED_DATA


def test_what_the_caller_may_not_ask() -> None:
    with pytest.raises(LocalProtocolError, match="the connection is new; it takes requests"):
        Connection(CLIENT).send(MetadataRequest())
    connection = ready(Limits(in_flight=1))
    with pytest.raises(UnsupportedVersionError, match="the broker does not have CreateTopics"):
        connection.send(CreateTopicsRequest())
    with pytest.raises(UnsupportedVersionError, match=r"Metadata in versions 0-12, not in .* 13"):
        connection.send(MetadataRequest(), version=13)
    with pytest.raises(EncodeError, match="MetadataResponse is not a request"):
        connection.send(MetadataResponse())
    connection.send(MetadataRequest())
    with pytest.raises(LocalProtocolError, match="in_flight is 1, and as many requests"):
        connection.send(MetadataRequest())


def header_of(correlation_id: int, version: int = 12, **more: Any) -> RequestHeader:
    return RequestHeader(3, version, correlation_id, "a client", **more)


def test_a_request_keeps_the_header_that_it_came_with() -> None:
    connection = ready()
    header = header_of(7, unknown_tagged_fields=((3, b"trace"),))
    data = connection.send(MetadataRequest(), header=header, context="forwarded")
    assert read_request(data, offset=4).header == header
    connection.send(MetadataRequest(), header=header_of(-1, 1))
    connection.receive_data(frame(write_response(MetadataResponse(), 12, 7)))
    event = connection.next_event()
    assert isinstance(event, ResponseReceived)
    assert (event.request.version, event.request.context) == (12, "forwarded")
    assert [each.version for each in connection.unanswered] == [1]
    connection.send(MetadataRequest(), header=header)  # its id is free again


def test_headers_that_cannot_be_kept() -> None:
    connection = ready()
    connection.send(MetadataRequest())
    with pytest.raises(LocalProtocolError, match="correlation id 1, which a request without an an"):
        connection.send(MetadataRequest(), header=header_of(1))
    with pytest.raises(TypeError, match="a version or a header, which has the version"):
        connection.send(MetadataRequest(), 12, header=header_of(2))
    with pytest.raises(UnsupportedVersionError, match=r"Metadata in versions 0-12, not in .* 13"):
        connection.send(MetadataRequest(), header=header_of(2, 13))
    with pytest.raises(EncodeError, match="header is one of api key 3, and ProduceRequest has"):
        connection.send(ProduceRequest(), header=header_of(2, 9))
    unhashable: Any = []
    with pytest.raises(EncodeError, match="correlation_id"):
        connection.send(MetadataRequest(), header=header_of(unhashable))
    mistyped: Any = ResponseHeader(2)
    with pytest.raises(EncodeError, match="expected a RequestHeader"):
        connection.send(MetadataRequest(), header=mistyped)
    # Nothing of that was sent, and a Produce without an answer takes no id from others.
    connection.send(ProduceRequest(acks=0), header=RequestHeader(0, 9, 1, "a client"))
    assert [each.correlation_id for each in connection.unanswered] == [1]


def test_ids_of_the_connection_avoid_those_that_were_kept() -> None:
    connection = ready()
    for kept in (1, 2, 4):
        connection.send(MetadataRequest(), header=header_of(kept))
    for expected in (3, 5):
        data = connection.send(MetadataRequest())
        assert read_request(data, offset=4).header == RequestHeader(3, 12, expected, "me")
