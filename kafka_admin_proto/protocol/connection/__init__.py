"""A connection without a socket: the peer's bytes in, events and bytes to write out.

Usage::

    connection = Connection(CLIENT, client_id="me")
    socket.sendall(connection.start())
    while True:
        event = connection.next_event()
        socket.sendall(connection.data_to_send())
        if event is NEED_DATA:
            connection.receive_data(socket.recv(65536))
        elif isinstance(event, Ready):
            socket.sendall(connection.send(MetadataRequest()))
        ...

Both roles count, pair, order and limit the same way; ``docs/connection.md`` has the events.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = [
    "CLIENT",
    "NEED_DATA",
    "PAUSED",
    "SERVER",
    "Authenticated",
    "ClientConnection",
    "ClientEvent",
    "Connection",
    "ConnectionClosed",
    "Limits",
    "ProofNeeded",
    "Ready",
    "Reauthenticated",
    "RequestReceived",
    "ResponseReceived",
    "Role",
    "Sasl",
    "SaslPlain",
    "SaslScram",
    "SaslServer",
    "ScramCredential",
    "SentRequest",
    "ServerConnection",
    "ServerEvent",
    "Signal",
    "State",
]

if TYPE_CHECKING:
    from kafka_admin_proto.protocol.connection.client import ClientConnection
    from kafka_admin_proto.protocol.connection.events import (
        NEED_DATA,
        PAUSED,
        Authenticated,
        ClientEvent,
        ConnectionClosed,
        ProofNeeded,
        Ready,
        Reauthenticated,
        RequestReceived,
        ResponseReceived,
        SentRequest,
        ServerEvent,
        Signal,
        State,
    )
    from kafka_admin_proto.protocol.connection.limits import Limits
    from kafka_admin_proto.protocol.connection.roles import CLIENT, SERVER, Connection, Role
    from kafka_admin_proto.protocol.connection.sasl_client import Sasl, SaslPlain, SaslScram
    from kafka_admin_proto.protocol.connection.sasl_server import SaslServer
    from kafka_admin_proto.protocol.connection.scram import ScramCredential
    from kafka_admin_proto.protocol.connection.server import ServerConnection
else:
    from kafka_admin_proto.lazy_names import lazy_names

    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "client": ["ClientConnection"],
            "events": [
                "NEED_DATA",
                "PAUSED",
                "Authenticated",
                "ClientEvent",
                "ConnectionClosed",
                "ProofNeeded",
                "Ready",
                "Reauthenticated",
                "RequestReceived",
                "ResponseReceived",
                "SentRequest",
                "ServerEvent",
                "Signal",
                "State",
            ],
            "limits": ["Limits"],
            "roles": ["CLIENT", "SERVER", "Connection", "Role"],
            "sasl_client": ["Sasl", "SaslPlain", "SaslScram"],
            "sasl_server": ["SaslServer"],
            "scram": ["ScramCredential"],
            "server": ["ServerConnection"],
        },
    )
