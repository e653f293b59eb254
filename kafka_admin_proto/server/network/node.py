"""The listening sockets of one node, which are open while it runs, and its connections."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.protocol.addresses import Address

if TYPE_CHECKING:
    from kafka_admin_proto.server.network.client import Client

#: Kafka's security protocols, in the order of their numbers.
SECURITY_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_BACKLOG = 1024
#: Connections that a listener accepts in one turn of the event loop. asyncio takes one number for
#: this and for the backlog, so that many new clients at once would go before all others.
_ACCEPTED_AT_ONCE = 1
#: Turns of the event loop between accept and ``connection_made``. If a server is closed between
#: them, asyncio leaves the accepted socket open.
_ACCEPT_TURNS = 3


@dataclass
class Listener:
    """One of a node's listeners, by its name in Kafka's configs.

    A ``port`` of 0 stands for any free one until the listener is bound. ``protocol`` is Kafka's
    security protocol. Clients get ``advertised_port``, or ``port`` where that is 0.
    """

    name: str
    host: str
    advertised_host: str
    port: int
    protocol: str = "PLAINTEXT"
    advertised_port: int = 0

    @property
    def address(self) -> Address:
        """Where it listens."""
        return Address(self.host, self.port)

    @property
    def advertised(self) -> Address:
        """Where clients connect."""
        return Address(self.advertised_host, self.advertised_port or self.port)


class Node:
    """The listening sockets of one node; ``connections`` are the open ones of its clients."""

    def __init__(self, node_id: int, listeners: Sequence[Listener]) -> None:
        self.id = node_id
        self.listeners: dict[str, Listener] = {each.name: each for each in listeners}
        self.connections: set[Client] = set()
        self._sockets: dict[str, socket.socket] = {}
        self._servers: list[asyncio.Server] = []

    def bind(self) -> None:
        """Bind the ports, so that clients can connect; a free port keeps its number from then on.

        Raises OSError if a port cannot be bound, and SettingsError if the host has no address; then
        no port is bound.
        """
        try:
            for each in self.listeners.values():
                found = self._sockets[each.name] = _listening(each.host, each.port)
                each.port = found.getsockname()[1]
        except (OSError, SettingsError):
            self.release()
            raise

    def release(self) -> None:
        """Close the ports that are bound and not open."""
        for each in self._sockets.values():
            each.close()
        self._sockets.clear()

    async def open(self, accept: Callable[[Node, Listener], asyncio.BaseProtocol]) -> None:
        """Accept clients on the bound ports; ``accept`` makes the asyncio protocol of each."""
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
        await asyncio.sleep(0)  # aborted transports call connection_lost in the next turn


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        address = socket.getaddrinfo(host, port, family, socket.SOCK_STREAM)[0][4]
    except (socket.gaierror, ValueError) as error:  # ValueError: a name with a NUL, or too long
        reason = getattr(error, "strerror", None) or error
        raise SettingsError(
            f"host is {host!r}, which has no address ({reason}); expected a name or address of "
            "this machine"
        ) from None
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Accepted sockets inherit it; asyncio sets it only where the socket names its protocol.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        listening.bind(address)
        listening.listen(_BACKLOG)
    except OSError:
        listening.close()
        raise
    listening.setblocking(False)
    return listening
