"""The quotas producer_byte_rate and consumer_byte_rate (KIP-13), which delay clients (KIP-219).

Each broker counts the bytes of its clients in samples, as ``ClientQuotaManager`` does with
``Rate`` and ``SampledStat``. An answer beyond the quota says for how many milliseconds the broker
reads nothing more of the connection.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple, TypeVar

import msgspec

from kafka_admin_proto.records.batches.header import MAX_INT
from kafka_admin_proto.server.apis import Caller
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.quotas.throttling import Owner, quota_of

ByteQuota = Literal["producer_byte_rate", "consumer_byte_rate"]
_SECOND_MS = 1000
_MOST_LONG = (1 << 63) - 1
#: The most clients that have a rate; who was idle for longest is forgotten.
_MOST_CLIENTS = 10_000
K = TypeVar("K")


class _Sample(msgspec.Struct):
    start_ms: int
    last_ms: int
    value: float = 0.0


class ByteRate:
    """The bytes of a client in the last ``count`` windows of ``window_ms``."""

    def __init__(self, count: int, window_ms: int) -> None:
        self._count = count
        self._window_ms = window_ms
        #: A ring of up to ``count`` + 1 samples, of which ``_current`` is counted in.
        self._samples: list[_Sample] = []
        self._current = 0

    def record(self, size: float, now_ms: int) -> None:
        """Count ``size`` bytes; a number below 0 takes back what was counted."""
        if not self._samples:
            self._samples.append(_Sample(now_ms, now_ms))
        sample = self._samples[self._current]
        if now_ms - sample.start_ms >= self._window_ms:
            self._current = (self._current + 1) % (self._count + 1)
            sample = _Sample(now_ms, now_ms)
            self._samples[self._current : self._current + 1] = [sample]
        sample.value += size
        sample.last_ms = now_ms

    def throttle_ms(self, bound: float, now_ms: int, *, wraps: bool) -> int:
        """As ``wait_ms``, but at most what an int32 can say.

        ``wraps``: more than that wraps around and may be below 0, as before 4.4.
        """
        wait_ms = self.wait_ms(bound, now_ms)
        if wraps:
            return (wait_ms + (1 << 31)) % (1 << 32) - (1 << 31)
        return min(wait_ms, (1 << 31) - 1)

    def wait_ms(self, bound: float, now_ms: int) -> int:
        """The milliseconds until the rate is the bound again, in a second; 0 within it."""
        total, elapsed_ms = self._total_and_time(now_ms)
        rate = total / (elapsed_ms / _SECOND_MS)
        if rate <= bound:
            return 0
        if not bound:
            return _MOST_LONG
        return _as_java((rate - bound) / bound * elapsed_ms + 0.5, _MOST_LONG)

    def _total_and_time(self, now_ms: int) -> tuple[float, int]:
        """The bytes that count, and the milliseconds that they count for: all windows at least."""
        for index, each in enumerate(self._samples):
            if now_ms - each.last_ms >= self._count * self._window_ms:
                self._samples[index] = _Sample(now_ms, now_ms)
        elapsed_ms = now_ms - min(each.start_ms for each in self._samples)
        missing = self._count - 1 - elapsed_ms // self._window_ms
        elapsed_ms += max(0, missing) * self._window_ms
        return sum(each.value for each in self._samples), max(elapsed_ms, 1)


class ClientBytes:
    """The quota of one client of a broker, and the most bytes that a Fetch of it asks for."""

    def __init__(
        self, rate: ByteRate, bound: float, most_bytes: int, now_ms: int, *, wraps: bool
    ) -> None:
        self._rate = rate
        self._bound = bound
        self.most_bytes = most_bytes
        self._now_ms = now_ms
        self._wraps = wraps

    def throttle_ms(self, size: int) -> int:
        """Count bytes; the milliseconds for which the client is to wait."""
        self._rate.record(size, self._now_ms)
        return max(0, self._rate.throttle_ms(self._bound, self._now_ms, wraps=self._wraps))

    def uncount(self, size: int) -> None:
        """Take bytes back that are not sent."""
        self._rate.record(-size, self._now_ms)


def client_bytes(view: View, caller: Caller, quota: ByteQuota) -> ClientBytes | None:
    """The bytes of a caller on the broker that was asked, None without a quota."""
    counted = counted_rate(view, caller, quota)
    if counted is None:
        return None
    most = most_bytes(counted.bound, counted.windows, counted.seconds)
    wraps = view.release < (4, 4)
    return ClientBytes(counted.rate, counted.bound, most, counted.now_ms, wraps=wraps)


class Counted(NamedTuple):
    """What a client has used of a quota, the quota, its windows, and the time of its broker."""

    rate: ByteRate
    bound: float
    windows: int
    seconds: int
    now_ms: int


def counted_rate(view: View, caller: Caller, quota: str) -> Counted | None:
    """What a caller has used of a quota on the broker that was asked, None without one."""
    quotas = view.cluster.quotas
    if not quotas or not any(quota in each for each in quotas.values()):
        return None
    found = quota_of(view, caller.principal.partition(":")[2], caller.client_id or "", quota)
    if found is None:
        return None
    owner, bound = found
    state = view.controller_state
    count = view.broker_value("quota.window.num", caller.node_id)
    seconds = view.broker_value("quota.window.size.seconds", caller.node_id)
    rates = state.byte_rates.setdefault(caller.node_id, {})
    rate = rate_of(rates, (quota, owner), count, seconds)
    return Counted(rate, bound, count, seconds, int(state.clock.time_s() * _SECOND_MS))


def rate_of(rates: dict[K, ByteRate], key: K, count: int, seconds: int) -> ByteRate:
    """The rate of a client over ``count`` windows of ``seconds``; the newest in ``rates`` now."""
    rate = rates.pop(key, None) or ByteRate(count, seconds * _SECOND_MS)
    rates[key] = rate
    if len(rates) > _MOST_CLIENTS:
        del rates[next(iter(rates))]
    return rate


def most_bytes(bound: float, count: int, seconds: int) -> int:
    """The most bytes of a Fetch: what the quota gives in all windows but one."""
    return _as_java(bound * (count - 1) * seconds, MAX_INT)


def _as_java(number: float, most: int) -> int:
    """The integer that Java makes of a double: it rounds down, is 0 for nan, and is bounded."""
    return 0 if math.isnan(number) else math.floor(min(number, most))


#: The rates of a broker's clients, the one that was idle for longest first.
ByteRates = dict[tuple[str, Owner], ByteRate]
