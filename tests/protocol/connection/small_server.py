"""A server of plain sockets and threads over the same connection, for the tests here."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kafka_admin_proto import RemoteProtocolError
from kafka_admin_proto.protocol.connection import (
    NEED_DATA,
    SERVER,
    Connection,
    ConnectionClosed,
    RequestReceived,
    SaslServer,
    ServerConnection,
)
from kafka_admin_proto.values import Message

#: A request's answer; None closes the connection.
Answer = Callable[[RequestReceived], Message | None]


@contextmanager
def serving(answer: Answer, sasl: SaslServer | None = None) -> Iterator[int]:
    """A port of loopback at which requests are answered, each connection in its own thread."""
    listener = socket.create_server(("127.0.0.1", 0))
    threads: list[threading.Thread] = []

    def accept() -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return  # closed
            thread = threading.Thread(target=serve, args=(client, answer, sasl))
            threads.append(thread)
            thread.start()

    accepting = threading.Thread(target=accept)
    accepting.start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for thread in (accepting, *threads):
            thread.join(10)
            assert not thread.is_alive()


def serve(client: socket.socket, answer: Answer, sasl: SaslServer | None) -> None:
    connection = Connection(SERVER, sasl=sasl)
    with client:
        client.settimeout(10)
        try:
            while take(connection, client, answer):
                connection.receive_data(client.recv(100))
        except RemoteProtocolError:
            client.sendall(connection.data_to_send())  # the refusal


def take(connection: ServerConnection, client: socket.socket, answer: Answer) -> bool:
    """Answer what was received; False at the end."""
    while True:
        event = connection.next_event()
        client.sendall(connection.data_to_send())
        if event is NEED_DATA:
            return True
        if isinstance(event, ConnectionClosed):
            return False
        if isinstance(event, RequestReceived):
            versions = event.request.api == "ApiVersions"
            response = connection.api_versions() if versions else answer(event)
            if response is None:
                return False
            client.sendall(connection.send(response, to=event))
