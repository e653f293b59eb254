"""Limits of a cluster's clients together: connections, idle time, and bytes kept in memory.

`NetworkLimits` are the numbers, and `ConnectionLimiter` closes connections or lets them wait. Names
in brackets are Kafka's configs. Kafka has no limit for answers that clients do not read.
"""

from __future__ import annotations

import sys
from collections import Counter, deque
from collections.abc import Callable, Mapping
from functools import lru_cache
from socket import AF_INET, getaddrinfo
from typing import TYPE_CHECKING, Any

import msgspec

from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.loggers import SERVER
from kafka_admin_proto.protocol.connection.limits import Limits, check_limits
from kafka_admin_proto.server.clock import Clock, Timer
from kafka_admin_proto.server.configs.definitions import definitions
from kafka_admin_proto.server.configs.parsing import parse
from kafka_admin_proto.server.java import host_address, parse_integer, trim
from kafka_admin_proto.server.quotas.connection_rates import ConnectionRates, Quotas
from kafka_admin_proto.server.releases import ReleaseNumber

if TYPE_CHECKING:
    from kafka_admin_proto.server.network.client import Client

_FRAME_BYTES = "socket.request.max.bytes"
#: Configs that a running broker changes.
_CONNECTIONS, _PER_IP = "max.connections", "max.connections.per.ip"
_OVERRIDES = "max.connections.per.ip.overrides"
#: Attribute of NetworkLimits → Kafka's config, which is read at the start.
_CONFIGS = {"idle_ms": "connections.max.idle.ms", "unfinished_bytes": "queued.max.request.bytes"}
#: The checks in a row without a byte in between after which a connection is closed.
_IDLE_CHECKS = 4
#: Connections of a node over ``max.connections`` that wait, as in a listener's backlog.
_MAX_WAITING = 1024


class NetworkLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of all connections of a cluster together; `Limits` has those of one connection.

    ``connections`` of one node: further ones wait until others end [max.connections].
    ``connections_per_ip`` of one address to one node: further ones are closed
    [max.connections.per.ip and its overrides]. Configs that are set while the brokers run lower
    these two, and do not raise them. ``idle_ms``: a connection without a byte in either direction
    for so long is closed, up to a quarter later; below 0: never [connections.max.idle.ms].
    ``unfinished_bytes`` of incomplete requests [queued.max.request.bytes], and ``unread_bytes`` of
    answers that clients have not read: above either limit the connection with most of these bytes
    is closed.
    """

    connections: int = sys.maxsize
    connections_per_ip: int = sys.maxsize
    idle_ms: int = 600_000
    unfinished_bytes: int = 256 << 20
    unread_bytes: int = 256 << 20

    def __post_init__(self) -> None:
        check_limits(self, {"connections": 0, "connections_per_ip": 0, "idle_ms": -sys.maxsize})


def limits_of(configs: Mapping[str, str], release: ReleaseNumber) -> NetworkLimits:
    """The limits that a broker's configs set at its start, which are valid."""
    given = {name: config for name, config in _CONFIGS.items() if config in configs}
    found = {name: _number(config, configs, release) for name, config in given.items()}
    if found.get("unfinished_bytes", 1) < 1:  # -1 is no limit in Kafka; the default stays
        del found["unfinished_bytes"]
    return NetworkLimits(**found)


def frame_bytes(configs: Mapping[str, str], release: ReleaseNumber) -> int | None:
    """The largest request by the configs, None where it is not set."""
    return _number(_FRAME_BYTES, configs, release) if _FRAME_BYTES in configs else None


def _number(name: str, configs: Mapping[str, str], release: ReleaseNumber) -> int:
    return int(parse(definitions(release).in_properties[name], configs[name]))


def check_given_once(
    configs: Mapping[str, str], limits: Limits | None, network_limits: NetworkLimits | None
) -> None:
    """Raise SettingsError for a config whose limit is an argument's too."""
    given = [
        (limits, "limits", [_FRAME_BYTES]),
        (network_limits, "network_limits", [_CONNECTIONS, _PER_IP, *_CONFIGS.values()]),
    ]
    for argument, name, both in given:
        for config in both:
            if argument is not None and config in configs:
                raise SettingsError(f"{name} and the config {config} both set it; leave one out")


@lru_cache
def _overrides(text: str) -> dict[str, int]:
    """The limits of addresses in a list of HOST:COUNT, which is valid; names are looked up."""
    limits: dict[str, int] = {}
    for override in filter(None, map(trim, text.split(","))):
        host, _, count = override.rpartition(":")
        name = trim(host).strip("[]") or "localhost"
        try:
            addresses = getaddrinfo(name, None)
        except (OSError, ValueError) as error:  # ValueError: a label of no or of too many letters
            SERVER.warning("%s has no effect for %s: %s", _OVERRIDES, name, error)
            continue
        addresses.sort(key=lambda each: each[0] != AF_INET)  # Java prefers IPv4
        limits[host_address(str(addresses[0][4][0]))] = parse_integer(trim(count), 32)
    return limits


