"""The quota controller_mutation_rate, which limits created and deleted partitions (KIP-599).

A bucket fills with so many tokens a second, up to those of its window; each partition takes one.
One request may overdraw it; then further changes wait until it has filled up to zero again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.clock import Clock
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.quotas.entities import CLIENT_ID, USER

if TYPE_CHECKING:
    from kafka_admin_proto.records.metadata.entities import QuotaEntity
    from kafka_admin_proto.server.apis import Caller
    from kafka_admin_proto.server.brokers.view import View
    from kafka_admin_proto.server.state import State

_KEY = "controller_mutation_rate"
_SECOND_MS = 1000.0
#: The owner of a bucket: (user, client id), where "" stands for any.
Owner = tuple[str, str]


class TokenBucket(msgspec.Struct):
    """The tokens of an owner at ``updated_ms``; below zero the bucket is overdrawn."""

    tokens: float
    updated_ms: float

    def fill(self, rate: float, burst: float, now_ms: float) -> float:
        """Add the tokens since the last update, at ``rate`` a second; at most ``burst``."""
        new = rate * (now_ms - self.updated_ms) / _SECOND_MS
        self.tokens = min(burst, self.tokens + new)
        self.updated_ms = now_ms
        return self.tokens


class MutationQuota:
    """The quota of one request.

    A ``strict`` quota refuses changes while the bucket is overdrawn. Any other quota lets them
    through, and the client has to wait. ``rate`` is in partitions a second.
    """

    def __init__(
        self, clock: Clock, bucket: TokenBucket, rate: float, burst: float, *, strict: bool
    ) -> None:
        self._clock = clock
        self._bucket = bucket
        self._rate = rate
        self._burst = burst
        self._strict = strict
        self._throttled_until_ms = 0.0

    def take(self, partitions: int) -> None:
        """Count partitions that are created or deleted. Raises ApiFailure if they may not be."""
        now_ms = _now_ms(self._clock)
        if self._strict and self._bucket.fill(self._rate, self._burst, now_ms) < 0:
            self._throttle(now_ms)
            raise ApiFailure(codes.THROTTLING_QUOTA_EXCEEDED)
        self._bucket.fill(self._rate, self._burst, now_ms)
        self._bucket.tokens = min(self._burst, self._bucket.tokens - partitions)
        if not self._strict and self._bucket.tokens < 0:
            self._throttle(now_ms)

    @property
    def throttle_time_ms(self) -> int:
        """The milliseconds for which the client has to wait."""
        return max(0, int(self._throttled_until_ms - _now_ms(self._clock)))

    def _throttle(self, now_ms: float) -> None:
        self._throttled_until_ms = now_ms - self._bucket.tokens / self._rate * _SECOND_MS


class _Unlimited(MutationQuota):
    """The quota of clients without a limit."""

    def __init__(self) -> None:
        super().__init__(Clock(), TokenBucket(0.0, 0.0), 1.0, 0.0, strict=False)

    def take(self, partitions: int) -> None:
        """Count no partitions."""


#: The quota of who is not throttled.
UNLIMITED: MutationQuota = _Unlimited()


def mutation_quota(state: State, caller: Caller, strict_since: int) -> MutationQuota:
    """The quota of a caller's request; strict from version ``strict_since`` of its api on."""
    quotas = state.cluster.quotas
    if not quotas or not any(_KEY in each for each in quotas.values()):
        return UNLIMITED
    user = caller.principal.partition(":")[2]
    found = quota_of(state, user, caller.client_id or "")
    if found is None:
        return UNLIMITED
    owner, rate = found
    windows = state.broker_value("controller.quota.window.num")
    seconds = state.broker_value("controller.quota.window.size.seconds")
    burst = rate * windows * seconds
    buckets = state.token_buckets.setdefault(state.controller, {})
    bucket = buckets.setdefault(owner, TokenBucket(burst, _now_ms(state.clock)))
    return MutationQuota(state.clock, bucket, rate, burst, strict=caller.version >= strict_since)


def quota_of(state: View, user: str, client: str, key: str = _KEY) -> tuple[Owner, float] | None:
    """The most specific quota for a client of a user, and its owner."""
    quotas = state.cluster.quotas

    def rate(name: str | None, client_id: str | None) -> float | None:
        entity: QuotaEntity = ((CLIENT_ID, client_id), (USER, name))
        return quotas.get(entity, {}).get(key)

    candidates: list[tuple[Owner, float | None]] = [
        ((user, client), rate(user, client)),
        ((user, client), rate(user, None)),
        ((user, ""), quotas.get(((USER, user),), {}).get(key)),
        ((user, client), rate(None, client)),
        ((user, client), rate(None, None)),
        ((user, ""), quotas.get(((USER, None),), {}).get(key)),
        (("", client), quotas.get(((CLIENT_ID, client),), {}).get(key)),
        (("", client), quotas.get(((CLIENT_ID, None),), {}).get(key)),
    ]
    return next(((owner, each) for owner, each in candidates if each is not None), None)


def _now_ms(clock: Clock) -> float:
    return clock.time_s() * _SECOND_MS
