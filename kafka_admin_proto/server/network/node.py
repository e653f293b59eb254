"""One node's ports, which are open while it runs, and the connections of clients to them."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kafka_admin_proto.server.network.connection import NodeConnection

#: Kafka's security protocols, in the order of their numbers.
SECURITY_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_BACKLOG = 1024
#: Connections that a listener takes in one turn of the event loop. asyncio has one number for this
#: and the backlog, so that clients who come in a heap would be seen to before all others.
_ACCEPTED_AT_ONCE = 1
#: Turns of the event loop until a socket that was accepted has its connection. A server that is
#: closed before that leaves the socket open.
_ACCEPT_TURNS = 3


@dataclass
class Listener:
    """One of a node's listeners, by the name that Kafka's configs have for it.

    ``port`` is 0 until it is bound, where any free one will do. ``protocol`` is Kafka's security
    protocol.
    """

    name: str
    host: str
    advertised_host: str
    port: int
    protocol: str = "PLAINTEXT"


class Node:
    """The ports of one node. ``connections`` are those of clients that are there now."""

    def __init__(self, node_id: int, listeners: Sequence[Listener]) -> None:
        self.id = node_id
        self.listeners: dict[str, Listener] = {each.name: each for each in listeners}
        self.connections: set[NodeConnection] = set()
        self._sockets: dict[str, socket.socket] = {}
        self._servers: list[asyncio.Server] = []

    def bind(self) -> None:
        """Take the ports, so that clients can connect; a free one keeps its number from then on.

        Raises OSError where one cannot be had; none is taken then.
        """
        try:
            for each in self.listeners.values():
                found = self._sockets[each.name] = _listening(each.host, each.port)
                each.port = found.getsockname()[1]
        except OSError:
            self.release()
            raise

    def release(self) -> None:
        """Give back ports that were bound and not opened."""
        for each in self._sockets.values():
            each.close()
        self._sockets.clear()

    async def open(self, accept: Callable[[Node, Listener], asyncio.BaseProtocol]) -> None:
        """Serve the clients of the ports that were bound."""
        loop = asyncio.get_running_loop()
        for name in list(self._sockets):
            listener = self.listeners[name]

            def accepted(listener: Listener = listener) -> asyncio.BaseProtocol:
                return accept(self, listener)

            listening = self._sockets.pop(name)
            server = await loop.create_server(accepted, sock=listening, backlog=_ACCEPTED_AT_ONCE)
            listening.listen(_BACKLOG)
            self._servers.append(server)

    async def close(self) -> None:
        """Close the ports and every connection."""
        loop = asyncio.get_running_loop()
        for server in self._servers:
            for listening in server.sockets:
                loop.remove_reader(listening)
        for _ in range(_ACCEPT_TURNS):
            await asyncio.sleep(0)
        for server in self._servers:
            server.close()
        for connection in list(self.connections):
            connection.close()
        for server in self._servers:
            await server.wait_closed()
        self._servers.clear()
        await asyncio.sleep(0)  # the transports that were aborted end now


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, port))
        found.listen(_BACKLOG)
    except OSError:
        found.close()
        raise
    found.setblocking(False)
    return found
