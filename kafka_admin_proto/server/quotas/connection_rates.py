"""Rates of new connections (KIP-612): ``max.connection.creation.rate`` of a broker, and the quota
``connection_creation_rate`` of an address.

As Kafka's ``ConnectionQuotas``, whose rates are those of the other quotas: above the broker's rate
a new connection waits, and all behind it; above that of its address it is not accepted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kafka_admin_proto.records.metadata.entities import QuotaEntity
from kafka_admin_proto.server.clock import Clock
from kafka_admin_proto.server.quotas.byte_rates import ByteRate, rate_of
from kafka_admin_proto.server.quotas.entities import IP

#: Values by their names, of each entity.
Quotas = Mapping["QuotaEntity", Mapping[str, float]]

_OF_BROKER = "max.connection.creation.rate"
_OF_ADDRESS = "connection_creation_rate"
_SECOND_MS = 1000
#: Addresses as connections have them → the name that a quota's entity has for them.
_NAMES = {"127.0.0.1": "localhost"}


class ConnectionRates:
    """Counts the new connections of each broker and address.

    ``config`` gives the value of a broker's config, by its name and the broker's id, and ``quotas``
    all quotas by entity.
    """

    def __init__(
        self,
        clock: Clock,
        config: Callable[[str, int], Any],
        quotas: Callable[[], Quotas],
    ) -> None:
        self._clock = clock
        self._config = config
        self._quotas = quotas
        #: By broker and address, "" for all of them; the one that was idle for longest first.
        self._rates: dict[tuple[int, str], ByteRate] = {}

    def wait_s(self, node: int) -> float:
        """Count a connection to a broker; the seconds until it is accepted."""
        return self._count(node, "", self._config(_OF_BROKER, node))

    def refusal_s(self, node: int, host: str) -> float:
        """Count a connection of an address to a broker.

        Above 0 it is not to be accepted, is not counted, and is closed after so many seconds.
        """
        bound = self._bound(host)
        found = 0.0 if bound is None else self._count(node, host, bound)
        if found:
            self._rates[node, host].record(-1, self._now_ms())
        return found

    def _bound(self, host: str) -> float | None:
        quotas = self._quotas()
        for name in (host, _NAMES.get(host), None):
            found = quotas.get(((IP, name),), {}).get(_OF_ADDRESS)
            if found is not None:
                return found
        return None

    def _count(self, node: int, host: str, bound: float) -> float:
        seconds: int = self._config("quota.window.size.seconds", node)
        count = self._config("quota.window.num", node)
        rate = rate_of(self._rates, (node, host), count, seconds)
        now_ms = self._now_ms()
        rate.record(1, now_ms)
        return min(rate.wait_ms(bound, now_ms) / _SECOND_MS, seconds)

    def _now_ms(self) -> int:
        return int(self._clock.time_s() * _SECOND_MS)
