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

from kafka_admin_proto.lazy_names import lazy_names

if TYPE_CHECKING:
    from kafka_admin_proto.protocol.connection.client import ClientConnection as ClientConnection
    from kafka_admin_proto.protocol.connection.events import NEED_DATA as NEED_DATA
    from kafka_admin_proto.protocol.connection.events import PAUSED as PAUSED
    from kafka_admin_proto.protocol.connection.events import Authenticated as Authenticated
    from kafka_admin_proto.protocol.connection.events import ClientEvent as ClientEvent
    from kafka_admin_proto.protocol.connection.events import ConnectionClosed as ConnectionClosed
    from kafka_admin_proto.protocol.connection.events import ProofNeeded as ProofNeeded
    from kafka_admin_proto.protocol.connection.events import Ready as Ready
    from kafka_admin_proto.protocol.connection.events import Reauthenticated as Reauthenticated
    from kafka_admin_proto.protocol.connection.events import RequestReceived as RequestReceived
    from kafka_admin_proto.protocol.connection.events import ResponseReceived as ResponseReceived
    from kafka_admin_proto.protocol.connection.events import SentRequest as SentRequest
    from kafka_admin_proto.protocol.connection.events import ServerEvent as ServerEvent
    from kafka_admin_proto.protocol.connection.events import Signal as Signal
    from kafka_admin_proto.protocol.connection.events import State as State
    from kafka_admin_proto.protocol.connection.limits import Limits as Limits
    from kafka_admin_proto.protocol.connection.roles import CLIENT as CLIENT
    from kafka_admin_proto.protocol.connection.roles import SERVER as SERVER
    from kafka_admin_proto.protocol.connection.roles import Connection as Connection
    from kafka_admin_proto.protocol.connection.roles import Role as Role
    from kafka_admin_proto.protocol.connection.sasl_client import Sasl as Sasl
    from kafka_admin_proto.protocol.connection.sasl_client import SaslOAuthBearer as SaslOAuthBearer
    from kafka_admin_proto.protocol.connection.sasl_client import SaslPlain as SaslPlain
    from kafka_admin_proto.protocol.connection.sasl_client import SaslScram as SaslScram
    from kafka_admin_proto.protocol.connection.sasl_server import SaslServer as SaslServer
    from kafka_admin_proto.protocol.connection.sasl_server import TokenOwner as TokenOwner
    from kafka_admin_proto.protocol.connection.scram import ScramCredential as ScramCredential
    from kafka_admin_proto.protocol.connection.server import ServerConnection as ServerConnection
else:
    __getattr__, __dir__ = lazy_names(__name__)
