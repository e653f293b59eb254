"""Whatever a peer sends, in whatever pieces: the same events, or RemoteProtocolError, and no more.

The first bytes say by a checksum which end of a connection it is, and how far it has come; the next
byte how large the pieces are; the rest is what the peer sends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kafka_admin_proto import (
    ApiVersionsRequest,
    MetadataRequest,
    MetadataResponse,
    ProduceRequest,
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from kafka_admin_proto.errors import RemoteProtocolError
from kafka_admin_proto.messages.metadata_response import MetadataResponseBroker
from kafka_admin_proto.protocol import Api, api_versions, frame, write_request, write_response
from kafka_admin_proto.protocol.connection import (
    CLIENT,
    NEED_DATA,
    PAUSED,
    SERVER,
    ClientConnection,
    Connection,
    Limits,
    RequestReceived,
    Sasl,
    SaslPlain,
    SaslScram,
    SaslServer,
    ScramCredential,
    ServerConnection,
)
from tests.fuzz import seeds as made
from tests.fuzz.choice import SIZE, Choice, number_of
from tests.fuzz.limits import bounded_memory

AnyConnection = ClientConnection | ServerConnection

LIMITS = Limits(in_flight=8, unauthenticated_frame_bytes=4096, scram_iterations=8192)
CREDENTIAL = ScramCredential.of_password("SCRAM-SHA-256", "secret", salt=b"salt" * 4)
SASL_SERVER = SaslServer(
    plain=lambda user, password: password == "secret",
    scram_sha_256=lambda user: CREDENTIAL,
    session_lifetime_ms=1000,
)
VERSIONS = frame(write_response(Connection(SERVER).api_versions(), 5, 0))
HANDSHAKE = frame(write_response(SaslHandshakeResponse(mechanisms=["PLAIN"]), 1, 1))
LET_IN = frame(write_response(SaslAuthenticateResponse(session_lifetime_ms=1000), 2, 2))
PLAIN, SCRAM = SaslPlain("me", "secret"), SaslScram("SCRAM-SHA-256", "me", "secret")
#: Those of a broker that knows bare tokens only.
OLD = [
    Api(each.api_key, each.name, each.versions & each.versions.parse("0"))
    for each in api_versions()
    if each.name != "SaslAuthenticate"
]


def client(
    *received: bytes, sasl: Sasl | None = None, apis: list[Api] | None = None
) -> AnyConnection:
    """A client that has received so much, and then asked for metadata if it may."""
    connection = Connection(
        CLIENT, client_id="me", sasl=sasl, limits=LIMITS, apis=apis, negotiate=apis is None
    )
    connection.start()
    for data in received:
        connection.receive_data(data)
        list(events(connection))
    return connection


def ready_client() -> AnyConnection:
    connection = Connection(CLIENT, limits=LIMITS)
    connection.start()
    connection.receive_data(VERSIONS)
    connection.next_event()
    for _ in range(2):
        connection.send(MetadataRequest(), 12)
        connection.send(ProduceRequest(acks=0))
    return connection


def reauthenticating_client() -> AnyConnection:
    connection = Connection(CLIENT, sasl=PLAIN, limits=LIMITS)
    connection.start()
    for data in (VERSIONS, HANDSHAKE, LET_IN):
        connection.receive_data(data)
        list(events(connection))
    connection.send(MetadataRequest(), 12)
    connection.reauthenticate()
    connection.send(MetadataRequest(), 12)
    return connection


def server(*received: bytes, sasl: SaslServer | None = SASL_SERVER) -> AnyConnection:
    connection = Connection(SERVER, sasl=sasl, limits=LIMITS)
    for data in received:
        connection.receive_data(data)
        list(events(connection))
    return connection


def _handshake(mechanism: str, version: int = 1) -> bytes:
    return frame(write_request(SaslHandshakeRequest(mechanism=mechanism), version, 1))


def _token(token: bytes) -> bytes:
    return frame(write_request(SaslAuthenticateRequest(auth_bytes=token), 2, 2))


STATES: dict[str, Callable[[], AnyConnection]] = {
    "client, new": lambda: Connection(CLIENT),
    "client, negotiating": client,
    "client, plain handshake": lambda: client(VERSIONS, sasl=PLAIN),
    "client, plain": lambda: client(VERSIONS, HANDSHAKE, sasl=PLAIN),
    "client, scram": lambda: client(VERSIONS, HANDSHAKE, sasl=SCRAM),
    "client, bare scram": lambda: client(
        frame(write_response(SaslHandshakeResponse(), 0, 0)), sasl=SCRAM, apis=OLD
    ),
    "client, ready": ready_client,
    "client, re-authenticating": reauthenticating_client,
    "server": lambda: server(sasl=None),
    "server, sasl": server,
    "server, plain": lambda: server(_handshake("PLAIN")),
    "server, bare plain": lambda: server(_handshake("PLAIN", 0)),
    "server, scram": lambda: server(_handshake("SCRAM-SHA-256")),
    "server, scram's second token": lambda: server(
        _handshake("SCRAM-SHA-256"), _token(b"n,,n=me,r=abc")
    ),
    "server, ready": lambda: server(_handshake("PLAIN"), _token(b"\0me\0secret")),
    "server, re-authenticating": lambda: server(
        _handshake("PLAIN"), _token(b"\0me\0secret"), _handshake("PLAIN")
    ),
}
CHOICE = Choice(STATES)


def one_input(data: bytes) -> None:
    make = STATES[CHOICE[data]]
    size = 1 + data[SIZE] if len(data) > SIZE else 1
    sent = data[SIZE + 1 :]
    whole = reported(make(), [sent])
    pieces = [sent[start : start + size] for start in range(0, len(sent), size)]
    connection = make()
    with bounded_memory(sent, factor=100, allowance=1 << 20):
        split = reported(connection, pieces)
    assert split == whole


def reported(connection: AnyConnection, pieces: list[bytes]) -> list[str]:
    """All that the connection makes of the bytes and of the end of the stream, as text."""
    found: list[str] = []
    for piece in (*(each for each in pieces if each), b""):
        connection.receive_data(piece)
        try:
            found += events(connection)
        except RemoteProtocolError as error:
            found.append(f"{type(error).__name__}: {error}")
            break
    repr(connection)
    return found


def events(connection: AnyConnection) -> Iterator[str]:
    """The events that the bytes received hold; ApiVersions requests are answered."""
    while True:
        event = connection.next_event()
        if event is NEED_DATA or event is PAUSED:
            return
        yield repr(event)
        if (
            isinstance(connection, ServerConnection)
            and isinstance(event, RequestReceived)
            and event.request.api == "ApiVersions"
        ):
            connection.send(connection.api_versions(), to=event)


def seeds() -> Iterator[bytes]:
    requests = b"".join(
        frame(payload) for name, _, payload in made.payloads() if name.endswith("Request")
    )
    for name in STATES:
        start = number_of(name) + b"\x40"
        if name.startswith("client"):
            for answer in _answers():
                yield start + answer
            continue
        yield start + requests[:4000]
        yield start + _handshake("PLAIN") + _token(b"\0me\0secret") + requests[:500]
        yield start + _token(b"\0me\0secret")
        yield start + _token(b"n,,n=me,r=abc")
        yield start + _token(b"c=biws,r=abc,p=AAAA")
        yield start + frame(b"\0me\0secret") + _handshake("SCRAM-SHA-512", 0)
        yield start + frame(write_request(ApiVersionsRequest(), 3, 7)) + requests[:500]
        unknown = write_request(ApiVersionsRequest(), 3, 8)
        yield start + frame(unknown[:2] + b"\0\x63" + unknown[4:])


def _answers() -> Iterator[bytes]:
    """What a broker may say to a client that has asked little."""
    fallback = Connection(SERVER).api_versions()
    fallback.error_code = 35
    for number in range(6):
        yield frame(write_response(Connection(SERVER).api_versions(), 5, number))
        yield frame(write_response(fallback, 0, number))
        yield frame(write_response(SaslHandshakeResponse(mechanisms=["PLAIN"]), 1, number))
        yield frame(write_response(SaslHandshakeResponse(33, ["GSSAPI"]), 1, number))
        yield frame(write_response(SaslAuthenticateResponse(58, "no"), 2, number))
        token = b"r=abc,s=c2FsdHNhbHRzYWx0,i=4096"
        yield frame(write_response(SaslAuthenticateResponse(auth_bytes=token), 2, number))
        metadata = MetadataResponse(brokers=[MetadataResponseBroker(1, "host", 9092)])
        yield frame(write_response(metadata, 12, number))
    yield frame(b"") + frame(b"r=abc,s=c2FsdHNhbHRzYWx0,i=4096")
