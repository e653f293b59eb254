"""What the clients of a cluster may take of it: connections, and bytes that wait in memory.

Names in brackets are Kafka's configs. Bytes that clients do not read have no limit in Kafka.
"""

from __future__ import annotations

import asyncio
import sys
from collections import Counter, deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from kafka_admin_proto.errors import SettingsError

if TYPE_CHECKING:
    from kafka_admin_proto.server.network.connection import NodeConnection

_FRAME_BYTES = "socket.request.max.bytes"
#: Attribute of NetworkLimits → the config.
_CONFIGS = {
    "connections": "max.connections",
    "connections_per_ip": "max.connections.per.ip",
    "idle_ms": "connections.max.idle.ms",
    "unfinished_bytes": "queued.max.request.bytes",
}
#: A connection is idle when it was so at this many looks in a row.
_LOOKS = 4
#: Connections over ``max.connections`` that wait for a place, as in a listener's backlog.
_WAITING = 1024


class NetworkLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds of a cluster's connections together; those of one are ``Limits``.

    ``connections``: of one node; more wait until others end [max.connections].
    ``connections_per_ip``: of one address to one node; more are closed [max.connections.per.ip].
    ``idle_ms``: a connection that sends and takes nothing for so long is closed, up to a quarter
    later; below 0: never [connections.max.idle.ms]. ``unfinished_bytes``: of requests that have
    not come in full [queued.max.request.bytes]; ``unread_bytes``: of answers that clients do not
    take. Over either the connection that has most of them is closed.
    """

    connections: int = sys.maxsize
    connections_per_ip: int = sys.maxsize
    idle_ms: int = 600_000
    unfinished_bytes: int = 256 << 20
    unread_bytes: int = 256 << 20


def limits_of(configs: Mapping[str, str], release: str) -> NetworkLimits:
    """What the configs of a broker say. Raises SettingsError, which names the config."""
    given = {name: config for name, config in _CONFIGS.items() if config in configs}
    found = {name: _number(config, configs, release) for name, config in given.items()}
    if found.get("unfinished_bytes", 1) < 1:  # Kafka's -1: no limit; ours stays
        del found["unfinished_bytes"]
    return NetworkLimits(**found)


def frame_bytes(configs: Mapping[str, str], release: str) -> int | None:
    """The largest frame by the configs, None where they do not say. Raises SettingsError."""
    return _number(_FRAME_BYTES, configs, release) if _FRAME_BYTES in configs else None


def _number(name: str, configs: Mapping[str, str], release: str) -> int:
    from kafka_admin_proto.server.configs.definitions import definitions  # only where one is set
    from kafka_admin_proto.server.configs.values import ConfigFailure, check, parse

    config = definitions(release).in_properties[name]
    try:
        value: Any = parse(config, configs[name], release)
        check(config, value)
    except ConfigFailure as error:
        raise SettingsError(f"{error.message}: expected a value that Kafka takes") from None
    return int(value)


class Guard:
    """Holds the connections of all nodes to their limits."""

    def __init__(self, limits: NetworkLimits) -> None:
        self.limits = limits
        #: Bytes of requests that have not come in full, of all connections.
        self.unfinished_bytes: int = 0
        self._admitted: dict[int, set[NodeConnection]] = {}
        self._addresses: Counter[tuple[int, str]] = Counter()
        self._waiting: dict[int, deque[NodeConnection]] = {}
        self._unread: set[NodeConnection] = set()
        self._timer: asyncio.TimerHandle | None = None

    def admit(self, connection: NodeConnection) -> None:
        """Take a connection, let it wait for its place, or close it."""
        node, limits = connection.node_id, self.limits
        admitted = self._admitted.setdefault(node, set())
        if self._addresses[node, connection.host] >= limits.connections_per_ip:
            connection.close()
            return
        if len(admitted) >= limits.connections:
            waiting = self._waiting.setdefault(node, deque())
            if len(waiting) >= _WAITING:
                connection.close()
                return
            waiting.append(connection)
            connection.wait()
            return
        admitted.add(connection)
        self._addresses[node, connection.host] += 1
        if self._timer is None and limits.idle_ms > 0:
            self._look_later()

    def leave(self, connection: NodeConnection) -> None:
        """A connection is gone: another may have its place."""
        node = connection.node_id
        admitted, waiting = self._admitted.get(node, set()), self._waiting.get(node)
        self._unread.discard(connection)
        self.unfinished_bytes -= connection.unfinished_bytes
        connection.unfinished_bytes = 0
        if connection in admitted:
            admitted.discard(connection)
            self._addresses[node, connection.host] -= 1
            if not self._addresses[node, connection.host]:
                del self._addresses[node, connection.host]
        elif waiting and connection in waiting:
            waiting.remove(connection)
        if waiting and len(admitted) < self.limits.connections:
            following = waiting.popleft()
            admitted.add(following)
            self._addresses[node, following.host] += 1
            following.go_on()

    def received(self, connection: NodeConnection, unfinished_bytes: int) -> None:
        """So many bytes of a connection now wait for the rest of their request."""
        self.unfinished_bytes += unfinished_bytes - connection.unfinished_bytes
        connection.unfinished_bytes = unfinished_bytes
        if self.unfinished_bytes > self.limits.unfinished_bytes:
            self._close_largest(
                max(self._all(), key=lambda each: each.unfinished_bytes),
                f"{self.unfinished_bytes} bytes of requests have not come in full",
            )

    def does_not_read(self, connection: NodeConnection) -> None:
        """A client has left answers unread: as many as are written before it is waited for."""
        self._unread.add(connection)
        unread = sum(each.unread_bytes for each in self._unread)
        if unread > self.limits.unread_bytes:
            self._close_largest(
                max(self._unread, key=lambda each: each.unread_bytes),
                f"{unread} bytes of answers are unread",
            )

    def reads(self, connection: NodeConnection) -> None:
        """It has taken them."""
        self._unread.discard(connection)

    def close(self) -> None:
        """Look no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _all(self) -> list[NodeConnection]:
        return [each for admitted in self._admitted.values() for each in admitted]

    def _close_largest(self, connection: NodeConnection, why: str) -> None:
        print(
            f"node {connection.node_id}: {why}; the connection with most is closed",
            file=sys.stderr,
        )
        connection.close()
        self.leave(connection)  # its socket ends in a later turn, what it held counts no more

    def _look_later(self) -> None:
        after_s = self.limits.idle_ms / 1000 / _LOOKS
        self._timer = asyncio.get_running_loop().call_later(after_s, self._look)

    def _look(self) -> None:
        """Close what was idle at so many looks."""
        for connection in self._all():
            connection.idle_looks = 0 if connection.active else connection.idle_looks + 1
            connection.active = False
            if connection.idle_looks >= _LOOKS:
                connection.close()
        self._look_later()
