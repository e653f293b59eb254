"""One request at a time to a node of any cluster, over a socket that is kept."""

from __future__ import annotations

import socket
from types import TracebackType
from typing import Any, Self

from kafka_admin_proto.protocol.frames import frame
from kafka_admin_proto.protocol.payload_writers import write_request
from kafka_admin_proto.protocol.payloads import read_response
from kafka_admin_proto.values import Message

_TIMEOUT_S = 25.0


class Nodes:
    """The nodes of a cluster, in the order of ``bootstrap`` (host:port, separated by commas)."""

    def __init__(self, bootstrap: str) -> None:
        self.addresses = [each.rpartition(":")[::2] for each in bootstrap.split(",")]
        self._sockets: dict[int, socket.socket] = {}
        self._sent = 0

    def ask(self, node: int, message: Message, version: int) -> Any:
        """The response of a node; None where it closes the connection or says nothing."""
        assert message.api_key is not None
        found = self._sockets.get(node)
        try:
            if found is None:
                host, port = self.addresses[node]
                found = socket.create_connection((host, int(port)), _TIMEOUT_S)
                self._sockets[node] = found
            self._sent += 1
            found.sendall(frame(write_request(message, version, self._sent, client_id="differ")))
            size = int.from_bytes(_read(found, 4), "big")
            payload = _read(found, size)
        except (ConnectionError, TimeoutError):
            if found is not None:
                found.close()
            self._sockets.pop(node, None)
            return None
        response = read_response(payload, message.api_key, version)
        assert response.error is None, response.error
        return response.body

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for each in self._sockets.values():
            each.close()


def _read(source: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = source.recv(count - len(data))
        if not more:
            raise ConnectionResetError
        data += more
    return data