class ConnectionLimiter:
    """Holds the connections of all nodes to the cluster's `NetworkLimits`.

    ``config`` gives the value of a broker's config, by its name and the broker's id, and ``quotas``
    all quotas. Kafka's ``ConnectionQuotas``.
    """

    def __init__(
        self,
        limits: NetworkLimits,
        clock: Clock,
        config: Callable[[str, int], Any],
        quotas: Callable[[], Quotas],
    ) -> None:
        self.limits = limits
        self._config = config
        self._rates = ConnectionRates(clock, config, quotas)
        self._clock = clock
        #: Bytes of incomplete requests of all connections.
        self.unfinished_bytes: int = 0
        self._admitted: dict[int, set[Client]] = {}
        self._addresses: Counter[tuple[int, str]] = Counter()
        self._waiting: dict[int, deque[Client]] = {}
        #: When the first of a node that waits may be accepted by its rate, by the cluster's clock.
        self._accepts_s: dict[int, float] = {}
        self._unread: set[Client] = set()
        self._timer: Timer | None = None

    def admit(self, connection: Client) -> None:
        """Accept a connection, let it wait for a slot or for its node's rate, or close it."""
        node = connection.node_id
        self._admitted.setdefault(node, set())
        if connection.is_protected:
            self._accept_of_address(connection)
            self._close_excess(node)
            return
        waiting = self._waiting.setdefault(node, deque())
        if len(waiting) >= _MAX_WAITING:
            connection.close()
            return
        waiting.append(connection)
        self._admit_waiting(node)
        if waiting and waiting[-1] is connection:
            connection.pause()

    def _accept_of_address(self, connection: Client) -> bool:
        """Accept a connection, unless its address has too many, or has them too fast."""
        if refused_s := self._rates.refusal_s(connection.node_id, connection.host):
            connection.pause()
            self._clock.later(refused_s, connection.close)
        elif self._is_over_address(connection):
            connection.close()
        else:
            self._accept(connection)
            return True
        return False

    def _accept(self, connection: Client) -> None:
        node = connection.node_id
        self._admitted[node].add(connection)
        self._addresses[node, connection.host] += 1
        if self._timer is None and self.limits.idle_ms > 0:
            self._schedule_idle_check()

    def _is_over_address(self, connection: Client) -> bool:
        """Whether one more connection of its address is too many."""
        node, host = connection.node_id, connection.host
        return self._addresses[node, host] >= self._most_of(node, host)

    def _most(self, node: int) -> int:
        of_config: int = self._config(_CONNECTIONS, node)
        return min(self.limits.connections, of_config)

    def _most_of(self, node: int, host: str) -> int:
        of_config = _overrides(self._config(_OVERRIDES, node) or "").get(host)
        if of_config is None:
            of_config = self._config(_PER_IP, node)
        return min(self.limits.connections_per_ip, of_config)

    def remove(self, connection: Client) -> None:
        """Count a closed connection no more; the next one that waits is accepted."""
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
            if connection is waiting[0]:
                self._accepts_s.pop(node, None)
            waiting.remove(connection)
        self._admit_waiting(node)

    def follow_configs(self) -> None:
        """Accept those that wait and fit by the configs now, and close those that do not."""
        for node in self._admitted:
            self._admit_waiting(node)
            self._close_excess(node)

    def _close_excess(self, node: int) -> None:
        """Close the least recently used connections of a node over ``max.connections``, as Kafka.

        Those of the listener between brokers are spared if there are others.
        """
        admitted = self._admitted[node]
        excess = len(admitted) - self._most(node)
        if excess > 0:
            found = (each for each in admitted if not each.is_protected)
            for each in sorted(found, key=lambda each: each.used_s)[:excess]:
                each.close()

    def _admit_waiting(self, node: int) -> None:
        """Accept the connections that wait, in their order, as far as slots and the rate allow it.

        Those that their address does not allow by then are closed.
        """
        waiting, admitted = self._waiting.get(node), self._admitted.get(node, set())
        while waiting:
            now_s = self._clock.time_s()
            if node not in self._accepts_s:
                wait_s = self._rates.wait_s(node)
                self._accepts_s[node] = now_s + wait_s
                if wait_s:
                    self._clock.later(wait_s, self._admit_waiting, node)
            if now_s < self._accepts_s[node] or len(admitted) >= self._most(node):
                return
            del self._accepts_s[node]
            following = waiting.popleft()
            if self._accept_of_address(following):
                following.resume()

    def set_unfinished(self, connection: Client, unfinished_bytes: int) -> None:
        """Note how many bytes of an incomplete request the connection keeps."""
        self.unfinished_bytes += unfinished_bytes - connection.unfinished_bytes
        connection.unfinished_bytes = unfinished_bytes
        if self.unfinished_bytes > self.limits.unfinished_bytes:
            self._close_largest(
                max(self._all(), key=lambda each: each.unfinished_bytes),
                f"{counted(self.unfinished_bytes, 'bytes')} of requests not in full",
            )

    def stopped_reading(self, connection: Client) -> None:
        """Note that the client reads no answers: its transport takes no more of them."""
        self._unread.add(connection)
        unread = sum(each.unread_bytes for each in self._unread)
        if unread > self.limits.unread_bytes:
            self._close_largest(
                max(self._unread, key=lambda each: each.unread_bytes),
                f"{counted(unread, 'bytes')} of answers unread",
            )

    def resumed_reading(self, connection: Client) -> None:
        """The client has read the answers that were written to it."""
        self._unread.discard(connection)

    def close(self) -> None:
        """Stop the idle checks: the cluster has ended."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _all(self) -> list[Client]:
        return [each for admitted in self._admitted.values() for each in admitted]

    def _close_largest(self, connection: Client, why: str) -> None:
        SERVER.warning("node %d: %s; the connection with most is closed", connection.node_id, why)
        connection.close()
        self.remove(connection)  # its socket ends in a later turn; its bytes count no more

    def _schedule_idle_check(self) -> None:
        after_s = self.limits.idle_ms / 1000 / _IDLE_CHECKS
        self._timer = self._clock.later(after_s, self._check_idle)

    def _check_idle(self) -> None:
        """Close the connections without a byte between several checks in a row."""
        for connection in self._all():
            connection.idle_checks = 0 if connection.active else connection.idle_checks + 1
            connection.active = False
            if connection.idle_checks >= _IDLE_CHECKS:
                connection.close()
        self._schedule_idle_check()
