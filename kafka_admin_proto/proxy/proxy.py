"""The proxy: its listening sockets, one for each broker, and the connections that pass through."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Self

from kafka_admin_proto.arguments import checked_arguments, listed
from kafka_admin_proto.errors import KafkaAdminProtoError, RemoteProtocolError, SettingsError
from kafka_admin_proto.near_names import did_you_mean, near_names
from kafka_admin_proto.protocol.addresses import (
    HIGHEST_PORT,
    Address,
    is_host,
    is_unspecified,
    listen_address,
    parse_addresses,
    without_brackets,
)
from kafka_admin_proto.protocol.connection import Limits
from kafka_admin_proto.protocol.connection.sasl_client import Sasl
from kafka_admin_proto.protocol.connection.sasl_server import SaslServer
from kafka_admin_proto.protocol.tls import check_role
from kafka_admin_proto.protocol.versions import Api, api_versions
from kafka_admin_proto.proxy.connection.link import End, Link
from kafka_admin_proto.proxy.filters import Filters
from kafka_admin_proto.proxy.observation import Observed, Observer
from kafka_admin_proto.proxy.rules import Rules
from kafka_admin_proto.schema.versions import VersionRange

if TYPE_CHECKING:
    from kafka_admin_proto.proxy.faults import ProxyFaults

#: So many brokers get a socket: an answer that names more is no cluster's.
MOST_BROKERS = 1000
_BACKLOG = 1024
#: What is read of a socket at once.
_BUFFER_BYTES = 256 << 10


class Proxy:
    """A proxy in front of a cluster, for any client.

    ``upstream`` is host:port of at least one of its brokers, several with commas between. Clients
    get ``bootstrap_servers``, and in each answer the proxy's address in the place of a broker's:
    ``listen`` is host:port of the first, and the broker with id N has the Nth port behind the next
    one (9092 is followed by 9093 for broker 0); with port 0 all are free ones. ``advertised_host``
    stands in the answers where clients know the proxy by another name.

    ``filters`` see and change messages, as `kafka_admin_proto.proxy.filters` says: requests pass
    the first one first, responses the last one first. ``observers`` get the decoded frames that
    clients send and get (`kafka_admin_proto.proxy.observation`). ``tls`` is the context for
    clients, ``upstream_tls`` the one for brokers, whose names it checks if it does so.

    ``deny_versions`` has the first version that clients may use, by api: ``{"Produce": 3}``. They
    learn it by ApiVersions, and the connection of one that uses an older version is closed, as by a
    broker that does not have it. ``read_only`` refuses whatever would change something in the
    cluster, after the filters and where they ask the broker, and Metadata below version 4, which
    may create topics. ``connect_timeout`` is in seconds.

    SASL passes through. With ``sasl`` it ends at the proxy, which lets these users in, and logs in
    itself with ``upstream_sasl``, or not at all. Nobody gets delegation tokens then.

    Raises SettingsError for addresses and versions that are none, TypeError for arguments of
    another type, and filters and observers that are none. ``start`` raises OSError where it cannot
    listen.
    """

    def __init__(
        self,
        upstream: str | Sequence[str],
        filters: Iterable[object] = (),
        *,
        observers: Iterable[Observer] = (),
        listen: str = "127.0.0.1:0",
        advertised_host: str | None = None,
        tls: ssl.SSLContext | None = None,
        upstream_tls: ssl.SSLContext | None = None,
        sasl: SaslServer | None = None,
        upstream_sasl: Sasl | None = None,
        deny_versions: Mapping[str, int] | None = None,
        read_only: bool = False,
        connect_timeout: float = 10.0,
        limits: Limits | None = None,
    ) -> None:
        others = ("self", "filters", "observers")  # which are checked below
        given = {name: each for name, each in locals().items() if name not in others}
        given = checked_arguments(Proxy.__init__, given)
        if not connect_timeout > 0:
            raise SettingsError(f"connect_timeout is {connect_timeout}; expected seconds, above 0")
        self._upstream = parse_addresses(given["upstream"])
        self._listen = listen_address(listen, "listen")
        if advertised_host == "":
            raise SettingsError("advertised_host is empty; leave it out for the host of listen")
        own_host = without_brackets(advertised_host or self._listen.host)
        if not is_host(own_host):
            raise SettingsError(
                f"advertised_host is {advertised_host!r}; expected a name or an IP address, "
                "without a port: those of the proxy's sockets are behind it"
            )
        self._advertised_host = own_host
        if is_unspecified(self._advertised_host):
            raise SettingsError(
                f"clients cannot connect to {self._advertised_host}, which is all addresses of "
                "this machine; give advertised_host, the name or address by which they know it"
            )
        check_role("tls", tls, is_server=True)
        check_role("upstream_tls", upstream_tls, is_server=False)
        self._tls, self._upstream_tls = tls, upstream_tls
        if upstream_sasl is not None and sasl is None:
            raise SettingsError(
                "upstream_sasl would let every client in as the proxy; say by sasl who may log in, "
                "or leave it out: SASL of clients passes through"
            )
        self._upstream_sasl = upstream_sasl
        self._connect_timeout = connect_timeout
        filters, denied = listed(filters, "filters"), dict(deny_versions or {})
        last = None
        if read_only:
            from kafka_admin_proto.proxy.read_only import FIRST_METADATA, ReadOnly

            last = ReadOnly()
            filters.append(last)
            denied["Metadata"] = max(denied.get("Metadata", 0), FIRST_METADATA)
        if sasl is not None or upstream_tls is not None:
            from kafka_admin_proto.proxy.no_tokens import NoTokens

            filters.append(NoTokens())
        apis = _allowed(denied)
        limits = limits or Limits()
        self._rules = Rules(Filters(filters), self._local_address, apis, limits, last, sasl)
        self._observed = Observed(observers, limits.frame_bytes)
        self._buffer = memoryview(bytearray(_BUFFER_BYTES))
        self._links: set[Link] = set()
        #: The brokers by id: where each is, and the port of the proxy that stands for it.
        self._brokers: dict[int, Address] = {}
        self._ports: dict[int | None, int] = {}
        self._servers: list[asyncio.Server] = []
        self._opening: set[asyncio.Task[None]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def faults(self) -> ProxyFaults:
        """The faults of the proxy, added and removed in any thread, also before the start."""
        if self._rules.faults is None:
            from kafka_admin_proto.proxy.faults import ProxyFaults

            self._rules.faults = ProxyFaults(
                list(self._rules.apis.values()), answers_sasl=self._rules.sasl is not None
            )
        return self._rules.faults

    def observe(self, observer: Observer) -> None:
        """Let one more observer see the connections from now on."""
        self._observed.add(observer)

    @property
    def bootstrap_servers(self) -> str:
        """host:port for clients; RuntimeError while the proxy does not run."""
        if not self._servers:
            raise RuntimeError("the proxy does not run; start it, or use it in async with")
        return str(Address(self._advertised_host, self._ports[None]))

    async def start(self) -> None:
        """Listen; RuntimeError for a proxy that was started before, OSError without the port."""
        if self._ports:
            raise RuntimeError("the proxy was started before; make another one")
        self._loop = asyncio.get_running_loop()
        listening = _bound(self._listen.host, self._listen.port)
        self._ports[None] = listening.getsockname()[1]
        await self._accept(None, listening)

    async def stop(self) -> None:
        """Listen no more, and end all connections.

        RuntimeError in another event loop than that of the start.
        """
        if self._loop not in (None, asyncio.get_running_loop()):
            raise RuntimeError(
                "the proxy belongs to the event loop that it was started in: end it there, or take "
                "a SyncProxy"
            )
        for each in self._opening:
            each.cancel()
        for server in self._servers:
            server.close()
        for link in list(self._links):
            link.abort()
        await asyncio.gather(*self._opening, return_exceptions=True)
        for server in self._servers:
            await server.wait_closed()
        self._servers.clear()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.stop()

    def _local_address(self, node_id: int, host: str, port: int) -> tuple[str, int]:
        """The proxy's address for a broker, which may be new, or elsewhere than before."""
        local = self._ports.get(node_id)
        if local is None:
            if len(self._brokers) >= MOST_BROKERS:
                raise RemoteProtocolError(
                    f"the cluster names more than {MOST_BROKERS} brokers; the proxy has a port "
                    "for each"
                )
            listening = self._bound_for(node_id)
            local = self._ports[node_id] = listening.getsockname()[1]
            task = asyncio.ensure_future(self._accept(node_id, listening))
            self._opening.add(task)
            task.add_done_callback(self._opening.discard)
        self._brokers[node_id] = Address(host, port)
        return self._advertised_host, local

    def _bound_for(self, node_id: int) -> socket.socket:
        """The socket for a broker, at any free port where that of the proxy is one."""
        port = self._listen.port and self._listen.port + 1 + node_id
        if not 0 <= port <= HIGHEST_PORT:
            raise RemoteProtocolError(
                f"there is no port for broker {node_id}: it would be {port}; listen on a lower "
                "one, or on 0"
            )
        try:
            return _bound(self._listen.host, port)
        except OSError as error:
            raise SettingsError(
                f"cannot listen on {Address(self._listen.host, port)} for broker {node_id}: "
                f"{error.strerror}; free the port, or listen on another one, or on 0"
            ) from None

    async def _accept(self, node_id: int | None, listening: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(
            lambda: self._link(node_id).side(End.CLIENT),
            sock=listening,
            ssl=self._tls,
            backlog=_BACKLOG,
        )
        self._servers.append(server)

    def _link(self, node_id: int | None) -> Link:
        async def connect(side: asyncio.BaseProtocol) -> None:
            await self._connect(node_id, side)

        return Link(self._rules, node_id, connect, self._links, self._buffer, self._observed)

    async def _connect(self, node_id: int | None, side: asyncio.BaseProtocol) -> None:
        """Connect to the broker, for the bootstrap address to the first one that is there."""
        failures = []
        addresses = self._upstream if node_id is None else (self._brokers[node_id],)
        loop = asyncio.get_running_loop()
        for address in addresses:
            try:
                async with asyncio.timeout(self._connect_timeout):
                    if self._upstream_sasl is not None:
                        await self._log_in(address, side, self._upstream_sasl)
                    else:
                        await loop.create_connection(
                            lambda: side, address.host, address.port, ssl=self._upstream_tls
                        )
            except TimeoutError:
                failures.append(f"{address}: no connection within {self._connect_timeout:g} s")
            # ValueError: a name that none can have
            except (OSError, ValueError, KafkaAdminProtoError) as error:
                failures.append(f"{address}: {error}")
            else:
                return
        raise OSError("; ".join(failures))

    async def _log_in(self, address: Address, side: asyncio.BaseProtocol, sasl: Sasl) -> None:
        """Connect to a broker with the proxy's own credentials."""
        from kafka_admin_proto.proxy.connection.broker_login import BrokerLogin

        loop = asyncio.get_running_loop()
        transport, login = await loop.create_connection(
            lambda: BrokerLogin(sasl, self._rules.limits),
            address.host,
            address.port,
            ssl=self._upstream_tls,
        )
        try:
            await login.done
        except BaseException:
            transport.abort()
            raise
        transport.set_protocol(side)
        side.connection_made(transport)


def _allowed(denied: Mapping[str, int]) -> list[Api]:
    """All apis that are known here, without the versions that are denied."""
    known = {each.name: each for each in api_versions(unstable=True)}
    for name, first in denied.items():
        if name not in known:
            hint = did_you_mean(near_names(name, known, most=1))
            raise SettingsError(f"deny_versions: there is no api {name!r}{hint}")
        api = known[name]
        if first not in api.versions:
            raise SettingsError(
                f"deny_versions: {name} has no version {first}; it has {api.versions}"
            )
        if first <= api.versions.lowest:
            raise SettingsError(
                f"deny_versions: {name} has no version before {first}; leave it out"
            )
        known[name] = Api(api.api_key, name, VersionRange(first, api.versions.highest))
    return list(known.values())


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.create_server((host, port), family=family, backlog=_BACKLOG)
    # Accepted sockets inherit it; asyncio sets it only where the socket names its protocol.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening
