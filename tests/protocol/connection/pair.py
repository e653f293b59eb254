"""A client joined to a server without a socket, for the tests beside this file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kafka_admin_proto.protocol.connection import (
    CLIENT,
    NEED_DATA,
    PAUSED,
    SERVER,
    ClientConnection,
    ClientEvent,
    Connection,
    RequestReceived,
    Sasl,
    SaslPlain,
    SaslScram,
    SaslServer,
    ScramCredential,
    ServerConnection,
    ServerEvent,
)

PASSWORDS = {"alice": "wonder=land,", "ª": "ﬁancé ª\u00ad"}
CREDENTIALS = {
    mechanism: {
        user: ScramCredential.of_password(mechanism, password)
        for user, password in PASSWORDS.items()
    }
    for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512")
}
SASL_SERVER = SaslServer(
    plain=lambda user, password: PASSWORDS.get(user) == password,
    scram_sha_256=CREDENTIALS["SCRAM-SHA-256"].get,
    scram_sha_512=CREDENTIALS["SCRAM-SHA-512"].get,
    session_lifetime_ms=60_000,
)


def login(mechanism: str, user: str = "alice", password: str | None = None) -> Sasl:
    password = PASSWORDS[user] if password is None else password
    if mechanism == "PLAIN":
        return SaslPlain(user, password)
    return SaslScram(mechanism, user, password)


class Pair:
    """Both ends; ``exchange`` carries bytes until neither has any left.

    ApiVersions requests are answered, all other events are kept in order.
    """

    def __init__(self, client: dict[str, Any] | None = None, server: dict[str, Any] | None = None):
        self.client: ClientConnection = Connection(CLIENT, **(client or {}))
        self.server: ServerConnection = Connection(SERVER, **(server or {}))
        self.at_client: list[ClientEvent] = []
        self.at_server: list[ServerEvent] = []

    def start(self) -> Pair:
        self.exchange(self.client.start())
        return self

    def exchange(self, to_server: bytes = b"", to_client: bytes = b"") -> None:
        """Bytes of either end to the other, and what follows from them."""
        while to_server or to_client:
            if to_server:
                self.server.receive_data(to_server)
                for event in events(self.server):
                    if isinstance(event, RequestReceived) and event.request.api == "ApiVersions":
                        to_client += self.server.send(self.server.api_versions(), to=event)
                    else:
                        self.at_server.append(event)
                    to_client += self.server.data_to_send()
                to_client += self.server.data_to_send()
            to_server = b""
            if to_client:
                self.client.receive_data(to_client)
                for reported in events(self.client):
                    self.at_client.append(reported)
                    to_server += self.client.data_to_send()
                to_server += self.client.data_to_send()
            to_client = b""


def events(connection: ClientConnection | ServerConnection) -> Iterator[Any]:
    """Each event that the bytes received hold."""
    while True:
        event = connection.next_event()
        if event is NEED_DATA or event is PAUSED:
            return
        yield event
