"""One request at a time to a node of any cluster, over a socket that is kept."""

from __future__ import annotations

import socket
import struct
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from kafka_admin_proto.messages import SaslAuthenticateRequest, SaslHandshakeRequest
from kafka_admin_proto.protocol import frame, read_response, write_request
from kafka_admin_proto.protocol.addresses import parse_addresses
from kafka_admin_proto.values import Message

#: How long a node may take for an answer.
PATIENCE_S = 60.0
_API_VERSIONS = 18


class Nodes:
    """The nodes of a cluster, in the order of ``bootstrap`` (host:port, separated by commas).

    ``login`` is a name and a password for SASL PLAIN, on listeners that ask for it. A connection
    that is throttled is closed: a node reads nothing from it for a while.
    """

    def __init__(
        self, bootstrap: str, login: tuple[str, str] | None = None, user: str = ""
    ) -> None:
        self.addresses = [(each.host, each.port) for each in parse_addresses(bootstrap)]
        self._login = login
        self._sockets: dict[int, socket.socket] = {}
        self._sent = 0
        #: Responses with their bytes, by node and request.
        self._kept: dict[tuple[int, bytes], tuple[bytes, Any]] = {}

    def ask(self, node: int, message: Message, version: int, patience_s: float = PATIENCE_S) -> Any:
        """The response of a node; None if it closes the connection or does not answer in time."""
        assert message.api_key is not None
        sent = self._send(node, message, version)
        return self._receive(node, sent, message.api_key, version, patience_s)

    def ask_all(self, messages: Mapping[int, Message], version: int) -> list[Any]:
        """The response of each node to its message; all are asked at once.

        The same bytes as before are the same response as before.
        """
        payloads = {
            node: write_request(each, version, 0, client_id="differ")
            for node, each in messages.items()
        }
        sent = {node: self._write(node, each) for node, each in payloads.items()}
        return [
            self._receive(node, sent[node], each.api_key or 0, version, kept=payloads[node])
            for node, each in messages.items()
        ]

    def ask_raw(self, node: int, api_key: int, version: int) -> Any:
        """What a node says to a header alone; None where it closes the connection.

        Only ApiVersions of a version that is not known is answered, in version 0.
        """
        self._sent += 1
        header = struct.pack(">hhih", api_key, version, self._sent, -1)
        sent = self._write(node, header)
        return self._receive(node, sent, _API_VERSIONS, 0)

    def _send(self, node: int, message: Message, version: int) -> socket.socket | None:
        self._sent += 1
        return self._write(node, write_request(message, version, self._sent, client_id="differ"))

    def _write(self, node: int, payload: bytes) -> socket.socket | None:
        try:
            found = self._sockets.get(node)
            if found is None:
                host, port = self.addresses[node]
                found = socket.create_connection((host, port), PATIENCE_S)
                self._sockets[node] = found
                if self._login is not None:
                    self._log_in(node, found, *self._login)
            found.sendall(frame(payload))
        except OSError:
            return None
        return found

    def _log_in(self, node: int, connected: socket.socket, name: str, password: str) -> None:
        token = b"\0".join([b"", name.encode(), password.encode()])
        for message in (SaslHandshakeRequest("PLAIN"), SaslAuthenticateRequest(token)):
            connected.sendall(frame(write_request(message, 1, 0)))
            assert message.api_key is not None
            answer = self._receive(node, connected, message.api_key, 1)
            assert answer is not None, f"node {node + 1} closes the connection of {name}"
            assert answer.error_code == 0, answer

    def _receive(
        self,
        node: int,
        source: socket.socket | None,
        api_key: int,
        version: int,
        patience_s: float = PATIENCE_S,
        kept: bytes | None = None,
    ) -> Any:
        try:
            if source is None:
                raise ConnectionResetError
            source.settimeout(patience_s)
            payload = _read(source, int.from_bytes(_read(source, 4), "big"))
        except (ConnectionError, TimeoutError):
            self._sockets.pop(node, None)
            if source is not None:
                source.close()
            return None
        if kept is not None and self._kept.get((node, kept), (b"", None))[0] == payload:
            return self._kept[node, kept][1]
        response = read_response(payload, api_key, version)
        assert response.error is None, response.error
        if getattr(response.body, "throttle_time_ms", 0):
            self._sockets.pop(node).close()
        if kept is not None:
            self._kept[node, kept] = payload, response.body
        return response.body

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def forget(self, node: int) -> None:
        """End the connection to a node, which has ended."""
        found = self._sockets.pop(node, None)
        if found is not None:
            found.close()

    def close(self) -> None:
        """End the connections."""
        for each in self._sockets.values():
            each.close()
        self._sockets.clear()


def _read(source: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = source.recv(count - len(data))
        if not more:
            raise ConnectionResetError
        data += more
    return data
