"""From an address to a connection that is ready: names, TCP, TLS, versions, SASL."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from typing import Any

from kafka_admin_proto.admin.errors import AuthenticationError, ConnectionFailedError, TlsError
from kafka_admin_proto.admin.network.connection import BrokerConnection
from kafka_admin_proto.admin.network.errors import (
    advertised,
    handshake_failed,
    unreachable,
    unresolved,
)
from kafka_admin_proto.admin.network.tracing import Trace
from kafka_admin_proto.admin.settings.config import ClientConfig
from kafka_admin_proto.protocol.addresses import Address

#: Versions of ApiVersions to ask with, where a broker ends the connection for the one before it
#: without an answer; None is the newest.
_ASKS_AT = (None, 3, 0)
#: One of the results of getaddrinfo.
_ResolvedAddress = tuple[socket.AddressFamily, socket.SocketKind, int, str, Any]


async def open_connection(
    address: Address, config: ClientConfig, *, broker: int | None = None, trace: Trace | None = None
) -> BrokerConnection:
    """A connection that takes requests.

    Raises ConnectionFailedError (TlsError, AuthenticationError) within ``connect_timeout``, and
    leaves no socket behind then.
    """
    attempt = _ConnectionAttempt(address, config)
    try:
        async with asyncio.timeout(config.connect_timeout):
            return await attempt.run(broker, trace)
    except TimeoutError:
        error = ConnectionFailedError(
            f"no connection to {address} within {config.connect_timeout:g} s: "
            f"{attempt.waiting_for}",
            address=str(address),
        )
    except AuthenticationError:  # the address is right
        raise
    except ConnectionFailedError as failed:
        error = failed
    if broker is not None and address not in config.addresses:
        error = advertised(broker, error, config.addresses)
    raise error from None


class _ConnectionAttempt:
    """The steps to one address; ``waiting_for`` says which of them is being taken."""

    def __init__(self, address: Address, config: ClientConfig) -> None:
        self.waiting_for = "the name was being resolved"
        self._address = address
        self._config = config
        self._loop = asyncio.get_running_loop()

    async def run(self, broker: int | None, trace: Trace | None) -> BrokerConnection:
        resolved = await self._resolve()
        for asks_at in _ASKS_AT:
            self.waiting_for = "the broker did not accept; check the network and its firewalls"
            sock = await self._connect(resolved)
            connection = BrokerConnection(self._address, self._config, broker, trace, asks_at)
            try:
                await self._use(connection, sock)
            except ConnectionFailedError as error:
                # Event Hubs, for one, resets the connection at a version that it does not have.
                if connection.is_heard or isinstance(error, TlsError) or asks_at == _ASKS_AT[-1]:
                    raise
            else:
                return connection
        raise AssertionError("the last version raises or returns")

    async def _use(self, connection: BrokerConnection, sock: socket.socket) -> None:
        """Make the connection ready on a socket, which is closed where that fails."""
        try:
            await self._start_protocol(connection, sock)
            self.waiting_for = (
                "the broker did not answer ApiVersions; the listener may expect TLS, or is no "
                "Kafka broker"
                if not self._config.uses_tls
                else "the broker did not answer ApiVersions or SASL"
            )
            await connection.ready()
        except BaseException:
            if connection.awaits_proof and self._config.sasl_oauth_token_provider is not None:
                self.waiting_for = "the provider of tokens did not answer"
            connection.close(ConnectionFailedError(f"{self._address} was given up"))
            raise

    async def _resolve(self) -> Sequence[_ResolvedAddress]:
        host, port = self._address.host, self._address.port
        if not host or not 0 < port < 65536:  # an empty host would be this machine
            raise unresolved(self._address, socket.gaierror("not a host and a port"))
        try:
            try:  # an address in digits needs no thread that asks the DNS
                flags = socket.AI_NUMERICHOST
                return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=flags)
            except socket.gaierror:
                return await self._loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except socket.gaierror as error:
            raise unresolved(self._address, error) from None
        except ValueError:  # a label that is too long, a null character
            raise unresolved(self._address, socket.gaierror("not a host name")) from None

    async def _connect(self, resolved: Sequence[_ResolvedAddress]) -> socket.socket:
        """The first of the host's addresses that accepts.

        Each has an equal part of half the time, the last one all that is left: an address behind
        a firewall that swallows packets does not keep the next from its turn.
        """
        failure: OSError = OSError("no address")
        for place, (family, kind, protocol, _, where) in enumerate(resolved, 1):
            is_last = place == len(resolved)
            part = None if is_last else self._config.connect_timeout / 2 / len(resolved)
            try:
                sock = socket.socket(family, kind, protocol)
            except OSError as error:  # no IPv6 on this machine
                failure = error
                continue
            try:
                sock.setblocking(False)
                async with asyncio.timeout(part):
                    await self._loop.sock_connect(sock, where)
            except OSError as error:  # TimeoutError too
                sock.close()
                failure = error
            except BaseException:
                sock.close()
                raise
            else:
                return sock
        raise unreachable(self._address, failure)

    async def _start_protocol(self, connection: BrokerConnection, sock: socket.socket) -> None:
        """Let the loop read and write the socket, with TLS where that is asked for."""
        context = self._config.ssl_context
        try:
            if context is None:
                await self._loop.create_connection(lambda: connection, sock=sock)
                return
            self.waiting_for = (
                "the TLS handshake was not answered; the listener may be one without TLS"
            )
            await self._loop.create_connection(
                lambda: connection,
                sock=sock,
                ssl=context,
                server_hostname=self._address.host,
                ssl_handshake_timeout=self._config.connect_timeout + 1,
            )
        except OSError as error:
            raise handshake_failed(self._address, error) from None
